// FoldVDeviceScopeChange: lets a PrimFunc write to plain memory instead of copying its result from a texture.
//
//   lv = R.call_tir(cls.f, (x,), out_sinfo=R.Tensor((4,),
//       "float32", "opencl:0:global.texture"))               -->    lv1 = R.call_tir(cls.f, (x,), out_sinfo=
//   lv1 = R.to_vdevice(lv, "opencl:1:global")                           R.Tensor((4,), "float32", "opencl:1:global"))
//
// A result that is used otherwise keeps its place. Run SpecializePrimFuncBasedOnCallSite afterwards, which gives the
// buffers of the PrimFuncs the scopes of the tensors. In changed functions, aliases are propagated and dead bindings
// removed. O(nodes).
//
// Source: the pass of this name in TVM 0.23.
#include <vector>

#include "iropt/analysis/relax/use_count.h"
#include "iropt/op/ops/call_tir.h"
#include "iropt/op/ops/device.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "transform/relax/ipo/call_tracker.h"

namespace iropt {

namespace {

bool IsInTexture(const VDeviceAttr* device) {
  return device && device->memory_scope.find("texture") != std::string_view::npos;
}

class ScopeChangeFolder : public CallTracker {
 public:
  ScopeChangeFolder(const Module&, Workspace& workspace, TypeInferrer& inferrer) : CallTracker(workspace, &inferrer) {}

 protected:
  const Expr* VisitFunction(const Function* function) override {
    if (uses_.empty()) uses_ = UseCounts(*function, workspace().num_vars());
    return CallTracker::VisitFunction(function);
  }

  const Expr* VisitCall(const Call* old) override {
    const auto* call = To<Call>(CallTracker::VisitCall(old));
    if (!IsOp(call->op, op::kToVdevice)) return call;
    const VDeviceAttr* device = ToVDeviceAttrs(*call).dst_vdevice();
    if (!device || device->memory_scope != "global" || !IsUsedOnce(old->args[0])) return call;
    const Call* producer = CallOf(call->args[0]);
    if (!producer || !IsOp(producer->op, op::kCallTir) || !producer->type_args) return call;
    const auto* type = As<TensorType>(producer->type_args->fields[0]);
    if (!type || !IsInTexture(type->vdevice)) return call;
    const Type* const moved[] = {type->With(workspace().arena(), type->dtype, device)};
    return NewLike<Call>(workspace(), *producer, producer->op, producer->args, producer->attrs,
                         TupleType::Get(workspace().arena(), moved), nullptr);
  }

 private:
  bool IsUsedOnce(const Expr* operand) const {
    const auto* var = As<Var>(operand);
    return var && var->id < uses_.size() && uses_[var->id] == 1;
  }

  std::vector<uint32_t> uses_;  // by Var::id, in the function before the pass
};

}  // namespace

Pass CreateFoldVDeviceScopeChange(const PassOptions& options) {
  return CreateCallPass<ScopeChangeFolder>(options.info());
}

}  // namespace iropt
