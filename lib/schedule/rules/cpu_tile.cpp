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
// depthwise ones, products of matrices and vectors, poolings and sums over outer axes are all of this form.
#include <algorithm>
#include <numeric>
#include <string>
#include <unordered_set>
#include <utility>

#include "cpu_blocks.h"
#include "iropt/ir/context.h"
#include "schedule/checks.h"
#include "schedule/stmt_tools.h"

namespace iropt::schedule {

namespace {

// ---- Reductions

struct Tile {
  int64_t rows = 1, vectors = 1, lanes = 1;
  bool is_vector = true;  // otherwise the code generator makes vectors of the lanes

  int64_t width() const { return vectors * lanes; }
};

struct TiledBlock {
  Name block;
  std::vector<Operand> operands;
  std::vector<size_t> spatial, reduction;  // of the loops
  std::vector<std::optional<int64_t>> extents;
  Tile tile;
  // Not 0: weights are read once. Each part of the reduction, of so many values of its last axis, runs for all tiles,
  // which are in the first cache.
  int64_t chunk = 0;
  // Parts of the first axis of the result, whose operands without vectors stay in a cache for all weights.
  int64_t blocks = 1;

  size_t vector_loop() const { return spatial.back(); }
  // Nothing if there is only the axis of the vectors.
  std::optional<size_t> row_loop() const {
    return spatial.size() > 1 ? std::optional(spatial[spatial.size() - 2]) : std::nullopt;
  }
};

// The cost of a multiplication and addition in cycles, of a processor that does two of them and two loads in each, and
// takes four cycles for one. What has no rows is often not in the first cache.
double CostOf(const Tile& tile, const std::vector<Operand>& operands) {
  constexpr double kPerCycle = 2, kLatency = 4, kFarLoad = 1.5;
  const auto count = static_cast<double>(tile.rows * tile.vectors);
  double loads = 0;
  for (const Operand& operand : operands) {
    const bool has_vectors = operand.form != Operand::Form::kUniform;
    const int64_t vectors = has_vectors ? tile.vectors : 1;
    const auto number = static_cast<double>(vectors * (operand.has_rows ? tile.rows : 1));
    loads += has_vectors && !operand.has_rows ? number * kFarLoad : number;
  }
  return std::max({1 / kPerCycle, loads / kPerCycle / count, kLatency / count});
}

// The same on the average of all rows, of which the last tile may have fewer. Then there is more code.
double CostOfRows(const Tile& tile, int64_t num_rows, const std::vector<Operand>& operands) {
  constexpr double kCostOfTail = 1.1;
  const int64_t tail = num_rows % tile.rows;
  if (tail == 0) return CostOf(tile, operands);
  const Tile last{tail, tile.vectors, tile.lanes};
  const double cost = CostOf(tile, operands) * static_cast<double>(num_rows - tail) +
                      CostOf(last, operands) * static_cast<double>(tail);
  return kCostOfTail * cost / static_cast<double>(num_rows);
}

// Of the tiles with such vectors. Where the number of rows is not known, the conditions on rows remain in the loop of
// the reduction of the last tile, so that there are few rows.
Tile ChooseTile(const TiledBlock& tiled, int64_t extent, int64_t lanes, const CpuFacts& facts) {
  constexpr int64_t kManyRows = 1024, kRowsOfUnknown = 4;
  const int64_t num_vectors = extent / lanes;
  const auto row_loop = tiled.row_loop();
  const auto known_rows = row_loop ? tiled.extents[*row_loop] : std::optional<int64_t>(1);
  const int64_t num_rows = known_rows.value_or(kManyRows);
  const int64_t most_rows = known_rows ? std::min(num_rows, facts.registers) : kRowsOfUnknown;
  Tile best{1, 1, lanes};
  double best_cost = CostOfRows(best, num_rows, tiled.operands);
  for (int64_t vectors = 1; vectors <= std::min(num_vectors, facts.registers / 2); ++vectors) {
    for (int64_t rows = 1; rows <= most_rows; ++rows) {
      if (num_vectors % vectors != 0 || rows * vectors + vectors + 1 > facts.registers) continue;
      const Tile tile{rows, vectors, lanes};
      const double cost = CostOfRows(tile, num_rows, tiled.operands);
      const bool is_bigger = rows * vectors > best.rows * best.vectors;
      if (cost > best_cost || (cost == best_cost && !is_bigger)) continue;
      best = tile;
      best_cost = cost;
    }
  }
  return best;
}

// A tile of one row, whose width is the greatest divisor of the extent that is not too big for a cache.
std::optional<Tile> PlainTile(int64_t extent) {
  constexpr int64_t kMostLanes = 256;
  int64_t lanes = std::min(extent, kMostLanes);
  while (extent % lanes != 0) --lanes;
  if (lanes < kFewestLanes) return std::nullopt;
  return Tile{1, 1, lanes, /*is_vector=*/false};
}

// What the block reads besides its result; nothing if it cannot be computed by vectors.
std::optional<std::vector<Operand>> OperandsOf(const tir::Block& block, const std::vector<const tir::Var*>& spatial) {
  const auto* store = As<tir::BufferStore>(block.body);
  if (!store || !block.init || block.writes.size() != 1) return std::nullopt;
  std::vector<const PrimExpr*> axes;
  for (const PrimExpr* index : store->indices) {
    if (!Is<tir::IntImm>(index)) axes.push_back(index);
  }
  const auto is_axis = [](const PrimExpr* index, const tir::Var* axis) { return index == axis; };
  if (store->indices.empty() || !std::ranges::equal(axes, spatial, is_axis) || store->indices.back() != spatial.back())
    return std::nullopt;
  LoadCollector found;
  found.VisitExpr(store->value);
  if (std::ranges::any_of(found.conditions, [&](const PrimExpr* c) { return UsesAxis(c, spatial.back()); }))
    return std::nullopt;
  const tir::Var* row_axis = spatial.size() > 1 ? spatial[spatial.size() - 2] : nullptr;
  std::vector<Operand> operands;
  for (const tir::BufferLoad* load : found.loads) {
    if (load->buffer == store->buffer) continue;
    auto operand = OperandOf(*load, spatial.back());
    if (!operand) return std::nullopt;
    const auto uses = [&](const tir::Var* axis) {
      return std::ranges::any_of(load->indices, [&](const PrimExpr* index) { return UsesAxis(index, axis); });
    };
    operand->has_rows = row_axis && uses(row_axis);
    operand->is_weight = operand->form != Operand::Form::kUniform && operand->period == 0 &&
                         std::none_of(spatial.begin(), spatial.end() - 1, uses);
    operands.push_back(*operand);
  }
  return operands;
}

// How often a tile reads each element of a weight: for each tile of rows, as far as their number is known.
int64_t ReadsOfWeights(const TiledBlock& tiled) {
  int64_t reads = 1;
  for (const size_t i : tiled.spatial) {
    if (i == tiled.vector_loop()) continue;
    const int64_t per_tile = tiled.row_loop() == i ? tiled.tile.rows : 1;
    reads *= std::max<int64_t>(tiled.extents[i].value_or(1) / per_tile, 1);
  }
  return reads;
}

// The product of the extents of loops; nothing if one of them is not known, or the product is out of range.
std::optional<int64_t> ProductOf(const TiledBlock& tiled, const std::vector<size_t>& loops) {
  int64_t product = 1;
  for (const size_t i : loops) {
    if (!tiled.extents[i] || __builtin_mul_overflow(product, *tiled.extents[i], &product)) return std::nullopt;
  }
  return product;
}

int64_t ChooseChunk(const TiledBlock& tiled, int64_t bytes) {
  constexpr int64_t kSmallWeights = 1 << 17, kMostResults = 1 << 15, kMostOfChunk = 1 << 14, kShortest = 16;
  const int64_t row_bytes = tiled.tile.width() * bytes;
  const bool has_weights = std::ranges::any_of(tiled.operands, &Operand::is_weight);
  const auto results = ProductOf(tiled, {tiled.spatial.begin(), tiled.spatial.end() - 1});
  const auto steps = ProductOf(tiled, tiled.reduction);
  if (!has_weights || !results || !steps || ReadsOfWeights(tiled) < 2) return 0;
  if (*steps < kSmallWeights / row_bytes || *results > kMostResults / row_bytes) return 0;
  const int64_t last = *tiled.extents[tiled.reduction.back()];
  int64_t chunk = std::min(last, std::max(kMostOfChunk / row_bytes, kShortest));
  while (last % chunk != 0) --chunk;
  return chunk < kShortest ? 0 : chunk;
}

int64_t ChooseBlocks(const TiledBlock& tiled) {
  constexpr int64_t kBigOperand = 1 << 20, kFewPanels = 4;
  const bool has_weights = std::ranges::any_of(tiled.operands, &Operand::is_weight);
  const size_t first = tiled.spatial.front();
  if (!has_weights || tiled.chunk > 0 || first == tiled.vector_loop() || !tiled.extents[first]) return 1;
  if (*tiled.extents[tiled.vector_loop()] < kFewPanels * tiled.tile.width()) return 1;
  int64_t bytes = 0;
  for (const Operand& operand : tiled.operands) {
    if (operand.form == Operand::Form::kUniform && operand.has_rows)
      bytes = std::max(bytes, BytesOf({operand.buffer}).value_or(0));
  }
  const int64_t per_step = tiled.row_loop() == first ? tiled.tile.rows : 1;
  if (bytes <= kBigOperand || *tiled.extents[first] % per_step != 0) return 1;
  const int64_t steps = *tiled.extents[first] / per_step;
  int64_t blocks = std::min(steps, bytes / (kBigOperand / 2));
  while (steps % blocks != 0) ++blocks;
  return blocks;
}

std::optional<TiledBlock> FindTile(RuleSchedule& sch, const BlockInfo& info, const CpuFacts& facts) {
  TiledBlock tiled;
  tiled.block = info.block;
  std::vector<const tir::Var*> spatial;
  for (size_t i = 0; i < info.axes.size(); ++i) {
    const AxisInfo& axis = info.axes[i];
    tiled.extents.push_back(ConstExtent(axis.extent));
    if (axis.kind == 'S') {
      tiled.spatial.push_back(i);
      spatial.push_back(axis.var);
    } else if (axis.kind == 'R') {
      tiled.reduction.push_back(i);
    } else {
      return std::nullopt;
    }
  }
  if (spatial.empty() || tiled.reduction.empty() || !tiled.extents[tiled.vector_loop()]) return std::nullopt;
  const tir::Block& block = sch.Block(info.block);
  auto operands = OperandsOf(block, spatial);
  if (!operands) return std::nullopt;
  tiled.operands = *std::move(operands);
  // In a tile, no operand may change with the period.
  int64_t extent = *tiled.extents[tiled.vector_loop()];
  if (extent <= 0) return std::nullopt;
  for (const Operand& operand : tiled.operands) extent = std::gcd(extent, operand.period > 0 ? operand.period : extent);
  const int64_t lanes = LanesFor(extent, facts.LanesOf(block.writes[0]->buffer->dtype));
  if (lanes >= kFewestLanes) {
    tiled.tile = ChooseTile(tiled, extent, lanes, facts);
    tiled.chunk = ChooseChunk(tiled, block.writes[0]->buffer->dtype.bytes());
    tiled.blocks = ChooseBlocks(tiled);
    return tiled;
  }
  const std::optional<Tile> tile = PlainTile(extent);
  if (!tile) return std::nullopt;
  tiled.tile = *tile;
  return tiled;
}

// The layout in which a tile reads the operand in order: first the groups of vectors, then the other dimensions as the
// loops of the reduction run.
const IndexMapAttr* PackedLayout(const tir::Block& block, const Operand& operand, int64_t width,
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
  const PrimExpr* factor = make.Const(width, vector->dtype);
  std::vector<const PrimExpr*> results = {make.FloorDiv(vector, factor)};
  for (const auto& [last, dim] : others) results.push_back(params[dim]);
  results.push_back(make.FloorMod(vector, factor));
  return IndexMapAttr::Get(params, results);
}

bool IsLayoutFree(const PrimFunc& func, const tir::Buffer* buffer) {
  const auto param = std::ranges::find(func.param_buffers, buffer);
  const auto* marked = As<ListAttr>(func.attrs->Find("layout_free_buffers"));
  if (param == func.param_buffers.end() || !marked) return false;
  return std::ranges::any_of(marked->values, [&](const Attr* attr) {
    const auto* index = As<IntAttr>(attr);
    return index && index->value == param - func.param_buffers.begin();
  });
}

// Whether the operand is read from a copy in the layout of the tile.
bool IsPacked(const Operand& operand, const TiledBlock& tiled, bool is_free) {
  constexpr int64_t kManyReads = 16;
  if (operand.form == Operand::Form::kUniform || operand.period > 0) return false;
  if (operand.form == Operand::Form::kStrided || (is_free && operand.is_weight)) return true;
  const bool is_wide = *tiled.extents[tiled.vector_loop()] > tiled.tile.width();
  return operand.is_weight && is_wide && ReadsOfWeights(tiled) >= kManyReads;
}

void ScheduleCopy(RuleSchedule& sch, const Name& copy, const Operand& operand, const Tile& tile) {
  Names loops = sch.GetLoops(copy, 1);
  if (operand.form == Operand::Form::kContiguous && tile.is_vector) {
    const Names parts = sch.Split(loops.back(), {std::nullopt, tile.vectors, tile.lanes});
    sch.Vectorize(parts[2]);
    loops.back() = parts[0];
  }
  sch.Parallel(loops[0]);
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
    const IndexMapAttr* layout = PackedLayout(block, operand, tiled.tile.width(), sch.state().make());
    const Name copy = sch.CacheRead(tiled.block, index, "global");
    sch.TransformLayout(tiled.block, index, /*is_write=*/false, layout);
    if (is_free)
      sch.Annotate(copy, "meta_schedule.layout_rewrite_preproc", 1);
    else
      ScheduleCopy(sch, copy, operand, tiled.tile);
  }
}

// Whether the block follows the reduction element by element: it reads its result at its own axes.
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
  const Names consumers = sch.GetConsumers(tiled.block);
  if (sch.ok() && consumers.size() == 1 && IsElementwiseAfter(sch, consumers[0], tiled)) {
    const tir::Buffer* result = sch.Block(tiled.block).writes[0]->buffer;
    const List<const tir::Buffer*> params = sch.state().func()->param_buffers;
    if (std::ranges::find(params, result) == params.end()) {
      sch.SetScope(tiled.block, 0, "local");
      return consumers[0];
    }
  }
  return sch.CacheWrite(tiled.block, 0, "local");
}

