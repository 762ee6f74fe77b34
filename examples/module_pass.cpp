// A module pass: it sees the whole module and may add and delete functions. This one adds a function `abs`.
#include <iostream>

#include "iropt/driver/compiler_instance.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/context.h"
#include "iropt/ir/relax/builder.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/unary.h"
#include "iropt/text/script/printer.h"

using namespace iropt;

// def abs(x: R.Tensor((10,), dtype="float32")): return R.abs(x)
Result<Module> AddAbs(Module module, ModulePassContext& context) {
  Workspace workspace(module);  // allocates the new nodes
  OpTypeInferrer inferrer(&module, workspace.arena(), &context.diagnostics);
  BlockBuilder builder(workspace, &inferrer);

  const PrimExpr* shape[] = {IRContext::Current().Int(10)};
  const Var* x = workspace.NewVar("x", TensorType::Get(shape, DataType::Float(32)));
  builder.BeginDataflowBlock();
  const Var* y = builder.EmitOutput(builder.MakeCall(GetOp(op::kAbs), {x}));
  const Function* function = builder.MakeFunction({x}, builder.Seq({builder.EndBlock()}, y));

  module.Set(GlobalVar::Get("abs"), function, workspace.Finish());
  return module;
}

Status Run(CompilerInstance&) {
  const Pass pass = CreateModulePass({.name = "AddAbs", .opt_level = 2}, AddAbs);
  IROPT_ASSIGN_OR_RETURN(const PassResult result, pass(Module()));
  std::cout << pass.info().name << " has level " << pass.info().opt_level << "\n\n" << ModuleToString(result.module);
  return {};
}

int main() {
  CompilerInstance compiler;
  return compiler.Finish(Run(compiler));
}

// Prints:
//
//   AddAbs has level 2
//
//   # from tvm.script import ir as I
//   # from tvm.script import relax as R
//
//   @I.ir_module
//   class Module:
//       @R.function(private=True)
//       def abs(x: R.Tensor((10,), dtype="float32")) -> R.Tensor((10,), dtype="float32"):
//           with R.dataflow():
//               gv: R.Tensor((10,), dtype="float32") = R.abs(x)
//               R.output(gv)
//           return gv
