// The type of expressions without a value, R.Tuple: bindings of it are printed as statements, and their uses as
// R.tuple().
#pragma once

#include "iropt/ir/type.h"

namespace iropt::text {

inline bool IsVoid(const Type* type) {
  const auto* tuple = As<TupleType>(type);
  return tuple && tuple->fields.empty();
}

}  // namespace iropt::text