// The loops of a tile: those outside of it, the last of which has one iteration for each tile, and those in it.
struct TileLoops {
  Names outer;
  Names rows;  // of a tile, or none
  Name vectors, lanes;
};

TileLoops SplitLoops(RuleSchedule& sch, const TiledBlock& tiled, const Names& loops) {
  TileLoops result;
  const Names parts = sch.Split(loops[tiled.vector_loop()], {std::nullopt, tiled.tile.vectors, tiled.tile.lanes});
  result.vectors = parts[1];
  result.lanes = parts[2];
  Names rows;
  for (const size_t i : tiled.spatial) {
    if (i == tiled.vector_loop()) continue;
    if (tiled.row_loop() == i)
      rows = sch.Split(loops[i], {std::nullopt, tiled.tile.rows});
    else
      result.outer.push_back(loops[i]);
  }
  const auto row_loop = tiled.row_loop();
  const auto num_rows = row_loop ? tiled.extents[*row_loop] : std::optional<int64_t>(1);
  const bool has_tail = tiled.tile.rows > 1 && (!num_rows || *num_rows % tiled.tile.rows != 0);
  // Weights stay in a cache while all rows are computed. The loop over rows is the last one where it ends with fewer
  // rows: lowering makes the last tile apart.
  const bool has_weights = std::ranges::any_of(tiled.operands, &Operand::is_weight);
  if (has_weights)
    result.outer.insert(result.outer.begin(), parts[0]);
  else if (has_tail)
    result.outer.push_back(parts[0]);
  if (!rows.empty()) result.outer.push_back(rows[0]);
  if (!has_weights && !has_tail) result.outer.push_back(parts[0]);
  if (tiled.blocks > 1) {
    const Names blocks = sch.Split(result.outer[1], {tiled.blocks, std::nullopt});
    result.outer[1] = blocks[1];
    result.outer.insert(result.outer.begin(), blocks[0]);
  }
  if (has_tail) sch.Annotate(rows[0], "pragma_loop_partition_hint", 1);
  if (!rows.empty()) result.rows = {rows[1]};
  return result;
}

