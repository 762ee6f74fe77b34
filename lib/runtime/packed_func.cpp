#include "iropt/runtime/packed_func.h"

#include <fmt/format.h>

#include "iropt/support/edit_distance.h"
#include "packed/builtins.h"

namespace iropt {

void PackedRegistry::Set(std::string name, PackedFunc func) { funcs_[std::move(name)] = std::move(func); }

const PackedFunc* PackedRegistry::Find(std::string_view name) const {
  const auto it = funcs_.find(name);
  return it == funcs_.end() ? nullptr : &it->second;
}

std::vector<std::string_view> PackedRegistry::Names() const {
  std::vector<std::string_view> names;
  for (const auto& [name, func] : funcs_) names.push_back(name);
  return names;
}

Result<HostValue> PackedRegistry::Call(std::string_view name, std::span<const HostValue> args,
                                       PackedContext& context) const {
  if (const PackedFunc* func = Find(name)) {
    PackedCall call(name, args, context);
    return (*func)(call);
  }
  std::string message = fmt::format("unknown packed function '{}'", name);
  const std::optional<std::string_view> nearest = NearestName(name, Names());
  if (nearest) message += fmt::format("; did you mean '{}'?", *nearest);
  return Error{ErrorCode::SemanticCheck, std::move(message)};
}

PackedRegistry MakeRuntimePackedFuncs() {
  PackedRegistry registry;
#define IROPT_PACKED(name, function) registry.Set(name, packed::function);
#include "packed/builtins.def"
  return registry;
}

}  // namespace iropt
