#include "iropt/ir/tir/written_values.h"

#include "iropt/ir/tir/uses_any_of.h"

namespace iropt::tir {

std::size_t WrittenValues::NumParts(const PrimExpr* expr) {
  std::size_t parts = 0;
  PostOrderVisit(expr, [&](const Node*) { ++parts; });
  return parts;
}

bool WrittenValues::Bind(const Var* var, const PrimExpr* value) {
  std::size_t parts = 0;
  PostOrderVisit(value, [&](const Node* node) {
    const auto* used = As<Var>(node);
    const std::size_t* known = used ? parts_.Find(used) : nullptr;
    parts += known ? *known : 1;
  });
  if (parts > kMaxParts) {
    BindUnknown(var);
    return false;
  }
  const PrimExpr* written = Of(value);
  Unbind(var);
  values_[var] = written;
  parts_[var] = parts;
  return true;
}

void WrittenValues::BindUnknown(const Var* var) {
  Unbind(var);
  unknown_.insert(var);
}

void WrittenValues::Unbind(const Var* var) {
  values_.erase(var);
  parts_.erase(var);
  unknown_.erase(var);
}

bool WrittenValues::UsesUnknown(const PrimExpr* written) const {
  return !unknown_.empty() && UsesAnyOf(unknown_, written);
}

}  // namespace iropt::tir
