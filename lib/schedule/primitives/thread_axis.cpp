#include "thread_axis.h"

#include <fmt/format.h>

#include <algorithm>

#include "iropt/analysis/tir/thread_tags.h"
#include "iropt/arith/analyzer.h"
#include "iropt/support/lookup.h"
#include "schedule/stmt_tools.h"

namespace iropt::schedule {

namespace {

// Variables, and memory by its pointer.
using ThreadVars = LookupSet<const tir::Var*>;

// Returns whether the part uses one of the variables or loads from the memory.
bool Uses(const Node* part, const ThreadVars& vars) {
  bool found = false;
  tir::PostOrderVisit(part, [&](const Node* node) {
    const auto* var = As<tir::Var>(node);
    const auto* load = As<tir::BufferLoad>(node);
    found = found || (var && vars.contains(var)) || (load && vars.contains(load->buffer->data));
  });
  return found;
}

// Finds a loop over the threads of an axis in another one that cannot be divided among them: what it does depends on
// the iteration of the outer one, or memory that each thread has of its own is filled in it and read for what depends
// on the thread, which needs the parts of others.
class AxisDivision : public tir::StmtExprVisitor {
 public:
  // `bound` counts as one of the loops.
  AxisDivision(const tir::For& outer, std::string_view tag, const tir::Stmt* bound, arith::Analyzer& analyzer)
      : outer_(outer), tag_(tag), bound_(bound), analyzer_(analyzer) {
    differing_.insert(outer.loop_var);
  }

  bool IsPossible() {
    // What a later statement stores may be read in the next iteration of a loop. The last round adds nothing.
    for (size_t known = 0; known != differing_.size() + divided_.size();) {
      known = differing_.size() + divided_.size();
      VisitStmt(outer_.body);
    }
    return is_possible_;
  }

  void VisitExpr(const PrimExpr* expr) override {
    if (num_divided_ == 0 && Uses(expr, divided_) && Differs(expr)) is_possible_ = false;
  }

 protected:
  void VisitFor(const tir::For* loop) override {
    if (Uses(loop->min, differing_) || Uses(loop->extent, differing_)) differing_.insert(loop->loop_var);
    const bool is_same = loop == bound_ || (loop->thread_binding && loop->thread_binding->thread_tag == tag_);
    if (is_same && (num_conditions_ > 0 || Uses(loop, differing_) || !HasThreads(*loop))) is_possible_ = false;
    num_divided_ += is_same ? 1 : 0;
    StmtExprVisitor::VisitFor(loop);
    num_divided_ -= is_same ? 1 : 0;
  }
  void VisitBlockRealize(const tir::BlockRealize* realize) override {
    for (size_t i = 0; i < realize->iter_values.size(); ++i) {
      if (Uses(realize->iter_values[i], differing_)) differing_.insert(realize->block->iter_vars[i]->var);
    }
    Where(realize->predicate, [&] { VisitStmt(realize->block); });
  }
  // The regions that it states are of accesses in it.
  void VisitBlock(const tir::Block* block) override {
    if (block->init) VisitStmt(block->init);
    VisitStmt(block->body);
  }
  void VisitIfThenElse(const tir::IfThenElse* branch) override {
    Where(branch->condition, [&] {
      VisitStmt(branch->then_case);
      if (branch->else_case) VisitStmt(branch->else_case);
    });
  }
  void VisitWhile(const tir::While* loop) override {
    Where(loop->condition, [&] { VisitStmt(loop->body); });
  }
  void VisitLetStmt(const tir::LetStmt* let) override {
    if (Uses(let->value, differing_)) differing_.insert(let->var);
    StmtExprVisitor::VisitLetStmt(let);
  }
  void VisitBufferStore(const tir::BufferStore* store) override {
    const tir::Var* data = store->buffer->data;
    const bool is_private = !IsSharedBy(StorageScope::Of(store->buffer->scope()), ThreadTag::Of(tag_));
    if (num_divided_ > 0) {
      if (is_private) divided_.insert(data);
    } else if (Differs(store)) {
      if (divided_.contains(data) || Uses(store, divided_)) is_possible_ = false;
      if (is_private) differing_.insert(data);
    }
  }

 private:
  bool Differs(const Node* part) const { return num_conditions_ > 0 || Uses(part, differing_); }

  template <class F>
  void Where(const PrimExpr* condition, F visit) {
    VisitExpr(condition);
    const bool differs = Uses(condition, differing_);
    num_conditions_ += differs ? 1 : 0;
    visit();
    num_conditions_ -= differs ? 1 : 0;
  }
  bool HasThreads(const tir::For& loop) const {
    return analyzer_.CanProve(analyzer_.make().Binary(NodeKind::kLE, loop.extent, outer_.extent));
  }

  const tir::For& outer_;
  const std::string_view tag_;
  const tir::Stmt* bound_;
  arith::Analyzer& analyzer_;
  ThreadVars differing_;    // between iterations of the outer loop
  ThreadVars divided_;      // memory of each thread that the inner loops fill
  int num_divided_ = 0;     // inner loops around the statement
  int num_conditions_ = 0;  // around the statement, that differ
  bool is_possible_ = true;
};

}  // namespace

Status CheckAxisIsFree(State& state, const Ref* ref, std::string_view tag) {
  arith::Analyzer analyzer(state.make(), arith::Analyzer::SymVars::kAny);
  for (const Ref* outer = ref; outer; outer = outer->parent) {
    if (!outer->is_loop()) continue;
    const tir::For& loop = outer->loop();
    const bool is_same = outer == ref || (loop.thread_binding && loop.thread_binding->thread_tag == tag);
    if (!is_same || AxisDivision(loop, tag, ref->stmt, analyzer).IsPossible()) continue;
    return state.Refuse(fmt::format("the loop {{0}} is bound to \"{}\" already, and one is in the other", tag),
                        {&loop});
  }
  return {};
}

}  // namespace iropt::schedule
