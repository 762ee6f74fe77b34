// The calls with values in test/unit/infer/types have these values after LegalizeOps, too. Its output is tested in
// test/transform/legalize_ops.
#include <optional>
#include <string>

#include "../catch.h"
#include "infer/type_cases.h"
#include "iropt/diag/diagnostic.h"
#include "iropt/eval/relax/interpreter.h"
#include "iropt/ir/relax/visitor.h"
#include "iropt/op/op.h"
#include "iropt/runtime/compare.h"
#include "iropt/text/script/parser.h"
#include "iropt/transform/relax/lowering/legalize_ops.h"

namespace iropt {

namespace {

// The values of the two variables of a case.
class ResultObserver : public RunObserver {
 public:
  HostValue result, expected;

  void OnBinding(const Function&, const Var& var, const HostValue& value) override {
    if (var.name() == "result") result = value;
    if (var.name() == "expected") expected = value;
  }
  void OnCall(CalleeKind, std::string_view, double) override {}
};

// Returns whether a variable of this name is bound to the call of an operator, instead of that of a function.
bool CallsOperator(const Module& module, std::string_view name) {
  const auto* main = As<Function>(module.Find("main")->func);
  for (const BindingBlock* block : As<SeqExpr>(main->body)->blocks) {
    for (const Binding* binding : block->bindings) {
      if (binding->var->name() != name) continue;
      const auto* call = As<Call>(ValueOf(binding));
      const auto* op = call ? As<Op>(call->op) : nullptr;
      return op && LegalizationOf(*op->info).legalize != nullptr;
    }
  }
  return false;
}

}  // namespace

TEST_CASE("legalized calls have the values of the cases", "[legalize_ops]") {
  size_t compared = 0;
  for (const TypeCase& c : TypeCases()) {
    if (c.kind != TypeCase::Kind::kValue) continue;
    INFO(c.file << ":" << c.line << ": " << c.call);
    DiagnosticBuffer buffer;
    DiagnosticEngine engine(&buffer);
    const std::string text = ModuleText(c);
    std::optional<Module> module = ParseModule(text, 1, {}, engine);
    REQUIRE(module);
    AnalysisManager analyses;
    const Result<Module> legalized = LegalizeOps(*module, {}, engine, analyses);
    for (const Diagnostic& d : buffer.diagnostics()) UNSCOPED_INFO(d.message);
    REQUIRE(legalized.ok());
    if (CallsOperator(*legalized, "result")) continue;
    ResultObserver seen;
    RunOptions options;
    options.observer = &seen;
    const std::vector<HostValue> args = {HostValue(), HostValue(ShapeValue{})};
    const auto* main = As<Function>(legalized->Find("main")->func);
    const Result<HostValue> done = RunFunction(*legalized, *main, args, engine, options);
    for (const Diagnostic& d : buffer.diagnostics()) UNSCOPED_INFO(d.message);
    REQUIRE(done.ok());
    REQUIRE(seen.result.tensor() != nullptr);
    REQUIRE(seen.expected.tensor() != nullptr);
    const NDArray& got = *seen.result.tensor();
    const NDArray& expected = *seen.expected.tensor();
    const Comparison comparison = CompareTensors(got, expected, Tolerance::Of(expected.dtype()));
    INFO(DescribeComparison(comparison, got, expected));
    CHECK(comparison.ok());
    ++compared;
  }
  CHECK(compared > 100);
}

}  // namespace iropt
