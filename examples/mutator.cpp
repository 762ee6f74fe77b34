// Mutators rewrite code. An ExprMutator rebuilds only the nodes that change: if nothing below an expression changed, it
// returns the same pointer.
#include "iropt/ir/relax/mutator.h"

#include <iostream>

#include "iropt/driver/compiler_instance.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/text/script/printer.h"

using namespace iropt;

constexpr const char* kModule = R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32"), c: R.Tensor((), "bool")):
        if c:
            y = R.nn.relu(x)
        else:
            y = R.exp(x)
        return R.add(y, x)
    @R.function
    def untouched(x: R.Tensor((2,), "float32")):
        return R.exp(x)
)";

// Takes the true branch of every conditional. A mutator may return an expression of another kind, and it need not be in
// A-normal form: the base class normalizes it.
class IfCollapser : public ExprMutator {
 public:
  using ExprMutator::ExprMutator;

 protected:
  const Expr* VisitIf(const If* branch) override { return VisitExpr(branch->true_branch); }
};

Result<const Function*> CollapseIfs(const Function* function, FunctionPassContext& context) {
  OpTypeInferrer inferrer(&context.module(), context.workspace().arena(), &context.diagnostics());
  return To<Function>(IfCollapser(context.workspace(), &inferrer).VisitExpr(function));
}

Status Run(CompilerInstance& compiler) {
  IROPT_ASSIGN_OR_RETURN(const Module module, compiler.ParseModule(kModule));
  const Pass pass = CreateFunctionPass({.name = "CollapseIfs"}, CollapseIfs);
  IROPT_ASSIGN_OR_RETURN(const PassResult result, pass(module));
  std::cout << ModuleToString(result.module);
  const bool same = result.module.Find("untouched")->func == module.Find("untouched")->func;
  std::cout << "\nuntouched is " << (same ? "the same pointer" : "another function") << "\n";
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
//       @R.function
//       def untouched(x: R.Tensor((2,), dtype="float32")) -> R.Tensor((2,), dtype="float32"):
//           gv: R.Tensor((2,), dtype="float32") = R.exp(x)
//           return gv
//
//       @R.function
//       def main(x: R.Tensor((2,), dtype="float32"), c: R.Tensor((), dtype="bool")) -> R.Tensor((2,), dtype="float32"):
//           y_then: R.Tensor((2,), dtype="float32") = R.nn.relu(x)
//           y: R.Tensor((2,), dtype="float32") = y_then
//           gv: R.Tensor((2,), dtype="float32") = R.add(y, x)
//           return gv
//
//   untouched is the same pointer
