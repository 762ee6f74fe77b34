// AnnotateCustomMemoryScope: puts tensors into textures, for the operators that can read them from there.
//
//   lv = R.call_tir(cls.to_nchw4c, (x,),                  lv = R.call_tir(cls.to_nchw4c, (x,), out_sinfo=R.Tensor(
//       out_sinfo=R.Tensor((1, 16, 8, 8, 4)))      -->        (1, 16, 8, 8, 4), "float32",
//       "opencl:0:global.texture-nhwc"))
//   lv1 = R.nn.max_pool2d(lv, layout="NCHW4c", ...)       lv1 = R.nn.max_pool2d(lv, ..., sinfo_args=(R.Tensor(
//                                                             (1, 16, 4, 4, 4), "float32", "opencl:1:global"),))
//
// Convolutions, pooling, normalizations and element-wise PrimFuncs read tensors of five dimensions, the last of which
// is 4, from textures; everything else reads plain memory. A result is put where its uses want it, or where the last of
// them that differ does; the others get a copy by R.to_vdevice. A parameter is where its first use wants it. Types name
// the places as virtual devices of the target, which are added to the module. Calls of functions stay. Afterwards
// bindings are canonicalized and dead code is removed. O(nodes).
//
// Source: the pass of this name in TVM 0.23. Run FoldVDeviceScopeChange and SpecializePrimFuncBasedOnCallSite after it.
#include <algorithm>
#include <utility>
#include <vector>

#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/op/op_attrs.h"
#include "iropt/op/ops/call_tir.h"
#include "iropt/op/ops/device.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/pass/target_value.h"
#include "iropt/transform/options/AnnotateCustomMemoryScope.h"
#include "texture_scopes.h"
#include "transform/relax/lowering/relax_functions.h"
#include "transform/relax/util/rewrite_functions.h"

namespace iropt {

namespace {

// The virtual devices of the module; new ones are added when they are first asked for.
class ScopedDevices {
 public:
  ScopedDevices(const Module& module, const DictAttr* target) : target_(target) {
    const auto found = module.global_infos().find("vdevice");
    if (found != module.global_infos().end()) devices_ = found->second;
  }
  const VDeviceAttr* Get(std::string_view scope) {
    const VDeviceAttr* device = VDeviceAttr::Get(target_, 0, scope);
    if (std::ranges::find(devices_, device) == devices_.end()) devices_.push_back(device);
    return device;
  }
  const std::vector<const Attr*>& all() const { return devices_; }

 private:
  const DictAttr* target_;
  std::vector<const Attr*> devices_;
};

class ScopeAnnotator : public ExprMutator {
 public:
  ScopeAnnotator(const TextureScopes& scopes, ScopedDevices& devices, Workspace& workspace, TypeInferrer& inferrer)
      : ExprMutator(workspace, &inferrer), scopes_(scopes), devices_(devices) {}

 protected:
  const Expr* VisitFunction(const Function* function) override {
    for (const Var* param : function->params) {
      const std::string_view scope = scopes_.First(param);
      const auto* type = As<TensorType>(param->type);
      if (type && !type->vdevice && !scope.empty()) RemapToType(param, OnDevice(type, scope));
    }
    return ExprMutator::VisitFunction(function);
  }

  const Expr* VisitCall(const Call* old) override {
    const TextureScopes::CallScopes* scopes = scopes_.Find(old);
    if (!scopes) return ExprMutator::VisitCall(old);
    std::vector<const Expr*> operands;
    for (const Expr* operand : ScopedOperands(*old)) {
      const std::string_view scope = scopes->operands[operands.size()];
      const Expr* visited = VisitExpr(operand);
      operands.push_back(scope.empty() ? visited : MoveTo(visited, scope));
    }
    List<const Expr*> args = workspace().Copy(operands);
    if (IsOp(old->op, op::kCallTir)) {
      std::vector<const Expr*> outer(old->args.begin(), old->args.end());
      outer[1] = workspace().New<Tuple>(args, nullptr);
      args = workspace().Copy(outer);
    }
    const Type* const types[] = {OnDevices(old->type, scopes->result)};
    const TupleType* stated = TupleType::Get(workspace().arena(), types);
    return NewLike<Call>(workspace(), *old, old->op, args, old->attrs, stated, nullptr);
  }

 private:
  const Type* OnDevice(const TensorType* type, std::string_view scope) {
    return type->With(workspace().arena(), type->dtype, devices_.Get(scope));
  }
  const Type* OnDevices(const Type* type, std::string_view scope) {
    if (const auto* tensor = As<TensorType>(type)) return OnDevice(tensor, scope);
    std::vector<const Type*> fields;
    for (const Type* field : To<TupleType>(type)->fields) fields.push_back(OnDevice(To<TensorType>(field), scope));
    return TupleType::Get(workspace().arena(), fields);
  }

  const Expr* MoveTo(const Expr* operand, std::string_view scope) {
    const auto* type = As<TensorType>(operand->type);
    const VDeviceAttr* device = devices_.Get(scope);
    if (!type || type->vdevice == device) return operand;
    if (const auto* constant = As<Constant>(operand); constant && !type->vdevice)
      return NewLike<Constant>(workspace(), *constant, constant->data, OnDevice(type, scope));
    return builder().MakeCall(GetOp(op::kToVdevice), {operand},
                              MakeOpAttrs(op::kToVdevice, ToVDeviceAttrs::Values{.dst_vdevice = device}));
  }

  const TextureScopes& scopes_;
  ScopedDevices& devices_;
};

// Numbers the devices in the order in which the calls need them.
void AddDevices(const TextureScopes& scopes, ScopedDevices& devices) {
  for (const TextureScopes::CallScopes& call : scopes.calls()) {
    devices.Get(call.result);
    for (const std::string_view scope : call.operands) {
      if (!scope.empty()) devices.Get(scope);
    }
  }
}

Result<Module> Annotate(Module module, const DictAttr* target, ModulePassContext& context) {
  ScopedDevices devices(module, target);
  const TextureLimits limits(*target);
  for (const GlobalVar* name : RelaxFunctions(module)) {
    const ModuleEntry entry = *module.Find(name);
    const auto* old = To<Function>(entry.func);
    if (IsPrimitive(*old)) continue;
    const TextureScopes scopes(module, *old, limits);
    AddDevices(scopes, devices);
    Workspace workspace(module, entry.storage);
    OpTypeInferrer inferrer(&module, workspace.arena(), &context.diagnostics);
    ScopeAnnotator annotator(scopes, devices, workspace, inferrer);
    const auto* function = To<Function>(annotator.VisitExpr(old));
    if (annotator.failed()) return Failure{ErrorCode::PassFailed};
    if (function != old) module.Set(name, function, workspace.Finish());
  }
  if (!devices.all().empty()) module.mutable_global_infos()["vdevice"] = devices.all();
  return CleanUp(std::move(module), context);
}

}  // namespace

Pass CreateAnnotateCustomMemoryScope(const PassOptions& options) {
  const OptionValue option = *pass_options::AnnotateCustomMemoryScope(options).target;
  const TargetAttr* given = option.is_null() ? nullptr : ReadTarget(option, options.diagnostics());
  return CreateModulePass(options.info(), [given](Module module, ModulePassContext& context) -> Result<Module> {
    const TargetAttr* target = given ? given : context.context.target;
    if (target) return Annotate(std::move(module), target->config, context);
    return Error{ErrorCode::PassFailed,
                 "AnnotateCustomMemoryScope needs a target: that of its option 'target', or of the context"};
  });
}

}  // namespace iropt
