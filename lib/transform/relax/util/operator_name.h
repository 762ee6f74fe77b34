// Operators in the options of passes.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "iropt/op/op.h"

namespace iropt {

// The operator of Relax that is named, with "relax." or without; null for other names. O(1).
inline const OpInfo* FindRelaxOp(std::string_view name) {
  const OpInfo* op = FindOp(name.starts_with("relax.") ? std::string(name) : fmt::format("relax.{}", name));
  return op && op->is_graph_level() ? op : nullptr;
}

}  // namespace iropt
