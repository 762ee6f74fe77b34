// The names after R., T. and I. that are not operators, and all their parameters; for completion and help.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace iropt {

struct ScriptName {
  enum class Role : uint8_t { kFunction, kStatement, kType, kDecorator };

  std::string_view prefix;  // "R", "T" or "I"
  std::string_view name;    // after the dot: "Tensor", "axis.spatial"
  Role role = Role::kFunction;
  std::vector<std::string_view> params = {};
  size_t required = 0;            // the first so many parameters need an argument
  std::string_view summary = {};  // its meaning; empty if the name says it
};

// In the order of their prefixes and names.
std::span<const ScriptName> ScriptNames();
// Null if there is none.
const ScriptName* FindScriptName(std::string_view prefix, std::string_view name);

}  // namespace iropt
