#include "iropt/analysis/tir/op_pattern.h"

#include <algorithm>
#include <vector>

#include "iropt/analysis/tir/loop_jumps.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/ir/tir/visitor.h"

namespace iropt {

namespace {

using Indices = List<const PrimExpr*>;

// Two expressions are the same index only if they are the same variable: other expressions are not compared.
bool IsSameIndex(const PrimExpr* a, const PrimExpr* b) { return a == b && Is<tir::Var>(a); }

bool IsSameIndices(Indices a, Indices b) { return std::ranges::equal(a, b, IsSameIndex); }

bool Contains(const std::vector<const tir::Var*>& vars, const tir::Var* var) {
  return std::ranges::find(vars, var) != vars.end();
}

// B[i] for A[i, j]: the indices of the load occur in those of the store, in order.
bool IsBroadcast(const tir::BufferStore& store, const tir::BufferLoad& load) {
  const PrimExpr* const* next = store.indices.begin();
  for (uint32_t i = 0; i < load.indices.size(); ++i) {
    if (arith::IsInt(load.buffer->shape[i], 1) && arith::IsInt(load.indices[i], 0)) continue;
    next = std::find_if(next, store.indices.end(),
                        [&](const PrimExpr* index) { return IsSameIndex(index, load.indices[i]); });
    if (next == store.indices.end()) return false;
  }
  return true;
}

// The variables that the indices consist of; nothing if one is not a variable.
bool AllVars(Indices indices, std::vector<const tir::Var*>& vars) {
  for (const PrimExpr* index : indices) {
    const auto* var = As<tir::Var>(index);
    if (!var) return false;
    vars.push_back(var);
  }
  return true;
}

// B[j, i], B[i - j] for A[i, j]: the indices of the load use only the variables of the store, and nothing in memory.
bool IsInjective(const tir::BufferStore& store, const tir::BufferLoad& load) {
  std::vector<const tir::Var*> vars;
  if (!AllVars(store.indices, vars)) return false;
  bool only_those = true;
  for (const PrimExpr* index : load.indices) {
    tir::PostOrderVisit(index, [&](const Node* node) {
      const auto* var = As<tir::Var>(node);
      only_those &= !Is<tir::BufferLoad>(node) && (!var || Contains(vars, var));
    });
  }
  return only_those;
}

// B[i, k] for A[i, j]: an element that is loaded serves several elements of the result.
bool ReusesData(const tir::BufferStore& store, const tir::BufferLoad& load) {
  std::vector<const tir::Var*> vars;
  if (!AllVars(store.indices, vars)) return false;
  for (const PrimExpr* index : load.indices)
    tir::ForEachVar(index, [&](const tir::Var* var) { std::erase(vars, var); });
  return !vars.empty();
}

const PrimExpr* WithoutCasts(const PrimExpr* e) {
  while (const auto* cast = As<tir::Cast>(e)) e = cast->value;
  return e;
}

// C[i, j] = C[i, j] + A[i, k] * B[j, k]
bool IsMultiplyAdd(const tir::Stmt* body) {
  const auto* store = As<tir::BufferStore>(body);
  const auto* add = store ? As<tir::Add>(WithoutCasts(store->value)) : nullptr;
  const auto* mul = add ? As<tir::Mul>(WithoutCasts(add->b)) : nullptr;
  if (!mul) return false;
  const auto* sum = As<tir::BufferLoad>(WithoutCasts(add->a));
  if (!sum || sum->buffer != store->buffer || !IsSameIndices(sum->indices, store->indices)) return false;
  const auto* a = As<tir::BufferLoad>(WithoutCasts(mul->a));
  const auto* b = As<tir::BufferLoad>(WithoutCasts(mul->b));
  return a && b && ReusesData(*store, *a) && ReusesData(*store, *b);
}

// Each axis that is reduced is an index by itself: B[i, k], but not B[i + k] as in pooling.
bool ReducesWholeAxes(const std::vector<const tir::Var*>& reduced, Indices indices) {
  return std::ranges::all_of(indices, [&](const PrimExpr* index) {
    if (Is<tir::Var>(index)) return true;
    return !tir::UsesVar(index, [&](const tir::Var* var) { return Contains(reduced, var); });
  });
}

class PatternAnalyzer : public tir::StmtExprVisitor {
 public:
  explicit PatternAnalyzer(List<const tir::Buffer*> param_buffers) : param_buffers_(param_buffers) {}

