#include "hoist.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "iropt/analysis/tir/computations.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/arith/side_effect.h"
#include "iropt/ir/clone.h"
#include "iropt/ir/tir/copy_stmt.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/thread_axis.h"
#include "iropt/ir/tir/uses_any_of.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op_id.h"
#include "iropt/support/lookup.h"
#include "iropt/support/stack.h"

namespace iropt {

namespace {

using VarSet = LookupSet<const tir::Var*>;

struct Condition {
  const PrimExpr* expr;
  bool has_else;  // something happens where it does not hold
};
struct LetBinding {
  const tir::Var* var;
  const PrimExpr* value;
};
// A loop, or the scope of a thread, and what moves out of it. Of the bindings, those that HoistFinder::moved_bindings
// has.
struct Scope {
  const tir::Stmt* stmt;
  const tir::Var* var;
  size_t depth;              // the number of loops and threads around its body
  bool is_sequence = false;  // there are several statements inside, from the place of the walk on
  std::vector<LetBinding> bindings = {};
  std::vector<Condition> conditions = {};

  bool is_loop() const { return Is<tir::For>(stmt); }
};

class HoistFinder : public tir::StmtExprVisitor {
 public:
  explicit HoistFinder(const HoistOptions& options) : options_(options) {}

  // By statement.
  LookupMap<const tir::Stmt*, Scope> found;
  VarSet moved_bindings;

 protected:
  void VisitAnd(const tir::And* expr) override { VisitJunction(expr); }
  void VisitOr(const tir::Or* expr) override { VisitJunction(expr); }
  void VisitCall(const tir::Call* call) override {
    if (!IsOp(call->op, op::kTirIfThenElse)) return StmtExprVisitor::VisitCall(call);
    ++open_conditions_;
    TryCondition(call->args[0], HoistOptions::kIfElseExpr, true);
    StmtExprVisitor::VisitCall(call);
    if (--open_conditions_ == 0) facts_ = {};
  }
  void VisitLet(const tir::Let* let) override {
    AddBinding(let->var, let->value, HoistOptions::kLetExpr);
    StmtExprVisitor::VisitLet(let);
    uses_.erase(let->var);
  }
  void VisitLetStmt(const tir::LetStmt* let) override {
    AddBinding(let->var, let->value, HoistOptions::kLetStmt);
    StmtExprVisitor::VisitLetStmt(let);
    uses_.erase(let->var);
  }
  void VisitIfThenElse(const tir::IfThenElse* branch) override {
    TryCondition(branch->condition, HoistOptions::kIfElseStmt, branch->else_case != nullptr);
    if (open_conditions_ == 0) facts_ = {};
    StmtExprVisitor::VisitIfThenElse(branch);
  }
  void VisitSeqStmt(const tir::SeqStmt* seq) override {
    if (!scopes_.empty()) scopes_.back().is_sequence = true;
    StmtExprVisitor::VisitSeqStmt(seq);
  }
  // Nothing leaves a block: it may use the axes, and the regions say what the block accesses.
  void VisitBlockRealize(const tir::BlockRealize* realize) override {
    std::vector<Scope> outer = std::exchange(scopes_, {});
    StmtExprVisitor::VisitBlockRealize(realize);
    scopes_ = std::move(outer);
  }
  void VisitFor(const tir::For* loop) override {
    Open(loop, loop->loop_var);
    StmtExprVisitor::VisitFor(loop);
    Close();
  }
  void VisitAttrStmt(const tir::AttrStmt* stmt) override {
    const auto* thread = As<tir::IterVar>(stmt->node);
    const tir::Var* var = thread ? thread->var : As<tir::Var>(stmt->node);
    if (!var) return StmtExprVisitor::VisitAttrStmt(stmt);
    Open(stmt, var);
    thread_vars_.insert(var);
    StmtExprVisitor::VisitAttrStmt(stmt);
    thread_vars_.erase(var);
    Close();
  }

