// cpu.Tile: reductions in tiles of vector registers, with what follows them; elementwise blocks by vectors.
//
//   for n, y, x, f, ry, rx, rc in T.grid(...):               for f_0_n_y in T.parallel(...):
//       C[n, y, x, f] += A[n, y+ry, x+rx, rc] * W[f, ...]        for x_0 in range(4):
//                                                                   for x_1, f_1, f_2: C[...] = 0
//   for n, y, x, f in T.grid(...):                      -->         for ry, rx, rc in T.grid(...):
//       D[n, y, x, f] = T.max(C[n, y, x, f] + B[f], 0)                  for x_1 in T.unroll(14), f_1 in T.unroll(2):
//                                                                           for f_2 in T.vectorized(16): C[...] += ...
//                                                                   for x_1, f_1, f_2: D[...] = ...
//
// The fastest axis of the result is that of the vectors: operands have it as their fastest axis, or do not have it.
// Operands that have it elsewhere are copied to a layout in which a tile reads them in order, and so are weights: those
// of `layout_free_buffers` by blocks that SplitLayoutRewritePreproc makes functions of their own. The tile, as many of
// the next axis times as many vectors as fit into registers, is in local memory. Convolutions of channels-last data,
// depthwise ones, matrix products and vectors, poolings and sums over outer axes are all of this form.
#include <algorithm>
#include <string>
#include <utility>

#include "cpu_tiling.h"
#include "iropt/ir/context.h"
#include "iropt/support/lookup.h"
#include "rule_list.h"
#include "schedule/checks.h"
#include "schedule/stmt_tools.h"

