#include "cpu_tiling.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

#include "gemv.h"
#include "iropt/op/intrinsic_ids.h"
#include "schedule/checks.h"
#include "schedule/stmt_tools.h"

namespace iropt::schedule {

namespace {

constexpr size_t kMostAxes = 64;
// Taken for a number of rows that is not known.
constexpr int64_t kManyRows = 1024;

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

// The average cost of all rows, of which the last tile may have fewer. Then there is more code.
double CostOfRows(const Tile& tile, int64_t num_rows, const std::vector<Operand>& operands) {
  constexpr double kCostOfTail = 1.1;
  const int64_t tail = num_rows % tile.rows;
  if (tail == 0) return CostOf(tile, operands);
  const Tile last{tail, tile.vectors, tile.lanes};
  const double cost = CostOf(tile, operands) * static_cast<double>(num_rows - tail) +
                      CostOf(last, operands) * static_cast<double>(tail);
  return kCostOfTail * cost / static_cast<double>(num_rows);
}

// The registers of a tile: its sums, a vector of each weight, and another operand. Products of pairs take two of each,
// and a mask.
int64_t RegistersOf(int64_t rows, int64_t vectors, const TiledBlock& tiled, const CpuFacts& facts) {
  const bool has_pairs = !tiled.dots.empty() && facts.dots == DotForm::kPairs;
  return rows * vectors + (has_pairs ? 2 * vectors + 3 : vectors + 1);
}

// Of the tiles with such vectors. Where the number of rows is not known, the conditions on rows remain in the loop of
// the reduction of the last tile, so that there are few rows.
Tile ChooseTile(const TiledBlock& tiled, int64_t extent, int64_t lanes, const CpuFacts& facts) {
  constexpr int64_t kRowsOfUnknown = 4;
  const int64_t num_vectors = extent / lanes;
  const auto row_loop = tiled.row_loop();
  const auto known_rows = row_loop ? tiled.extents[*row_loop] : std::optional<int64_t>(1);
  const int64_t num_rows = known_rows.value_or(kManyRows);
  const int64_t most_rows = known_rows ? std::min(num_rows, facts.registers) : kRowsOfUnknown;
  const TileChoice& choice = facts.choice;
  const bool fits = choice.rows <= most_rows && choice.vectors > 0 && num_vectors % choice.vectors == 0;
  if (choice.rows > 0 && fits) return {choice.rows, choice.vectors, lanes};
  Tile best{1, 1, lanes};
  double best_cost = CostOfRows(best, num_rows, tiled.operands);
  for (int64_t vectors = 1; vectors <= std::min(num_vectors, facts.registers / 2); ++vectors) {
    for (int64_t rows = 1; rows <= most_rows; ++rows) {
      if (num_vectors % vectors != 0 || RegistersOf(rows, vectors, tiled, facts) > facts.registers) continue;
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

// The cost of a lane of a tile, whose last vector takes an instruction for each power of two that it is a sum of.
double CostOfLane(const Tile& tile, int64_t num_rows, const std::vector<Operand>& operands) {
  const int64_t vectors = tile.vectors + (tile.rest > 0 ? std::popcount(static_cast<uint64_t>(tile.rest)) - 1 : 0);
  const double cost = CostOfRows({tile.rows, vectors, tile.lanes}, num_rows, operands);
  return cost * static_cast<double>(vectors) / static_cast<double>(tile.width());
}

// A tile of full vectors and a rest, whose width divides the extent. Nothing if the vectors of `best` cost less.
std::optional<Tile> TileWithRest(const TiledBlock& tiled, int64_t extent, int64_t full_lanes, const CpuFacts& facts,
                                 const std::optional<Tile>& best) {
  const auto row_loop = tiled.row_loop();
  const auto num_rows = row_loop ? tiled.extents[*row_loop] : std::optional<int64_t>(1);
  if (!num_rows || full_lanes < kFewestLanes) return std::nullopt;
  std::optional<Tile> found;
  double least = best ? CostOfLane(*best, *num_rows, tiled.operands) : HUGE_VAL;
  for (int64_t width = std::min(extent, full_lanes * facts.registers / 2); width > full_lanes; --width) {
    if (extent % width != 0 || width % full_lanes == 0) continue;
    Tile tile{1, width / full_lanes + 1, full_lanes, /*is_vector=*/true, width % full_lanes};
    const int64_t registers = tile.vectors + std::popcount(static_cast<uint64_t>(tile.rest)) - 1;
    for (; tile.rows <= *num_rows && registers * (tile.rows + 1) + 1 <= facts.registers; ++tile.rows) {
      const double cost = CostOfLane(tile, *num_rows, tiled.operands);
      if (cost >= least) continue;
      found = tile;
      least = cost;
    }
  }
  return found;
}

// A tile of one row, whose width is the greatest divisor of the extent that is not too big for a cache.
std::optional<Tile> PlainTile(int64_t extent) {
  constexpr int64_t kMostLanes = 256;
  int64_t lanes = std::min(extent, kMostLanes);
  while (extent % lanes != 0) --lanes;
  if (lanes < kFewestLanes) return std::nullopt;
  return Tile{1, 1, lanes, /*is_vector=*/false};
}

// Returns the operands that the block reads besides its result; nothing if it cannot be computed by vectors.
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
    for (size_t i = 0; i < spatial.size() && i < kMostAxes; ++i) operand->axes |= uint64_t{uses(spatial[i])} << i;
    operands.push_back(*operand);
  }
  return operands;
}

}  // namespace

int64_t ReadsOf(const TiledBlock& tiled, const Operand& operand) {
  // Where a model does not say how many rows there are, matrices that it makes of its inputs have many.
  const int64_t unknown = operand.is_weight ? 1 : kManyRows;
  int64_t reads = 1;
  for (size_t i = 0; i < tiled.spatial.size() && i < kMostAxes; ++i) {
    const size_t loop = tiled.spatial[i];
    if (loop == tiled.vector_loop() || ((operand.axes >> i) & 1) != 0) continue;
    const int64_t per_tile = tiled.row_loop() == loop ? tiled.tile.rows : 1;
    reads *= std::max<int64_t>(tiled.extents[loop].value_or(unknown) / per_tile, 1);
  }
  return reads;
}

namespace {

// The product of the extents of loops; nothing if one of them is not known, or the product is out of range.
std::optional<int64_t> ProductOf(const TiledBlock& tiled, const std::vector<size_t>& loops) {
  int64_t product = 1;
  for (const size_t i : loops) {
    if (!tiled.extents[i] || __builtin_mul_overflow(product, *tiled.extents[i], &product)) return std::nullopt;
  }
  return product;
}

int64_t ChooseChunk(const TiledBlock& tiled, int64_t bytes) {
  constexpr int64_t kSmallWeights = 1 << 17, kMostResults = 1 << 14, kMostOfChunk = 1 << 14, kShortest = 16;
  const int64_t result_bytes = tiled.tile.width() * bytes;
  const int64_t row_bytes = tiled.dots.empty() ? result_bytes : tiled.tile.width();
  const int64_t steps = tiled.dots.empty() ? 1 : kDotSteps;
  const auto weight = std::ranges::find_if(tiled.operands, &Operand::is_weight);
  const bool has_weights = weight != tiled.operands.end();
  const int64_t reads = has_weights ? ReadsOf(tiled, *weight) : 0;
  const auto results = ProductOf(tiled, {tiled.spatial.begin(), tiled.spatial.end() - 1});
  const auto length = ProductOf(tiled, tiled.reduction);
  if (!has_weights || tiled.is_padded || !results || !length || reads < 2) return 0;
  if (*length < kSmallWeights / row_bytes || *results > kMostResults / result_bytes) return 0;
  const int64_t last = *tiled.extents[tiled.reduction.back()];
  int64_t chunk = std::min(last, std::max(kMostOfChunk / row_bytes, kShortest)) / steps * steps;
  while (last % chunk != 0) chunk -= steps;
  return chunk < kShortest ? 0 : chunk;
}

int64_t ChooseBlocks(const TiledBlock& tiled) {
  constexpr int64_t kBigOperand = 1 << 20, kFewPanels = 4, kMostForThreads = 16;
  const size_t first = tiled.spatial.front();
  if (tiled.is_padded || tiled.chunk > 0 || first == tiled.vector_loop() || !tiled.extents[first]) return 1;
  const int64_t panels = *tiled.extents[tiled.vector_loop()] / tiled.tile.width();
  int64_t weights = 0, data = 0, without_vectors = 0;
  for (const Operand& operand : tiled.operands) {
    const int64_t bytes = BytesOf({operand.buffer}).value_or(0);
    if (operand.is_weight) weights = std::max(weights, bytes);
    if (!operand.has_rows) continue;
    data = std::max(data, bytes);
    if (operand.form == Operand::Form::kUniform) without_vectors = std::max(without_vectors, bytes);
  }
  if (weights == 0 || panels < 2) return 1;
  // A part that a thread computes has all channels, where it reads less then than if it had all rows: it finds its data
  // where it has written them, and no other thread writes to the same cache lines.
  int64_t blocks = std::min(data / weights, kMostForThreads);
  if (without_vectors > kBigOperand && panels >= kFewPanels)
    blocks = std::max(blocks, without_vectors / (kBigOperand / 2));
  const int64_t per_step = tiled.row_loop() == first ? tiled.tile.rows : 1;
  if (blocks < 2 || *tiled.extents[first] % per_step != 0) return 1;
  const int64_t steps = *tiled.extents[first] / per_step;
  blocks = std::min(blocks, steps);
  while (steps % blocks != 0) ++blocks;
  return blocks;
}

// Finds the least divisor of an axis among the indices of vectors.
class DivisorFinder : public tir::StmtExprVisitor {
 public:
  explicit DivisorFinder(const tir::Var* axis) : axis_(axis) {}
  int64_t divisor = 0;
  using tir::StmtExprVisitor::VisitExpr;