 private:
  // What a value depends on.
  struct Dependences {
    std::vector<const tir::Var*> bindings;  // directly
    size_t depth = 0;                       // of the innermost loop, directly or through bindings; 0: none
    bool stays = false;                     // the binding that has the value
  };
  // What decides whether a condition moves.
  struct ConditionFacts {
    size_t depth = 0;
    bool can_move = true;  // it is pure, and cannot fail where it was not computed before
    bool uses_thread = false;
    bool uses_bindings = false;
    bool all_move = true;      // the bindings
    bool is_required = false;  // the bindings were made to move
  };

  void Open(const tir::Stmt* stmt, const tir::Var* var) {
    scopes_.push_back({stmt, var, ++depth_});
    depth_of_loop_.insert_or_assign(var, depth_);
  }
  void Close() {
    --depth_;
    depth_of_loop_.erase(scopes_.back().var);
    const tir::Stmt* stmt = scopes_.back().stmt;
    found.try_emplace(stmt, std::move(scopes_.back()));
    scopes_.pop_back();
  }

  void VisitJunction(const tir::BinaryExpr* expr) {
    ++open_conditions_;
    TryCondition(expr->a, HoistOptions::kBooleanExpression, true);
    TryCondition(expr->b, HoistOptions::kBooleanExpression, true);
    StmtExprVisitor::VisitBinary(expr);
    if (--open_conditions_ == 0) facts_ = {};
  }

  Dependences DependencesOf(const PrimExpr* expr) const {
    Dependences result;
    tir::ForEachVar(expr, [&](const tir::Var* var) {
      result.depth = std::max(result.depth, depth_of_loop_.Lookup(var));
      const auto* binding = uses_.Find(var);
      if (!binding) return;
      result.bindings.push_back(var);
      result.depth = std::max(result.depth, binding->depth);
    });
    return result;
  }

  // What a binding that moves depends on moves, too.
  bool AllMove(const std::vector<const tir::Var*>& bindings) const {
    return std::ranges::all_of(bindings, [this](const tir::Var* var) { return moved_bindings.contains(var); });
  }
  void MoveAll(std::vector<const tir::Var*> bindings) {
    while (!bindings.empty()) {
      const tir::Var* var = bindings.back();
      bindings.pop_back();
      const Dependences* uses = uses_.Find(var);
      if (uses && uses->stays) continue;
      if (moved_bindings.insert(var) && uses)
        bindings.insert(bindings.end(), uses->bindings.begin(), uses->bindings.end());
    }
  }

  // A loop may have no iteration.
  static bool CanMove(const PrimExpr* expr) {
    bool can_fail = false;
    tir::PostOrderVisit(expr, [&](const Node* node) {
      const auto* part = As<PrimExpr>(node);
      can_fail = can_fail || (part && MayBeUndefined(part));
    });
    return !can_fail && arith::IsPure(expr);
  }

  // The operands of arithmetic, comparisons and choices; none for others.
  static std::vector<const PrimExpr*> PartsOf(const PrimExpr* expr) {
    if (const auto* binary = As<tir::BinaryExpr>(expr)) return {binary->a, binary->b};
    if (const auto* negation = As<tir::Not>(expr)) return {negation->a};
    if (const auto* select = As<tir::Select>(expr)) return {select->condition, select->true_value, select->false_value};
    const auto* call = As<tir::Call>(expr);
    if (call && IsOp(call->op, op::kTirIfThenElse)) return {call->args.begin(), call->args.end()};
    return {};
  }

  // Conditions are parts of each other: what is known about nested ones is kept.
  ConditionFacts FactsOf(const PrimExpr* condition) {
    const std::vector<const PrimExpr*> parts = PartsOf(condition);
    if (parts.empty()) {
      const Dependences uses = DependencesOf(condition);
      return {.depth = uses.depth,
              .can_move = CanMove(condition),
              .uses_thread = tir::UsesAnyOf(thread_vars_, condition),
              .uses_bindings = !uses.bindings.empty(),
              .all_move = AllMove(uses.bindings)};
    }
    if (const ConditionFacts* known = facts_.Find(condition)) return *known;
    ConditionFacts facts{.can_move = !MayBeUndefined(condition)};
    for (const PrimExpr* part : parts) {
      const ConditionFacts other = WithStack([&] { return FactsOf(part); });
      facts.depth = std::max(facts.depth, other.depth);
      facts.can_move &= other.can_move;
      facts.uses_thread |= other.uses_thread;
      facts.uses_bindings |= other.uses_bindings;
      facts.all_move &= other.all_move;
    }
    return facts_.insert_or_assign(condition, facts);
  }

