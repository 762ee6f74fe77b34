// tir.Simplify: simplifies expressions and conditions by what is known where they stand.
//
//   for i in range(16):                           for i in range(16):
//       if i < 20:                        -->         B[i] = A[i * 2]
//           B[(i * 4 + 3) // 4] = A[i + i]
//
// Known are the ranges of loops, axes and threads, the conditions around a statement, also asserted ones,
// and that sizes are not negative. Conditions that always hold disappear, and so do bindings of integers, and stores of
// what the element holds already. The configuration record tir.Simplify turns on more: chains of comparisons, normal
// forms of conditions, and values that buffers are known to hold.
//
// O(nodes), times the nesting of conditions.
//
// Source: TVM 0.18's pass of this name.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "buffer_facts_mutator.h"
#include "configs/tir.Simplify.h"
#include "function_passes.h"
#include "iropt/arith/analyzer.h"
#include "iropt/arith/side_effect.h"
#include "iropt/ir/rewrite_limit.h"
#include "iropt/ir/structural.h"
#include "iropt/ir/tir/copy_if_changed.h"
#include "iropt/ir/tir/substitute.h"
#include "iropt/ir/tir/thread_axis.h"
#include "iropt/ir/tir/written_values.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"

namespace iropt {

namespace {

// Returns whether the launch states the range of the thread. Otherwise it may be that of an outer launch, and stays.
bool IsRangeOf(const tir::IterVar& thread, const tir::AttrStmt& launch) {
  return thread.dom && DeepEqual(thread.dom->extent, launch.value);
}

// The variables in what is not simplified and still needs them: the definitions of buffers and,
// with the values of buffers, the heads of the nests of which BufferFactsMutator visits the body only.
class KeptVars : public tir::StmtExprVisitor {
 public:
  KeptVars(const tir::Stmt* body, bool keeps_nests) : body_(body), keeps_nests_(keeps_nests) {}

  // The first call is O(nodes): most functions bind no variables.
  bool Contain(const tir::Var* var) {
    if (body_) VisitStmt(std::exchange(body_, nullptr));
    return vars_.contains(var);
  }

 protected:
  void VisitBufferUse(const tir::Buffer* buffer) override {
    if (!buffers_.insert(buffer)) return;
    vars_.insert(buffer->data);
    for (const PrimExpr* dim : buffer->shape) Keep(dim);
    for (const PrimExpr* stride : buffer->strides) Keep(stride);
    if (buffer->elem_offset) Keep(buffer->elem_offset);
  }
  void VisitIterVar(const tir::IterVar* iter_var) override {
    const bool is_thread = iter_var->iter_type == tir::IterVarType::kThreadIndex;
    if (keeps_nests_ && !is_thread && iter_var->dom) Keep(*iter_var->dom);
    StmtExprVisitor::VisitIterVar(iter_var);
  }
  void VisitAttrStmt(const tir::AttrStmt* stmt) override {
    const tir::IterVar* thread = tir::ThreadAxisOf(*stmt);
    if (thread && thread->dom && !IsRangeOf(*thread, *stmt)) Keep(*thread->dom);
    StmtExprVisitor::VisitAttrStmt(stmt);
  }
  void VisitFor(const tir::For* loop) override {
    if (keeps_nests_) Keep(tir::Range(loop->min, loop->extent));
    StmtExprVisitor::VisitFor(loop);
  }
  void VisitBufferRegion(const tir::BufferRegion* region) override {
    for (const tir::Range* range : region->region) {
      if (keeps_nests_) Keep(*range);
    }
    StmtExprVisitor::VisitBufferRegion(region);
  }

 private:
  void Keep(const PrimExpr* expr) {
    tir::ForEachVar(expr, [this](const tir::Var* var) { vars_.insert(var); });
  }
  void Keep(const tir::Range& range) {
    Keep(range.min);
    Keep(range.extent);
  }

  const tir::Stmt* body_;
  const bool keeps_nests_;
  LookupSet<const tir::Var*> vars_;
  LookupSet<const tir::Buffer*> buffers_;
};

struct SimplifyOptions {
  bool proves_by_values;  // conditions, by the values of buffers
  bool replaces_loads;    // by these values
};

class StmtSimplifier : public BufferFactsMutator {
 public:
  StmtSimplifier(const PrimFunc& func, const SimplifyOptions& options, arith::Analyzer& analyzer, Workspace& workspace)
      : BufferFactsMutator(analyzer, options.proves_by_values || options.replaces_loads, workspace),
        options_(options),
        kept_vars_(func.body, facts_ != nullptr) {
    for (const tir::Buffer* buffer : func.param_buffers) {
      if (!buffer) continue;
      for (const PrimExpr* dim : buffer->shape) analyzer_.MarkNonNegative(dim);
    }
  }