namespace iropt::schedule {

namespace {

// ---- Weights

// The layout in which a tile reads the operand in order: first the groups of vectors, then the other dimensions as the
// loops of the reduction run. Of sums of dots, the steps of one come last.
const IndexMapAttr* PackedLayout(const tir::Block& block, const Operand& operand, const TiledBlock& tiled,
                                 arith::PrimBuilder make) {
  LoadCollector found;
  found.VisitStmt(block.body);
  const auto load = std::ranges::find(found.loads, operand.buffer, &tir::BufferLoad::buffer);
  std::vector<const tir::Var*> params;
  std::vector<std::pair<size_t, size_t>> others;  // the last axis of the block in the index, and the dimension
  for (size_t i = 0; i < (*load)->indices.size(); ++i) {
    params.push_back(IRContext::Current().NewSymVar(std::string("i") + std::to_string(i), (*load)->indices[i]->dtype));
    if (i == operand.vector_dim) continue;
    size_t last = 0;
    for (size_t k = 0; k < block.iter_vars.size(); ++k) {
      if (UsesAxis((*load)->indices[i], block.iter_vars[k]->var)) last = k + 1;
    }
    others.emplace_back(last, i);
  }
  std::ranges::sort(others);
  const tir::Var* vector = params[operand.vector_dim];
  const PrimExpr* factor = make.Const(tiled.tile.width(), vector->dtype);
  std::vector<const PrimExpr*> results = {make.FloorDiv(vector, factor)};
  for (const auto& [last, dim] : others) results.push_back(params[dim]);
  const PrimExpr* lane = make.FloorMod(vector, factor);
  if (tiled.dots.empty()) {
    results.push_back(lane);
  } else {
    const PrimExpr* step = results.back();
    const PrimExpr* steps = make.Const(kDotSteps, step->dtype);
    results.back() = make.FloorDiv(step, steps);
    results.push_back(make.Add(make.Mul(lane, steps), make.FloorMod(step, steps)));
  }
  return IndexMapAttr::Get(params, results);
}

void ScheduleCopy(RuleSchedule& sch, const Name& copy, const Operand& operand, const TiledBlock& tiled) {
  const Tile& tile = tiled.tile;
  Names loops = sch.GetLoops(copy, 1);
  if (operand.form == Operand::Form::kContiguous && tile.is_vector && tile.rest == 0 && !tiled.is_padded) {
    const Names parts = sch.Split({loops.back(), {std::nullopt, tile.vectors, tile.lanes}});
    sch.Vectorize({parts[2]});
    loops.back() = parts[0];
  }
  sch.Parallel({loops[0]});
}

// The pad value 0, for a new layout of a buffer that the block reads.
const IndexMapAttr* ZeroFor(RuleSchedule& sch, const Name& block, int64_t index, const IndexMapAttr& layout) {
  const DataType dtype = sch.Block(block).reads[static_cast<size_t>(index)]->buffer->dtype;
  std::vector<const tir::Var*> params;
  for (const PrimExpr* result : layout.results)
    params.push_back(IRContext::Current().NewSymVar("i" + std::to_string(params.size()), result->dtype));
  const PrimExpr* const zero[] = {sch.state().make().Const(0, dtype)};
  return IndexMapAttr::Get(params, zero);
}

// Copies weights, and operands that a tile would read in steps, to the layout of the tile.
void PackOperands(RuleSchedule& sch, const TiledBlock& tiled, const PrimFunc& func) {
  for (const Operand& operand : tiled.operands) {
    const bool is_free = IsLayoutFree(func, operand.buffer);
    if (!sch.ok()) return;
    if (!IsPacked(operand, tiled, is_free)) continue;
    const tir::Block& block = sch.Block(tiled.block);
    const auto read = std::ranges::find(block.reads, operand.buffer, &tir::BufferRegion::buffer);
    if (read == block.reads.end()) continue;
    const int64_t index = read - block.reads.begin();
    const IndexMapAttr* layout = PackedLayout(block, operand, tiled, sch.state().make());
    const Name copy = sch.CacheRead({tiled.block, index, "global"});
    const IndexMapAttr* pad_value = tiled.is_padded && sch.ok() ? ZeroFor(sch, tiled.block, index, *layout) : nullptr;
    sch.TransformLayout({tiled.block, index, Side::kRead, layout, pad_value});
    if (is_free)
      sch.Annotate({copy, attr::kLayoutRewritePreproc, 1});
    else
      ScheduleCopy(sch, copy, operand, tiled);
  }
}

// Returns whether the block follows the reduction element by element: it reads its result at its own axes.
bool IsElementwiseAfter(RuleSchedule& sch, const Name& block, const TiledBlock& tiled) {
  const tir::Block& reduction = sch.Block(tiled.block);
  const tir::Block& reader = sch.Block(block);
  if (reader.init || !Is<tir::BufferStore>(reader.body)) return false;
  std::vector<const tir::Var*> axes;
  for (const tir::IterVar* axis : reader.iter_vars) {
    if (axis->iter_type != tir::IterVarType::kDataPar) return false;
    axes.push_back(axis->var);
  }
  if (axes.size() != tiled.spatial.size()) return false;
  LoadCollector found;
  found.VisitStmt(reader.body);
  const auto fits = [&](const tir::BufferLoad* load) {
    if (load->buffer != reduction.writes[0]->buffer) return true;
    std::vector<const PrimExpr*> indices;
    for (const PrimExpr* index : load->indices) {
      if (!Is<tir::IntImm>(index)) indices.push_back(index);
    }
    return std::ranges::equal(indices, axes, [](const PrimExpr* index, const tir::Var* axis) { return index == axis; });
  };
  return std::ranges::all_of(found.loads, fits) && CanVectorize(reader, axes.back());
}

// The block that runs in the tile after the reduction: what follows it, or a copy of the tile to the result.
Name EpilogueOf(RuleSchedule& sch, const TiledBlock& tiled) {
  const Names consumers = sch.GetConsumers({tiled.block});
  if (sch.ok() && consumers.size() == 1 && IsElementwiseAfter(sch, consumers[0], tiled)) {
    const tir::Buffer* result = sch.Block(tiled.block).writes[0]->buffer;
    const List<const tir::Buffer*> params = sch.state().func()->param_buffers;
    if (std::ranges::find(params, result) == params.end()) {
      sch.SetScope({tiled.block, 0, "local"});
      return consumers[0];
    }
  }
  return sch.CacheWrite({tiled.block, 0, "local"});
}

// The loops of a tile: those outside of it, the last of which has one iteration for each tile, and those in it.
struct TileLoops {
  Names outer;
  Names rows;  // of a tile, or none
  Name vectors, lanes;
  Names steps;  // of a dot, or none
};

TileLoops SplitLoops(RuleSchedule& sch, const TiledBlock& tiled, const Names& loops) {
  TileLoops result;
  // The lanes after the end need no condition: they read what weights are padded with, and their results are dropped.
  const int64_t width = tiled.tile.rest > 0 ? tiled.tile.width() : tiled.tile.lanes;
  const Names parts = sch.Split({.loop = loops[tiled.vector_loop()],
                                 .factors = {std::nullopt, tiled.tile.rest > 0 ? 1 : tiled.tile.vectors, width},
                                 .disable_predication = tiled.is_padded});
  if (tiled.is_padded) sch.Annotate({parts[0], attr::kLoopPartitionHint, 1});
  result.vectors = parts[1];
  result.lanes = parts[2];
  Names rows;
  for (const size_t i : tiled.spatial) {
    if (i == tiled.vector_loop()) continue;
    if (tiled.row_loop() == i)
      rows = sch.Split({loops[i], {std::nullopt, tiled.tile.rows}});
    else
      result.outer.push_back(loops[i]);
  }
  const auto row_loop = tiled.row_loop();
  const auto num_rows = row_loop ? tiled.extents[*row_loop] : std::optional<int64_t>(1);
  const bool has_tail = tiled.tile.rows > 1 && (!num_rows || *num_rows % tiled.tile.rows != 0);
  // Weights stay in a cache while all rows are computed. The loop over rows is the last one where it ends with fewer
  // rows: lowering makes the last tile apart.
  const bool has_weights = std::ranges::any_of(tiled.operands, &Operand::is_weight);
  const bool has_panels_first = tiled.is_padded || has_weights != tiled.turns_loops;
  if (has_panels_first)
    result.outer.insert(result.outer.begin(), parts[0]);
  else if (has_tail)
    result.outer.push_back(parts[0]);
  if (!rows.empty()) result.outer.push_back(rows[0]);
  if (!has_panels_first && !has_tail) result.outer.push_back(parts[0]);
  if (tiled.blocks > 1) {
    const Names blocks = sch.Split({result.outer[1], {tiled.blocks, std::nullopt}});
    result.outer[1] = blocks[1];
    result.outer.insert(result.outer.begin(), blocks[0]);
  }
  if (has_tail) sch.Annotate({rows[0], attr::kLoopPartitionHint, 1});
  if (!rows.empty()) result.rows = {rows[1]};
  return result;
}

// Brings the loops into the order of the tile. Returns the first loop of the reduction and, as the last one of
// `tile.outer`, the loop that has all of the reduction in it.
Name ReorderTile(RuleSchedule& sch, const TiledBlock& tiled, const Names& loops, TileLoops& tile) {
  Names reduction;
  for (const size_t i : tiled.reduction) reduction.push_back(loops[i]);
  Names order = tile.outer;
  const int64_t steps = tiled.dots.empty() ? 1 : kDotSteps;
  if (steps > 1) {
    const Names parts = sch.Split({reduction.back(), {std::nullopt, steps}});
    reduction.back() = parts[0];
    tile.steps = {parts[1]};
  }
  Names word;
  if (tiled.word > 1) {
    const Names parts = sch.Split({reduction.back(), {std::nullopt, tiled.word}});
    reduction.back() = parts[0];
    word = {parts[1]};
  }
  if (tiled.chunk > 0) {
    const Names parts = sch.Split({reduction.back(), {std::nullopt, tiled.chunk / steps}});
    reduction.back() = parts[0];
    order.insert(order.begin() + 1, reduction.begin(), reduction.end());
    order.push_back(parts[1]);
    tile.outer.resize(1);
  } else {
    order.insert(order.end(), reduction.begin(), reduction.end());
  }
  order.insert(order.end(), word.begin(), word.end());
  order.insert(order.end(), tile.rows.begin(), tile.rows.end());
  order.insert(order.end(), {tile.vectors, tile.lanes});
  order.insert(order.end(), tile.steps.begin(), tile.steps.end());
  sch.Reorder({order});
  for (const Name& loop : word) sch.Unroll({loop});
  return reduction[0];
}

// Runs the loops outside of the one that has the reduction in it in parallel, as one. The panels of padded weights stay
// outside of it, because the last one is apart. Returns the loop.
Name ScheduleOuter(RuleSchedule& sch, const TiledBlock& tiled, Names outer) {
  if (tiled.is_padded && outer.size() > 1) outer.erase(outer.begin());
  Name parallel = outer.size() > 1 ? sch.Fuse({outer}) : outer[0];
  sch.Parallel({parallel});
  return parallel;
}

// The tile of results has room for all lanes.
void PadResults(RuleSchedule& sch, const TiledBlock& tiled) {
  const tir::Block& block = sch.Block(tiled.block);
  const size_t rank = block.writes[0]->buffer->shape.size();
  const arith::PrimBuilder make = sch.state().make();
  std::vector<const tir::Var*> params;
  for (size_t i = 0; i < rank; ++i) {
    const DataType dtype = block.writes[0]->buffer->shape[i]->dtype;
    params.push_back(IRContext::Current().NewSymVar(std::string("i") + std::to_string(i), dtype));
  }
  std::vector<const PrimExpr*> results(params.begin(), params.end() - 1);
  const PrimExpr* width = make.Const(tiled.tile.width(), params.back()->dtype);
  results.push_back(make.FloorDiv(params.back(), width));
  results.push_back(make.FloorMod(params.back(), width));
  sch.TransformLayout({.block = tiled.block,
                       .buffer_index = 0,
                       .buffer_index_type = Side::kWrite,
                       .index_map = IndexMapAttr::Get(params, results),
                       .assume_injective_transform = true});
}

// Vectorizes what runs after the reduction in the loops below the outer ones.
void ScheduleEpilogue(RuleSchedule& sch, const Name& epilogue, size_t depth, const TiledBlock& tiled) {
  Names own = sch.GetLoops(epilogue, depth + 1);
  const Names parts = sch.Split({own.back(), {std::nullopt, tiled.tile.lanes}});
  if (tiled.tile.rest > 0) sch.Annotate({parts[0], attr::kLoopPartitionHint, 1});
  sch.Vectorize({parts[1]});
  sch.Unroll({parts[0]});
  own.pop_back();
  if (tiled.chunk > 0) return;
  for (size_t i = depth; i < own.size(); ++i) sch.Unroll({own[i]});
}

void ScheduleTile(RuleSchedule& sch, const TiledBlock& tiled, const PrimFunc& func) {
  PackOperands(sch, tiled, func);
  const Name epilogue = EpilogueOf(sch, tiled);
  const Names loops = sch.GetLoops(tiled.block, tiled.extents.size());
  TileLoops tile = SplitLoops(sch, tiled, loops);
  const Name reduction = ReorderTile(sch, tiled, loops, tile);
  Name at = tile.outer.back();
  if (tile.outer.size() > 1) tile.outer.pop_back();
  const size_t num_outer = tile.outer.size();
  const Name parallel = ScheduleOuter(sch, tiled, tile.outer);
  if (num_outer == 1 && at == tile.outer[0]) at = parallel;
  const size_t depth = sch.ok() ? sch.state().LoopsOf(sch.RefOf(at)).size() + 1 : 0;
  sch.ReverseComputeAt({epilogue, at});
  if (tiled.tile.rest > 0) {
    // The last vector, of which a part is missing, runs apart, without conditions on the others.
    const Names parts = sch.Split({tile.lanes, {std::nullopt, tiled.tile.lanes}});
    sch.Annotate({parts[0], attr::kLoopPartitionHint, 1});
    sch.Unroll({tile.vectors});
    tile.vectors = parts[0];
    tile.lanes = parts[1];
  }
  if (tiled.is_padded && sch.ok()) PadResults(sch, tiled);
  if (tiled.tile.is_vector) {
    ScheduleEpilogue(sch, epilogue, depth, tiled);
    if (tiled.dots.empty()) sch.Vectorize({tile.lanes});
    sch.Unroll({tile.vectors});
    if (!tile.rows.empty()) sch.Unroll({tile.rows[0]});
  }
  const Name init = sch.DecomposeReduction({tiled.block, reduction});
  if (tiled.dots.empty()) return;
  sch.Vectorize({sch.GetLoops(init, 1).back()});
  sch.Tensorize({tile.lanes, tiled.dots});
}

// ---- The function

// Returns whether an operand has to be copied in each call for the tile, and is not read often enough for that.
bool NeedsCopies(const TiledBlock& tiled, const PrimFunc& func) {
  return std::ranges::any_of(tiled.operands, [&](const Operand& operand) {
    if (operand.form != Operand::Form::kStrided) return false;
    return !operand.is_weight || (!IsLayoutFree(func, operand.buffer) && ReadsOf(tiled, operand) < kManyReads);
  });
}

// Returns whether the last axis of the result, of unknown extent, is the fastest one of all operands that have it.
bool HasWholeRows(const tir::Block& block, const BlockInfo& info) {
  const size_t spatial = info.CountLeading(AxisKind::kSpatial), reduced = info.CountTrailing(AxisKind::kReduction);
  const auto* store = As<tir::BufferStore>(block.body);
  if (spatial == 0 || reduced == 0 || spatial + reduced != info.axes.size() || !store || !block.init) return false;
  const AxisInfo& row = info.axes[spatial - 1];
  if (ConstExtent(row.extent) || store->indices.empty() || store->indices.back() != row.var) return false;
  LoadCollector found;
  found.VisitExpr(store->value);
  return std::ranges::all_of(found.loads, [&](const tir::BufferLoad* load) {
    const auto operand = OperandOf(*load, row.var);
    return operand && operand->form != Operand::Form::kStrided && operand->period == 0;
  });
}

// Each step of the reduction adds to a whole row of results, which the code generator does by vectors.
void ScheduleWholeRows(RuleSchedule& sch, const BlockInfo& info) {
  const auto spatial = static_cast<std::ptrdiff_t>(info.CountLeading(AxisKind::kSpatial));
  const Names loops = sch.GetLoops(info.block, info.axes.size());
  Names order = loops;
  const auto row = order.begin() + (spatial - 1);
  std::rotate(row, row + 1, order.end());
  sch.Reorder({order});
  const Name reduction = order[static_cast<size_t>(spatial) - 1];
  if (spatial > 1) {
    const Names outer(order.begin(), order.begin() + (spatial - 1));
    sch.Parallel({outer.size() > 1 ? sch.Fuse({outer}) : outer[0]});
  }
  sch.DecomposeReduction({info.block, reduction});
}

// Schedules a reduction. Returns the elementwise block that runs in its tiles, or nothing.
std::optional<Name> ScheduleReduction(RuleSchedule& sch, const BlockInfo& info, const PrimFunc& func,
                                      const CpuFacts& facts) {
  const auto tiled = FindTile(sch, info, func, facts);
  if ((!tiled || NeedsCopies(*tiled, func)) && ScheduleRows(sch, info, facts)) return std::nullopt;
  if (!tiled) {
    if (HasWholeRows(sch.Block(info.block), info)) ScheduleWholeRows(sch, info);
    return std::nullopt;
  }
  const Names consumers = sch.GetConsumers({tiled->block});
  const bool has_epilogue = sch.ok() && consumers.size() == 1 && IsElementwiseAfter(sch, consumers[0], *tiled);
  ScheduleTile(sch, *tiled, func);
  return has_epilogue ? std::optional(consumers[0]) : std::nullopt;
}

bool ScheduleBlocks(RuleSchedule& sch, const CpuFacts& facts, bool with_reductions) {
  const PrimFunc& func = sch.original();
  const auto normalized = NormalizePrimFunc(sch);
  if (!normalized) return false;
  const std::vector<BlockInfo> infos = InlineElementwise(sch, *normalized);
  LookupSet<const Ref*> done;
  for (const BlockInfo& info : infos) {
    if (!sch.ok()) return false;
    if (!info.is_reduction || !with_reductions) continue;
    const auto epilogue = ScheduleReduction(sch, info, func, facts);
    if (epilogue && sch.ok()) done.insert(sch.RefOf(*epilogue));
  }
  for (const BlockInfo& info : infos) {
    if (!sch.ok()) return false;
    if (info.IsInjective() && sch.Exists(info.block) && !done.contains(sch.RefOf(info.block)))
      ScheduleElementwise(sch, info, facts);
  }
  return sch.ok();
}

}  // namespace

bool ApplyCpuTile(RuleSchedule& sch, const TargetAttr* target) {
  if (!IsCpu(target) || HasScheduledLoops(sch.original())) return false;
  CpuFacts facts = CpuFactsOf(target);
  if (ScheduleBlocks(sch, facts, true)) return true;
  sch.Restart();
  facts.dots = DotForm::kNone;
  // If blocks cannot be moved into tiles, only elementwise blocks are scheduled, or nothing.
  for (const bool with_reductions : {true, false}) {
    if (ScheduleBlocks(sch, facts, with_reductions)) return true;
    sch.Restart();
  }
  return false;
}

}  // namespace iropt::schedule