// Brings the loops into the order of the tile. Returns the first loop of the reduction and, as the last one of
// `tile.outer`, the loop that has all of the reduction in it.
Name ReorderTile(RuleSchedule& sch, const TiledBlock& tiled, const Names& loops, TileLoops& tile) {
  Names reduction;
  for (const size_t i : tiled.reduction) reduction.push_back(loops[i]);
  Names order = tile.outer;
  if (tiled.chunk > 0) {
    const Names parts = sch.Split(reduction.back(), {std::nullopt, tiled.chunk});
    reduction.back() = parts[0];
    order.insert(order.begin() + 1, reduction.begin(), reduction.end());
    order.push_back(parts[1]);
    tile.outer.resize(1);
  } else {
    order.insert(order.end(), reduction.begin(), reduction.end());
  }
  order.insert(order.end(), tile.rows.begin(), tile.rows.end());
  order.insert(order.end(), {tile.vectors, tile.lanes});
  sch.Reorder(order);
  return reduction[0];
}

// Vectorizes what runs after the reduction in the loops below the outer ones.
void ScheduleEpilogue(RuleSchedule& sch, const Name& epilogue, size_t depth, const TiledBlock& tiled) {
  Names own = sch.GetLoops(epilogue, depth + 1);
  const Names parts = sch.Split(own.back(), {std::nullopt, tiled.tile.lanes});
  sch.Vectorize(parts[1]);
  sch.Unroll(parts[0]);
  own.pop_back();
  if (tiled.chunk > 0) return;
  for (size_t i = depth; i < own.size(); ++i) sch.Unroll(own[i]);
}

