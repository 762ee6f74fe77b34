#include "cpu_blocks.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "iropt/ir/structural.h"
#include "iropt/op/intrinsic_ids.h"
#include "schedule/checks.h"
#include "schedule/stmt_tools.h"

namespace iropt::schedule {

namespace {

// Finds how an index depends on an axis: only by quotients, whose divisors have a common divisor, or otherwise.
class QuotientFinder : public tir::StmtExprVisitor {
 public:
  explicit QuotientFinder(const tir::Var* axis) : axis_(axis) {}
  int64_t period = 0;
  bool has_other_uses = false;
  using tir::StmtExprVisitor::VisitExpr;

 protected:
  void VisitFloorDiv(const tir::FloorDiv* quotient) override {
    const int64_t* divisor = arith::AsInt(quotient->b);
    if (quotient->a != axis_ || !divisor || *divisor <= 0) return StmtExprVisitor::VisitFloorDiv(quotient);
    period = std::gcd(period, *divisor);
  }
  void VisitVar(const tir::Var* var) override { has_other_uses = has_other_uses || var == axis_; }

 private:
  const tir::Var* axis_;
};

}  // namespace

void LoadCollector::VisitBufferLoad(const tir::BufferLoad* load) {
  loads.push_back(load);
  StmtExprVisitor::VisitBufferLoad(load);
}
void LoadCollector::VisitCall(const tir::Call* call) {
  if (IsCallTo(call, op::kTirIfThenElse)) conditions.push_back(call->args[0]);
  StmtExprVisitor::VisitCall(call);
}
void LoadCollector::VisitSelect(const tir::Select* select) {
  conditions.push_back(select->condition);
  StmtExprVisitor::VisitSelect(select);
}

bool UsesAxis(const PrimExpr* expr, const tir::Var* axis) { return axis && tir::UsesVar(expr, axis); }

std::optional<Operand> OperandOf(const tir::BufferLoad& load, const tir::Var* vector_axis) {
  Operand operand{load.buffer, Operand::Form::kUniform};
  const size_t rank = load.indices.size();
  size_t uses = 0;
  for (size_t i = 0; i < rank; ++i) {
    const PrimExpr* index = load.indices[i];
    if (!UsesAxis(index, vector_axis)) continue;
    if (index != vector_axis) {
      QuotientFinder finder(vector_axis);
      finder.VisitExpr(index);
      if (finder.has_other_uses) return std::nullopt;
      operand.period = std::gcd(operand.period, finder.period);
      continue;
    }
    if (++uses > 1) return std::nullopt;
    operand.vector_dim = i;
    operand.form = i + 1 == rank ? Operand::Form::kContiguous : Operand::Form::kStrided;
  }
  return operand;
}

int64_t LanesFor(int64_t extent, int64_t lanes) {
  while (lanes > 1 && extent % lanes != 0) lanes /= 2;
  return lanes;
}

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
    return operand && operand->form != Operand::Form::kStrided && operand->period == 0;
  };
  return std::ranges::all_of(found.loads, is_simple) &&
         std::ranges::none_of(found.conditions, [&](const PrimExpr* c) { return UsesAxis(c, axis); });
}

bool IsCopy(const tir::Block& block) {
  const auto* store = As<tir::BufferStore>(block.body);
  const auto* load = store ? As<tir::BufferLoad>(store->value) : nullptr;
  return load && DeepEqual(load->indices, store->indices);
}

// ---- Elementwise blocks

