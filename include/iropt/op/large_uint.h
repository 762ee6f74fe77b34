// Constants of uint64. From 2^63 on they are not IntImm, whose value is an int64, but calls of tir.large_uint_imm with
// their lower and upper half, as in TVM. The text has T.uint64(n) for both.
#pragma once

#include <cstdint>
#include <optional>

#include "iropt/ir/tir/expr.h"
#include "iropt/support/arena.h"

namespace iropt {

// The constant of a value from 2^63 on.
const tir::Call* MakeLargeUInt(uint64_t value, Arena& arena);
// The value of a constant from 2^63 on.
std::optional<uint64_t> AsLargeUInt(const PrimExpr* e);
// The value of any constant of uint64.
std::optional<uint64_t> AsUInt64(const PrimExpr* e);

}  // namespace iropt
