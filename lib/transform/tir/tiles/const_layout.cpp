#include "transform/tir/tiles/const_layout.h"

#include <algorithm>

#include "iropt/arith/prim_builder.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op_id.h"
#include "iropt/op/tile_layout.h"

namespace iropt {

namespace {

std::optional<std::vector<int64_t>> ConstantsOf(std::span<const PrimExpr* const> exprs) {
  std::vector<int64_t> values;
  for (const PrimExpr* expr : exprs) {
    const int64_t* value = arith::AsInt(expr);
    if (!value || *value <= 0) return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

// The digits of `index` in a number system with these extents, the most significant first.
std::vector<const PrimExpr*> SplitIndex(const PrimExpr* index, std::span<const AxisIter> iters,
                                        const arith::PrimBuilder& make) {
  std::vector<const PrimExpr*> digits(iters.size());
  for (size_t i = iters.size(); i-- > 0;) {
    const PrimExpr* extent = make.Const(iters[i].extent, index->dtype);
    digits[i] = i == 0 ? index : make.FloorMod(index, extent);
    index = make.FloorDiv(index, extent);
  }
  return digits;
}

}  // namespace

std::optional<Shard> ShardOf(const tir::Buffer& buffer) {
  Shard shard;
  if (CallOf(buffer.layout, op::kTirDefaultLayout)) {
    const auto shape = ConstantsOf(buffer.shape);
    if (!shape) return std::nullopt;
    int64_t stride = 1;
    for (size_t i = shape->size(); i-- > 0; stride *= (*shape)[i]) shard.push_back({(*shape)[i], stride, "m"});
    std::ranges::reverse(shard);
    return shard;
  }
  const auto layout = AsTileLayout(buffer.layout);
  if (!layout || !layout->replica.empty() || !layout->offset.empty()) return std::nullopt;
  for (const LayoutIter& iter : layout->shard) {
    const int64_t* extent = arith::AsInt(iter.extent);
    const int64_t* stride = arith::AsInt(iter.stride);
    if (!extent || *extent <= 0 || !stride) return std::nullopt;
    shard.push_back({*extent, *stride, iter.axis});
  }
  return shard;
}

Shard Canonical(const Shard& shard) {
  Shard result;
  for (const AxisIter& iter : shard) {
    if (iter.extent == 1) continue;
    if (!result.empty() && result.back().axis == iter.axis && result.back().stride == iter.extent * iter.stride) {
      result.back() = {result.back().extent * iter.extent, iter.stride, iter.axis};
    } else {
      result.push_back(iter);
    }
  }
  if (result.empty() && !shard.empty()) result.push_back({1, 1, shard[0].axis});
  return result;
}

std::optional<GroupedShard> Group(const Shard& shard, std::span<const int64_t> shape) {
  GroupedShard result{.begins = {0}};
  size_t dim = 0;
  int64_t covered = 1;  // of the elements of the dimension, by the factors so far
  for (const AxisIter& iter : shard) {
    int64_t rest = iter.extent;
    covered *= rest;
    while (dim < shape.size() && covered % shape[dim] == 0) {
      const int64_t inner = covered / shape[dim];
      if (rest % inner != 0) return std::nullopt;
      result.shard.push_back({rest / inner, iter.stride * inner, iter.axis});
      rest = covered = inner;
      result.begins.push_back(result.shard.size());
      ++dim;
    }
    if (rest == 1) continue;
    if (dim == shape.size()) return std::nullopt;
    result.shard.push_back({rest, iter.stride, iter.axis});
  }
  if (dim != shape.size()) return std::nullopt;
  return result;
}

bool IsTrainium(const Shard& shard) {
  return std::ranges::none_of(shard, [](const AxisIter& iter) {
    return !IsThreadAxis(iter.axis) && iter.axis != "F" && iter.axis != "P" && iter.axis != "Bank";
  });
}

int64_t SizeOn(const Shard& shard, std::string_view axis) {
  int64_t size = 1;
  for (const AxisIter& iter : shard) {
    if (iter.axis == axis) size *= iter.extent;
  }
  return size;
}

int64_t SpanOn(const Shard& shard, std::string_view axis) {
  int64_t span = 1;
  for (const AxisIter& iter : shard) {
    if (iter.axis == axis) span += (iter.extent - 1) * iter.stride;
  }
  return span;
}

AxisPlaces PlaceOf(const Shard& shard, std::span<const PrimExpr* const> indices, std::span<const PrimExpr* const> shape,
                   arith::Analyzer& analyzer) {
  const arith::PrimBuilder& make = analyzer.make();
  AxisPlaces places;
  const auto add = [&](std::span<const AxisIter> iters, const PrimExpr* index) {
    const std::vector<const PrimExpr*> digits = SplitIndex(index, iters, make);
    for (size_t i = 0; i < iters.size(); ++i) {
      const PrimExpr* step = make.Mul(digits[i], make.Const(iters[i].stride, digits[i]->dtype));
      const PrimExpr*& place = places[iters[i].axis];
      place = analyzer.Simplify(place ? make.Add(place, step) : step);
    }
  };
  const auto dims = ConstantsOf(shape);
  if (const auto grouped = dims ? Group(shard, *dims) : std::nullopt) {
    const std::span<const AxisIter> iters(grouped->shard);
    for (size_t i = 0; i < indices.size(); ++i)
      add(iters.subspan(grouped->begins[i], grouped->begins[i + 1] - grouped->begins[i]), indices[i]);
    return places;
  }
  const PrimExpr* index = make.Int(0, DataType::Int(32));
  for (size_t i = 0; i < indices.size(); ++i) index = make.Add(make.Mul(index, shape[i]), indices[i]);
  add(shard, index);
  return places;
}

}  // namespace iropt