  const PrimExpr* VisitExpr(const PrimExpr* expr) override {
    const PrimExpr* simple = analyzer_.Simplify(options_.replaces_loads ? Resolve(expr) : expr);
    if (facts_) facts_->Evaluate(expr);
    if (DeepEqual(simple, expr)) return expr;
    return AllowRewrite("simplified-expression", *expr) ? simple : expr;
  }

 protected:
  const tir::Stmt* VisitLoop(const tir::For* loop) override {
    // The variable is bound to its range. Constant ends of it say nothing more as conditions.
    const int64_t* extent = arith::AsInt(loop->extent);
    if (arith::AsInt(loop->min) && extent && *extent >= 1) return BufferFactsMutator::VisitLoop(loop);
    const arith::PrimBuilder& make = analyzer_.make();
    const arith::Analyzer::Constraint from(analyzer_, make.Binary(NodeKind::kGE, loop->loop_var, loop->min));
    const PrimExpr* end = make.Add(loop->min, loop->extent);
    const arith::Analyzer::Constraint to(analyzer_, make.Binary(NodeKind::kLT, loop->loop_var, end));
    if (workspace().version() < TextVersion::kV0_26) return BufferFactsMutator::VisitLoop(loop);
    // The body runs at least once.
    const arith::Analyzer::Constraint runs(
        analyzer_, make.Binary(NodeKind::kGT, loop->extent, make.Const(0, loop->extent->dtype)));
    return BufferFactsMutator::VisitLoop(loop);
  }

  const tir::Stmt* VisitAttrStmt(const tir::AttrStmt* stmt) override {
    const tir::IterVar* thread = tir::ThreadAxisOf(*stmt);
    if (!thread) return BufferFactsMutator::VisitAttrStmt(stmt);
    if (facts_) return VisitWithoutFacts(stmt);
    analyzer_.Bind(thread->var, analyzer_.make().Const(0, stmt->value->dtype), stmt->value);
    tir::AttrStmt copy = *stmt;
    copy.value = VisitExpr(stmt->value);
    if (copy.value != stmt->value && IsRangeOf(*thread, *stmt)) {
      auto* axis = workspace().New<tir::IterVar>(*thread);
      axis->dom = workspace().New<tir::Range>(thread->dom->min, copy.value);
      copy.node = axis;
    }
    copy.body = VisitStmt(stmt->body);
    return tir::CopyIfChanged(stmt, copy, workspace());
  }
  const tir::IterVar* VisitIterVar(const tir::IterVar* iter_var) override {
    return iter_var->iter_type == tir::IterVarType::kThreadIndex ? iter_var : StmtExprMutator::VisitIterVar(iter_var);
  }

  const tir::Stmt* VisitLetStmt(const tir::LetStmt* let) override {
    // A pointer may refer to memory that has another name.
    if (facts_ && let->var->dtype.is_handle()) return VisitWithoutFacts(let);
    tir::LetStmt copy = *let;
    copy.value = VisitExpr(let->value);
    const bool inlines = (keeps_bindings_ ? IsKnownScalar(let->value) : IsInlined(let->value, copy.value)) &&
                         AllowRewrite("inlined-binding", *let);
    if (inlines) {
      analyzer_.Bind(let->var, copy.value);
    } else if (arith::IsPure(let->value)) {
      bound_[let->var] = copy.value;
    }
    copy.body = VisitStmt(let->body);
    if (facts_) facts_->Forget(*let->var);
    if (inlines && !keeps_bindings_ && !kept_vars_.Contain(let->var)) return copy.body;
    return tir::CopyIfChanged(let, copy, workspace());
  }

  const tir::Stmt* VisitIfThenElse(const tir::IfThenElse* branch) override {
    const std::optional<bool> known = ProveCondition(branch->condition);
    if (known && AllowRewrite("known-condition", *branch)) return Branch(*known, *branch);
    tir::IfThenElse copy = *branch;
    copy.condition = VisitExpr(branch->condition);
    VisitBranches(copy.condition, copy);
    const int64_t* constant = arith::AsInt(copy.condition);
    if (constant && copy.condition != branch->condition)
      return *constant ? copy.then_case : copy.else_case ? copy.else_case : tir::NoOp(workspace());
    return tir::CopyIfChanged(branch, copy, workspace());
  }

  // Removes a store of the value that the element holds already.
  const tir::Stmt* VisitBufferStore(const tir::BufferStore* stmt) override {
    const auto* store = static_cast<const tir::BufferStore*>(StmtExprMutator::VisitBufferStore(stmt));
    const auto* load = As<tir::BufferLoad>(store->value);
    if (load && IsSameElement(*load, *store) && AllowRewrite("removed-store", *store)) return tir::NoOp(workspace());
    if (facts_) facts_->Store(*store);
    return store;
  }

