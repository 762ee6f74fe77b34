#include "overwritten_stores.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "buffer_facts_mutator.h"
#include "iropt/arith/deduce_bound.h"
#include "iropt/arith/int_set.h"
#include "iropt/arith/side_effect.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/support/lookup.h"

namespace iropt {

namespace {

// The number of statements after a store that are looked at.
constexpr size_t kLookAhead = 8;

// A side of a branch: where the condition holds, or where it does not.
struct Branch {
  const PrimExpr* condition;
  bool holds;
};

// Finds the reads and writes of a statement.
class Accesses : public tir::StmtExprVisitor {
 public:
  explicit Accesses(const tir::Stmt* stmt) { VisitStmt(stmt); }

  bool opaque = false;  // has another effect than stores, or is more than loops, branches and sequences
  LookupSet<const tir::Var*> read;
  struct Store {
    const tir::BufferStore* store;
    std::vector<const tir::For*> loops;
    std::vector<Branch> branches;  // that the store is in
    const tir::IfThenElse* guard;  // a branch of which the store is all; null if there is another statement around it
  };
  std::vector<Store> stores;

 protected:
  void VisitCall(const tir::Call* call) override {
    const auto* op = As<Op>(call->op);
    opaque = opaque || !op || EffectOf(op) > CallEffect::kReadState;
    StmtExprVisitor::VisitCall(call);
  }
  void VisitBufferLoad(const tir::BufferLoad* load) override {
    read.insert(load->buffer->data);
    StmtExprVisitor::VisitBufferLoad(load);
  }
  void VisitBufferStore(const tir::BufferStore* store) override {
    stores.push_back({store, loops_, branches_, guard_ && guard_->then_case == store ? guard_ : nullptr});
    StmtExprVisitor::VisitBufferStore(store);
  }
  void VisitIfThenElse(const tir::IfThenElse* branch) override {
    guard_ = branch->else_case ? nullptr : branch;
    VisitExpr(branch->condition);
    branches_.push_back({branch->condition, true});
    VisitStmt(branch->then_case);
    branches_.back().holds = false;
    if (branch->else_case) VisitStmt(branch->else_case);
    branches_.pop_back();
  }
  void VisitFor(const tir::For* loop) override {
    opaque = opaque || loop->for_kind == tir::ForKind::kThreadBinding || loop->step;
    loops_.push_back(loop);
    StmtExprVisitor::VisitFor(loop);
    loops_.pop_back();
  }
  void VisitLetStmt(const tir::LetStmt*) override { opaque = true; }
  void VisitAttrStmt(const tir::AttrStmt*) override { opaque = true; }
  void VisitAllocate(const tir::Allocate*) override { opaque = true; }
  void VisitWhile(const tir::While*) override { opaque = true; }
  void VisitBlock(const tir::Block*) override { opaque = true; }
  // The pointer of a buffer that is passed on.
  void VisitVar(const tir::Var* var) override { opaque = opaque || var->dtype.is_handle(); }

 private:
  std::vector<const tir::For*> loops_;
  std::vector<Branch> branches_;
  const tir::IfThenElse* guard_ = nullptr;  // the last branch
};

// Finds the elements of a buffer that are written in any case, as facts about them; the values do not count.
class WrittenRegion : public BufferFactsMutator {
 public:
  WrittenRegion(arith::Analyzer& analyzer, Workspace& workspace)
      : BufferFactsMutator(analyzer, /*by_values=*/true, workspace) {}

  const BufferFacts::State& Of(const tir::Stmt* stmt) {
    VisitStmt(stmt);
    return facts_->state();
  }

 protected:
  const tir::Stmt* VisitBufferStore(const tir::BufferStore* store) override {
    tir::BufferStore marked = *store;
    marked.value = analyzer_.make().Const(0, store->buffer->dtype.with_lanes(1));
    const bool scalar = std::ranges::all_of(store->indices, [](const PrimExpr* e) { return e->dtype.is_scalar(); });
    if (scalar) facts_->Store(marked);
    return store;
  }
};

class OverwrittenStores : public BufferFactsMutator {
 public:
  OverwrittenStores(arith::Analyzer& analyzer, Workspace& workspace)
      : BufferFactsMutator(analyzer, /*by_values=*/false, workspace) {}

  LookupSet<const tir::BufferStore*> found;
  LookupSet<const tir::IfThenElse*> found_guards;  // the store would be overwritten where they do not hold

 protected:
  // A pointer may refer to memory that has another name.
  const tir::Stmt* VisitLetStmt(const tir::LetStmt* let) override {
    return let->var->dtype.is_handle() ? let : BufferFactsMutator::VisitLetStmt(let);
  }
  const tir::Stmt* VisitSeqStmt(const tir::SeqStmt* seq) override {
    std::vector<Accesses> parts;
    for (const tir::Stmt* stmt : seq->seq) parts.emplace_back(stmt);
    for (size_t i = 0; i < parts.size(); ++i) {
      if (parts[i].opaque && !Is<tir::BufferStore>(seq->seq[i])) continue;
      for (const Accesses::Store& store : parts[i].stores) {
        if (IsOverwritten(store, *seq, parts, i, /*by_guard=*/false)) found.insert(store.store);
        if (store.guard && IsHarmless(*store.store) && IsOverwritten(store, *seq, parts, i, /*by_guard=*/true))
          found_guards.insert(store.guard);
      }
    }
    for (const tir::Stmt* stmt : seq->seq) VisitStmt(stmt);
    return seq;
  }