namespace {

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

// Returns whether little is added when the block's value takes the place of its elements: an element that is read once
// only moves, and otherwise the copies are small. Without a limit, a chain of blocks that each read the one before
// twice would double at each step.
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

// Returns the values of the axis at which the conditions of the block on it change, in ascending order; nothing if one
// of them is not a comparison of the axis with a constant.
std::optional<std::vector<int64_t>> CutsOf(const tir::Block& block, const tir::Var* axis) {
  std::vector<int64_t> cuts;
  const auto add = [&](const PrimExpr* comparison) -> bool {
    if (!UsesAxis(comparison, axis)) return true;
    if (!tir::BinaryExpr::ClassOf(comparison->kind)) return false;
    const auto* both = static_cast<const tir::BinaryExpr*>(comparison);
    const bool is_left = both->a == axis;
    const int64_t* bound = arith::AsInt(is_left ? both->b : both->a);
    if (!bound || (!is_left && both->b != axis)) return false;
    switch (comparison->kind) {
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
  std::vector<const PrimExpr*> conditions = std::move(found.conditions);
  while (!conditions.empty()) {
    const PrimExpr* condition = conditions.back();
    conditions.pop_back();
    if (condition->kind == NodeKind::kAnd || condition->kind == NodeKind::kOr) {
      const auto* both = static_cast<const tir::BinaryExpr*>(condition);
      conditions.insert(conditions.end(), {both->a, both->b});
    } else if (!add(condition)) {
      return std::nullopt;
    }
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
  sch.LoopPartition({loop, parts});
}

// The axis of a copy along which an operand lies in memory, where that is not the last one, as in transpositions.
std::optional<size_t> TransposedAxis(const tir::Block& block, const BlockInfo& info) {
  const auto* store = As<tir::BufferStore>(block.body);
  const auto* load = store ? As<tir::BufferLoad>(store->value) : nullptr;
  const tir::Var* last = info.axes.back().var;
  if (!load || block.init || load->indices.empty() || store->indices.empty() || store->indices.back() != last)
    return std::nullopt;
  const auto operand = OperandOf(*load, last);
  if (!operand || operand->form != Operand::Form::kStrided) return std::nullopt;
  const auto axis = std::ranges::find(info.axes, load->indices.back(), &AxisInfo::var);
  return axis == info.axes.end() ? std::nullopt : std::optional(static_cast<size_t>(axis - info.axes.begin()));
}

// Copies square tiles, so that what a cache loads is used while it is there. Returns whether the extents allow it.
bool ScheduleTransposition(RuleSchedule& sch, const BlockInfo& info, size_t row, int64_t full_lanes) {
  const auto columns = ConstExtent(info.axes.back().extent), rows = ConstExtent(info.axes[row].extent);
  const int64_t lanes = columns ? LanesFor(*columns, full_lanes) : full_lanes;
  const int64_t tile_rows = rows ? LanesFor(*rows, full_lanes) : 1;
  if (std::min(lanes, tile_rows) < kFewestLanes) return false;
  const Names loops = sch.GetLoops(info.block, info.axes.size());
  const Names row_parts = sch.Split({loops[row], {std::nullopt, tile_rows}});
  const Names column_parts = sch.Split({loops.back(), {std::nullopt, lanes}});
  Names outer;
  for (size_t i = 0; i + 1 < loops.size(); ++i) {
    if (i != row) outer.push_back(loops[i]);
  }
  outer.push_back(row_parts[0]);
  Names order = outer;
  order.insert(order.end(), {column_parts[0], row_parts[1], column_parts[1]});
  sch.Reorder({order});
  if (!columns) sch.Annotate({column_parts[0], attr::kLoopPartitionHint, 1});
  sch.Vectorize({column_parts[1]});
  sch.Parallel({outer.size() > 1 ? sch.Fuse({outer}) : outer[0]});
  return true;
}

}  // namespace

bool HasScheduledLoops(const PrimFunc& func) {
  ScheduledLoopFinder loops;
  loops.VisitStmt(func.body);
  return loops.found();
}

std::vector<BlockInfo> InlineElementwise(RuleSchedule& sch, const std::vector<BlockInfo>& infos) {
  std::vector<BlockInfo> rest;
  for (const BlockInfo& info : infos) {
    const auto is_elementwise = [&](const Name& consumer) {
      const tir::Block& block = sch.Block(consumer);
      return !block.init && IsSpatial(block);
    };
    const Names consumers = sch.GetConsumers({info.block});
    const bool may_inline = sch.ok() && info.IsInjective() && !consumers.empty() &&
                            (IsCopy(sch.Block(info.block)) || std::ranges::all_of(consumers, is_elementwise)) &&
                            StaysSmall(sch, sch.Block(info.block), consumers);
    if (!may_inline || !sch.Try(args::ComputeInline<Named>{info.block})) rest.push_back(info);
  }
  return rest;
}

void ScheduleElementwise(RuleSchedule& sch, const BlockInfo& info, const CpuFacts& facts) {
  const tir::Block& block = sch.Block(info.block);
  Names loops = sch.GetLoops({info.block});
  if (!sch.ok() || loops.empty() || loops.size() != info.axes.size() || block.writes.size() != 1) return;
  const int64_t full_lanes = facts.LanesOf(block.writes[0]->buffer->dtype);
  const auto row = TransposedAxis(block, info);
  if (row && ScheduleTransposition(sch, info, *row, full_lanes)) return;
  const auto extent = ConstExtent(info.axes.back().extent);
  const int64_t lanes = LanesFor(extent.value_or(1), full_lanes);
  const bool has_vectors = lanes >= kFewestLanes && CanVectorize(block, info.axes.back().var);
  if (has_vectors) {
    const Names parts = sch.Split({loops.back(), {std::nullopt, lanes}});
    sch.Vectorize({parts[1]});
    loops.back() = parts[0];
  }
  const Name last = loops.back();
  if (loops.size() > 1) loops.pop_back();
  const Name parallel = loops.size() > 1 ? sch.Fuse({loops}) : loops[0];
  sch.Parallel({parallel});
  if (sch.ok() && !has_vectors && info.axes.size() > 1) CutLoop(sch, sch.Block(info.block), info.axes.back(), last);
}

}  // namespace iropt::schedule
