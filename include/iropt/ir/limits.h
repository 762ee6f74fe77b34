// The limits of floating point dtypes.
#pragma once

#include <limits>
#include <optional>

#include "iropt/ir/dtype.h"

namespace iropt {

// The greatest finite value of a scalar floating point dtype, as T.max_value gives it; nothing for a dtype without
// known limits.
constexpr std::optional<double> GreatestFinite(DataType t) {
  if (t.code == TypeCode::kFloat8E4M3) return 448.0;
  if (t.code == TypeCode::kFloat8E5M2) return 57344.0;
  if (t == DataType::Float(16)) return 65504.0;
  if (t == DataType::Float(32) || t.code == TypeCode::kBFloat) return std::numeric_limits<float>::max();
  if (t == DataType::Float(64)) return std::numeric_limits<double>::max();
  return std::nullopt;
}

// Returns whether a scalar dtype has infinities.
constexpr bool HasInfinity(DataType t) { return GreatestFinite(t).has_value() && t.code != TypeCode::kFloat8E4M3; }

}  // namespace iropt
