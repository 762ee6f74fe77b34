// The target that a PrimFunc is compiled for.
#pragma once

#include <algorithm>
#include <string_view>

#include "iropt/ir/attr.h"
#include "iropt/ir/dlpack.h"
#include "iropt/ir/tir/stmt.h"
#include "transform/tir/host/host_builder.h"
#include "transform/tir/util/target.h"

namespace iropt {

// Calling convention of a function: the values of the attribute calling_conv.
enum class CallingConv : int64_t { kDefault = 0, kCPackedFunc = 1, kDeviceKernelLaunch = 2 };

// Null if the target has no host.
inline const DictAttr* HostOf(const DictAttr& target) { return TargetConfig(target.Find("host")); }
inline const DictAttr* WithoutHost(const DictAttr* target) { return target->Without("host"); }

inline std::string_view KindOf(const DictAttr& target) {
  const auto* kind = As<StrAttr>(target.Find("kind"));
  return kind ? kind->value : std::string_view();
}
// Kinds that are not TVM's run on the host.
inline int64_t DeviceTypeOf(const DictAttr& target) { return DLPackDeviceType(target).value_or(kCpuDevice); }

inline CallingConv CallingConvOf(const PrimFunc& func) {
  const auto* value = As<IntAttr>(func.attrs->Find(attr::kCallingConv));
  return value ? static_cast<CallingConv>(value->value) : CallingConv::kDefault;
}
// Returns whether the function runs on the host: it says so, or its target is a CPU.
inline bool IsHostFunc(const PrimFunc& func) {
  if (const auto* marked = As<IntAttr>(func.attrs->Find(attr::kIsHostFunc)); marked && marked->value != 0) return true;
  const DictAttr* target = TargetOf(func);
  const auto* keys = target ? As<ListAttr>(target->Find("keys")) : nullptr;
  return keys && std::ranges::any_of(keys->values, [](const Attr* attr) {
           const auto* key = As<StrAttr>(attr);
           return key && key->value == "cpu";
         });
}
// The name under which other programs call the function; null if it is private.
inline const StrAttr* GlobalSymbolOf(const BaseFunc& func) {
  return As<StrAttr>(func.attrs->Find(attr::kGlobalSymbol));
}

}  // namespace iropt
