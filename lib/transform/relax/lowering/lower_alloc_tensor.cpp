// LowerAllocTensor: gives every tensor that is not planned storage of its own.
//
//                                                     storage = R.memory.alloc_storage(R.shape([2048]),
//                                                     R.prim_value(0),
//   x = R.builtin.alloc_tensor(R.shape([16, 32]),  -->        R.str("global"), R.dtype("uint8"))
//       R.dtype("float32"), ...)                      x = R.memory.alloc_tensor(storage, R.prim_value(0),
//                                                             R.shape([16, 32]), R.dtype("float32"))
//
// Run StaticPlanBlockMemory before, which lets tensors share storage. O(nodes).
//
// Source: TVM 0.18's pass of this name.
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/op/ops/memory.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "memory_calls.h"
#include "storage_planner.h"

namespace iropt {

namespace {

class AllocationLowerer : public ExprMutator {
 public:
  AllocationLowerer(Workspace& workspace, TypeInferrer& inferrer)
      : ExprMutator(workspace, &inferrer), calls_(builder()) {}

 protected:
  const Expr* VisitCall(const Call* call) override {
    const auto* type = As<TensorType>(call->type);
    const bool is_allocation = IsOp(call->op, op::kBuiltinAllocTensor) && call->args.size() == 4;
    if (!is_allocation || !type || !type->known) return ExprMutator::VisitCall(call);
    const arith::PrimBuilder make;
    const PrimExpr* bytes = make.Int(ElementBytes(type->dtype));
    for (const PrimExpr* dim : type->dims) bytes = make.Mul(bytes, dim);
    const Call* storage = calls_.AllocStorage(bytes, call->args[2], call->args[3], DataType::UInt(8));
    return calls_.AllocTensor(builder().Emit(storage, "storage"), call->args[0], type->dtype);
  }

 private:
  MemoryCalls calls_;
};

}  // namespace

Pass CreateLowerAllocTensor(const PassOptions& options) {
  return CreateFunctionPass(
      options.info(), [](const Function* function, FunctionPassContext& context) -> Result<const Function*> {
        OpTypeInferrer inferrer(&context.module(), context.workspace().arena(), &context.diagnostics());
        AllocationLowerer lowerer(context.workspace(), inferrer);
        const auto* result = To<Function>(lowerer.VisitExpr(function));
        if (lowerer.failed()) return Failure{ErrorCode::PassFailed};
        return result;
      });
}

}  // namespace iropt