void ScheduleTile(RuleSchedule& sch, const TiledBlock& tiled, const PrimFunc& func) {
  PackOperands(sch, tiled, func);
  const Name epilogue = EpilogueOf(sch, tiled);
  const Names loops = sch.GetLoops(tiled.block, tiled.extents.size());
  TileLoops tile = SplitLoops(sch, tiled, loops);
  const Name reduction = ReorderTile(sch, tiled, loops, tile);
  Name at = tile.outer.back();
  const size_t depth = tile.outer.size() > 1 ? 2 : 1;
  if (depth > 1) tile.outer.pop_back();
  const Name parallel = tile.outer.size() > 1 ? sch.Fuse(tile.outer) : tile.outer[0];
  sch.Parallel(parallel);
  if (depth == 1) at = parallel;
  sch.ReverseComputeAt(epilogue, at);
  if (tiled.tile.is_vector) {
    ScheduleEpilogue(sch, epilogue, depth, tiled);
    sch.Vectorize(tile.lanes);
    sch.Unroll(tile.vectors);
    if (!tile.rows.empty()) sch.Unroll(tile.rows[0]);
  }
  sch.DecomposeReduction(tiled.block, reduction);
}

// ---- The function

// Counts the nodes of an expression, and stops at a limit.
class NodeCounter : public tir::StmtExprVisitor {
 public:
  explicit NodeCounter(size_t limit) : limit_(limit) {}
  size_t count() const { return count_; }
  void VisitExpr(const PrimExpr* e) override {
    if (++count_ <= limit_) StmtExprVisitor::VisitExpr(e);
  }

