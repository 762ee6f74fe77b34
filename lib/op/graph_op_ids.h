// The ids of the operators of ops.def, for the table of all operators.
#pragma once

#include <span>

#include "iropt/op/op_id.h"

namespace iropt::op_detail {

// In the order of the rows. An id is 256 times the number of the family, which is at least 1, plus the place in it.
std::span<const OpId> GraphOpIds();

constexpr size_t FamilyOf(OpId id) { return static_cast<uint16_t>(id) >> 8; }
constexpr size_t PlaceInFamily(OpId id) { return static_cast<uint16_t>(id) & 255; }

}  // namespace iropt::op_detail
