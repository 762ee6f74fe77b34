// tir.CommonSubexprElimTIR: binds computations that are done several times to variables.
//
//   for i in range(8):                             for i in range(8):
//       B[i * 4 + n] = A[i * 4 + n] + C[i * 4]         cse_var_2: T.int32 = i * 4
//                                            -->       cse_var_1: T.int32 = cse_var_2 + n
//                                                      B[cse_var_1] = A[cse_var_1] + C[cse_var_2]
//
// A computation is an expression without loads and calls. It is bound around the outermost statement that does it twice
// in any case, inside the loops and bindings of its variables; of a loop or a branch, what two of its parts do is done
// in any case. Divisions by what may be 0, and conversions of floats to integers, stay where a condition, a jump or
// an assertion may guard them. Big
// computations come first, their parts after them. With identify_equiv_terms, expressions that simplify to the same one
// are the same computation. Variables that are not parameters, loop variables or bound (axes of blocks, symbolic
// shapes) are not known, and computations with them stay.
//
// O(nodes), times the nesting of loops and branches, and the sizes of expressions. For the sake of a binding, what is
// between it and the last repeated computation with its variable is looked at again.
//
// Source: TVM 0.18's pass of this name.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "iropt/analysis/tir/computations.h"
#include "iropt/analysis/tir/loop_jumps.h"
#include "iropt/ir/rewrite_limit.h"
#include "iropt/ir/tir/copy_if_changed.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "iropt/support/stack.h"
#include "iropt/transform/options/CommonSubexprElimTIR.h"
#include "transform/tir/util/prim_func_pass.h"

namespace iropt {

namespace {

// Replaces computations by variables, in the prefix of a statement.
class ComputationReplacer : public tir::StmtExprMutator {
 public:
  // The parts, which may be null, are told what changes.
  ComputationReplacer(const ComputationMap<const tir::Var*>& vars, ComputationFacts& facts, const Prefix& prefix,
                      RepeatedParts* parts, size_t place, Workspace& workspace)
      : StmtExprMutator(workspace, tir::kDropNoOps),
        vars_(vars),
        facts_(facts),
        prefix_(prefix),
        parts_(parts),
        begin_(place),
        place_(place) {}

  // The last place of the repeated computations that replacements made.
  size_t last_changed() const { return last_changed_; }

  const tir::Stmt* VisitStmt(const tir::Stmt* stmt) override {
    if (prefix_.Ends(stmt)) {
      place_ = parts_->num_bindings();
      return stmt;
    }
    if (const auto* let = parts_ ? As<tir::LetStmt>(stmt) : nullptr)
      place_ = std::max(place_, parts_->Number(let->var));
    return StmtExprMutator::VisitStmt(stmt);
  }
  const PrimExpr* VisitExpr(const PrimExpr* expr) override {
    if (is_inside_) return Replace(expr);
    return Outermost([&] { return Replace(expr); }, expr);
  }
  // For the value of a binding around the statement.
  const PrimExpr* ReplaceInside(const PrimExpr* expr) {
    place_ = begin_;
    return Outermost([&] { return StmtExprMutator::VisitExpr(expr); }, nullptr);
  }

 private:
  const PrimExpr* Replace(const PrimExpr* expr) {
    if (!facts_.IsEligible(expr)) return StmtExprMutator::VisitExpr(expr);
    const tir::Var* var = vars_.Lookup(facts_.Key(expr));
    return var ? var : StmtExprMutator::VisitExpr(expr);
  }
  // For an expression of a statement, which was `before`.
  template <class F>
  const PrimExpr* Outermost(const F& replace, const PrimExpr* before) {
    is_inside_ = true;
    const PrimExpr* result = replace();
    is_inside_ = false;
    if (parts_ && result != before) last_changed_ = std::max(last_changed_, parts_->Add(result, place_));
    return result;
  }

