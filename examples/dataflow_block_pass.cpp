// A dataflow block pass: it gets one dataflow block at a time and returns its replacement. A dataflow block has no side
// effects, so bindings of unused variables can be removed. Outputs of the block must stay.
#include <iostream>
#include <unordered_set>

#include "iropt/driver/compiler_instance.h"
#include "iropt/ir/relax/visitor.h"
#include "iropt/text/script/printer.h"

using namespace iropt;

constexpr const char* kModule = R"(
@R.function
def main(x: R.Tensor((2,), "float32")):
    with R.dataflow():
        a = R.exp(x)
        b = R.log(a)
        c = R.tanh(b)
        d = R.negative(a)
        R.output(d)
    with R.dataflow():
        e = R.sin(d)
        R.output(e)
    return e
)";

Result<const DataflowBlock*> RemoveUnused(const DataflowBlock* block, FunctionPassContext& context) {
  std::unordered_set<const Expr*> used;
  std::vector<const Binding*> kept;
  // From the end, so that what only unused bindings need goes as well.
  for (size_t i = block->bindings.size(); i-- > 0;) {
    const Binding* binding = block->bindings[static_cast<uint32_t>(i)];
    if (binding->var->is_dataflow() && Is<VarBinding>(binding) && !used.contains(binding->var)) continue;
    kept.insert(kept.begin(), binding);
    PostOrderVisit(ValueOf(binding), [&](const Expr* expr) { used.insert(expr); });
  }
  // A pass that returns its input has changed nothing.
  if (kept.size() == block->bindings.size()) return block;
  return context.workspace().New<DataflowBlock>(context.workspace().Copy(std::span<const Binding* const>(kept)));
}

Status Run(CompilerInstance& compiler) {
  IROPT_ASSIGN_OR_RETURN(Module module, compiler.ParseModule(kModule));
  const Pass pass = CreateDataflowBlockPass({.name = "RemoveUnused", .opt_level = 1}, RemoveUnused);
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
//   # from tvm.script import relax as R
//
//   @R.function
//   def main(x: R.Tensor((2,), dtype="float32")) -> R.Tensor((2,), dtype="float32"):
//       with R.dataflow():
//           a: R.Tensor((2,), dtype="float32") = R.exp(x)
//           d: R.Tensor((2,), dtype="float32") = R.negative(a)
//           e: R.Tensor((2,), dtype="float32") = R.sin(d)
//           R.output(d, e)
//       return e
