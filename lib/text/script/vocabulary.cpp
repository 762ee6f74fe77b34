#include "iropt/text/script/vocabulary.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "text/script/tir/functions.h"

namespace iropt {

namespace {

std::vector<ScriptName> CollectScriptNames() {
  using Role = ScriptName::Role;
  std::vector<ScriptName> names{
#define IROPT_SCRIPT_NAME(prefix, name, role, required, summary, ...)                                                  \
  {prefix, name, Role::k##role, {__VA_ARGS__}, required, summary},
#include "vocabulary.def"
  };
  for (const text::TirFunction& function : text::TirFunctions()) {
    const auto params = function.params();
    names.push_back({"T", function.name, Role::kFunction, {params.begin(), params.end()}, function.required});
  }
  text::ForEachTirStatement([&](std::string_view name, std::span<const std::string_view> params, size_t required) {
    names.push_back({"T", name, Role::kStatement, {params.begin(), params.end()}, required});
  });
  static constexpr std::array<std::string_view, 11> kDTypes = {
      "bool", "float16", "float32", "float64", "int16", "int32", "int64", "int8", "uint16", "uint32", "uint8"};
  for (const std::string_view dtype : kDTypes) {
    names.push_back({"T", dtype, Role::kType, {"value"}, 0});
  }
  const auto key = [](const ScriptName& name) { return std::tuple(name.prefix, name.name); };
  std::ranges::stable_sort(names, {}, key);
  const auto have_same_key = [&](const ScriptName& a, const ScriptName& b) { return key(a) == key(b); };
  names.erase(std::unique(names.begin(), names.end(), have_same_key), names.end());
  return names;
}

}  // namespace

std::span<const ScriptName> ScriptNames() {
  static const std::vector<ScriptName> names = CollectScriptNames();
  return names;
}

const ScriptName* FindScriptName(std::string_view prefix, std::string_view name) {
  const std::span<const ScriptName> names = ScriptNames();
  const auto key = [](const ScriptName& known) { return std::tuple(known.prefix, known.name); };
  const auto found = std::ranges::lower_bound(names, std::tuple(prefix, name), {}, key);
  return found != names.end() && key(*found) == std::tuple(prefix, name) ? &*found : nullptr;
}

}  // namespace iropt