 private:
  // Returns whether the store, whose indices are known to be in bounds, can be evaluated where it was not before.
  static bool IsHarmless(const tir::BufferStore& store) {
    bool harmless = !store.predicate && arith::IsPure(store.value);
    tir::PostOrderVisit(store.value, [&](const Node* node) {
      harmless &= node->kind < NodeKind::kDiv || node->kind > NodeKind::kFloorMod;
    });
    return harmless && std::ranges::all_of(store.indices, arith::IsPure);
  }

  // Every time; or by the guard, if that does not hold.
  bool IsOverwritten(const Accesses::Store& store, const tir::SeqStmt& seq, const std::vector<Accesses>& parts,
                     size_t at, bool by_guard) {
    const tir::Buffer* buffer = store.store->buffer;
    const auto same = [&](const Accesses::Store& other) { return other.store->buffer->data == buffer->data; };
    // The reads and calls of a single store come before it; in other statements the order is not looked at.
    const bool is_alone = store.store == seq.seq[at];
    if (!is_alone && (parts[at].read.contains(buffer->data) || std::ranges::count_if(parts[at].stores, same) != 1))
      return false;
    for (size_t next = at + 1; next < parts.size() && next <= at + kLookAhead; ++next) {
      if (parts[next].opaque || parts[next].read.contains(buffer->data)) return false;
      // As in TVM, the next statement that writes to the buffer decides.
      if (std::ranges::any_of(parts[next].stores, same)) return Covers(seq.seq[next], store, by_guard);
    }
    return false;
  }

  // Returns whether the statement writes every element that the store may write.
  bool Covers(const tir::Stmt* stmt, const Accesses::Store& store, bool by_guard) {
    arith::VarDomains domains;
    for (const tir::For* loop : store.loops) {
      domains.try_emplace(loop->loop_var, arith::IntervalSet::FromRange(loop->min, loop->extent, analyzer_.make()));
    }
    for (const Branch& branch : store.branches) {
      const bool holds = by_guard && branch.condition == store.guard->condition ? false : branch.holds;
      const PrimExpr* excluded = holds ? analyzer_.Simplify(analyzer_.make().Not(branch.condition)) : branch.condition;
      for (const tir::For* loop : store.loops) Exclude(loop->loop_var, excluded, domains);
    }
    WrittenRegion region(analyzer_, workspace());
    for (const auto& fact : region.Of(stmt)) {
      if (fact->buffer == store.store->buffer && IsWithin(store, domains, *fact)) return true;
    }
    return false;
  }
  // Restricts the set of the variable to values for which the condition may be false.
  void Exclude(const tir::Var* var, const PrimExpr* condition, arith::VarDomains& domains) {
    arith::VarDomains others = domains;
    others.erase(var);
    const arith::IntervalSet holds = arith::DeduceBound(var, condition, domains, others, analyzer_);
    const arith::PrimBuilder& make = analyzer_.make();
    const PrimExpr* one = make.Const(1, var->dtype);
    arith::IntervalSet& set = domains.at(var);
    if (holds.max() && !holds.min())
      set =
          arith::IntervalSet::Interval(analyzer_.Simplify(make.Max(set.min(), make.Add(holds.max(), one))), set.max());
    else if (holds.min() && !holds.max())
      set =
          arith::IntervalSet::Interval(set.min(), analyzer_.Simplify(make.Min(set.max(), make.Sub(holds.min(), one))));
  }
  bool IsWithin(const Accesses::Store& store, const arith::VarDomains& domains, const BufferFacts::Fact& fact) {
    const arith::PrimBuilder& make = analyzer_.make();
    const PrimExpr* written = make.Bool(true);
    for (size_t i = 0; i < fact.index.size(); ++i) {
      const arith::IntervalSet set = arith::EvalSet(store.store->indices[i], domains, analyzer_);
      if (!set.is_bounded() || !arith::IsPure(set.min()) || !arith::IsPure(set.max())) return false;
      const PrimExpr* in_set = make.Binary(NodeKind::kAnd, make.Binary(NodeKind::kLE, set.min(), fact.index[i]),
                                           make.Binary(NodeKind::kLE, fact.index[i], set.max()));
      written = make.Binary(NodeKind::kAnd, written, in_set);
    }
    const arith::Analyzer::Constraint scope(analyzer_, written);
    return arith::IsInt(analyzer_.Simplify(fact.condition), 1);
  }
};

}  // namespace

LookupSet<const tir::BufferStore*> FindOverwrittenStores(const tir::Stmt* body, arith::Analyzer& analyzer,
                                                         Workspace& workspace) {
  OverwrittenStores finder(analyzer, workspace);
  finder.VisitStmt(body);
  return std::move(finder.found);
}

LookupSet<const tir::IfThenElse*> FindOverwrittenGuards(const tir::Stmt* body, arith::Analyzer& analyzer,
                                                        Workspace& workspace) {
  OverwrittenStores finder(analyzer, workspace);
  finder.VisitStmt(body);
  return std::move(finder.found_guards);
}

}  // namespace iropt
