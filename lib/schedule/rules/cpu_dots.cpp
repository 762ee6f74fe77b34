// Sums of products of bytes, four of which an instruction adds to each lane of a vector of int32. Weights are copied to
// a layout in which the bytes of a lane are next to each other.
#include <fmt/format.h>

#include <algorithm>

#include "cpu_tiling.h"

namespace iropt::schedule {

namespace {

// The load in T.Cast("int32", A[...]) of a buffer of this dtype; otherwise null.
const tir::BufferLoad* WidenedLoad(const PrimExpr* expr, DataType dtype) {
  const auto* cast = As<tir::Cast>(expr);
  const auto* load = cast && cast->dtype == DataType::Int(32) ? As<tir::BufferLoad>(cast->value) : nullptr;
  return load && load->dtype == dtype && !load->predicate ? load : nullptr;
}

// Returns whether one index of the load is the axis, the last one if `is_last`, and no other depends on it.
bool HasSteps(const tir::BufferLoad& load, const tir::Var* axis, bool is_last) {
  const auto uses = std::ranges::count_if(load.indices, [&](const PrimExpr* index) { return UsesAxis(index, axis); });
  const auto at = std::ranges::find(load.indices, axis);
  return uses == 1 && at != load.indices.end() && (!is_last || at + 1 == load.indices.end());
}

}  // namespace

std::string FindDots(const tir::Block& block, const TiledBlock& tiled, const PrimFunc& func, const CpuFacts& facts) {
  const Tile& tile = tiled.tile;
  if (facts.dots == DotForm::kNone || !tile.is_vector || tile.rest > 0) return {};
  if (tile.lanes != facts.LanesOf(DataType::Int(32)) || tile.lanes > 16) return {};
  const auto* store = As<tir::BufferStore>(block.body);
  const PrimExpr* term = ReductionExprOf(block);
  if (!store || store->buffer->dtype != DataType::Int(32) || !term || term->kind != NodeKind::kMul) return {};
  const auto* product = static_cast<const tir::BinaryExpr*>(term);
  // The intrinsic has the factors in this order.
  const tir::BufferLoad* data = WidenedLoad(product->a, DataType::UInt(8));
  const tir::BufferLoad* weight = WidenedLoad(product->b, DataType::Int(8));
  if (!data || !weight) return {};
  const size_t last = tiled.reduction.back();
  const auto steps = tiled.extents[last];
  const tir::Var* axis = block.iter_vars[last]->var;
  if (!steps || *steps % kDotSteps != 0 || !HasSteps(*data, axis, true) || !HasSteps(*weight, axis, false)) return {};
  for (const Operand& operand : tiled.operands) {
    if (operand.period > 0) return {};
    if (operand.buffer == data->buffer && operand.form != Operand::Form::kUniform) return {};
    if (operand.buffer != weight->buffer) continue;
    const bool is_read_often = IsLayoutFree(func, operand.buffer) || ReadsOf(tiled, operand) >= kManyReads;
    if (operand.has_rows || operand.form == Operand::Form::kUniform || !is_read_often) return {};
  }
  return fmt::format("dot_{}x4_{}", tile.lanes, facts.dots == DotForm::kBytes ? "vnni_packed" : "pairs_packed");
}

}  // namespace iropt::schedule
