// A function pass: it gets one Relax function at a time and returns its replacement. It cannot add or delete functions,
// and if the context has threads, several functions are processed in parallel.
#include <iostream>

#include "iropt/driver/compiler_instance.h"
#include "iropt/ir/clone.h"
#include "iropt/text/script/printer.h"

using namespace iropt;

constexpr const char* kReplacement = R"(
@R.function(private=True)
def identity(x: R.Tensor((10, 20), "float32")):
    return x
)";

constexpr const char* kModule = R"(
@I.ir_module
class Module:
    @R.function(private=True)
    def f(x: R.Tensor((10, 20), "float32")):
        return R.log(x)
    @R.function(private=True)
    def g(x: R.Tensor((10, 20), "float32")):
        return R.exp(x)
    @R.function(private=True)
    def kept(x: R.Tensor((10, 20), "float32")):
        R.func_attr({"SkipOptimization": True})
        return R.tanh(x)
)";

// Replaces each function by the one given to its constructor.
class ReplaceFunction {
 public:
  explicit ReplaceFunction(ModuleEntry replacement) : replacement_(std::move(replacement)) {}

  Result<const Function*> operator()(const Function*, FunctionPassContext& context) const {
    // A new copy for each: functions of a module must not share variables.
    return To<Function>(CloneFunction(replacement_.func, context.workspace()));
  }

 private:
  ModuleEntry replacement_;  // with the storage that keeps the nodes alive
};

Status Run(CompilerInstance& compiler) {
  IROPT_ASSIGN_OR_RETURN(const Module replacement, compiler.ParseModule(kReplacement));
  IROPT_ASSIGN_OR_RETURN(Module module, compiler.ParseModule(kModule));
  const Pass pass =
      CreateFunctionPass({.name = "ReplaceFunction", .opt_level = 1}, ReplaceFunction(*replacement.Find("identity")));
  IROPT_ASSIGN_OR_RETURN(const PassResult result, pass(std::move(module)));
  std::cout << ModuleToString(result.module);
  return {};
}

int main() {
  CompilerInstance compiler;
  return compiler.Finish(Run(compiler));
}

// Prints:
//
//   # from tvm.script import ir as I
//   # from tvm.script import relax as R
//
//   @I.ir_module
//   class Module:
//       @R.function(private=True)
//       def f(x: R.Tensor((10, 20), dtype="float32")) -> R.Tensor((10, 20), dtype="float32"):
//           return x
//
//       @R.function(private=True)
//       def g(x: R.Tensor((10, 20), dtype="float32")) -> R.Tensor((10, 20), dtype="float32"):
//           return x
//
//       @R.function(private=True)
//       def kept(x: R.Tensor((10, 20), dtype="float32")) -> R.Tensor((10, 20), dtype="float32"):
//           R.func_attr({"SkipOptimization": True})
//           gv: R.Tensor((10, 20), dtype="float32") = R.tanh(x)
//           return gv