  const tir::Stmt* VisitEvaluate(const tir::Evaluate* stmt) override {
    const PrimExpr* assumption = AssumedCondition(stmt);
    if (!assumption) return BufferFactsMutator::VisitEvaluate(stmt);
    const PrimExpr* simple = analyzer_.Simplify(stmt->value);
    facts_->Assume(assumption);
    if (DeepEqual(simple, stmt->value) || !AllowRewrite("simplified-expression", *stmt)) return stmt;
    return workspace().New<tir::Evaluate>(simple);
  }

  // An assumption holds for the statements after it.
  const tir::Stmt* VisitSeqStmt(const tir::SeqStmt* seq) override {
    if (!facts_) return StmtExprMutator::VisitSeqStmt(seq);
    std::vector<const tir::Stmt*> stmts;
    std::vector<std::unique_ptr<arith::Analyzer::Constraint>> assumed;
    for (const tir::Stmt* stmt : seq->seq) {
      const tir::Stmt* visited = VisitStmt(stmt);
      if (!IsNoOp(visited)) stmts.push_back(visited);
      const PrimExpr* assumption = AssumedCondition(stmt);
      if (assumption) assumed.push_back(std::make_unique<arith::Analyzer::Constraint>(analyzer_, assumption));
    }
    while (!assumed.empty()) assumed.pop_back();
    if (std::ranges::equal(stmts, seq->seq)) return seq;
    return stmts.empty() ? tir::NoOp(workspace()) : tir::MakeSeq(workspace(), stmts);
  }

 private:
  static bool IsSameElement(const tir::BufferLoad& load, const tir::BufferStore& store) {
    const tir::Buffer& a = *load.buffer;
    const tir::Buffer& b = *store.buffer;
    return a.data == b.data && a.dtype == b.dtype && DeepEqual(load.indices, store.indices) &&
           (&a == &b || (DeepEqual(a.shape, b.shape) && DeepEqual(a.strides, b.strides) && a.elem_offset &&
                         b.elem_offset && DeepEqual(a.elem_offset, b.elem_offset)));
  }

  // Integers may be indices. Values are not inlined into each other without end.
  static bool IsInlined(const PrimExpr* value, const PrimExpr* simple) {
    if (value->kind == NodeKind::kIntImm || value->kind == NodeKind::kFloatImm || Is<tir::Var>(value)) return true;
    return value->dtype.is_int() && arith::IsPure(value) &&
           tir::WrittenValues::NumParts(simple) <= tir::WrittenValues::kMaxParts;
  }

  static bool IsKnownScalar(const PrimExpr* value) { return !value->dtype.is_handle() && arith::IsPure(value); }

  std::optional<bool> ProveCondition(const PrimExpr* condition) {
    condition = tir::Substitute(condition, bound_, workspace());
    if (options_.proves_by_values) condition = Resolve(condition);
    const int64_t* known = arith::AsInt(analyzer_.Simplify(condition));
    return known ? std::optional(*known != 0) : std::nullopt;
  }

  const tir::Stmt* Branch(bool condition, const tir::IfThenElse& branch) {
    if (condition) return VisitStmt(branch.then_case);
    return branch.else_case ? VisitStmt(branch.else_case) : tir::NoOp(workspace());
  }

  // Since TVM 0.24 all values without side effects are inlined, and their bindings stay.
  const bool keeps_bindings_ = workspace().version() >= TextVersion::kV0_24;
  const SimplifyOptions options_;
  KeptVars kept_vars_;
  tir::VarValues bound_;  // by bindings that stay
};

}  // namespace

const PrimFunc* SimplifyStatements(const PrimFunc* func, const PassContext& context, Workspace& workspace) {
  const config::tir::Simplify config(context);
  arith::Analyzer analyzer(arith::PrimBuilder(workspace), arith::Analyzer::SymVars::kAny);
  analyzer.set_extensions({.prove_transitively = config.transitively_prove_inequalities,
                           .and_of_ors = config.convert_boolean_to_and_of_ors,
                           .constrain_branches = config.apply_constraints_to_boolean_branches});
  const SimplifyOptions options{config.propagate_knowns_to_prove_conditional,
                                config.propagate_knowns_to_simplify_expressions};
  StmtSimplifier simplifier(*func, options, analyzer, workspace);
  const tir::Stmt* body = simplifier.VisitStmt(func->body);
  return WithBody(func, body, workspace);
}

Pass CreateTirSimplify(const PassOptions& options) {
  return CreatePrimFuncPass(options.info(),
                            [](const PrimFunc* function, FunctionPassContext& context) -> Result<const PrimFunc*> {
                              return SimplifyStatements(function, context.context(), context.workspace());
                            });
}

}  // namespace iropt
