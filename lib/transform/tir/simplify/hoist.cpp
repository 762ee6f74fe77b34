#include "hoist.h"

#include <algorithm>
#include <utility>
#include <vector>

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
    if (IsOp(call->op, op::kTirIfThenElse)) TryCondition(call->args[0], HoistOptions::kIfElseExpr, true);
    StmtExprVisitor::VisitCall(call);
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
    scopes_.push_back({loop, loop->loop_var});
    loop_vars_.insert(loop->loop_var);
    StmtExprVisitor::VisitFor(loop);
    Close();
  }
  void VisitAttrStmt(const tir::AttrStmt* stmt) override {
    const auto* thread = As<tir::IterVar>(stmt->node);
    const tir::Var* var = thread ? thread->var : As<tir::Var>(stmt->node);
    if (!var) return StmtExprVisitor::VisitAttrStmt(stmt);
    scopes_.push_back({stmt, var});
    loop_vars_.insert(var);
    thread_vars_.insert(var);
    StmtExprVisitor::VisitAttrStmt(stmt);
    thread_vars_.erase(var);
    Close();
  }

 private:
  // The loop variables and the bindings that a value depends on, directly or through bindings.
  struct Dependences {
    VarSet loop_vars, bindings;
  };

  void Close() {
    loop_vars_.erase(scopes_.back().var);
    const tir::Stmt* stmt = scopes_.back().stmt;
    found.try_emplace(stmt, std::move(scopes_.back()));
    scopes_.pop_back();
  }

  void VisitJunction(const tir::BinaryExpr* expr) {
    TryCondition(expr->a, HoistOptions::kBooleanExpression, true);
    TryCondition(expr->b, HoistOptions::kBooleanExpression, true);
    StmtExprVisitor::VisitBinary(expr);
  }

  Dependences DependencesOf(const PrimExpr* expr) const {
    Dependences result;
    tir::ForEachVar(expr, [&](const tir::Var* var) {
      if (loop_vars_.contains(var)) result.loop_vars.insert(var);
      const auto* binding = uses_.Find(var);
      if (!binding) return;
      result.bindings.insert(var);
      result.bindings.InsertAll(binding->bindings);
      result.loop_vars.InsertAll(binding->loop_vars);
    });
    return result;
  }

  bool AllMove(const VarSet& bindings) const {
    return bindings.AllOf([this](const tir::Var* var) { return moved_bindings.contains(var); });
  }

  // The outermost scope that what depends on these variables can leave; null if there is none.
  Scope* Destination(const VarSet& loop_vars) {
    const bool crosses_threads = options_.conditionals & HoistOptions::kUsingBlockVar;
    Scope* destination = nullptr;
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      if (scope->is_sequence || loop_vars.contains(scope->var) || (!crosses_threads && !scope->is_loop())) break;
      destination = &*scope;
    }
    return destination;
  }

  void TryCondition(const PrimExpr* condition, HoistOptions::Conditionals kind, bool has_else) {
    if (!(options_.conditionals & kind) || arith::AsInt(condition) || !arith::IsPure(condition)) return;
    Dependences uses = DependencesOf(condition);
    Scope* scope = Destination(uses.loop_vars);
    if (!scope) return;
    const bool uses_thread = tir::UsesAnyOf(thread_vars_, condition);
    if (uses_thread && !(options_.conditionals & HoistOptions::kUsingBlockVar)) return;
    constexpr int64_t kBindings = HoistOptions::kRequiredByCondition | HoistOptions::kLetStmt;
    if (!uses.bindings.empty() && !(options_.let_bindings & kBindings)) return;
    if (options_.let_bindings & HoistOptions::kRequiredByCondition) {
      moved_bindings.InsertAll(uses.bindings);
    } else if (!AllMove(uses.bindings)) {
      return;
    }
    scope->conditions.push_back({condition, has_else});
  }

  void AddBinding(const tir::Var* var, const PrimExpr* value, HoistOptions::LetBindings kind) {
    Dependences uses = DependencesOf(value);
    // A value that is read may change in the loop.
    Scope* scope = arith::IsPure(value) ? Destination(uses.loop_vars) : nullptr;
    if (scope) {
      if ((options_.let_bindings & kind) && AllMove(uses.bindings)) moved_bindings.insert(var);
      scope->bindings.push_back({var, value});
    } else {
      // Expressions that depend on the binding stay inside of it.
      for (const Scope& outer : scopes_) uses.loop_vars.insert(outer.var);
    }
    uses_.insert_or_assign(var, std::move(uses));
  }

  const HoistOptions& options_;
  std::vector<Scope> scopes_;  // around the place of the walk
  VarSet loop_vars_, thread_vars_;
  LookupMap<const tir::Var*, Dependences> uses_;  // by binding
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
