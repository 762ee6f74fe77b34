#include "num_input.h"

#include <fmt/format.h>

#include "iropt/ir/location.h"

namespace iropt {

NumInput NumInputOf(const Function& function) {
  const auto* attribute = As<IntAttr>(function.attrs->Find(attr::kNumInput));
  if (!attribute) return {};
  if (attribute->value < 0 || attribute->value > static_cast<int64_t>(function.params.size()))
    return {.value = std::nullopt, .is_wrong = true};
  return {.value = static_cast<uint32_t>(attribute->value), .is_wrong = false};
}

NumInput ReadNumInput(const Function& function, std::string_view name, DiagnosticEngine& diagnostics) {
  const NumInput num_input = NumInputOf(function);
  if (num_input.is_wrong) {
    diagnostics.Error(Location(function), "pass-failed",
                      fmt::format("num_input of function '{}' is {}, but it has {} parameters", name,
                                  To<IntAttr>(function.attrs->Find(attr::kNumInput))->value, function.params.size()));
  }
  return num_input;
}

}  // namespace iropt