  const ComputationMap<const tir::Var*>& vars_;
  ComputationFacts& facts_;
  const Prefix& prefix_;
  RepeatedParts* parts_;
  const size_t begin_;
  size_t place_;
  size_t last_changed_ = 0;
  bool is_inside_ = false;
};

// Gives names that the function does not use.
class VarNames : public tir::StmtExprVisitor {
 public:
  std::string Next() {
    std::string name;
    do name = fmt::format("cse_var_{}", ++last_);
    while (used_.contains(name));
    return name;
  }

 protected:
  void VisitVar(const tir::Var* var) override { used_.insert(var->name); }
  void VisitVarDef(const tir::Var* var) override { used_.insert(var->name); }

 private:
  LookupSet<std::string_view> used_;
  int last_ = 0;
};

// Returns whether the function may end, or leave a loop, before its last statement.
bool HasExits(const tir::Stmt* body) {
  bool found = false;
  tir::PostOrderVisit(body, [&](const Node* node) {
    const auto* stmt = As<tir::Evaluate>(node);
    found = found || Is<tir::AssertStmt>(node) || (stmt && (IsLoopJump(*stmt) || CallOf(stmt->value, op::kTirRet)));
  });
  return found;
}

class CommonSubexprEliminator : public tir::StmtExprMutator {
  static constexpr size_t kEverywhere = std::numeric_limits<size_t>::max();

 public:
  CommonSubexprEliminator(const PrimFunc& func, bool equivalent, Workspace& workspace)
      : StmtExprMutator(workspace, tir::kDropNoOps), facts_(workspace, equivalent), bound_(ComputationHash{&facts_}) {
    for (const tir::Var* param : func.params) known_.insert(param);
    names_.VisitStmt(func.body);
    has_exits_ = HasExits(func.body);
  }

  // Binds what the statement does several times. A statement in it does not do more, unless it is what a loop or a
  // branch does, or can use a variable that was not known around it. What is in the statement after the place is not
  // looked at.
  const tir::Stmt* Eliminate(const tir::Stmt* stmt, size_t last = kEverywhere) {
    do {
      if (last != kEverywhere) last = std::max(last, std::exchange(last_changed_, 0));
    } while (Introduce(stmt, last));
    return VisitStmt(stmt);
  }
  // The operands of a statement have been considered with it; only bindings begin something new.
  const PrimExpr* VisitExpr(const PrimExpr* expr) override {
    return facts_.IsEligible(expr) ? expr : StmtExprMutator::VisitExpr(expr);
  }

 protected:
  const PrimExpr* VisitLet(const tir::Let* let) override {
    tir::Let copy = *let;
    copy.value = VisitExpr(let->value);
    const Binding scope(*this, let->var, let->value);
    copy.body = VisitRoot(let->body);
    if (copy.value == let->value && copy.body == let->body) return let;
    copy.flags = 0;
    return workspace().New<tir::Let>(copy);
  }

  const tir::Stmt* VisitLetStmt(const tir::LetStmt* let) override {
    tir::LetStmt copy = *let;
    copy.value = VisitExpr(let->value);
    const bool counts_here = !repeated_;
    if (counts_here) {
      repeated_ = std::make_unique<RepeatedParts>(let, facts_);
      place_ = last_changed_ = 0;
    }
    place_ = std::max(place_, repeated_->Number(let->var));
    {
      const Binding scope(*this, let->var, let->value);
      const size_t last = LastPlaceFor(*let);
      copy.body = last > 0 ? Eliminate(let->body, last) : VisitStmt(let->body);
    }
    if (counts_here) repeated_ = nullptr;
    return tir::CopyIfChanged(let, copy, workspace());
  }

  const tir::Stmt* VisitFor(const tir::For* loop) override {
    tir::For copy = *loop;
    copy.min = VisitRoot(loop->min);
    copy.extent = VisitRoot(loop->extent);
    {
      const Binding scope(*this, loop->loop_var, nullptr);
      copy.body = Eliminate(loop->body);
    }
    return tir::CopyIfChanged(loop, copy, workspace());
  }

