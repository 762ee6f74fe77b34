// Statements that launch threads.
#pragma once

#include "iropt/ir/tir/stmt.h"

namespace iropt::tir {

// Returns whether the attribute launches threads, also virtual ones.
inline bool IsThreadKey(std::string_view attr_key) {
  return attr_key == attr::kThreadExtent || attr_key == attr::kVirtualThread;
}

// The axis whose threads the statement launches, also virtual ones; null for other attributes. Their number is the
// value of the attribute.
inline const IterVar* ThreadAxisOf(const AttrStmt& stmt) {
  return IsThreadKey(stmt.attr_key) ? As<IterVar>(stmt.node) : nullptr;
}

// The axis whose threads the statement launches, without virtual ones; null for other attributes.
inline const IterVar* LaunchAxisOf(const AttrStmt& stmt) {
  return stmt.attr_key == attr::kThreadExtent ? As<IterVar>(stmt.node) : nullptr;
}

}  // namespace iropt::tir