 private:
  size_t limit_;
  size_t count_ = 0;
};

// Whether little is added when the block's value takes the place of its elements: what is read once only moves, and
// else the copies are small. Without a limit, a chain of blocks that each read the one before twice would double at
// each step.
bool StaysSmall(RuleSchedule& sch, const tir::Block& block, const Names& consumers) {
  constexpr size_t kMostNodes = 64;
  size_t num_reads = 0;
  for (const Name& consumer : consumers) {
    LoadCollector found;
    found.VisitStmt(sch.Block(consumer).body);
    num_reads +=
        static_cast<size_t>(std::ranges::count(found.loads, block.writes[0]->buffer, &tir::BufferLoad::buffer));
  }
  if (num_reads <= 1) return true;
  const auto* store = As<tir::BufferStore>(block.body);
  if (!store) return false;
  NodeCounter nodes(kMostNodes);
  nodes.VisitExpr(store->value);
  return nodes.count() * num_reads <= kMostNodes;
}

// Inlines elementwise blocks into other ones. What is read by reductions is not, unless it is a copy: they would
// compute it many times.
std::vector<BlockInfo> InlineElementwise(RuleSchedule& sch, const std::vector<BlockInfo>& infos) {
  std::vector<BlockInfo> rest;
  for (const BlockInfo& info : infos) {
    const auto is_elementwise = [&](const Name& consumer) {
      const tir::Block& block = sch.Block(consumer);
      return !block.init && IsSpatial(block);
    };
    const Names consumers = sch.GetConsumers(info.block);
    const bool may_inline = sch.ok() && info.IsInjective() && !consumers.empty() &&
                            (IsCopy(sch.Block(info.block)) || std::ranges::all_of(consumers, is_elementwise)) &&
                            StaysSmall(sch, sch.Block(info.block), consumers);
    if (!may_inline || !sch.TryComputeInline(info.block)) rest.push_back(info);
  }
  return rest;
}

