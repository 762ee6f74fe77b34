// IPCAllReduceRewrite: sums over several GPUs by the runtime's function for memory that they share.
//
//   x = R.builtin.alloc_tensor(..., R.str("global"))        x = R.builtin.alloc_tensor(..., R.str("ipc_memory"))
//   ...                                              -->    ...
//   R.call_packed("runtime.disco.allreduce", x,             R.call_packed("runtime.disco.cuda_ipc.custom_allreduce",
//       R.shape([0]), R.prim_value(False), y)                   x, R.prim_value(1), y)
//
// Of tensors that are allocated in the function, directly or as reshapes or aliases of such. LowerGPUIPCAllocStorage
// lowers the allocations then. O(nodes).
//
// Source: TVM 0.18's pass of this name, which does nothing if the runtime lacks the function.
#include <vector>

#include "builtin_calls.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/ir/relax/walk.h"
#include "iropt/op/ops/memory.h"
#include "iropt/op/ops/reshape.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "iropt/transform/options/IPCAllReduceRewrite.h"

namespace iropt {

namespace {

constexpr uint32_t kScopeOperand = 3;  // of R.builtin.alloc_tensor

// Finds the sums over all devices, and the allocations of what they sum.
struct AllReduceFinder : WalkHandler {
  void OnBinding(const Binding& binding) {
    const Expr* value = ValueOf(&binding);
    const auto* call = As<Call>(value);
    if (call && IsOp(call->op, op::kBuiltinAllocTensor) && call->args.size() > kScopeOperand) {
      allocations[binding.var] = call;
      return;
    }
    if (call && IsOp(call->op, op::kReshape)) value = call->args[0];
    const auto* known = allocations.Find(value);
    if (known) allocations[binding.var] = *known;
  }

  void OnCall(const Call& call) {
    const auto* callee = As<ExternFunc>(call.op);
    if (!callee || callee->global_symbol != "runtime.disco.allreduce" || call.args.size() != 4) return;
    const auto* kind = As<ShapeExpr>(call.args[1]);
    const bool is_sum = kind && !kind->values.empty() && arith::IsInt(kind->values[0], 0);
    const auto* allocation = allocations.Find(call.args[0]);
    if (!is_sum || !allocation) return;
    const auto* scope = As<StringImm>((*allocation)->args[kScopeOperand]);
    if (!scope || scope->value != "global") return;
    replaced.insert(&call);
    replaced.insert(*allocation);
  }

  LookupMap<const Expr*, const Call*> allocations;  // by variable
  LookupSet<const Call*> replaced;
};

class AllReduceRewriter : public ExprMutator {
 public:
  AllReduceRewriter(const LookupSet<const Call*>& replaced, int64_t strategy, Workspace& workspace,
                    TypeInferrer& inferrer)
      : ExprMutator(workspace, &inferrer), builtins_(workspace), replaced_(replaced), strategy_(strategy) {}

 protected:
  const Expr* VisitCall(const Call* old) override {
    const auto* call = To<Call>(ExprMutator::VisitCall(old));
    if (!replaced_.contains(old)) return call;
    if (Is<ExternFunc>(call->op)) {
      auto* sum = builtins_.Packed("runtime.disco.cuda_ipc.custom_allreduce",
                                   {call->args[0], builtins_.Int(strategy_), call->args[3]}, ObjectType::Get());
      sum->type_args = call->type_args;
      sum->type = call->type;
      return sum;
    }
    std::vector<const Expr*> args(call->args.begin(), call->args.end());
    args[kScopeOperand] = builtins_.Text("ipc_memory");
    return Rebuild(*call, call->op, workspace().Copy(args));
  }

 private:
  BuiltinCalls builtins_;
  const LookupSet<const Call*>& replaced_;
  const int64_t strategy_;
};

}  // namespace

Pass CreateIPCAllReduceRewrite(const PassOptions& options) {
  const pass_options::IPCAllReduceRewrite given(options);
  const int64_t strategy = *given.allreduce_strategy;
  if (strategy != 1 && strategy != 2) options.Refuse(given.allreduce_strategy, "must be 1 (one shot) or 2 (two shots)");
  return CreateFunctionPass(
      options.info(), [strategy](const Function* function, FunctionPassContext& context) -> Result<const Function*> {
        AllReduceFinder finder;
        Walk(*function, finder);
        if (finder.replaced.empty()) return function;
        OpTypeInferrer inferrer(&context.module(), context.workspace().arena(), &context.diagnostics());
        AllReduceRewriter rewriter(finder.replaced, strategy, context.workspace(), inferrer);
        const auto* result = To<Function>(rewriter.VisitExpr(function));
        if (rewriter.failed()) return Failure{ErrorCode::PassFailed};
        return result;
      });
}

}  // namespace iropt
