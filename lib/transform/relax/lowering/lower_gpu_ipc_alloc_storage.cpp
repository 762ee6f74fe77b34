// LowerGPUIPCAllocStorage: allocates memory that several GPUs share by the runtime's function for it.
//
//   x = R.builtin.alloc_tensor(        gv = R.call_packed("runtime.disco.cuda_ipc.alloc_storage", R.shape([m, n]),
//       R.shape([m, n]),                    R.dtype("float16"), sinfo_args=(R.Object,))
//       R.dtype("float16"),      -->   x = R.memory.alloc_tensor(gv, R.prim_value(0), R.shape([m, n]),
//       R.prim_value(0),                    R.dtype("float16"))
//       R.str("ipc_memory"))
//
// R.memory.alloc_storage is rewritten likewise. Only allocations in the scope "ipc_memory" are rewritten. O(nodes).
//
// Source: TVM 0.18's pass of this name, which makes the number of the device the offset in the storage.
#include "builtin_calls.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/op/ops/memory.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "memory_calls.h"

namespace iropt {

namespace {

class IpcAllocationLowerer : public ExprMutator {
 public:
  IpcAllocationLowerer(Workspace& workspace, TypeInferrer& inferrer)
      : ExprMutator(workspace, &inferrer), memory_(builder()), builtins_(workspace) {}

 protected:
  const Expr* VisitCall(const Call* old) override {
    const auto* call = To<Call>(ExprMutator::VisitCall(old));
    if (IsOp(call->op, op::kMemoryAllocStorage) && IsIpc(*call, 2)) return AllocStorage(call->args[0], call->args[3]);
    const bool is_tensor = IsOp(call->op, op::kBuiltinAllocTensor) && IsIpc(*call, 3);
    const auto* dtype = is_tensor ? As<DataTypeImm>(call->args[1]) : nullptr;
    if (!dtype) return call;
    const Var* storage = builder().Emit(AllocStorage(call->args[0], dtype));
    return memory_.AllocTensor(storage, call->args[0], dtype->value);
  }

 private:
  static bool IsIpc(const Call& call, uint32_t scope) {
    const auto* text = call.args.size() > scope ? As<StringImm>(call.args[scope]) : nullptr;
    return text && text->value == "ipc_memory";
  }
  Call* AllocStorage(const Expr* shape, const Expr* dtype) {
    return builtins_.Packed("runtime.disco.cuda_ipc.alloc_storage", {shape, dtype}, ObjectType::Get());
  }

  MemoryCalls memory_;
  BuiltinCalls builtins_;
};

}  // namespace

Pass CreateLowerGPUIPCAllocStorage(const PassOptions& options) {
  return CreateFunctionPass(
      options.info(), [](const Function* function, FunctionPassContext& context) -> Result<const Function*> {
        OpTypeInferrer inferrer(&context.module(), context.workspace().arena(), &context.diagnostics());
        IpcAllocationLowerer lowerer(context.workspace(), inferrer);
        const auto* result = To<Function>(lowerer.VisitExpr(function));
        if (lowerer.failed()) return Failure{ErrorCode::PassFailed};
        return result;
      });
}

}  // namespace iropt