  const tir::Stmt* VisitIfThenElse(const tir::IfThenElse* branch) override {
    tir::IfThenElse copy = *branch;
    copy.condition = VisitRoot(branch->condition);
    copy.then_case = Eliminate(branch->then_case);
    if (branch->else_case) copy.else_case = Eliminate(branch->else_case);
    return tir::CopyIfChanged(branch, copy, workspace());
  }

  const tir::Stmt* VisitWhile(const tir::While* loop) override {
    tir::While copy = *loop;
    copy.condition = VisitRoot(loop->condition);
    copy.body = Eliminate(loop->body);
    return tir::CopyIfChanged(loop, copy, workspace());
  }

 private:
  // The last place where more can be bound or replaced than around the binding, 0 without such a place: of computations
  // with the variable that occur more than once, and of its value.
  size_t LastPlaceFor(const tir::LetStmt& let) {
    const bool is_computation = !generated_.contains(let.var) && facts_.IsEligible(let.value);
    return std::max(repeated_->LastUse(let.var), is_computation ? repeated_->LastPlace(let.value) : 0);
  }

  // A known variable, and its value if that is a computation.
  class Binding {
   public:
    Binding(CommonSubexprEliminator& pass, const tir::Var* var, const PrimExpr* value) : pass_(pass), var_(var) {
      pass.known_.insert(var);
      if (!value || !pass.facts_.IsEligible(value)) return;
      key_ = pass.facts_.Key(value);
      pass.bound_[key_].push_back(var);
    }
    ~Binding() {
      pass_.known_.erase(var_);
      if (key_) pass_.bound_.at(key_).pop_back();
    }
    Binding(const Binding&) = delete;
    Binding& operator=(const Binding&) = delete;

   private:
    CommonSubexprEliminator& pass_;
    const tir::Var* var_;
    const PrimExpr* key_ = nullptr;
  };

  // The computations of a statement or an expression that are still to be considered: big ones first, of one size in
  // the order in which they were found.
  class Worklist {
   public:
    Worklist(const ComputationTable& table, ComputationFacts& facts) : facts_(facts), counts_(ComputationHash{&facts}) {
      for (const ComputationTable::Entry& entry : table.Sorted()) Add(entry.expr, entry.count);
    }
    bool empty() const { return pending_.empty(); }
    ComputationTable::Entry Take() {
      const PrimExpr* expr = pending_.begin()->second;
      pending_.erase(pending_.begin());
      return {expr, counts_.at(facts_.Key(expr))};
    }
    void Add(const PrimExpr* expr, size_t count) {
      const auto [total, is_new] = counts_.try_emplace(facts_.Key(expr), 0);
      total += count;
      if (is_new) pending_.emplace(std::pair(-static_cast<int64_t>(facts_.Size(expr)), num_added_++), expr);
    }
    // The parts of a computation that cannot be bound as a whole.
    void AddParts(const PrimExpr* expr, bool guarded) {
      ForEachOperand(expr, guarded, [this](const PrimExpr* operand, bool inner) {
        if (facts_.IsEligible(operand) && !(inner && facts_.CanFail(operand))) return Add(operand, 1);
        WithStack([&] { AddParts(operand, inner); });
      });
    }

   private:
    ComputationFacts& facts_;
    ComputationMap<size_t> counts_;  // by key
    std::map<std::pair<int64_t, size_t>, const PrimExpr*> pending_;
    size_t num_added_ = 0;
  };

  struct NewVar {
    const tir::Var* var;
    const PrimExpr* value;
  };

