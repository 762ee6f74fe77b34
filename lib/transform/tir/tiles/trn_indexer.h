// The indices of an instruction of Trainium, which works on a part of several buffers at a time: on all partitions (P),
// and on some of the free dimensions (F).
//
// The regions that an operation works on are linked by the dimensions that they share, so that their layouts split in
// the same way. A variable is bound to a stretch of one region: it numbers the elements that one instruction, or one
// step of a loop around it, takes there and in all linked regions. At the end the indices follow from the variables.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "iropt/ir/module.h"
#include "iropt/support/result.h"
#include "transform/tir/tiles/const_layout.h"
#include "transform/tir/tiles/tile_call.h"

namespace iropt {

// Of a dimension of one region, that of another one.
using DimMap = std::map<size_t, size_t>;
using Dims = std::vector<size_t>;

// Part of a region that one instruction takes: `size` elements, `stride` apart.
struct TrnInstruction {
  int64_t size = 1;
  int64_t stride = 1;
  std::vector<size_t> iters = {};  // the factors that it consists of

  // At most this many elements, which must divide the size.
  Status Limit(std::optional<int64_t> most);
};

class TrnIndexer {
 public:
  TrnIndexer(arith::Analyzer& analyzer, Workspace& workspace) : analyzer_(analyzer), workspace_(workspace) {}

  // A number for the region, whose extents need bounds. Extents that are not constant are guarded.
  Result<size_t> Add(const TileRegion& region);
  const TileRegion& region(size_t id) const { return regions_[id].region; }

  Status Link(size_t from, size_t to, const DimMap& dims);
  // The dimensions without unit extents correspond in order. Fails if their extents differ.
  Result<DimMap> ElementwiseDims(size_t from, size_t to);
  // The dimensions of the source that are not reduced correspond to those of the result in order, both without unit
  // extents. Fails if their extents differ.
  Result<DimMap> ReducedDims(size_t source, size_t result, const Dims& axes);

  // ---- The size of the instruction
  Result<TrnInstruction> Longest(size_t region, const std::optional<Dims>& dims = std::nullopt,
                                 int64_t min_stride = 1) const;
  // The part of an instruction on `from` that is regular in `to`, on these dimensions. `broadcast`: the part along
  // which `to` stays at one element.
  Result<TrnInstruction> Fit(const TrnInstruction& instruction, size_t from, size_t to,
                             const std::optional<Dims>& dims = std::nullopt, bool broadcast = false);
  // The part that is on the dimension of the smallest stride.
  TrnInstruction OnOneDim(const TrnInstruction& instruction, size_t region) const;
  // Instructions for a copy that exchanges partitions and free dimensions.
  Result<std::pair<TrnInstruction, TrnInstruction>> Transposed(size_t a, size_t b);
  bool SamePartitions(size_t a, size_t b);

  // ---- Variables
  // The variable numbers the stretch, on the free dimensions or on partitions; also in linked regions if `propagate`.
  Status Bind(size_t region, const tir::Var* var, int64_t size, int64_t stride, bool free, bool propagate = true);
  // The variable numbers what remains; its extent.
  Result<int64_t> BindRest(size_t region, const tir::Var* var, std::optional<Dims> dims = std::nullopt);

  using Values = std::vector<std::pair<const tir::Var*, const PrimExpr*>>;
  void SetValues(size_t region, Values values) { regions_[region].values = std::move(values); }
  void SetValues(const Values& values) {
    for (Region& region : regions_) region.values = values;
  }
  // The indices relative to the region, and those of the buffer.
  Result<std::vector<const PrimExpr*>> Axes(size_t region);
  Result<std::vector<const PrimExpr*>> Indices(size_t region);
  // The condition under which the indices are in the region; null if they always are.
  Result<const PrimExpr*> Guard(size_t region);

 private:
  // A part of a factor: `extent` steps of `stride` elements, numbered by the expression.
  struct Part {
    int64_t stride;
    int64_t extent;
    const PrimExpr* number;
  };
  using Parts = std::vector<std::vector<Part>>;  // by factor
  struct Region {
    TileRegion region;
    std::vector<int64_t> bounds;  // of the extents
    GroupedShard layout;
    Parts parts = {};
    Values values = {};
    std::vector<std::pair<size_t, DimMap>> links = {};

    size_t rank() const { return bounds.size(); }
    size_t num_iters(size_t dim) const { return layout.begins[dim + 1] - layout.begins[dim]; }
  };
  using IndexedIters = std::vector<std::pair<size_t, AxisIter>>;

  Result<GroupedShard> LayoutOf(const TileRegion& region, std::span<const int64_t> bounds);
  bool Divides(int64_t factor, const PrimExpr* value);
  Status Split(size_t id, size_t like, const DimMap& dims);
  void SetLink(size_t from, size_t to, const DimMap& dims);
  DimMap LinkOf(size_t from, size_t to);
  void AddParts(size_t id, const Parts& parts);
  void Propagate(size_t id, const Parts& parts);
  void Sort(size_t id);
  Status CheckCoverage(size_t id);
  Result<TrnInstruction> Linear(IndexedIters iters, int64_t min_stride = 1) const;
  Result<std::optional<Part>> StretchOn(const AxisIter& iter, const tir::Var* var, int64_t size, int64_t stride) const;
  const PrimExpr* Number(const tir::Var* var, int64_t modulus, int64_t divisor) const;

  arith::Analyzer& analyzer_;
  Workspace& workspace_;
  std::vector<Region> regions_;
};

}  // namespace iropt
