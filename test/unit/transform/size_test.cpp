// Deep and long functions: every pass is linear and does not overflow the stack.
#include "pass_tester.h"

namespace iropt {

namespace {

constexpr int kDepth = 100'000;
constexpr int kLength = 300'000;

std::vector<FunctionPass> AllPasses() { return {Normal(), Canonicalize(), Cse(), Dce()}; }

void RunAll(PassTester& t) {
  for (const FunctionPass& pass : AllPasses()) {
    t.RunOnce(pass);
    REQUIRE_FALSE(t.failed);
    REQUIRE_FALSE(t.RunOnce(pass));
  }
}

}  // namespace

TEST_CASE("conditionals in conditionals", "[size]") {
  PassTester t;
  const Var* cond = t.NewVar("cond", TensorType::Get(std::vector<const PrimExpr*>{}, DataType::Bool()));
  const Var* x = t.NewVar("x", t.F23());
  const auto exp = [&] { return t.CallOp("relax.exp", {x}, t.F23()); };
  const Expr* innermost = t.CallOf(t.Packed("effect"), {x}, t.F23(), {t.F23()});
  const Var* v = t.NewVar("v", t.F23());
  const SeqExpr* seq = t.Seq({t.Block({t.Bind(v, innermost)})}, v);
  for (int i = 0; i < kDepth; ++i) {
    const Var* result = t.NewVar("r", t.F23());
    const Var* first = t.NewVar("a", t.F23());
    const Var* second = t.NewVar("b", t.F23());
    const Expr* branch = t.workspace().New<If>(cond, seq, t.Seq({}, x), t.F23());
    // The results are unused, so that every level checks for effects below.
    seq = t.Seq({t.Block({t.Bind(first, exp()), t.Bind(second, exp()), t.Bind(result, branch)})}, second);
  }
  t.Add("main", t.MakeFunction({cond, x}, seq, false));
  RunAll(t);
}

TEST_CASE("functions in functions", "[size]") {
  PassTester t;
  const Var* x = t.NewVar("x", t.F23());
  const SeqExpr* seq = t.Seq({}, x);
  for (int i = 0; i < kDepth; ++i) {
    const Var* p = t.NewVar("p", t.F23());
    const Function* function = t.MakeFunction({p}, seq);
    const Var* f = t.NewVar("f", function->type);
    const Var* call = t.NewVar("call", t.F23());
    const Var* again = t.NewVar("again", t.F23());
    seq = t.Seq({t.Block({t.Bind(f, function), t.Bind(call, t.CallOf(f, {x}, t.F23())),
                          t.Bind(again, t.CallOf(f, {x}, t.F23()))})},
                again);
  }
  t.Add("main", t.MakeFunction({x}, seq));
  RunAll(t);
}

TEST_CASE("tuples in tuples", "[size]") {
  PassTester t;
  const Var* x = t.NewVar("x", t.F23());
  const auto nested = [&] {
    const Expr* tuple = x;
    for (int i = 0; i < kDepth; ++i) tuple = t.MakeTuple({tuple});
    return tuple;
  };
  const Expr* value = nested();
  const Var* a = t.NewVar("a", value->type);
  const Var* b = t.NewVar("b", value->type);
  t.Add("main", t.MakeFunction({x}, t.Seq({t.Block({t.Bind(a, value), t.Bind(b, nested())})}, t.MakeTuple({a, b}))));
  RunAll(t);
}

TEST_CASE("one long block with every second value repeated", "[size]") {
  PassTester t;
  const Var* x = t.NewVar("x", t.F23());
  std::vector<const Binding*> bindings;
  const Var* last = x;
  for (int i = 0; i < kLength; ++i) {
    const Var* first = t.NewLocal("a", t.F23());
    const Var* second = t.NewLocal("b", t.F23());
    bindings.push_back(t.Bind(first, t.CallOp("relax.exp", {last}, t.F23())));
    bindings.push_back(t.Bind(second, t.CallOp("relax.exp", {last}, t.F23())));
    last = second;
  }
  const Var* out = t.NewVar("out", t.F23());
  bindings.push_back(t.Bind(out, last));
  t.AddMain({x}, {t.Dataflow(bindings)}, out);
  RunAll(t);
  CHECK(t.body()->blocks[0]->bindings.size() == kLength + 1);
  CHECK(t.Verify() == Errors{});
}

TEST_CASE("one name for a value after thousands of dataflow blocks", "[size]") {
  PassTester t;
  const Var* x = t.NewVar("x", t.F23());
  std::vector<const BindingBlock*> blocks;
  for (int i = 0; i < kLength / 10; ++i) {
    const Var* local = t.NewLocal("a", t.F23());
    const Var* between = t.NewVar("b", t.F23());
    blocks.push_back(t.Dataflow({t.Bind(local, t.CallOp("relax.exp", {x}, t.F23()))}));
    blocks.push_back(t.Block({t.Bind(between, t.CallOf(t.Packed("effect"), {x}, t.F23(), {t.F23()}))}));
  }
  t.AddMain({x}, blocks, x, false);
  CHECK_FALSE(t.RunOnce(Cse()));
  CHECK(t.RunOnce(Dce()));
  CHECK(t.body()->blocks.size() == 1);
}

}  // namespace iropt
