// Operators in the options of passes.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "iropt/op/op.h"
#include "iropt/pass/pass_options.h"

namespace iropt {

// The operator of Relax that is named, with "relax." or without; null for other names. O(1).
inline const OpInfo* FindRelaxOp(std::string_view name) {
  const OpInfo* op = FindOp(name.starts_with("relax.") ? std::string(name) : fmt::format("relax.{}", name));
  return op && op->is_graph_level() ? op : nullptr;
}

// The operators of Relax that an option names; other names are refused.
inline std::vector<OpId> OperatorsOf(const PassOptions& options, const TypedOption<std::vector<std::string>>& names) {
  std::vector<OpId> ids;
  for (const std::string& name : *names) {
    const OpInfo* op = FindRelaxOp(name);
    if (op) ids.push_back(op->id);
    if (!op) options.Refuse(names, fmt::format("has '{}', which is not an operator of Relax", name));
  }
  return ids;
}

}  // namespace iropt