  // Binds what the statement or expression does several times, and uses what is bound already. True if variables were
  // made; the bindings then are around it.
  template <class T>
  bool Introduce(const T*& root, size_t last = kEverywhere) {
    const Prefix prefix(repeated_.get(), last);
    ComputationTable table(facts_, prefix);
    table.Collect(root, has_exits_);
    if (table.empty()) return false;
    ComputationMap<const tir::Var*> replacements(ComputationHash{&facts_});
    std::vector<NewVar> made;
    for (Worklist pending(table, facts_); !pending.empty();) {
      const auto [expr, count] = pending.Take();
      const PrimExpr* key = facts_.Key(expr);
      if (const auto* bound = bound_.Find(key); bound && !bound->empty()) {
        if (AllowRewrite("reused-computation", *expr)) replacements.try_emplace(key, bound->front());
      } else if (count >= 2 && IsKnown(expr) && AllowRewrite("bound-computation", *expr)) {
        const tir::Var* var = workspace().NewPrimVar(names_.Next(), expr->dtype);
        generated_.insert(var);
        replacements.try_emplace(key, var);
        made.push_back({var, expr});
      } else {
        pending.AddParts(expr, has_exits_);
      }
    }
    if (replacements.empty()) return false;
    ComputationReplacer replacer(replacements, facts_, prefix, repeated_.get(), place_, workspace());
    root = Replace(root, replacer);
    for (const NewVar& item : made) {
      // A value may contain an equivalent of itself, or of a bigger one, whose variable is bound inside.
      replacements.erase(facts_.Key(item.value));
      root = Bind(item.var, replacer.ReplaceInside(item.value), root);
    }
    last_changed_ = std::max(last_changed_, replacer.last_changed());
    return !made.empty();
  }
  static const tir::Stmt* Replace(const tir::Stmt* root, ComputationReplacer& replacer) {
    return replacer.VisitStmt(root);
  }
  static const PrimExpr* Replace(const PrimExpr* root, ComputationReplacer& replacer) {
    return replacer.VisitExpr(root);
  }
  const tir::Stmt* Bind(const tir::Var* var, const PrimExpr* value, const tir::Stmt* body) {
    return workspace().New<tir::LetStmt>(var, value, body);
  }
  const PrimExpr* Bind(const tir::Var* var, const PrimExpr* value, const PrimExpr* body) {
    return workspace().New<tir::Let>(var, value, body);
  }

  // For an expression that is not considered together with a statement.
  const PrimExpr* VisitRoot(const PrimExpr* expr) {
    Introduce(expr);
    return VisitExpr(expr);
  }

  bool IsKnown(const PrimExpr* expr) const {
    return !tir::UsesVar(expr, [&](const tir::Var* var) { return !known_.contains(var); });
  }

  ComputationFacts facts_;
  VarNames names_;
  bool has_exits_ = false;  // statements may not reach the next one
  LookupSet<const tir::Var*> known_, generated_;
  ComputationMap<std::vector<const tir::Var*>> bound_;  // variables by the keys of their values, outermost first
  std::unique_ptr<RepeatedParts> repeated_;             // in the outermost binding around the walk; null outside of any
  size_t place_ = 0;                                    // of the walk in it
  // The last place of repeated computations that replacements made, and that were not considered since.
  size_t last_changed_ = 0;
};

// Scripts have nothing around a root block: what is bound for the function is inside of it.
const tir::Stmt* EliminateInBody(const PrimFunc& func, bool equivalent, Workspace& workspace) {
  CommonSubexprEliminator eliminator(func, equivalent, workspace);
  const auto* root = As<tir::BlockRealize>(func.body);
  if (!root || !root->iter_values.empty()) return eliminator.Eliminate(func.body);
  const tir::Stmt* body = eliminator.Eliminate(root->block->body);
  if (body == root->block->body) return root;
  auto* block = workspace.New<tir::Block>(*root->block);
  block->body = body;
  return workspace.New<tir::BlockRealize>(root->iter_values, root->predicate, block);
}

}  // namespace

Pass CreateCommonSubexprElimTIR(const PassOptions& options) {
  const pass_options::CommonSubexprElimTIR given(options);
  return CreateBodyPass(options.info(), {},
                        [enabled = *given.enable_cse_tir, equivalent = *given.identify_equiv_terms](
                            const PrimFunc& func, FunctionPassContext& context) {
                          if (!enabled) return func.body;
                          return EliminateInBody(func, equivalent, context.workspace());
                        });
}

}  // namespace iropt
