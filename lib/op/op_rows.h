// The rows of ops.def at run time, which scripts/tables makes.
#pragma once

#include <span>
#include <string_view>

#include "iropt/op/op.h"

namespace iropt::op_detail {

struct OpRow {
  OpInfo info;             // all but `row` and `op`
  std::string_view alias;  // a second name in scripts; or empty
};

// In the order of the table. An id is 256 times the number of the family, which is at least 1, plus the place in it.
std::span<const OpRow> GraphOpRows();

constexpr size_t FamilyOf(OpId id) { return static_cast<uint16_t>(id) >> 8; }
constexpr size_t PlaceInFamily(OpId id) { return static_cast<uint16_t>(id) & 255; }

}  // namespace iropt::op_detail
