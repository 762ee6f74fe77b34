// Two ways to see what passes do without writing an instrument: the pass PrintIR, which prints the module at its
// position in a pipeline, and a trace, which calls a function before and after every pass.
#include <iostream>

#include "iropt/driver/compiler_instance.h"
#include "iropt/transform/passes.h"

using namespace iropt;

constexpr const char* kModule = R"(
@R.function
def main(x: R.Tensor((2,), "float32")):
    with R.dataflow():
        c = R.add(R.const(1.0), R.const(2.0))
        y = R.multiply(x, c)
        R.output(y)
    return y
)";

Status Run(CompilerInstance& compiler) {
  IROPT_ASSIGN_OR_RETURN(const Module input, compiler.ParseModule(kModule));
  const Pass seq = Sequential(
      {transform::FoldConstant(), transform::PrintIR({.header = "folded"}), transform::DeadCodeElimination()});

  PassContext context = compiler.MakeContext();  // PrintIR prints to stderr
  context.instruments = {std::make_shared<TraceInstrument>([](const Module& module, const PassInfo& info, bool before) {
    std::cerr << (before ? "before " : "after ") << info.name << ": " << module.size() << " function\n";
  })};
  With<PassContext> scope(context);
  IROPT_RETURN_IF_ERROR(seq(input));
  return {};
}

int main() {
  CompilerInstance compiler;
  return compiler.Finish(Run(compiler));
}

// Prints:
//
//   before FoldConstant: 1 function
//   after FoldConstant: 1 function
//   before PrintIR: 1 function
//   # folded
//   # from tvm.script import relax as R
//
//   @R.function
//   def main(x: R.Tensor((2,), dtype="float32")) -> R.Tensor((2,), dtype="float32"):
//       with R.dataflow():
//           y: R.Tensor((2,), dtype="float32") = R.multiply(x, R.const(3.0, "float32"))
//           R.output(y)
//       return y
//   after PrintIR: 1 function
//   before DeadCodeElimination: 1 function
//   after DeadCodeElimination: 1 function