 protected:
  void VisitFloorDiv(const tir::FloorDiv* quotient) override {
    const int64_t* by = arith::AsInt(quotient->b);
    if (quotient->a == axis_ && by && *by > 1 && (divisor == 0 || *by < divisor)) divisor = *by;
    StmtExprVisitor::VisitFloorDiv(quotient);
  }

 private:
  const tir::Var* axis_;
};

// The steps of the reduction that read the same vectors of weights, as codes of few bits in words, if tiles are so
// small that these may be unrolled: shifts are by constants then.
int64_t ChooseWord(const TiledBlock& tiled, const tir::Block& block) {
  constexpr int64_t kMostUnrolled = 128;
  const size_t last = tiled.reduction.back();
  const auto length = tiled.extents[last];
  if (!tiled.dots.empty() || tiled.chunk > 0 || !length || tiled.tile.rest > 0) return 1;
  LoadCollector found;
  found.VisitStmt(block.body);
  int64_t word = 0;
  for (const tir::BufferLoad* load : found.loads) {
    const bool is_weight = std::ranges::any_of(
        tiled.operands, [&](const Operand& operand) { return operand.buffer == load->buffer && operand.is_weight; });
    if (!is_weight) continue;
    DivisorFinder divisor(block.iter_vars[last]->var);
    for (const PrimExpr* index : load->indices) divisor.VisitExpr(index);
    if (divisor.divisor > 0) word = word == 0 ? divisor.divisor : std::min(word, divisor.divisor);
  }
  const bool fits = word > 1 && *length % word == 0 && word * tiled.tile.rows * tiled.tile.vectors <= kMostUnrolled;
  return fits ? word : 1;
}

// Returns whether the expression has a value in lanes after the end of the axis, where weights are zero: parts that
// depend on the axis neither divide, shift nor call a function, and convert no float to an integer.
bool HasValueBehindEnd(const PrimExpr* expr, const tir::Var* axis) {
  if (!UsesAxis(expr, axis)) return true;
  const auto has_value = [&](const PrimExpr* part) { return HasValueBehindEnd(part, axis); };
  if (Is<tir::Var>(expr)) return true;
  // The indices of weights are known to be in the copy; OperandsOf has looked at them.
  if (const auto* load = As<tir::BufferLoad>(expr)) return !load->predicate;
  if (const auto* cast = As<tir::Cast>(expr)) {
    const bool is_narrow = cast->value->dtype.is_floating() && !cast->dtype.is_floating();
    return !is_narrow && has_value(cast->value);
  }
  if (const auto* select = As<tir::Select>(expr))
    return has_value(select->condition) && has_value(select->true_value) && has_value(select->false_value);
  if (const auto* call = As<tir::Call>(expr))
    return IsCallTo(call, op::kTirIfThenElse) && std::ranges::all_of(call->args, has_value);
  if (!tir::BinaryExpr::ClassOf(expr->kind)) return false;
  const bool divides = expr->kind == NodeKind::kDiv || expr->kind == NodeKind::kMod ||
                       expr->kind == NodeKind::kFloorDiv || expr->kind == NodeKind::kFloorMod;
  const auto* both = static_cast<const tir::BinaryExpr*>(expr);
  return !divides && has_value(both->a) && has_value(both->b);
}

// Returns whether vectors may have lanes after the end of their axis: all operands of vectors are weights, or other
// ones without rows, which are copied to a layout with room for them, and the result has a value where they are zero.
bool MayPad(const TiledBlock& tiled, const tir::Block& block, const tir::Var* axis, const PrimFunc& func) {
  if (!HasValueBehindEnd(To<tir::BufferStore>(block.body)->value, axis)) return false;
  return std::ranges::all_of(tiled.operands, [&](const Operand& operand) {
    if (operand.form == Operand::Form::kUniform) return operand.period == 0;
    const bool is_free = operand.is_weight && IsLayoutFree(func, operand.buffer);
    return !operand.has_rows && operand.period == 0 && (is_free || ReadsOf(tiled, operand) >= kManyReads);
  });
}

// The extent with room for full vectors, where that takes less time than vectors which divide the extent; or nothing.
std::optional<int64_t> PaddedExtent(int64_t extent, int64_t lanes, int64_t full_lanes) {
  constexpr double kCostOfPadding = 1.1;
  if (lanes == full_lanes || extent < kFewestLanes || full_lanes < kFewestLanes) return std::nullopt;
  const int64_t padded_vectors = (extent + full_lanes - 1) / full_lanes;
  const int64_t plain_vectors = extent / (lanes < kFewestLanes ? 1 : lanes);
  const double cost = kCostOfPadding * static_cast<double>(padded_vectors);
  return cost < static_cast<double>(plain_vectors) ? std::optional(padded_vectors * full_lanes) : std::nullopt;
}

}  // namespace

bool IsPacked(const Operand& operand, const TiledBlock& tiled, bool is_free) {
  if (operand.form == Operand::Form::kUniform || operand.period > 0) return false;
  if (!tiled.dots.empty() || operand.form == Operand::Form::kStrided || tiled.is_padded) return true;
  if (is_free && operand.is_weight) return true;
  const bool is_wide = *tiled.extents[tiled.vector_loop()] > tiled.tile.width();
  return operand.is_weight && is_wide && ReadsOf(tiled, operand) >= kManyReads;
}

bool IsLayoutFree(const PrimFunc& func, const tir::Buffer* buffer) {
  const auto param = std::ranges::find(func.param_buffers, buffer);
  const auto* marked = As<ListAttr>(func.attrs->Find(attr::kLayoutFreeBuffers));
  if (param == func.param_buffers.end() || !marked) return false;
  return std::ranges::any_of(marked->values, [&](const Attr* attr) {
    const auto* index = As<IntAttr>(attr);
    return index && index->value == param - func.param_buffers.begin();
  });
}

std::optional<TiledBlock> FindTile(RuleSchedule& sch, const BlockInfo& info, const PrimFunc& func,
                                   const CpuFacts& facts) {
  TiledBlock tiled;
  tiled.block = info.block;
  std::vector<const tir::Var*> spatial;
  for (size_t i = 0; i < info.axes.size(); ++i) {
    const AxisInfo& axis = info.axes[i];
    tiled.extents.push_back(ConstExtent(axis.extent));
    if (axis.kind == AxisKind::kSpatial) {
      tiled.spatial.push_back(i);
      spatial.push_back(axis.var);
    } else if (axis.kind == AxisKind::kReduction) {
      tiled.reduction.push_back(i);
    } else {
      return std::nullopt;
    }
  }
  if (spatial.empty() || tiled.reduction.empty()) return std::nullopt;
  const tir::Block& block = sch.Block(info.block);
  auto operands = OperandsOf(block, spatial);
  if (!operands) return std::nullopt;
  tiled.operands = *std::move(operands);
  // In a tile, no operand may change with the period.
  constexpr int64_t kVectorsOfUnknown = 4;
  const int64_t full_lanes = facts.LanesOf(block.writes[0]->buffer->dtype);
  const bool is_known = tiled.extents[tiled.vector_loop()].has_value();
  int64_t extent = tiled.extents[tiled.vector_loop()].value_or(kVectorsOfUnknown * full_lanes);
  if (extent <= 0) return std::nullopt;
  for (const Operand& operand : tiled.operands) extent = std::gcd(extent, operand.period > 0 ? operand.period : extent);
  int64_t lanes = LanesFor(extent, full_lanes);
  const bool may_pad = MayPad(tiled, block, spatial.back(), func);
  if (!is_known && (!may_pad || lanes < kFewestLanes)) return std::nullopt;
  const auto padded = may_pad && is_known ? PaddedExtent(extent, lanes, full_lanes) : std::nullopt;
  tiled.is_padded = padded || !is_known;
  if (padded) {
    extent = *padded;
    lanes = full_lanes;
  }
  if (lanes >= kFewestLanes) {
    tiled.tile = {1, 1, lanes};
    tiled.dots = FindDots(block, tiled, func, facts);
    tiled.tile = ChooseTile(tiled, extent, lanes, facts);
    const bool may_have_rest = facts.choice.rows == 0 && !tiled.is_padded && lanes < full_lanes;
    if (const auto tile = may_have_rest ? TileWithRest(tiled, extent, full_lanes, facts, tiled.tile) : std::nullopt) {
      tiled.tile = *tile;
      tiled.dots.clear();
      return tiled;
    }
    tiled.dots = FindDots(block, tiled, func, facts);
    tiled.turns_loops = facts.choice.turns_loops && !tiled.is_padded;
    if (!tiled.turns_loops && !facts.choice.has_no_parts) {
      tiled.chunk = ChooseChunk(tiled, block.writes[0]->buffer->dtype.bytes());
      tiled.blocks = ChooseBlocks(tiled);
    }
    tiled.word = ChooseWord(tiled, block);
    return tiled;
  }
  std::optional<Tile> tile = TileWithRest(tiled, extent, full_lanes, facts, std::nullopt);
  if (!tile) tile = PlainTile(extent);
  if (!tile) return std::nullopt;
  tiled.tile = *tile;
  return tiled;
}

}  // namespace iropt::schedule
