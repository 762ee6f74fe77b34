// UpdateVDevice: replaces one virtual device of the module by another one.
//
//   I.module_global_infos({"vdevice": [I.vdevice("llvm"), I.vdevice("cuda")]})     ... [I.vdevice("llvm"),
//   I.vdevice("metal")] def main(x: R.Tensor((4,), "float32", "cuda:0")):                        -->   def main(x: ...
//   "metal:0"):
//       y: R.Tensor((4,), "float32", "cuda:0") = R.exp(x)                              y: ... "metal:0" = R.exp(x)
//
// `index` counts the devices of the module; `new_vdevice` is written as in a module, I.vdevice("metal", 0). Types and
// transfers refer to the new device afterwards. O(nodes).
//
// Source: TVM 0.18's pass of this name, which does not change the operands of transfers.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "iropt/ir/relax/mutator.h"
#include "iropt/ir/substitute.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/transform/options/UpdateVDevice.h"
#include "transform/relax/util/rewrite_functions.h"

namespace iropt {

namespace {

class DeviceReplacer : public ExprMutator, private TypeMapper {
 public:
  DeviceReplacer(const VDeviceAttr* from, const VDeviceAttr* to, Workspace& workspace)
      : ExprMutator(workspace), TypeMapper(&workspace.arena(), Leaves::kDevices), from_(from), to_(to) {}

 protected:
  const Type* VisitType(const Type* type) override { return Map(type); }
  const Attr* VisitAttr(const Attr* attr) override { return Map(attr); }

 private:
  const VDeviceAttr* MapVDevice(const VDeviceAttr* device) override { return device == from_ ? to_ : device; }

  const VDeviceAttr* from_;
  const VDeviceAttr* to_;
};

Result<Module> UpdateVDevice(Module module, const VDeviceAttr* to, int64_t index, int threads) {
  const auto found = module.global_infos().find("vdevice");
  const size_t count = found == module.global_infos().end() ? 0 : found->second.size();
  if (index >= static_cast<int64_t>(count)) {
    return Error{ErrorCode::PassFailed,
                 fmt::format("the module has no virtual device with the index {}: it has {}", index, count)};
  }
  const auto* from = As<VDeviceAttr>(found->second[static_cast<size_t>(index)]);
  if (!from || from == to) return module;
  std::ranges::replace(module.mutable_global_infos().find("vdevice")->second, static_cast<const Attr*>(from),
                       static_cast<const Attr*>(to));
  RewriteRelaxFunctions(module, threads, [&](const Function* function, Workspace& workspace) {
    return To<Function>(DeviceReplacer(from, to, workspace).VisitExpr(function));
  });
  return module;
}

// Null after the option was refused, or if there is no reader.
const VDeviceAttr* ReadDevice(const PassOptions& options) {
  const pass_options::UpdateVDevice given(options);
  const OptionValue& value = *given.new_vdevice;
  // {"__vdevice__": "..."} says of what kind the value is.
  const OptionValue& option = value.Find("__vdevice__") ? *value.Find("__vdevice__") : value;
  const std::string* stated = option.as_string();
  // As Python shows a device of TVM 0.20 and newer.
  constexpr std::string_view kShown = "ir.VDevice(";
  const bool is_shown = stated && stated->starts_with(kShown);
  const std::string written = is_shown ? "I.vdevice(" + stated->substr(kShown.size()) : std::string();
  const std::string* text = is_shown ? &written : stated;
  if (!options.reader() && text) return nullptr;
  Workspace workspace;
  const Attr* attr = nullptr;
  if (text) {
    attr = options.reader()->ReadAttr(*text, {Module(), workspace, options.diagnostics(), option.span()});
    if (!attr) return nullptr;
  }
  const auto* device = As<VDeviceAttr>(attr);
  if (!device)
    options.Refuse(given.new_vdevice, "must be a virtual device in a string, such as \"I.vdevice('cuda', 1)\"");
  return device;
}

}  // namespace

Pass CreateUpdateVDevice(const PassOptions& options) {
  const pass_options::UpdateVDevice given(options);
  return CreateModulePass(options.info(),
                          [device = ReadDevice(options), index = options.Count(given.index)](
                              Module module, ModulePassContext& context) -> Result<Module> {
                            if (!device) return Error{ErrorCode::PassFailed, "the registry has no reader"};
                            return UpdateVDevice(std::move(module), device, index, context.context.threads);
                          });
}

}  // namespace iropt
