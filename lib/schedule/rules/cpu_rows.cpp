// Reductions of rows, whose fastest axis is reduced: softmax, norms, products of a matrix and a vector. The code
// generator makes vectors of long rows, whatever their length is:
//
//   for i, k in T.grid(8, n):                    for i in T.parallel(8):
//       B[i] = B[i] + A[i, k]          -->           B_local[i] = 0
//                                                    for k in T.serial(n, annotations={"pragma_any_order": 1}):
//                                                        B_local[i] = B_local[i] + A[i, k]
//                                                    B[i] = B_local[i]
//
// Short ones, which vectors divide, have vectors of accumulators:
//
//   for i, k in T.grid(8, 64):                   for i in T.parallel(8):
//       B[i] = B[i] + A[i, k]          -->           for k_0 in range(4):
//                                                        for k_1 in T.vectorized(16):
//                                                            B_rf[i, k_1] += A[i, k_0 * 16 + k_1]
//                                                    for k_1 in range(16): B[i] = B[i] + B_rf[i, k_1]
#include <algorithm>

#include "cpu_blocks.h"
#include "iropt/ir/tir/loop_hints.h"
#include "schedule/stmt_tools.h"

namespace iropt::schedule {

namespace {

// The accumulators of a row: some vectors, as far as they divide its length, which should be several times theirs.
struct RowVectors {
  int64_t vectors;
  int64_t lanes;
};

std::optional<RowVectors> ChooseRowVectors(int64_t extent, int64_t most_lanes) {
  constexpr int64_t kMostVectors = 4, kShortest = 4;
  const int64_t lanes = LanesFor(extent, most_lanes);
  if (lanes < kFewestLanes || extent < kShortest * lanes) return std::nullopt;
  int64_t vectors = kMostVectors;
  while (vectors > 1 && (extent % (vectors * lanes) != 0 || extent < kShortest * vectors * lanes)) --vectors;
  return RowVectors{vectors, lanes};
}

// Returns whether neighbours along the axis are neighbours in memory.
bool IsContiguous(const Operand& operand) {
  const List<const PrimExpr*> shape = operand.buffer->shape;
  return operand.form == Operand::Form::kContiguous ||
         std::all_of(shape.begin() + static_cast<std::ptrdiff_t>(operand.vector_dim) + 1, shape.end(),
                     [](const PrimExpr* extent) { return arith::IsInt(extent, 1); });
}

// Returns whether the block reads vectors along the axis, or scalars, and stores to one element for all values of the
// axis.
bool ReducesRows(const tir::Block& block, const tir::Var* axis) {
  const auto* store = As<tir::BufferStore>(block.body);
  if (!store || !block.init || block.writes.size() != 1) return false;
  if (std::ranges::any_of(store->indices, [&](const PrimExpr* index) { return UsesAxis(index, axis); })) return false;
  LoadCollector found;
  found.VisitExpr(store->value);
  if (std::ranges::any_of(found.conditions, [&](const PrimExpr* c) { return UsesAxis(c, axis); })) return false;
  bool has_vectors = false;
  for (const tir::BufferLoad* load : found.loads) {
    const auto operand = OperandOf(*load, axis);
    if (!operand || operand->period > 0) return false;
    if (operand->form == Operand::Form::kUniform) continue;
    if (!IsContiguous(*operand)) return false;
    has_vectors = true;
  }
  return has_vectors;
}

// The loop over all rows, which run in parallel.
Name ParallelRows(RuleSchedule& sch, const Name& block, size_t spatial) {
  const Names outer = sch.GetLoops(block, spatial);
  Name rows =
      spatial > 1 ? sch.Fuse({{outer.begin(), outer.begin() + static_cast<std::ptrdiff_t>(spatial)}}) : outer[0];
  sch.Parallel({rows});
  return rows;
}

// Each row is summed in any order.
void ScheduleLongRows(RuleSchedule& sch, const Name& block, size_t spatial, size_t reduced) {
  if (spatial > 0) {
    const Name copy = sch.CacheWrite({block, 0, "local"});
    sch.ReverseComputeAt({copy, ParallelRows(sch, block, spatial)});
  }
  const Names loops = sch.GetLoops(block, reduced + (spatial > 0 ? 1 : 0));
  sch.Annotate({loops.back(), attr::kAnyOrder, 1});
  sch.DecomposeReduction({block, loops[loops.size() - reduced]});
}

}  // namespace

bool ScheduleRows(RuleSchedule& sch, const BlockInfo& info, const CpuFacts& facts) {
  const size_t spatial = info.CountLeading(AxisKind::kSpatial);
  const size_t reduced = info.CountTrailing(AxisKind::kReduction);
  if (reduced == 0 || spatial + reduced != info.axes.size()) return false;
  const tir::Block& block = sch.Block(info.block);
  if (!ReducesRows(block, info.axes.back().var)) return false;
  constexpr int64_t kLong = 8, kShortest = 2;  // vectors
  const int64_t full_lanes = facts.LanesOf(block.writes[0]->buffer->dtype);
  const auto extent = ConstExtent(info.axes.back().extent);
  const auto row = extent && *extent < kLong * full_lanes ? ChooseRowVectors(*extent, full_lanes) : std::nullopt;
  if (!row) {
    if (extent && *extent < kShortest * full_lanes) return false;
    ScheduleLongRows(sch, info.block, spatial, reduced);
    return true;
  }
  const auto rank = static_cast<int64_t>(block.writes[0]->buffer->shape.size());
  const Names loops = sch.GetLoops(info.block, info.axes.size());
  const Names parts = sch.Split({loops.back(), {std::nullopt, row->vectors * row->lanes}});
  const Name sums = sch.RFactor({parts[1], rank});
  size_t depth = 0;
  if (spatial > 0) {
    sch.ComputeAt({sums, ParallelRows(sch, info.block, spatial)});
    sch.SetScope({sums, 0, "local"});
    depth = 1;
  }
  // A block that was moved has its loops in the order of its axes, of which that of the accumulators is the first one.
  Names own = sch.GetLoops(sums, depth + 2);
  own.erase(own.begin(), own.begin() + static_cast<std::ptrdiff_t>(depth));
  if (depth > 0) std::rotate(own.begin(), own.begin() + 1, own.end());
  const Names lanes = sch.Split({own.back(), {std::nullopt, row->lanes}});
  const Name first = own[0];
  own.back() = lanes[0];
  own.push_back(lanes[1]);
  sch.Reorder({own});
  sch.Vectorize({lanes[1]});
  sch.Unroll({lanes[0]});
  sch.DecomposeReduction({sums, first});
  return true;
}

}  // namespace iropt::schedule
