#include "buffer_axes.h"

#include <algorithm>

#include "iropt/arith/int_set.h"
#include "iropt/ir/tir/visitor.h"

namespace iropt {

namespace {

class AccessCollector : public tir::StmtExprVisitor {
 public:
  std::vector<BufferAccess> accesses;

 protected:
  void VisitBufferStore(const tir::BufferStore* store) override {
    StmtExprVisitor::VisitBufferStore(store);
    accesses.push_back({store->buffer, store->indices});
  }
  void VisitBufferLoad(const tir::BufferLoad* load) override {
    StmtExprVisitor::VisitBufferLoad(load);
    accesses.push_back({load->buffer, load->indices});
  }
};

// Returns whether the index takes all values from 0 to the length of the axis.
bool CoversAxis(const PrimExpr* index, const PrimExpr* length, const arith::IterRanges& ranges,
                arith::Analyzer& analyzer) {
  arith::VarDomains domains;
  ranges.ForEachInAnyOrder([&](const tir::Var* var, const tir::Range& range) {
    domains.try_emplace(var, arith::IntervalSet::FromRange(range, analyzer.make()));
  });
  const arith::IntervalSet set = arith::EvalSet(index, domains, analyzer);
  const arith::PrimBuilder& make = analyzer.make();
  return set.is_bounded() && analyzer.CanProveEqual(set.min(), make.Const(0, set.min()->dtype)) &&
         analyzer.CanProveEqual(make.Add(set.max(), make.Const(1, set.max()->dtype)), length);
}

// Returns whether both indices are split by one variable, which runs over the whole axis at one of them.
bool AreSplitAlike(const PrimExpr* a, const PrimExpr* length_a, const PrimExpr* b, const PrimExpr* length_b,
                   const arith::IterRanges& ranges, arith::Analyzer& analyzer) {
  if (Is<tir::Var>(b)) {
    std::swap(a, b);
    std::swap(length_a, length_b);
  }
  const auto* var = As<tir::Var>(a);
  const auto* range = var ? ranges.Find(var) : nullptr;
  if (!range || !analyzer.CanProveEqual(length_a, range->extent)) return false;
  const PrimExpr* simple = analyzer.Simplify(b);
  return CoversAxis(simple, length_b, ranges, analyzer) && SplittingVar(simple, ranges, analyzer) == var;
}

}  // namespace

std::vector<BufferAccess> AccessesIn(const tir::Block& block) {
  AccessCollector collector;
  if (block.init) collector.VisitStmt(block.init);
  collector.VisitStmt(block.body);
  return std::move(collector.accesses);
}

arith::IterRanges RangesOf(const tir::Block& block) {
  arith::IterRanges ranges;
  for (const tir::IterVar* iter : block.iter_vars) {
    if (iter->dom) ranges.try_emplace(iter->var, *iter->dom);
  }
  return ranges;
}

const tir::Var* SplittingVar(const PrimExpr* index, const arith::IterRanges& ranges, arith::Analyzer& analyzer) {
  if (const auto* var = As<tir::Var>(index)) return ranges.contains(var) ? var : nullptr;
  const PrimExpr* const indices[] = {index};
  const auto map = arith::DetectIterMap(indices, ranges, nullptr, {.level = arith::IterMapLevel::kNoCheck}, analyzer);
  if (!map || map->padding_predicate) return nullptr;
  const arith::IterMapIndex& found = map->indices[0];
  if (!analyzer.CanProveEqual(found.base, analyzer.make().Const(0, found.base->dtype))) return nullptr;
  // The terms of the normal form have decreasing scales. A remainder that the normal form keeps starts again.
  const PrimExpr* term = found.expr;
  while (const auto* binary = As<tir::BinaryExpr>(term)) {
    if (binary->kind != NodeKind::kAdd && binary->kind != NodeKind::kMul && binary->kind != NodeKind::kFloorDiv)
      return nullptr;
    term = binary->a;
  }
  const auto* var = As<tir::Var>(term);
  return var && ranges.contains(var) ? var : nullptr;
}

class BufferAxes::Collector : public tir::StmtExprVisitor {
 public:
  explicit Collector(BufferAxes& axes) : axes_(axes) {}
  using StmtExprVisitor::VisitExpr;
  void VisitExpr(const PrimExpr*) override {}

 protected:
  void VisitBlock(const tir::Block* block) override {
    StmtExprVisitor::VisitBlock(block);
    axes_.AddBlock(*block);
  }

 private:
  BufferAxes& axes_;
};

BufferAxes::BufferAxes(const PrimFunc& func) {
  Collector collector(*this);
  collector.VisitStmt(func.body);
}

void BufferAxes::AddBlock(const tir::Block& block) {
  if (block.iter_vars.empty()) return;
  const std::vector<BufferAccess> accesses = AccessesIn(block);
  const arith::IterRanges ranges = RangesOf(block);
  arith::Analyzer analyzer{arith::PrimBuilder(workspace_)};
  for (const tir::IterVar* iter : block.iter_vars) {
    if (iter->dom) analyzer.Bind(iter->var, iter->dom->min, iter->dom->extent);
  }
  for (const BufferAccess& a : accesses) {
    for (const BufferAccess& b : accesses) {
      if (a.buffer == b.buffer) continue;
      for (uint32_t i = 0; i < a.indices.size(); ++i) {
        for (uint32_t j = 0; j < b.indices.size(); ++j) {
          if (!AreSplitAlike(a.indices[i], a.buffer->shape[i], b.indices[j], b.buffer->shape[j], ranges, analyzer))
            continue;
          const uint32_t from = NodeOf({a.buffer, i});
          const uint32_t to = NodeOf({b.buffer, j});
          nodes_[from].neighbors.push_back(to);
          nodes_[to].neighbors.push_back(from);
        }
      }
    }
  }
}

uint32_t BufferAxes::NodeOf(BufferAxis axis) {
  const auto [found, is_new] = index_.try_emplace(axis, static_cast<uint32_t>(nodes_.size()));
  if (is_new) nodes_.push_back({axis});
  return found;
}

std::vector<BufferAxis> BufferAxes::TakeGroup(BufferAxis axis) {
  std::vector<BufferAxis> group;
  std::vector<uint32_t> stack = {NodeOf(axis)};
  while (!stack.empty()) {
    Node& node = nodes_[stack.back()];
    stack.pop_back();
    if (std::exchange(node.is_taken, true)) continue;
    group.push_back(node.axis);
    // In reverse, so that they are taken in order.
    stack.insert(stack.end(), node.neighbors.rbegin(), node.neighbors.rend());
  }
  return group;
}

std::vector<std::vector<std::pair<uint32_t, uint32_t>>> BufferAxes::ParamGroups(const PrimFunc& func) {
  std::vector<std::vector<std::pair<uint32_t, uint32_t>>> groups;
  for (const tir::Buffer* param : func.param_buffers) {
    for (uint32_t axis = 0; param && axis < param->shape.size(); ++axis) {
      std::vector<std::pair<uint32_t, uint32_t>> group;
      for (const BufferAxis& member : TakeGroup({param, axis})) {
        const auto found = std::ranges::find(func.param_buffers, member.buffer);
        if (found == func.param_buffers.end()) continue;
        group.emplace_back(static_cast<uint32_t>(found - func.param_buffers.begin()), member.axis);
      }
      if (group.size() > 1) groups.push_back(std::move(group));
    }
  }
  return groups;
}

}  // namespace iropt
