// RemoveRedundantReshape: merges consecutive reshapes and removes no-op reshapes.
//
//   lv = R.reshape(x, R.shape([2, 6]))             lv1 = R.reshape(x, R.shape([3, 4]))
//   lv1 = R.reshape(lv, R.shape([3, 4]))    -->    gv = R.exp(lv1)
//   lv2 = R.reshape(lv1, R.shape([3, 4]))
//   gv = R.exp(lv2)
//
// In changed functions bindings are canonicalized, equal ones merged and dead ones removed. Primitive functions are not
// changed. O(nodes).
//
// Source: TVM 0.18's pass of this name.
#include "iropt/ir/rewrite_limit.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/reshape.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "transform/relax/ipo/call_tracker.h"

namespace iropt {

namespace {

class ReshapeRemover : public CallTracker {
 public:
  ReshapeRemover(const Module& module, Workspace& workspace, TypeInferrer& inferrer)
      : CallTracker(workspace, &inferrer), quiet_inferrer_(&module, workspace.arena(), nullptr) {}

 protected:
  const Expr* VisitCall(const Call* old) override {
    const auto* call = To<Call>(CallTracker::VisitCall(old));
    if (!IsOp(call->op, op::kReshape)) return call;
    const Expr* source = call->args[0];
    if (const Call* before = CallOf(source); before && IsOp(before->op, op::kReshape)) source = before->args[0];
    const Call* reshape = Reshape(*call, source);
    // Contradicting shapes are left for the check at run time.
    if (!reshape) return call;
    const Expr* result = IsSameShape(reshape->type, source->type) ? source : reshape;
    return result == call || AllowRewrite("simplified-reshape", *old) ? result : call;
  }

 private:
  // The call applied to another tensor; null if that has a wrong number of elements.
  const Call* Reshape(const Call& call, const Expr* source) {
    if (source == call.args[0] && call.type) return &call;
    const Expr* args[] = {source, call.args[1]};
    auto* reshape = NewLike<Call>(workspace(), call, call.op, workspace().Copy(std::span<const Expr* const>(args)),
                                  call.attrs, call.type_args, nullptr);
    reshape->type = quiet_inferrer_.Infer(reshape);
    return reshape->type ? reshape : nullptr;
  }

  // Tensors of equal type have equal shapes only if the shape is known.
  static bool IsSameShape(const Type* a, const Type* b) {
    const auto* tensor = As<TensorType>(a);
    return tensor && tensor->has_shape() && TypeEqual(a, b);
  }

  OpTypeInferrer quiet_inferrer_;
};

}  // namespace

Pass CreateRemoveRedundantReshape(const PassOptions& options) {
  return CreateCallPass<ReshapeRemover>(options.info(), MergeEqualCalls::kYes);
}

}  // namespace iropt
