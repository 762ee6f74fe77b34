// RealizeVDevice: turns device hints into types with virtual devices, and transfers between devices.
//
//   def main(x, y):                                       def main(x: ... "cuda:0", y: ... "llvm:0"):
//     lv = R.hint_on_device(x, R.device(2, 0))              lv: ... "cuda:0" = x
//     lv1 = R.exp(lv)                               -->     lv1: ... "cuda:0" = R.exp(lv)
//     lv2 = R.hint_on_device(lv1, R.device(1, 0))           lv2: ... "llvm:0" = R.to_vdevice(lv1, "llvm:0")
//     gv = R.add(lv2, y)                                    gv: ... "llvm:0" = R.add(lv2, y)
//
// Parameters get the devices that VDeviceMap finds, all other devices follow by type inference. A hint whose operand is
// on the device already becomes the operand. A hint that names no device of the module is an error. O(nodes).
//
// Source: the rules are those of TVM 0.18's pass of this name. It fails on calls of functions with operands that are
// not on the devices of the parameters, such as R.zeros, whose device does not follow from operands; here they are
// moved.
#include "iropt/analysis/relax/call_graph.h"
#include "iropt/analysis/relax/vdevice_map.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/location.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/op/op_attrs.h"
#include "iropt/op/ops/device.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"

namespace iropt {

namespace {

class DeviceRewriter : public ExprMutator {
 public:
  // In `module`, the functions that this one calls are rewritten already.
  DeviceRewriter(const Module& module, const VDeviceMap& map, const VDeviceLookup& lookup, size_t function,
                 Workspace& workspace, TypeInferrer& inferrer)
      : ExprMutator(workspace, &inferrer), module_(module), map_(map), lookup_(lookup), function_(function) {}

 protected:
  const Expr* VisitFunction(const Function* function) override {
    for (const Var* param : function->params) {
      const auto* type = As<TensorType>(param->type);
      const VDeviceAttr* device = type ? map_.Of(function_, param) : nullptr;
      if (!device || device == type->vdevice) continue;
      RemapToType(param, type->With(workspace().arena(), type->dtype, device));
    }
    return ExprMutator::VisitFunction(function);
  }

  const Expr* VisitCall(const Call* old) override {
    if (!Is<Op>(old->op)) return VisitFunctionCall(old);
    const auto* call = To<Call>(ExprMutator::VisitCall(old));
    if (!IsOp(call->op, op::kHintOnDevice)) return call;
    return MoveTo(builder().NormalizeArgument(call->args[0]), lookup_.Of(*call));
  }

  // A cast does not change the device.
  void VisitMatchCast(const MatchCast* binding) override {
    const Expr* value = VisitExpr(binding->value);
    const auto* now = As<TensorType>(value->type);
    const auto* type = As<TensorType>(binding->match_type);
    if (value == binding->value || !now || !type || type->vdevice) return ExprMutator::VisitMatchCast(binding);
    ReEmitMatchCast(binding, value, type->With(workspace().arena(), type->dtype, now->vdevice));
  }

 private:
  const Expr* VisitFunctionCall(const Call* old) {
    const Expr* callee = VisitExpr(old->op);
    const auto* global = As<GlobalVar>(callee);
    const ModuleEntry* entry = global ? module_.Find(global) : nullptr;
    const auto* type = As<FuncType>(entry ? entry->func->type : callee->type);
    size_t next = 0;
    const List<const Expr*> args = MapList(old->args, workspace(), [&](const Expr* old_arg) -> const Expr* {
      const Expr* arg = VisitExpr(old_arg);
      const size_t i = next++;
      const auto* param = type && i < type->params.size() ? As<TensorType>(type->params[i]) : nullptr;
      if (!param || !param->vdevice || !Is<TensorType>(arg->type)) return arg;
      return builder().NormalizeArgument(MoveTo(builder().NormalizeArgument(arg), param->vdevice));
    });
    const Expr* call = Rebuild(*old, callee, args);
    if (call != old) return call;
    // The result of the function may be on a device now.
    auto* again = NewLike<Call>(workspace(), *old, callee, args, old->attrs, old->type_args, nullptr);
    again->type = builder().inferrer()->Infer(again);
    return TypeEqual(again->type, old->type) ? old : again;
  }

  const Expr* MoveTo(const Expr* operand, const VDeviceAttr* device) {
    const auto* type = As<TensorType>(operand->type);
    if (type && type->vdevice == device) return operand;
    return builder().MakeCall(GetOp(op::kToVdevice), {operand},
                              MakeOpAttrs(op::kToVdevice, ToVDeviceAttrs::Values{.dst_vdevice = device}));
  }

  const Module& module_;
  const VDeviceMap& map_;
  const VDeviceLookup& lookup_;
  const size_t function_;
};

Result<Module> RealizeVDevice(Module module, ModulePassContext& context) {
  DiagnosticEngine& diagnostics = context.diagnostics;
  const VDeviceMap map(module);
  const VDeviceLookup lookup(module);
  for (const Call* hint : map.unknown_hints()) {
    diagnostics.Error(Location(*hint), "pass-failed", "the module has no virtual device that this hint names");
  }
  if (!map.unknown_hints().empty()) return Failure{ErrorCode::PassFailed};
  bool ok = true;
  for (const size_t i : MakeCallGraph(module, context.AnalysisSource<CalledFunctions>()).post_order) {
    const ModuleEntry entry = module.functions()[i];
    if (!Is<Function>(entry.func)) continue;
    Workspace workspace(module, entry.storage);
    OpTypeInferrer inferrer(&module, workspace.arena(), &diagnostics);
    DeviceRewriter rewriter(module, map, lookup, i, workspace, inferrer);
    const auto* function = To<Function>(rewriter.VisitExpr(entry.func));
    ok &= !rewriter.failed();
    if (function != entry.func) module.SetAt(i, function, workspace.Finish());
  }
  return ok ? Result<Module>(std::move(module)) : Failure{ErrorCode::PassFailed};
}

}  // namespace

Pass CreateRealizeVDevice(const PassOptions& options) { return CreateModulePass(options.info(), &RealizeVDevice); }

}  // namespace iropt