  void MoveBindingsOf(const PrimExpr* condition) {
    const std::vector<const PrimExpr*> parts = PartsOf(condition);
    if (parts.empty()) return MoveAll(DependencesOf(condition).bindings);
    if (std::exchange(facts_.at(condition).is_required, true)) return;
    for (const PrimExpr* part : parts) WithStack([&] { MoveBindingsOf(part); });
  }

  // The outermost scope that what depends on loops up to this depth can leave; null if there is none.
  Scope* Destination(size_t depth) {
    const bool crosses_threads = options_.conditionals & HoistOptions::kUsingBlockVar;
    Scope* destination = nullptr;
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      if (scope->is_sequence || scope->depth <= depth || (!crosses_threads && !scope->is_loop())) break;
      destination = &*scope;
    }
    return destination;
  }

  void TryCondition(const PrimExpr* condition, HoistOptions::Conditionals kind, bool has_else) {
    if (!(options_.conditionals & kind) || arith::AsInt(condition)) return;
    const ConditionFacts facts = FactsOf(condition);
    Scope* scope = facts.can_move ? Destination(facts.depth) : nullptr;
    if (!scope) return;
    if (facts.uses_thread && !(options_.conditionals & HoistOptions::kUsingBlockVar)) return;
    constexpr int64_t kBindings = HoistOptions::kRequiredByCondition | HoistOptions::kLetStmt;
    if (facts.uses_bindings && !(options_.let_bindings & kBindings)) return;
    if (options_.let_bindings & HoistOptions::kRequiredByCondition) {
      MoveBindingsOf(condition);
    } else if (!facts.all_move) {
      return;
    }
    scope->conditions.push_back({condition, has_else});
  }

  void AddBinding(const tir::Var* var, const PrimExpr* value, HoistOptions::LetBindings kind) {
    facts_ = {};
    Dependences uses = DependencesOf(value);
    // A value that is read may change in the loop.
    Scope* scope = CanMove(value) ? Destination(uses.depth) : nullptr;
    if (scope) {
      if ((options_.let_bindings & kind) && AllMove(uses.bindings)) moved_bindings.insert(var);
      scope->bindings.push_back({var, value});
    } else {
      uses.stays = true;
      // Expressions that depend on the binding stay inside of it.
      if (!scopes_.empty()) uses.depth = scopes_.back().depth;
    }
    uses_.insert_or_assign(var, std::move(uses));
  }

  const HoistOptions& options_;
  std::vector<Scope> scopes_;  // around the place of the walk
  size_t depth_ = 0;           // the number of loops and threads around it, also outside of blocks
  LookupMap<const tir::Var*, size_t> depth_of_loop_;
  VarSet thread_vars_;
  LookupMap<const tir::Var*, Dependences> uses_;  // by binding
  // Of the conditions in each other at the place of the walk.
  LookupMap<const PrimExpr*, ConditionFacts> facts_;
  int open_conditions_ = 0;
};

// The buffers of which the memory and the shape come from outside of a statement, and threads, of which all launches in
// a function may have one variable.
class OuterBuffers : public tir::StmtExprVisitor {
 public:
  // A copy of the statement with variables of its own, and the same buffers where they come from outside, and threads.
  static const tir::Stmt* CopyOf(const tir::Stmt* stmt, Workspace& workspace) {
    OuterBuffers outer;
    outer.VisitStmt(stmt);
    Cloner cloner(workspace);
    for (const tir::Var* thread : outer.threads_) cloner.Map(thread, thread);
    for (const tir::Buffer* buffer : outer.used_) {
      if (outer.IsOuter(*buffer)) cloner.Map(buffer, buffer);
    }
    return cloner.Clone(stmt);
  }

