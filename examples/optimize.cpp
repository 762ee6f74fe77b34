// The shortest program: reads a module, runs passes on it, prints it.
//
//   optimize examples/scale.ir
#include <iostream>

#include "iropt/driver/compiler_instance.h"
#include "iropt/text/script/printer.h"

using namespace iropt;

Status Optimize(CompilerInstance& compiler, const char* path) {
  IROPT_ASSIGN_OR_RETURN(Module module, compiler.ReadModule(path));
  IROPT_ASSIGN_OR_RETURN(const Pass pass, compiler.MakePass("FoldConstant,EliminateCommonSubexpr"));
  PassContext context = compiler.MakeContext(/*opt_level=*/3);
  IROPT_ASSIGN_OR_RETURN(const PassResult result, pass(std::move(module), context));
  std::cout << ModuleToString(result.module);
  return {};
}

int main(int argc, char** argv) {
  CompilerInstance compiler;
  return compiler.Finish(Optimize(compiler, argc > 1 ? argv[1] : "-"));
}

// Prints:
//
//   # from tvm.script import relax as R
//
//   @R.function
//   def main(x: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
//       with R.dataflow():
//           y: R.Tensor((2, 3), dtype="float32") = R.multiply(x, R.const(3.0, "float32"))
//           z: R.Tensor((2, 3), dtype="float32") = y
//           out: R.Tensor((2, 3), dtype="float32") = R.add(y, y)
//           R.output(out)
//       return out
