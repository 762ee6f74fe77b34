#include "iropt/ir/relax/tuple_leaves.h"

namespace iropt {

bool HasFieldsOf(const Type* type, const Type* pattern) {
  const auto* wanted = As<TupleType>(pattern);
  if (!wanted) return true;
  const auto* tuple = As<TupleType>(type);
  if (!tuple || tuple->fields.size() != wanted->fields.size()) return false;
  return WithStack([&] {
    for (uint32_t i = 0; i < wanted->fields.size(); ++i) {
      if (!HasFieldsOf(tuple->fields[i], wanted->fields[i])) return false;
    }
    return true;
  });
}

const Expr* TupleItem(const Expr* value, uint32_t index, Workspace& workspace) {
  if (const auto* tuple = As<Tuple>(value)) return tuple->fields[index];
  return workspace.New<TupleGetItem>(value, static_cast<int32_t>(index), To<TupleType>(value->type)->fields[index]);
}

}  // namespace iropt