 protected:
  void VisitAttrStmt(const tir::AttrStmt* stmt) override {
    const tir::IterVar* thread = tir::LaunchAxisOf(*stmt);
    if (thread) threads_.push_back(thread->var);
    StmtExprVisitor::VisitAttrStmt(stmt);
  }
  void VisitVarDef(const tir::Var* var) override { defined_vars_.insert(var); }
  void VisitBufferDef(const tir::Buffer* buffer) override { defined_.insert(buffer); }
  void VisitBufferUse(const tir::Buffer* buffer) override { used_.push_back(buffer); }

 private:
  bool IsOuter(const tir::Buffer& buffer) const {
    if (defined_.contains(&buffer) || defined_vars_.contains(buffer.data)) return false;
    const auto is_inner = [&](const PrimExpr* e) { return tir::UsesAnyOf(defined_vars_, e); };
    return std::ranges::none_of(buffer.shape, is_inner) && std::ranges::none_of(buffer.strides, is_inner) &&
           !(buffer.elem_offset && is_inner(buffer.elem_offset));
  }

  std::vector<const tir::Buffer*> used_;
  std::vector<const tir::Var*> threads_;
  LookupSet<const tir::Buffer*> defined_;
  VarSet defined_vars_;
};

class Hoister : public tir::StmtExprMutator {
 public:
  Hoister(const HoistFinder& finder, Workspace& workspace)
      : StmtExprMutator(workspace, tir::kDropNoOps), finder_(finder) {}

 protected:
  const tir::Stmt* VisitFor(const tir::For* loop) override { return Wrap(StmtExprMutator::VisitFor(loop), loop); }
  const tir::Stmt* VisitAttrStmt(const tir::AttrStmt* stmt) override {
    return Wrap(StmtExprMutator::VisitAttrStmt(stmt), stmt);
  }
  const tir::Stmt* VisitLetStmt(const tir::LetStmt* let) override {
    return finder_.moved_bindings.contains(let->var) ? VisitStmt(let->body) : StmtExprMutator::VisitLetStmt(let);
  }
  const PrimExpr* VisitLet(const tir::Let* let) override {
    return finder_.moved_bindings.contains(let->var) ? VisitExpr(let->body) : StmtExprMutator::VisitLet(let);
  }

 private:
  // The number of copies of one loop, and of nodes that all copies have; beyond them, conditions stay inside.
  static constexpr int kMaxCopies = 64;
  static constexpr int64_t kMaxGrowth = 500'000;

  const tir::Stmt* Wrap(const tir::Stmt* stmt, const tir::Stmt* original) {
    const auto* found = finder_.found.Find(original);
    if (!found) return stmt;
    const Scope& scope = *found;
    int copies = 1;
    for (auto condition = scope.conditions.rbegin(); condition != scope.conditions.rend(); ++condition) {
      const tir::Stmt* otherwise = nullptr;
      if (condition->has_else) {
        if ((copies *= 2) > kMaxCopies || !ChargeBudget(*stmt)) break;
        // With variables of its own.
        otherwise = OuterBuffers::CopyOf(stmt, workspace());
      }
      // The condition stays at its place, too.
      stmt = workspace().New<tir::IfThenElse>(CopyExpr(VisitExpr(condition->expr), workspace()), stmt, otherwise);
    }
    for (auto binding = scope.bindings.rbegin(); binding != scope.bindings.rend(); ++binding) {
      if (!finder_.moved_bindings.contains(binding->var)) continue;
      stmt = workspace().New<tir::LetStmt>(binding->var, binding->value, stmt);
    }
    return stmt;
  }

  bool ChargeBudget(const tir::Stmt& copied) {
    int64_t nodes = 0;
    tir::PostOrderVisit(&copied, [&](const Node*) { ++nodes; });
    if (nodes > kMaxGrowth - nodes_added_) return false;
    nodes_added_ += nodes;
    return true;
  }

  const HoistFinder& finder_;
  int64_t nodes_added_ = 0;
};

}  // namespace

const PrimFunc* Hoist(const PrimFunc* func, const HoistOptions& options, Workspace& workspace) {
  HoistFinder finder(options);
  finder.VisitStmt(func->body);
  Hoister hoister(finder, workspace);
  const tir::Stmt* body = hoister.VisitStmt(func->body);
  return WithBody(func, body, workspace);
}

}  // namespace iropt
