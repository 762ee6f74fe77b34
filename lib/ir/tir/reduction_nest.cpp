#include "iropt/ir/tir/reduction_nest.h"

#include <algorithm>
#include <utility>

#include "iropt/ir/tir/uses_any_of.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/support/lookup.h"

namespace iropt::tir {

namespace {

bool IsReductionAxis(const IterVar* axis) { return axis->iter_type == IterVarType::kCommReduce; }

// Looks in the initialization of a block for memory that only the block has.
class OwnMemoryFinder : public StmtExprVisitor {
 public:
  explicit OwnMemoryFinder(const Block& block) {
    for (const Buffer* buffer : block.alloc_buffers) own_.insert(buffer->data);
    for (const MatchBufferRegion* match : block.match_buffers) own_.insert(match->buffer->data);
    if (!own_.empty()) VisitStmt(block.init);
  }
  bool found = false;

 protected:
  void VisitBufferUse(const Buffer* buffer) override { VisitVar(buffer->data); }
  void VisitVar(const Var* var) override { found = found || own_.contains(var); }

 private:
  LookupSet<const Var*> own_;
};

class NestFinder {
 public:
  std::vector<ReductionNest> nests;

  void Find(const Stmt* stmt) {
    if (const auto* loop = As<For>(stmt)) {
      FindInLoop(*loop);
    } else if (const auto* sequence = As<SeqStmt>(stmt)) {
      for (const Stmt* part : sequence->seq) Find(part);
    } else if (const auto* realize = As<BlockRealize>(stmt)) {
      IsPlain(*realize) ? Find(realize->block->body) : AddNest(*realize);
    }
  }

 private:
  static bool IsTrue(const PrimExpr* condition) {
    const auto* constant = As<IntImm>(condition);
    return constant && constant->value != 0;
  }
  // Returns whether the block is only its body, such as one around the parts of a loop.
  static bool IsPlain(const BlockRealize& realize) {
    const Block& block = *realize.block;
    return !block.init && block.iter_vars.empty() && block.alloc_buffers.empty() && block.match_buffers.empty() &&
           IsTrue(realize.predicate);
  }

  void FindInLoop(const For& loop) {
    if (loop.step || UsesAnyOf(vars_, loop.min) || UsesAnyOf(vars_, loop.extent)) return;
    loops_.push_back(&loop);
    vars_.insert(loop.loop_var);
    Find(loop.body);
    vars_.erase(loop.loop_var);
    loops_.pop_back();
  }

  void AddNest(const BlockRealize& realize) {
    const Block& block = *realize.block;
    if (!block.init || realize.iter_values.size() != block.iter_vars.size() || OwnMemoryFinder(block).found) return;
    ReductionNest nest{loops_, &realize};
    if (!nest.IsReduction(*loops_[0]) || !HasMemoryOutside(nest)) return;
    LookupSet<const Var*> reduced;
    for (const For* loop : loops_) {
      if (nest.IsReduction(*loop)) reduced.insert(loop->loop_var);
    }
    AddConditions(realize.predicate, reduced, nest);
    for (size_t i = 0; i < block.iter_vars.size(); ++i) {
      if (IsReductionAxis(block.iter_vars[i]) && !UsesAnyOf(reduced, realize.iter_values[i]))
        nest.outer_axes.push_back(block.iter_vars[i]);
    }
    nests.push_back(std::move(nest));
  }

  // Which copy of other memory threads have is not known outside of their loops.
  static bool HasMemoryOutside(const ReductionNest& nest) {
    return std::ranges::none_of(nest.loops, &For::thread_binding) ||
           std::ranges::all_of(nest.realize->block->writes, [](const BufferRegion* write) {
             return write->buffer->scope().empty() || write->buffer->scope() == "global";
           });
  }

  void AddConditions(const PrimExpr* condition, const LookupSet<const Var*>& reduced, ReductionNest& nest) const {
    if (const auto* both = As<And>(condition)) {
      AddConditions(both->a, reduced, nest);
      return AddConditions(both->b, reduced, nest);
    }
    if (IsTrue(condition)) return;
    // A loop with one iteration decides nothing.
    const auto is_other = [&](const Var* var) {
      const auto loop = std::ranges::find(loops_, var, &For::loop_var);
      if (loop == loops_.end() || reduced.contains(var)) return false;
      const auto* extent = As<IntImm>((*loop)->extent);
      return !extent || extent->value != 1;
    };
    if (!UsesAnyOf(reduced, condition) || UsesVar(condition, is_other)) nest.conditions.push_back(condition);
  }

  std::vector<const For*> loops_;
  LookupSet<const Var*> vars_;
};

}  // namespace

bool ReductionNest::IsReduction(const For& loop) const {
  bool is_used = false;
  for (size_t i = 0; i < realize->iter_values.size(); ++i) {
    if (!UsesVar(realize->iter_values[i], loop.loop_var)) continue;
    if (!IsReductionAxis(realize->block->iter_vars[i])) return false;
    is_used = true;
  }
  return is_used;
}

const PrimExpr* ReductionNest::ValueOf(const IterVar* axis) const {
  const auto& axes = realize->block->iter_vars;
  return realize->iter_values[static_cast<uint32_t>(std::ranges::find(axes, axis) - axes.begin())];
}

std::vector<ReductionNest> FindReductionNests(const For& loop) {
  NestFinder finder;
  finder.Find(&loop);
  return std::move(finder.nests);
}

}  // namespace iropt::tir