// Whether an operand has to be copied in each call for the tile, and is not read often enough for that.
bool NeedsCopies(const TiledBlock& tiled, const PrimFunc& func) {
  constexpr int64_t kManyReads = 16;
  return std::ranges::any_of(tiled.operands, [&](const Operand& operand) {
    if (operand.form != Operand::Form::kStrided) return false;
    return !operand.is_weight || (!IsLayoutFree(func, operand.buffer) && ReadsOfWeights(tiled) < kManyReads);
  });
}

// Schedules a reduction. Returns the elementwise block that runs in its tiles, or nothing.
std::optional<Name> ScheduleReduction(RuleSchedule& sch, const BlockInfo& info, const PrimFunc& func,
                                      const CpuFacts& facts) {
  const auto tiled = FindTile(sch, info, facts);
  if ((!tiled || NeedsCopies(*tiled, func)) && ScheduleRows(sch, info, facts)) return std::nullopt;
  if (!tiled) return std::nullopt;
  const Names consumers = sch.GetConsumers(tiled->block);
  const bool has_epilogue = sch.ok() && consumers.size() == 1 && IsElementwiseAfter(sch, consumers[0], *tiled);
  ScheduleTile(sch, *tiled, func);
  return has_epilogue ? std::optional(consumers[0]) : std::nullopt;
}

// Finds loops that somebody has scheduled.
class ScheduledLoopFinder : public tir::StmtExprVisitor {
 public:
  bool found() const { return found_; }

 protected:
  void VisitFor(const tir::For* loop) override {
    found_ |= loop->for_kind != tir::ForKind::kSerial || !loop->annotations->keys.empty();
    if (!found_) StmtExprVisitor::VisitFor(loop);
  }

 private:
  bool found_ = false;
};

bool ScheduleBlocks(RuleSchedule& sch, const CpuFacts& facts, bool with_reductions) {
  const PrimFunc& func = sch.original();
  const auto normalized = NormalizePrimFunc(sch);
  if (!normalized) return false;
  const std::vector<BlockInfo> infos = InlineElementwise(sch, *normalized);
  std::unordered_set<const Ref*> done;  // looked up, never iterated
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
  if (!IsCpu(target)) return false;
  ScheduledLoopFinder loops;
  loops.VisitStmt(sch.original().body);
  if (loops.found()) return false;
  // Where blocks cannot be moved as tiles want it, only elementwise blocks are scheduled, or nothing.
  for (const bool with_reductions : {true, false}) {
    if (ScheduleBlocks(sch, CpuFactsOf(target), with_reductions)) return true;
    sch.Restart();
  }
  return false;
}

}  // namespace iropt::schedule
