// A sequence of passes, under a context that decides which of them run.
//
// A Sequential runs a pass if the pass's level is not above that of the context, unless the context disables it by
// name; passes that the context requires by name run at any level.
#include <iostream>

#include "iropt/driver/compiler_instance.h"
#include "iropt/ir/relax/visitor.h"
#include "iropt/transform/passes.h"

using namespace iropt;

constexpr const char* kModule = R"(
@R.function
def main(x: R.Tensor((2, 3), "float32")):
    with R.dataflow():
        c = R.add(R.const(1.0), R.const(2.0))
        y = R.multiply(x, c)
        z = R.multiply(x, c)
        out = R.add(y, z)
        R.output(out)
    return out
)";

// One line for each operator that is called.
void PrintCalls(const char* heading, const Module& module) {
  std::cout << heading << "\n";
  PostOrderVisit(module.Find("main")->func, [](const Expr* expr) {
    const auto* call = As<Call>(expr);
    if (call && Is<Op>(call->op)) std::cout << "  " << To<Op>(call->op)->name << "\n";
  });
}

Status Run(CompilerInstance& compiler) {
  IROPT_ASSIGN_OR_RETURN(const Module module, compiler.ParseModule(kModule));
  const Pass seq = Sequential({transform::FoldConstant(), transform::EliminateCommonSubexpr(),
                               transform::CanonicalizeBindings(), transform::DeadCodeElimination()});

  PassContext context = compiler.MakeContext();  // at level 2, below that of EliminateCommonSubexpr
  {
    With<PassContext> scope(context);  // passes in this scope use the context
    IROPT_ASSIGN_OR_RETURN(const PassResult result, seq(module));
    PrintCalls("level 2:", result.module);
  }

  context.opt_level = 3;
  {
    With<PassContext> scope(context);
    IROPT_ASSIGN_OR_RETURN(const PassResult result, seq(module));
    PrintCalls("level 3:", result.module);
  }

  context.disabled_pass = {"FoldConstant"};
  {
    With<PassContext> scope(context);
    IROPT_ASSIGN_OR_RETURN(const PassResult result, seq(module));
    PrintCalls("level 3, without FoldConstant:", result.module);
  }
  return {};
}

int main() {
  CompilerInstance compiler;
  return compiler.Finish(Run(compiler));
}

// Prints:
//
//   level 2:
//     relax.multiply
//     relax.multiply
//     relax.add
//   level 3:
//     relax.multiply
//     relax.add
//   level 3, without FoldConstant:
//     relax.add
//     relax.multiply
//     relax.add
