// All operations on modules work at any depth: 100,000 nested conditionals or functions, made with the builder because
// the length of their text would be quadratic in the depth.
#include "analysis/graph_maker.h"
#include "catch.h"
#include "iropt/ir/clone.h"
#include "iropt/ir/structural.h"
#include "iropt/support/result.h"
#include "iropt/text/script/parser.h"
#include "iropt/text/script/printer.h"
#include "iropt/transform/relax/simplify/canonicalize_bindings.h"
#include "iropt/transform/relax/simplify/dead_code_elimination.h"
#include "iropt/transform/relax/simplify/eliminate_common_subexpr.h"
#include "iropt/transform/relax/simplify/fold_constant.h"
#include "iropt/transform/relax/structure/normalize.h"

namespace iropt {
namespace {

constexpr int kDepth = 100'000;
constexpr int kPrintedDepth = 1'000;

class DeepMaker : public GraphMaker {
 public:
  const Type* type() { return Tensor({2, 3}); }

  void MakeConditionals(int depth) {
    const Var* cond = NewVar("cond", TensorType::Get(std::vector<const PrimExpr*>{}, DataType::Bool()));
    const Var* x = NewVar("x", type());
    const SeqExpr* seq = Seq({}, x);
    for (int i = 0; i < depth; ++i) {
      const Var* first = NewVar("a", type());
      const Var* result = NewVar("r", type());
      const Var* otherwise = NewVar("b", type());
      const SeqExpr* other = Seq({Block({Bind(otherwise, CallOp("relax.negative", {x}, type()))})}, otherwise);
      const Expr* branch = workspace().New<If>(cond, seq, other, type());
      const Var* sum = NewVar("s", type());
      seq = Seq({Block({Bind(first, CallOp("relax.exp", {x}, type())), Bind(result, branch),
                        Bind(sum, CallOp("relax.add", {first, result}, type()))})},
                sum);
    }
    Add("main", MakeFunction({cond, x}, seq));
  }

  void MakeFunctions(int depth) {
    const Var* x = NewVar("x", type());
    const SeqExpr* seq = Seq({}, x);
    for (int i = 0; i < depth; ++i) {
      const Function* function = MakeFunction({NewVar("p", type())}, seq);
      const Var* f = NewVar("f", function->type);
      const Var* call = NewVar("c", type());
      seq = Seq({Block({Bind(f, function), Bind(call, CallOf(f, {x}, type()))})}, call);
    }
    Add("main", MakeFunction({x}, seq));
  }

  // All passes, each followed by the verifier.
  void RunPasses() {
    const Module* m = &module();
    DiagnosticBuffer buffer;
    DiagnosticEngine engine(&buffer);
    const auto run = [&](auto&& pass) {
      const ModuleEntry entry = *module().Find("main");
      Workspace ws(module(), entry.storage);
      const Result<const Function*> result = pass(To<Function>(entry.func), ws);
      REQUIRE(result.ok());
      if (*result != entry.func) module().Set(entry.var, *result, ws.Finish());
      REQUIRE(Verify() == Errors{});
    };
    using Out = Result<const Function*>;
    run([&](const Function* f, Workspace& ws) -> Out { return Normalize(f, m, ws, engine); });
    run([&](const Function* f, Workspace& ws) -> Out { return CanonicalizeBindings(f, m, ws, engine); });
    run([&](const Function* f, Workspace& ws) -> Out { return EliminateCommonSubexpr(f, m, ws); });
    run([&](const Function* f, Workspace& ws) -> Out { return RemoveDeadBindings(f, m, ws); });
    run([&](const Function* f, Workspace& ws) -> Out { return FoldConstants(f, *m, ws); });
    CHECK(buffer.diagnostics().empty());
  }

  void CheckCopy() {
    const BaseFunc* func = module().Find("main")->func;
    Workspace target;
    const BaseFunc* copy = CloneFunction(func, target);
    REQUIRE(copy != func);
    CHECK(StructuralEqual(func, copy));
    CHECK(StructuralHash(func) == StructuralHash(copy));
    CHECK_FALSE(FirstDifference(func, copy));
  }

  void CheckText() {
    DiagnosticBuffer buffer;
    DiagnosticEngine engine(&buffer);
    const std::string text = ModuleToString(module());
    const std::optional<Module> again = ParseModule(text, 1, {}, engine);
    REQUIRE(again);
    CHECK(ModuleToString(*again) == text);
  }
};

TEST_CASE("conditionals in conditionals", "[driver][deep]") {
  DeepMaker maker;
  maker.MakeConditionals(kDepth);
  REQUIRE(maker.Verify() == Errors{});
  maker.CheckCopy();
  maker.RunPasses();
  maker.CheckCopy();
}

TEST_CASE("functions in functions", "[driver][deep]") {
  DeepMaker maker;
  maker.MakeFunctions(kDepth);
  REQUIRE(maker.Verify() == Errors{});
  maker.CheckCopy();
  maker.RunPasses();
  maker.CheckCopy();
}

TEST_CASE("text of conditionals in conditionals", "[driver][deep]") {
  DeepMaker conditionals;
  conditionals.MakeConditionals(kPrintedDepth);
  conditionals.CheckText();
  conditionals.RunPasses();
  conditionals.CheckText();
}

TEST_CASE("text of functions in functions", "[driver][deep]") {
  DeepMaker functions;
  functions.MakeFunctions(kPrintedDepth);
  functions.CheckText();
  functions.RunPasses();
  functions.CheckText();
}

}  // namespace
}  // namespace iropt
