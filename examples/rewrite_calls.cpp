// A rewriter that makes new calls and constants: R.nn.relu(x) becomes R.maximum(x, 0). It reports a remark for each, at
// the place of the call in the text.
#include <iostream>

#include "iropt/driver/compiler_instance.h"
#include "iropt/infer/op_builder.h"
#include "iropt/infer/ops/binary.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/location.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/op/op_id.h"
#include "iropt/op/ops/activation.h"
#include "iropt/text/script/printer.h"

using namespace iropt;

constexpr const char* kModule = R"(
@R.function
def main(x: R.Tensor(("n", 4), "float32")):
    a = R.nn.relu(R.exp(x))
    b = R.nn.relu(R.astype(a, "int32"))
    return b
)";

// Diagnostics have kinds, by which programs that read them tell them apart.
constexpr DiagnosticKind kReplaced{"relu-replaced", Severity::Remark, "a relu became a maximum"};

class ReluReplacer : public ExprMutator {
 public:
  // With a type inferrer, the builder gives new calls their types.
  ReluReplacer(Workspace& workspace, TypeInferrer& inferrer, DiagnosticEngine& diagnostics)
      : ExprMutator(workspace, &inferrer), diagnostics_(diagnostics) {}

 protected:
  const Expr* VisitCall(const Call* call) override {
    if (!IsOp(call->op, op::kNnRelu)) return ExprMutator::VisitCall(call);
    diagnostics_.Remark(Location(*call), DiagId::Dynamic(kReplaced.id), "this relu becomes a maximum");
    const DataType dtype = To<TensorType>(call->type)->dtype;
    OpBuilder ops(builder());
    return op::Maximum(ops, VisitExpr(call->args[0]), ops.MakeScalar(0, dtype));
  }

 private:
  DiagnosticEngine& diagnostics_;
};

Result<const Function*> ReplaceRelu(const Function* function, FunctionPassContext& context) {
  OpTypeInferrer inferrer(&context.module(), context.workspace().arena(), &context.diagnostics());
  ReluReplacer replacer(context.workspace(), inferrer, context.diagnostics());
  return To<Function>(replacer.VisitExpr(function));
}

Status Run(CompilerInstance& compiler) {
  IROPT_RETURN_IF_ERROR(compiler.registry().AddDiagnosticKind(kReplaced));
  IROPT_ASSIGN_OR_RETURN(Module module, compiler.ParseModule(kModule));
  PassContext context = compiler.MakeContext();
  const Pass pass = CreateFunctionPass({.name = "ReplaceRelu"}, ReplaceRelu);
  IROPT_ASSIGN_OR_RETURN(const PassResult result, pass(std::move(module), context));
  std::cout << ModuleToString(result.module);
  return {};
}

int main() {
  CompilerInstance compiler;
  return compiler.Finish(Run(compiler));
}

// Prints:
//
//   module:4:9: remark: this relu becomes a maximum
//         a = R.nn.relu(R.exp(x))
//             ^~~~~~~~~~~~~~~~~~~
//   module:5:9: remark: this relu becomes a maximum
//         b = R.nn.relu(R.astype(a, "int32"))
//             ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
//   # from tvm.script import tir as T
//   # from tvm.script import relax as R
//
//   @R.function
//   def main(x: R.Tensor(("n", 4), dtype="float32")) -> R.Tensor(("n", 4), dtype="int32"):
//       n = T.int64()
//       gv: R.Tensor((n, 4), dtype="float32") = R.exp(x)
//       a: R.Tensor((n, 4), dtype="float32") = R.maximum(gv, R.const(0.0, "float32"))
//       gv_1: R.Tensor((n, 4), dtype="int32") = R.astype(a, dtype="int32")
//       b: R.Tensor((n, 4), dtype="int32") = R.maximum(gv_1, R.const(0, "int32"))
//       return b
