// Patterns, and rules on functions built by hand. Passes that are made of rules are tested on programs in
// test/transform.
#include "iropt/ir/relax/rewrite_rules.h"

#include <fmt/format.h>

#include "iropt/infer/type_inferrer.h"
#include "iropt/op/ops/arithmetic.h"
#include "iropt/op/ops/concat.h"
#include "iropt/op/ops/exponential.h"
#include "iropt/op/ops/trigonometric.h"
#include "iropt/support/lookup.h"
#include "pass_tester.h"

namespace iropt {

namespace {

// The values of some variables, all of which are used once.
class Values : public Definitions {
 public:
  const Expr* ValueOf(const Var* var) const override { return values.Lookup(var); }
  bool IsUsedOnce(const Var* var) const override { return !used_twice.contains(var); }

  LookupMap<const Var*, const Expr*> values;
  LookupSet<const Var*> used_twice;
};

const Op* AddOp() { return GetOp(op::kAdd); }
const Op* ExpOp() { return GetOp(op::kExp); }
const Op* LogOp() { return GetOp(op::kLog); }

FunctionPass Apply(const RuleSet& rules) {
  return [&rules](const Function* function, const Module* module, Workspace& workspace,
                  DiagnosticEngine& diagnostics) -> Result<const Function*> {
    OpTypeInferrer inferrer(module, workspace.arena(), &diagnostics);
    return RuleRewriter(rules, workspace, inferrer).Run(function);
  };
}

}  // namespace

TEST_CASE_METHOD(PassTester, "a pattern is matched through definitions and aliases", "[rewrite_rules]") {
  const Var* x = NewVar("x", F23());
  const Var* e = NewVar("e", F23());
  const Var* alias = NewVar("alias", F23());
  Values values;
  values.values = {{e, CallOp("relax.exp", {x}, F23())}, {alias, e}};
  const Call* sum = CallOp("relax.add", {x, alias}, F23());
  const Pattern a = Wildcard();
  const Pattern exp = IsCall(ExpOp(), {a});
  Match match(values);

  CHECK(match.Try(IsCall(AddOp(), {Wildcard(), exp}), sum));
  CHECK(match[exp] == e);
  CHECK(match[a] == x);
  CHECK(match.CallAt(exp) == values.values[e]);
  CHECK_FALSE(match.Try(IsCall(AddOp(), {exp, Wildcard()}), sum));
  CHECK(match[exp] == nullptr);
  CHECK(match.Try(IsCall(AddOp(), {exp, Wildcard()}).Commutative(), sum));
  CHECK(match.Try(IsCall(AddOp(), {IsVar(), exp}), sum));
  CHECK_FALSE(match.Try(IsCall(AddOp(), {Wildcard(), IsVar()}), sum));
}

TEST_CASE_METHOD(PassTester, "a part that occurs twice matches one operand", "[rewrite_rules]") {
  const Var* x = NewVar("x", F23());
  const Var* y = NewVar("y", F23());
  const Values values;
  Match match(values);
  const Pattern a = Wildcard();
  CHECK(match.Try(IsCall(AddOp(), {a, a}), CallOp("relax.add", {x, x}, F23())));
  CHECK_FALSE(match.Try(IsCall(AddOp(), {a, a}), CallOp("relax.add", {x, y}, F23())));
  CHECK(match.Try(IsCall(AddOp(), {IsVar(), Wildcard()}), CallOp("relax.add", {x, y}, F23())));
  CHECK_FALSE(match.Try(IsCall(AddOp(), {a}), CallOp("relax.add", {x, y}, F23())));
  CHECK(match.Try(IsCall(AddOp(), {a}).AnyMoreArgs(), CallOp("relax.add", {x, y}, F23())));
}

TEST_CASE_METHOD(PassTester, "symbolic dimensions of a pattern stand for one dimension each", "[rewrite_rules]") {
  const tir::Var* n = context().NewSymVar("n");
  const tir::Var* m = context().NewSymVar("m");
  const std::vector<const PrimExpr*> square{n, n};
  const std::vector<const PrimExpr*> matrix{n, m};
  const Values values;
  Match match(values);
  CHECK(match.Try(Wildcard().WithDims(matrix), NewVar("x", F23())));
  CHECK(match.DimOf(n) == Int(2));
  CHECK(match.DimOf(m) == Int(3));
  CHECK_FALSE(match.Try(Wildcard().WithDims(square), NewVar("x", F23())));
  CHECK(match.DimOf(n) == nullptr);
  CHECK(match.Try(Wildcard().WithDims(square), NewVar("x", Tensor({4, 4}))));
  CHECK_FALSE(match.Try(Wildcard().WithDims(matrix), NewVar("x", TensorType::Get(2, Float32()))));
  CHECK(match.Try(Wildcard().WithRank(2).WithDtype(Float32()), NewVar("x", F23())));
  CHECK_FALSE(match.Try(Wildcard().WithRank(1), NewVar("x", F23())));
  CHECK_FALSE(match.Try(Wildcard().WithDtype(DataType::Int(32)), NewVar("x", F23())));
  CHECK(match.Try(IsShape(matrix), MakeShape({Int(5), Int(6)})));
  CHECK_FALSE(match.Try(IsShape(square), MakeShape({Int(5), Int(6)})));
}

TEST_CASE_METHOD(PassTester, "alternatives, tuples and conditions", "[rewrite_rules]") {
  const Var* x = NewVar("x", F23());
  const Var* y = NewVar("y", F23());
  Values values;
  values.used_twice.insert(y);
  Match match(values);
  const Pattern exp = IsCall(ExpOp(), {Wildcard()});
  const Pattern log = IsCall(LogOp(), {Wildcard()});
  CHECK(match.Try(exp | log, CallOp("relax.log", {x}, F23())));
  CHECK(match[exp] == nullptr);
  CHECK(match[log] != nullptr);
  CHECK(match.Try(IsTuple({Wildcard().UsedOnce(), Wildcard()}), MakeTuple({x, y})));
  CHECK_FALSE(match.Try(IsTuple({Wildcard(), Wildcard().UsedOnce()}), MakeTuple({x, y})));
  CHECK_FALSE(match.Try(IsTuple({Wildcard()}), MakeTuple({x, y})));
  CHECK(CountsUses(IsTuple({Wildcard().UsedOnce()})));
  CHECK_FALSE(CountsUses(exp));
  const auto is_x = [&](const Expr* e) { return e == x; };
  CHECK(match.Try(Wildcard().Where(is_x), x));
  CHECK_FALSE(match.Try(Wildcard().Where(is_x), y));
}

TEST_CASE_METHOD(PassTester, "rules are applied to what other rules make", "[rewrite_rules]") {
  const Pattern a = Wildcard();
  RuleSet rules;
  rules.Add({"log-of-exp", IsCall(LogOp(), {IsCall(ExpOp(), {a})}),
             [=](const Match& match, BlockBuilder&) { return match[a]; }});
  // cos(x) = log(exp(sin(x))), for the sake of the test.
  rules.Add({"cos", IsCall(GetOp(op::kCos), {a}), [=](const Match& match, BlockBuilder& builder) {
               const Expr* sin = builder.MakeCall(GetOp(op::kSin), {match[a]});
               return builder.MakeCall(LogOp(), {builder.MakeCall(ExpOp(), {sin})});
             }});
  const Var* x = NewVar("x", F23());
  const Var* lv = NewLocal("lv", F23());
  const Var* gv = NewVar("gv", F23());
  AddMain({x}, {Dataflow({Bind(lv, CallOp("relax.exp", {x}, F23())), Bind(gv, CallOp("relax.cos", {lv}, F23()))})}, gv);
  CHECK(Run(Apply(rules)));
  CHECK(Run(Dce()));
  CHECK(Text().find("cos") == std::string::npos);
  CHECK(Text().find("log") == std::string::npos);
  CHECK(Text().find("sin(lv)") != std::string::npos);
}

TEST_CASE_METHOD(PassTester, "rules that never end are stopped", "[rewrite_rules]") {
  const Pattern a = Wildcard();
  RuleSet rules;
  uint64_t count = 0;
  rules.Add({"again", IsCall(ExpOp(), {a}), [=, &count](const Match& match, BlockBuilder& builder) {
               ++count;
               return builder.MakeCall(ExpOp(), {match[a]});
             }});
  const Var* x = NewVar("x", F23());
  const Var* gv = NewVar("gv", F23());
  AddMain({x}, {Block({Bind(gv, CallOp("relax.exp", {x}, F23()))})}, gv);
  CHECK(RunOnce(Apply(rules)));
  CHECK(count == RuleRewriter::kMaxRewrites);
}

TEST_CASE_METHOD(PassTester, "only the rules that may match are tried", "[rewrite_rules]") {
  const Var* x = NewVar("x", F23());
  const Var* e = NewVar("e", F23());
  Values values;
  values.values = {{e, CallOp("relax.exp", {x}, F23())}};
  const auto nothing = [](const Match&, BlockBuilder&) -> const Expr* { return nullptr; };
  const Op* const roots[] = {GetOp(op::kMultiply), GetOp(op::kSubtract), AddOp()};
  const Op* const operands[] = {GetOp(op::kSin), GetOp(op::kCos), GetOp(op::kTanh), ExpOp()};
  RuleSet rules;
  for (int i = 0; i < 500; ++i) {
    rules.Add({fmt::format("rule{}", i),
               IsCall(roots[i % 3], {IsCall(operands[i % 4 == 3 && i > 12 ? 0 : i % 4], {Wildcard()}), Wildcard()}),
               nothing});
  }
  std::vector<uint32_t> candidates;
  rules.FindCandidates(*CallOp("relax.add", {e, x}, F23()), values, candidates);
  CHECK(candidates == std::vector<uint32_t>{11});
  rules.FindCandidates(*CallOp("relax.add", {x, e}, F23()), values, candidates);
  CHECK(candidates.empty());
  rules.FindCandidates(*CallOp("relax.exp", {x}, F23()), values, candidates);
  CHECK(candidates.empty());
  // Of commutative operators either operand counts, and of projections the tuple.
  rules.Add({"commutative", IsCall(AddOp(), {IsCall(ExpOp(), {Wildcard()}), Wildcard()}).Commutative(), nothing});
  rules.Add({"item", IsTupleGetItem(IsCall(GetOp(op::kSplit), {Wildcard()})), nothing});
  rules.FindCandidates(*CallOp("relax.add", {x, e}, F23()), values, candidates);
  CHECK(candidates == std::vector<uint32_t>{500});
  rules.FindCandidates(*CallOp("relax.add", {e, x}, F23()), values, candidates);
  CHECK(candidates == std::vector<uint32_t>{11, 500});
}

}  // namespace iropt
