#include "type_checks.h"

#include <fmt/format.h>

#include <bit>

#include "iropt/arith/prim_builder.h"
#include "iropt/ir/location.h"

namespace iropt::text {

void WarnOfDType(DataType dtype, Span span, DiagnosticEngine& diagnostics) {
  const bool brain = dtype.code == TypeCode::kBFloat;
  const bool least = dtype.code == TypeCode::kFloat ? dtype.bits >= 8 : !brain || dtype.bits == 16;
  if (dtype.is_void() || dtype.is_handle() || (std::has_single_bit(dtype.bits) && least)) return;
  diagnostics.Warning(Location(span), "unusual-type",
                      fmt::format("no tensor has elements of dtype '{}': expected {}", dtype.ToString(),
                                  brain ? "bfloat16" : "a width of 8, 16, 32 or 64 bits"));
}

void WarnOfDims(std::span<const PrimExpr* const> dims, Span span, DiagnosticEngine& diagnostics) {
  for (const PrimExpr* dim : dims) {
    const int64_t* value = arith::AsInt(dim);
    if (!value || *value >= 0) continue;
    diagnostics.Warning(Location(span), "unusual-type",
                        fmt::format("no tensor has a dimension of {}: expected 0 or more", *value));
  }
}

}  // namespace iropt::text
