// Layouts of buffers whose extents and strides are constants, for passes that work out the places of elements.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "iropt/arith/analyzer.h"
#include "iropt/ir/tir/expr.h"

namespace iropt {

// A factor of an index, which moves `stride` along the axis.
struct AxisIter {
  int64_t extent;
  int64_t stride;
  std::string_view axis;
};
// The factors of all indices of a buffer, row by row.
using Shard = std::vector<AxisIter>;

// The factors of the buffer's layout; for the default one those of a compact buffer, on the axis "m". Nothing for a
// buffer without a layout, and for layouts that are not constant or have more to say than factors.
std::optional<Shard> ShardOf(const tir::Buffer& buffer);

// Without factors of one element, and neighbours that are contiguous as one. O(factors).
Shard Canonical(const Shard& shard);

// The factors of each dimension: those of dimension i are [begins[i], begins[i + 1]).
struct GroupedShard {
  Shard shard = {};
  std::vector<size_t> begins = {};
};
// Splits the factors so that each belongs to one dimension; nothing if that is not possible. O(factors + dimensions).
std::optional<GroupedShard> Group(const Shard& shard, std::span<const int64_t> shape);

// Returns whether all factors that are places in memory are those of Trainium: partitions, bytes of them, banks.
bool IsTrainium(const Shard& shard);

// The number of elements on the axis, and of places from the first to the last one.
int64_t SizeOn(const Shard& shard, std::string_view axis);
int64_t SpanOn(const Shard& shard, std::string_view axis);

// The place of an element on each axis, simplified.
using AxisPlaces = std::map<std::string_view, const PrimExpr*>;
AxisPlaces PlaceOf(const Shard& shard, std::span<const PrimExpr* const> indices, std::span<const PrimExpr* const> shape,
                   arith::Analyzer& analyzer);

}  // namespace iropt
