#include <string>

#include "catch.h"
#include "iropt/driver/compiler_instance.h"
#include "iropt/eval/tir/prim_func.h"
#include "iropt/text/script/printer.h"
#include "iropt/transform/relax/simplify/fold_constant.h"

namespace iropt {

namespace {

// A call of a PrimFunc that runs a loop a hundred times.
constexpr const char* kModule = R"(
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def count(A: T.Buffer((1,), "int32")):
        A[0] = 0
        for i in range(100):
            A[0] = A[0] + 1

    @R.function
    def main():
        cls = Module
        a = R.call_tir(cls.count, R.tuple(), out_sinfo=R.Tensor((1,), "int32"))
        return a
)";

bool IsFolded(const FoldOptions& options) {
  DiagnosticBuffer buffer;
  CompilerInstance compiler({}, buffer);
  const Result<Module> module = compiler.ParseModule(kModule, "count.ir");
  REQUIRE(module.ok());
  const ModuleEntry& entry = *module->Find("main");
  Workspace workspace(*module, entry.storage);
  const auto* function = To<Function>(entry.func);
  return FoldConstants(function, *module, workspace, options) != function;
}

}  // namespace

TEST_CASE("a step of a PrimFunc counts as several units of the work of a run", "[driver]") {
  CHECK(IsFolded({}));
  CHECK(IsFolded({.max_total_work = 1000 * kWorkOfStep}));
  CHECK_FALSE(IsFolded({.max_total_work = 1000}));
  CHECK_FALSE(IsFolded({.max_total_work = 50 * kWorkOfStep}));
}

}  // namespace iropt
