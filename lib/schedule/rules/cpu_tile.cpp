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
#include <string>
#include <unordered_set>
#include <utility>

#include "cpu_facts.h"
#include "iropt/ir/context.h"
#include "iropt/ir/tir/visitor.h"
#include "rule_schedule.h"
#include "schedule/checks.h"
#include "schedule/stmt_tools.h"

namespace iropt::schedule {

namespace {

// How a block reads a buffer, with respect to the axis of the vectors.
struct Operand {
  enum class Form : uint8_t { kUniform, kContiguous, kStrided };  // strided: the axis is an index, but not the last one
  const tir::Buffer* buffer;
  Form form;
  size_t vector_dim = 0;   // the index that is the axis
  bool has_rows = false;   // depends on the axis of the rows
  bool is_weight = false;  // has the axis of the vectors, and no other data parallel one
};

class LoadCollector : public tir::StmtExprVisitor {
 public:
  std::vector<const tir::BufferLoad*> loads;
  std::vector<const PrimExpr*> conditions;
  using tir::StmtExprVisitor::VisitExpr;

 protected:
  void VisitBufferLoad(const tir::BufferLoad* load) override {
    loads.push_back(load);
    StmtExprVisitor::VisitBufferLoad(load);
  }
  void VisitCall(const tir::Call* call) override {
    if (IsCallTo(call, OpId::kTirIfThenElse)) conditions.push_back(call->args[0]);
    StmtExprVisitor::VisitCall(call);
  }
  void VisitSelect(const tir::Select* select) override {
    conditions.push_back(select->condition);
    StmtExprVisitor::VisitSelect(select);
  }
};

bool UsesAxis(const PrimExpr* expr, const tir::Var* axis) { return axis && tir::UsesVar(expr, axis); }

// Nothing if lanes are neither next to each other nor in a dimension of their own.
std::optional<Operand> OperandOf(const tir::BufferLoad& load, const tir::Var* vector_axis) {
  Operand operand{load.buffer, Operand::Form::kUniform};
  const size_t rank = load.indices.size();
  size_t uses = 0;
  for (size_t i = 0; i < rank; ++i) {
    if (!UsesAxis(load.indices[i], vector_axis)) continue;
    if (load.indices[i] != vector_axis || ++uses > 1) return std::nullopt;
    operand.vector_dim = i;
    operand.form = i + 1 == rank ? Operand::Form::kContiguous : Operand::Form::kStrided;
  }
  return operand;
}

// The lanes of vectors for an axis of this extent: as many as fit and divide it.
int64_t LanesFor(int64_t extent, int64_t lanes) {
  while (lanes > 1 && extent % lanes != 0) lanes /= 2;
  return lanes;
}

constexpr int64_t kFewestLanes = 4;

// ---- Elementwise blocks

bool CanVectorize(const tir::Block& block, const tir::Var* axis) {
  const auto* store = As<tir::BufferStore>(block.body);
  if (!store || block.init || store->indices.empty() || store->indices.back() != axis) return false;
  if (std::any_of(store->indices.begin(), store->indices.end() - 1,
                  [&](const PrimExpr* index) { return UsesAxis(index, axis); }))
    return false;
  LoadCollector found;
  found.VisitExpr(store->value);
  const auto is_simple = [&](const tir::BufferLoad* load) {
    const auto operand = OperandOf(*load, axis);
    return operand && operand->form != Operand::Form::kStrided;
  };
  return std::ranges::all_of(found.loads, is_simple) &&
         std::ranges::none_of(found.conditions, [&](const PrimExpr* c) { return UsesAxis(c, axis); });
}

// Where the conditions of the block on the axis change, in ascending order; nothing if one of them is not a comparison
// of the axis with a constant.
std::optional<std::vector<int64_t>> CutsOf(const tir::Block& block, const tir::Var* axis) {
  std::vector<int64_t> cuts;
  const auto add = [&](const auto& self, const PrimExpr* condition) -> bool {
    if (!UsesAxis(condition, axis)) return true;
    if (!tir::BinaryExpr::ClassOf(condition->kind)) return false;
    const auto* both = static_cast<const tir::BinaryExpr*>(condition);
    if (condition->kind == NodeKind::kAnd || condition->kind == NodeKind::kOr)
      return self(self, both->a) && self(self, both->b);
    const bool is_left = both->a == axis;
    const int64_t* bound = arith::AsInt(is_left ? both->b : both->a);
    if (!bound || (!is_left && both->b != axis)) return false;
    switch (condition->kind) {
      case NodeKind::kLT:
      case NodeKind::kGE: cuts.push_back(is_left ? *bound : *bound + 1); break;
      case NodeKind::kLE:
      case NodeKind::kGT: cuts.push_back(is_left ? *bound + 1 : *bound); break;
      default: return false;
    }
    return true;
  };
  LoadCollector found;
  found.VisitStmt(block.body);
  for (const PrimExpr* condition : found.conditions) {
    if (!add(add, condition)) return std::nullopt;
  }
  std::ranges::sort(cuts);
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  return cuts;
}

// Runs the parts of the loop one after the other, so that no condition on the axis remains in it.
void CutLoop(RuleSchedule& sch, const tir::Block& block, const AxisInfo& axis, const Name& loop) {
  constexpr size_t kMostParts = 16;
  const auto extent = ConstExtent(axis.extent);
  auto cuts = CutsOf(block, axis.var);
  if (!extent || !cuts) return;
  std::erase_if(*cuts, [&](int64_t cut) { return cut <= 0 || cut >= *extent; });
  if (cuts->empty() || cuts->size() >= kMostParts) return;
  Factors parts;
  int64_t begin = 0;
  for (const int64_t cut : *cuts) parts.emplace_back(cut - std::exchange(begin, cut));
  parts.emplace_back(std::nullopt);
  sch.LoopPartition(loop, parts);
}

void ScheduleElementwise(RuleSchedule& sch, const BlockInfo& info, const CpuFacts& facts) {
  const tir::Block& block = sch.Block(info.block);
  Names loops = sch.GetLoops(info.block);
  if (!sch.ok() || loops.empty() || loops.size() != info.axes.size() || block.writes.size() != 1) return;
  const auto extent = ConstExtent(info.axes.back().extent);
  const int64_t lanes = LanesFor(extent.value_or(1), facts.LanesOf(block.writes[0]->buffer->dtype));
  const bool has_vectors = lanes >= kFewestLanes && CanVectorize(block, info.axes.back().var);
  if (has_vectors) {
    const Names parts = sch.Split(loops.back(), {std::nullopt, lanes});
    sch.Vectorize(parts[1]);
    loops.back() = parts[0];
  }
  const Name last = loops.back();
  if (loops.size() > 1) loops.pop_back();
  const Name parallel = loops.size() > 1 ? sch.Fuse(loops) : loops[0];
  sch.Parallel(parallel);
  if (!has_vectors && info.axes.size() > 1) CutLoop(sch, sch.Block(info.block), info.axes.back(), last);
}

// ---- Reductions

struct Tile {
  int64_t rows = 1, vectors = 1, lanes = 1;
};

struct TiledBlock {
  Name block;
  std::vector<Operand> operands;
  std::vector<size_t> spatial, reduction;  // of the loops
  std::vector<std::optional<int64_t>> extents;
  Tile tile;

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

Tile ChooseTile(const TiledBlock& tiled, int64_t lanes, const CpuFacts& facts) {
  const int64_t num_vectors = *tiled.extents[tiled.vector_loop()] / lanes;
  const auto row_loop = tiled.row_loop();
  const int64_t num_rows = row_loop ? tiled.extents[*row_loop].value_or(1) : 1;
  Tile best{1, 1, lanes};
  double best_cost = CostOf(best, tiled.operands);
  for (int64_t vectors = 1; vectors <= std::min(num_vectors, facts.registers / 2); ++vectors) {
    for (int64_t rows = 1; rows <= std::min(num_rows, facts.registers); ++rows) {
      if (num_vectors % vectors != 0 || num_rows % rows != 0) continue;
      if (rows * vectors + vectors + 1 > facts.registers) continue;
      const Tile tile{rows, vectors, lanes};
      const double cost = CostOf(tile, tiled.operands);
      const bool is_bigger = rows * vectors > best.rows * best.vectors;
      if (cost > best_cost || (cost == best_cost && !is_bigger)) continue;
      best = tile;
      best_cost = cost;
    }
  }
  return best;
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
    operand->is_weight =
        operand->form != Operand::Form::kUniform && std::none_of(spatial.begin(), spatial.end() - 1, uses);
    operands.push_back(*operand);
  }
  return operands;
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
  const int64_t lanes = LanesFor(*tiled.extents[tiled.vector_loop()], facts.LanesOf(block.writes[0]->buffer->dtype));
  if (lanes < kFewestLanes) return std::nullopt;
  tiled.tile = ChooseTile(tiled, lanes, facts);
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

// Copies weights, and operands that a tile would read in steps, to the layout of the tile.
void PackOperands(RuleSchedule& sch, const TiledBlock& tiled, const PrimFunc& func) {
  for (const Operand& operand : tiled.operands) {
    const bool is_free = operand.is_weight && IsLayoutFree(func, operand.buffer);
    if (!is_free && operand.form != Operand::Form::kStrided) continue;
    if (!sch.ok()) return;
    const tir::Block& block = sch.Block(tiled.block);
    const auto read = std::ranges::find(block.reads, operand.buffer, &tir::BufferRegion::buffer);
    if (read == block.reads.end()) continue;
    const int64_t index = read - block.reads.begin();
    const IndexMapAttr* layout =
        PackedLayout(block, operand, tiled.tile.vectors * tiled.tile.lanes, sch.state().make());
    const Name copy = sch.CacheRead(tiled.block, index, "global");
    sch.TransformLayout(tiled.block, index, /*is_write=*/false, layout);
    if (is_free)
      sch.Annotate(copy, "meta_schedule.layout_rewrite_preproc", 1);
    else if (const Names loops = sch.GetLoops(copy); !loops.empty())
      sch.Parallel(loops[0]);
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

void ScheduleTile(RuleSchedule& sch, const TiledBlock& tiled, const PrimFunc& func) {
  PackOperands(sch, tiled, func);
  const Name epilogue = EpilogueOf(sch, tiled);
  const Names loops = sch.GetLoops(tiled.block, tiled.extents.size());
  const Names vectors = sch.Split(loops[tiled.vector_loop()], {std::nullopt, tiled.tile.vectors, tiled.tile.lanes});
  Names outer, rows;
  for (const size_t i : tiled.spatial) {
    if (i == tiled.vector_loop()) continue;
    if (tiled.row_loop() == i)
      rows = sch.Split(loops[i], {std::nullopt, tiled.tile.rows});
    else
      outer.push_back(loops[i]);
  }
  // Weights stay in a cache while all rows are computed.
  const bool has_weights = std::ranges::any_of(tiled.operands, &Operand::is_weight);
  if (has_weights) outer.insert(outer.begin(), vectors[0]);
  if (!rows.empty()) outer.push_back(rows[0]);
  if (!has_weights) outer.push_back(vectors[0]);
  Names order = outer;
  for (const size_t i : tiled.reduction) order.push_back(loops[i]);
  if (!rows.empty()) order.push_back(rows[1]);
  order.insert(order.end(), {vectors[1], vectors[2]});
  sch.Reorder(order);
  Name at = outer.back();
  if (outer.size() > 1) outer.pop_back();
  const size_t depth = at == outer[0] ? 1 : 2;
  const Name parallel = outer.size() > 1 ? sch.Fuse(outer) : outer[0];
  sch.Parallel(parallel);
  if (depth == 1) at = parallel;
  sch.ReverseComputeAt(epilogue, at);
  Names own = sch.GetLoops(epilogue, depth + 1);
  const Names parts = sch.Split(own.back(), {std::nullopt, tiled.tile.lanes});
  sch.Vectorize(parts[1]);
  own.back() = parts[0];
  for (size_t i = depth; i < own.size(); ++i) sch.Unroll(own[i]);
  sch.Vectorize(vectors[2]);
  sch.Unroll(vectors[1]);
  if (!rows.empty()) sch.Unroll(rows[1]);
  sch.DecomposeReduction(tiled.block, loops[tiled.reduction[0]]);
}

// ---- The function

// Whether the block copies a buffer to another one of the same shape.
bool IsCopy(const tir::Block& block) {
  const auto* store = As<tir::BufferStore>(block.body);
  const auto* load = store ? As<tir::BufferLoad>(store->value) : nullptr;
  const auto same = [](const PrimExpr* a, const PrimExpr* b) { return arith::DeepEqual(a, b); };
  return load && std::ranges::equal(load->indices, store->indices, same);
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
                            (IsCopy(sch.Block(info.block)) || std::ranges::all_of(consumers, is_elementwise));
    if (!may_inline || !sch.TryComputeInline(info.block)) rest.push_back(info);
  }
  return rest;
}

bool ScheduleBlocks(RuleSchedule& sch, const CpuFacts& facts) {
  const PrimFunc& func = sch.original();
  const auto normalized = NormalizePrimFunc(sch);
  if (!normalized) return false;
  const std::vector<BlockInfo> infos = InlineElementwise(sch, *normalized);
  std::vector<TiledBlock> tiles;
  for (const BlockInfo& info : infos) {
    if (!sch.ok()) return false;
    if (!info.is_reduction) continue;
    if (auto tiled = FindTile(sch, info, facts)) tiles.push_back(*std::move(tiled));
  }
  std::unordered_set<const Ref*> done;  // looked up, never iterated
  for (const TiledBlock& tiled : tiles) {
    const Names consumers = sch.GetConsumers(tiled.block);
    if (!sch.ok()) return false;
    if (consumers.size() == 1 && IsElementwiseAfter(sch, consumers[0], tiled)) done.insert(sch.RefOf(consumers[0]));
    ScheduleTile(sch, tiled, func);
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
  if (ScheduleBlocks(sch, CpuFactsOf(target))) return true;
  // A function whose blocks cannot be moved as tiles want it stays as it was.
  sch.Restart();
  return false;
}

}  // namespace iropt::schedule