  OpPattern pattern() const { return pattern_; }

 protected:
  // The elements of several stores in a block must be the same.
  void VisitBufferStore(const tir::BufferStore* store) override {
    if (store_ && !IsSameIndices(store->indices, store_->indices)) {
      pattern_ = OpPattern::kOpaque;
      return;
    }
    store_ = store;
    StmtExprVisitor::VisitBufferStore(store);
  }

  void VisitBufferLoad(const tir::BufferLoad* load) override {
    loads_.push_back(load);
    StmtExprVisitor::VisitBufferLoad(load);
  }

  void VisitBlock(const tir::Block* block) override {
    if (block->name_hint == "root") return VisitStmt(block->body);
    loads_.clear();
    store_ = nullptr;
    VisitStmt(block->body);
    if (!store_) {
      pattern_ = OpPattern::kOpaque;
      return;
    }
    const OpPattern access = AccessPattern();
    if (access == OpPattern::kOpaque) return Raise(ReductionPattern(*block));
    // Softmax: a reduction, then one element of the result for each element.
    const bool follows_reduction = pattern_ == OpPattern::kCommReduce && WritesResult(*block);
    Raise(follows_reduction ? OpPattern::kOutEWiseFusable : access);
  }

 private:
  void Raise(OpPattern pattern) { pattern_ = std::max(pattern_, pattern); }

  bool WritesResult(const tir::Block& block) const {
    return std::ranges::any_of(block.writes, [this](const tir::BufferRegion* region) {
      return std::ranges::find(param_buffers_, region->buffer) != param_buffers_.end();
    });
  }

  // The pattern of the loads of a block that does not reduce; opaque if a load is not one of these.
  OpPattern AccessPattern() const {
    OpPattern pattern = OpPattern::kElemWise;
    bool has_elem_wise = false;
    for (const tir::BufferLoad* load : loads_) {
      if (IsSameIndices(store_->indices, load->indices)) {
        has_elem_wise = true;
      } else if (IsBroadcast(*store_, *load)) {
        pattern = std::max(pattern, OpPattern::kBroadcast);
      } else if (IsInjective(*store_, *load)) {
        pattern = OpPattern::kInjective;
      } else {
        return OpPattern::kOpaque;
      }
    }
    return pattern == OpPattern::kBroadcast && has_elem_wise ? OpPattern::kElemWise : pattern;
  }

  OpPattern ReductionPattern(const tir::Block& block) const {
    std::vector<const tir::Var*> reduced;
    for (const tir::IterVar* axis : block.iter_vars) {
      if (axis->iter_type == tir::IterVarType::kCommReduce) reduced.push_back(axis->var);
    }
    if (reduced.empty()) return OpPattern::kOpaque;
    if (IsMultiplyAdd(block.body)) return OpPattern::kOutEWiseFusable;
    const bool whole_axes = std::ranges::all_of(
        loads_, [&](const tir::BufferLoad* load) { return ReducesWholeAxes(reduced, load->indices); });
    return whole_axes ? OpPattern::kCommReduce : OpPattern::kOutEWiseFusable;
  }

  const List<const tir::Buffer*> param_buffers_;
  OpPattern pattern_ = OpPattern::kElemWise;
  // Of the current block.
  const tir::BufferStore* store_ = nullptr;
  std::vector<const tir::BufferLoad*> loads_;
};

}  // namespace

OpPattern AnnotatedOpPattern(const PrimFunc& function) {
  const auto* pattern = As<IntAttr>(function.attrs->Find(attr::kOpPattern));
  const auto last = static_cast<int64_t>(OpPattern::kOutEWiseFusable);
  if (!pattern || pattern->value < 0 || pattern->value > last) return OpPattern::kOpaque;
  return static_cast<OpPattern>(pattern->value);
}

OpPattern AnalyzeOpPattern(const PrimFunc& function) {
  // Without blocks, nothing says which elements belong together. Nothing can follow a body that returns.
  if (!Is<tir::BlockRealize>(function.body) || HasReturns(function.body)) return OpPattern::kOpaque;
  PatternAnalyzer analyzer(function.param_buffers);
  analyzer.VisitStmt(function.body);
  return analyzer.pattern();
}

}  // namespace iropt
