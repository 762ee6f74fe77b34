// tir.RemoveNoOp: removes statements that do nothing.
//
//   for i in range(16):                   A[0] = T.float32(1)
//       T.evaluate(0)             -->
//   A[0] = T.float32(1)
//   A[1] = A[1]
//
// Without an effect are: evaluations without one, loops that never run, stores of what the element holds already, and
// what has only such things inside, such as loops, branches and allocations. Bindings that are not used and buffers
// that are declared but not used disappear as well, in TVM before 0.24. What has an effect in the parts of such a
// statement is kept.
//
// O(nodes).
//
// Source: TVM 0.18's pass of this name, without its analysis of dataflow.
#include <algorithm>
#include <utility>

#include "buffer_facts_mutator.h"
#include "configs/tir.RemoveNoOp.h"
#include "function_passes.h"
#include "iropt/arith/bind_value.h"
#include "iropt/arith/int_set.h"
#include "iropt/arith/side_effect.h"
#include "iropt/ir/tir/copy_if_changed.h"
#include "iropt/op/op.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "iropt/support/stack.h"
#include "overwritten_stores.h"

namespace iropt {

namespace {

bool HasEffect(const PrimExpr* e) { return arith::SideEffect(e) > CallEffect::kReadState; }

// Starts, stops or sets up a timer of a kernel of CUDA.
bool IsTimerCall(const PrimExpr* e) {
  const auto* call = As<tir::Call>(e);
  const auto* op = call ? As<Op>(call->op) : nullptr;
  return op && op->name.starts_with("tir.timer_") && op->name.ends_with("_cuda");
}

// A constant may be any; the statement of an `if` that was removed is one.
bool IsEmpty(const tir::Stmt* stmt) {
  const auto* evaluate = As<tir::Evaluate>(stmt);
  return evaluate && arith::AsInt(evaluate->value);
}

// Elements and products of elements.
bool IsProductOfElements(const PrimExpr* e) {
  const auto* product = As<tir::Mul>(e);
  if (!product) return Is<tir::BufferLoad>(e);
  return WithStack([&] { return IsProductOfElements(product->a) && IsProductOfElements(product->b); });
}
// A float sum of those. It cannot be proved to be an element, whatever the elements are.
bool IsSumOfElements(const PrimExpr* e) {
  const auto* sum = e->dtype.is_floating() ? As<tir::Add>(e) : nullptr;
  const auto is_term = [](const PrimExpr* term) { return IsProductOfElements(term) || IsSumOfElements(term); };
  return sum && WithStack([&] { return is_term(sum->a) && is_term(sum->b); });
}

// The variables and buffers that the statements use which are kept.
class Uses : public tir::StmtExprVisitor {
 public:
  bool Has(const tir::Var* var) const { return vars_.contains(var); }
  bool Has(const tir::Buffer* buffer) const { return buffers_.contains(buffer); }
  void Add(const PrimExpr* e) { VisitExpr(e); }
  void Add(const tir::Buffer* buffer) { VisitBufferUse(buffer); }
  void Add(const Node* node) {
    if (const auto* expr = As<PrimExpr>(node)) Add(expr);
    if (const auto* buffer = As<tir::Buffer>(node)) Add(buffer);
  }

 protected:
  void VisitVar(const tir::Var* var) override { vars_.insert(var); }
  void VisitBufferUse(const tir::Buffer* buffer) override {
    if (!buffers_.insert(buffer)) return;
    vars_.insert(buffer->data);
    VisitBufferDef(buffer);
  }

 private:
  LookupSet<const tir::Var*> vars_;
  LookupSet<const tir::Buffer*> buffers_;
};

class NoOpRemover : public BufferFactsMutator {
 public:
  NoOpRemover(arith::Analyzer& analyzer, bool by_values, LookupSet<const tir::BufferStore*> overwritten,
              Workspace& workspace)
      : BufferFactsMutator(analyzer, by_values, workspace), overwritten_(std::move(overwritten)) {}

  void SetIgnoreTimers(bool ignore) { ignore_timers_ = ignore; }
  void SetFacts(BufferFacts::State facts) { facts_->set_state(std::move(facts)); }

  const PrimExpr* VisitExpr(const PrimExpr* expr) override {
    uses_.Add(expr);
    if (facts_) facts_->Evaluate(expr);
    return expr;
  }

 protected:
  const tir::Stmt* VisitLetStmt(const tir::LetStmt* let) override {
    // A pointer may refer to memory that has another name.
    if (facts_ && let->var->dtype.is_handle()) return VisitWithoutFacts(let);
    const bool pure = arith::IsPure(let->value);
    if (pure && let->value->dtype.is_integer()) BindValue(analyzer_, let->var, let->value);
    const tir::Stmt* body = VisitStmt(let->body);
    if (!keeps_definitions_ && IsEmpty(body)) return EffectOf({let->value});
    if (keeps_definitions_ || uses_.Has(let->var)) {
      VisitExpr(let->value);
      return body == let->body ? let : workspace().New<tir::LetStmt>(let->var, let->value, body);
    }
    if (!HasEffect(let->value)) return body;
    const tir::Stmt* stmts[] = {EffectOf({let->value}), body};
    return Sequence(stmts);
  }

  const tir::Stmt* VisitAttrStmt(const tir::AttrStmt* stmt) override {
    if (facts_ && Is<tir::IterVar>(stmt->node)) return VisitWithoutFacts(stmt);
    if (stmt->attr_key == attr::kPragmaDebugSkipRegion) return tir::NoOp(workspace());
    if (const tir::Stmt* waiting = SkippedWait(*stmt)) return VisitStmt(waiting);
    const tir::Stmt* body = VisitStmt(stmt->body);
    if (IsEmpty(body)) return EffectOf({stmt->value});
    uses_.Add(stmt->node);
    VisitExpr(stmt->value);
    tir::AttrStmt copy = *stmt;
    copy.body = body;
    return tir::CopyIfChanged(stmt, copy, workspace());
  }

  const tir::Stmt* VisitIfThenElse(const tir::IfThenElse* branch) override {
    if (const int64_t* known = arith::AsInt(branch->condition)) {
      const tir::Stmt* taken = *known ? branch->then_case : branch->else_case;
      return taken ? VisitStmt(taken) : tir::NoOp(workspace());
    }
    tir::IfThenElse copy = *branch;
    VisitBranches(branch->condition, copy);
    const bool no_else = !copy.else_case || IsEmpty(copy.else_case);
    if (no_else && IsEmpty(copy.then_case)) return EffectOf({branch->condition});
    if (no_else) {
      copy.else_case = nullptr;
    } else if (IsEmpty(copy.then_case)) {
      copy.condition = analyzer_.make().Not(copy.condition);
      copy.then_case = std::exchange(copy.else_case, nullptr);
    }
    VisitExpr(copy.condition);
    return tir::CopyIfChanged(branch, copy, workspace());
  }

  const tir::Stmt* VisitFor(const tir::For* loop) override {
    if (NeverRuns(*loop)) return tir::NoOp(workspace());
    const BufferFacts::State before = facts_ ? facts_->state() : BufferFacts::State();
    const tir::Stmt* result = InLoop(loop, [&] { return VisitNonEmpty(loop); });
    // A loop that changes nothing leaves what was known.
    if (facts_ && IsNoOp(result)) facts_->set_state(before);
    return result;
  }
  const tir::Stmt* VisitNonEmpty(const tir::For* loop) {
    domains_.try_emplace(loop->loop_var, arith::IntervalSet::FromRange(loop->min, loop->extent, analyzer_.make()));
    const tir::Stmt* body = VisitStmt(loop->body);
    domains_.erase(loop->loop_var);
    if (IsEmpty(body)) return EffectOf({loop->min, loop->extent});
    VisitExpr(loop->min);
    VisitExpr(loop->extent);
    tir::For copy = *loop;
    copy.body = body;
    return tir::CopyIfChanged(loop, copy, workspace());
  }

  const tir::Stmt* VisitAllocate(const tir::Allocate* stmt) override {
    const tir::Stmt* body = VisitStmt(stmt->body);
    if (!keeps_definitions_ && IsEmpty(body)) return EffectOf(stmt->extents);
    for (const PrimExpr* extent : stmt->extents) VisitExpr(extent);
    VisitExpr(stmt->condition);
    tir::Allocate copy = *stmt;
    copy.body = body;
    return tir::CopyIfChanged(stmt, copy, workspace());
  }

  const tir::Stmt* VisitDeclBuffer(const tir::DeclBuffer* stmt) override {
    const tir::Stmt* body = VisitStmt(stmt->body);
    if (!keeps_definitions_ && !uses_.Has(stmt->buffer)) return body;
    return body == stmt->body ? stmt : workspace().New<tir::DeclBuffer>(stmt->buffer, body);
  }

  const tir::Stmt* VisitEvaluate(const tir::Evaluate* stmt) override {
    if (const PrimExpr* assumption = AssumedCondition(stmt)) {
      uses_.Add(stmt->value);
      facts_->Assume(assumption);
      return stmt;
    }
    if (ignore_timers_ && IsTimerCall(stmt->value)) return tir::NoOp(workspace());
    if (!HasEffect(stmt->value)) return arith::IsInt(stmt->value, 0) ? stmt : tir::NoOp(workspace());
    VisitExpr(stmt->value);
    return stmt;
  }

  const tir::Stmt* VisitBufferStore(const tir::BufferStore* store) override {
    if (overwritten_.contains(store) || StoresWhatIsThere(*store)) {
      std::vector<const PrimExpr*> parts{store->value};
      parts.insert(parts.end(), store->indices.begin(), store->indices.end());
      return EffectOf(parts);
    }
    uses_.Add(store->buffer);
    VisitExpr(store->value);
    for (const PrimExpr* index : store->indices) VisitExpr(index);
    if (store->predicate) VisitExpr(store->predicate);
    if (facts_) facts_->Store(*store);
    return store;
  }

  const tir::Buffer* VisitBufferUse(const tir::Buffer* buffer) override {
    uses_.Add(buffer);
    return buffer;
  }
  const tir::Buffer* VisitBufferDef(const tir::Buffer* buffer) override { return buffer; }

 private:
  bool NeverRuns(const tir::For& loop) {
    if (const int64_t* extent = arith::AsInt(loop.extent)) return *extent < 1;
    const arith::IntervalSet extent = arith::EvalSet(loop.extent, domains_, analyzer_);
    return extent.max() && analyzer_.CanProveLess(extent.max(), 1);
  }

  // Evaluates those of the expressions that have an effect.
  const tir::Stmt* EffectOf(std::span<const PrimExpr* const> exprs) {
    std::vector<const tir::Stmt*> stmts;
    for (const PrimExpr* e : exprs) {
      if (HasEffect(e)) stmts.push_back(workspace().New<tir::Evaluate>(VisitExpr(e)));
    }
    return stmts.empty() ? tir::NoOp(workspace()) : tir::MakeSeq(workspace(), stmts);
  }
  const tir::Stmt* EffectOf(std::initializer_list<const PrimExpr*> exprs) {
    return EffectOf(std::span(exprs.begin(), exprs.size()));
  }

  // The statement after a wait for asynchronous copies that waits for none; null for anything else.
  const tir::Stmt* SkippedWait(const tir::AttrStmt& stmt) {
    if (stmt.attr_key != attr::kAsyncWaitQueueScope) return nullptr;
    const auto* count = As<tir::AttrStmt>(stmt.body);
    return count && analyzer_.CanProveLess(count->value, 0) ? count->body : nullptr;
  }

  // Returns whether the store provably changes nothing.
  bool StoresWhatIsThere(const tir::BufferStore& store) {
    const tir::Buffer& buffer = *store.buffer;
    bool loads = false;
    tir::PostOrderVisit(store.value, [&](const Node* node) {
      const auto* load = As<tir::BufferLoad>(node);
      loads = loads || (load && load->buffer->data == buffer.data);
    });
    // Most stores need no proof.
    if ((!loads && !facts_) || HasEffect(store.value)) return false;
    if (const auto* load = As<tir::BufferLoad>(store.value)) {
      const tir::Buffer& source = *load->buffer;
      const bool same_layout =
          &source == &buffer ||
          (source.data == buffer.data && source.dtype == buffer.dtype && AllEqual(source.shape, buffer.shape) &&
           AllEqual(source.strides, buffer.strides) && source.elem_offset && buffer.elem_offset &&
           analyzer_.CanProveEqual(source.elem_offset, buffer.elem_offset));
      if (same_layout && AllEqual(load->indices, store.indices)) return true;
    }
    if (store.value->dtype.is_handle() || store.value->dtype.is_bool()) return false;
    if (!facts_ && IsSumOfElements(store.value)) return false;
    const arith::PrimBuilder& make = analyzer_.make();
    const auto* there =
        workspace().New<tir::BufferLoad>(store.value->dtype, store.buffer, store.indices, store.predicate);
    const PrimExpr* difference = make.Sub(Resolve(store.value), Resolve(there));
    return arith::IsInt(analyzer_.Simplify(make.Binary(NodeKind::kEQ, difference, make.Const(0, difference->dtype))),
                        1);
  }
  bool AllEqual(List<const PrimExpr*> a, List<const PrimExpr*> b) {
    return std::ranges::equal(a, b,
                              [this](const PrimExpr* x, const PrimExpr* y) { return analyzer_.CanProveEqual(x, y); });
  }

  const LookupSet<const tir::BufferStore*> overwritten_;
  // Since TVM 0.24 definitions are statements of their own, which stay.
  const bool keeps_definitions_ = workspace().version() >= TextVersion::kV0_24;
  bool ignore_timers_ = false;
  arith::VarDomains domains_;
  Uses uses_;
};

}  // namespace

const tir::Stmt* RemoveNoOps(const tir::Stmt* stmt, arith::Analyzer& analyzer, const BufferFacts::State* facts,
                             Workspace& workspace) {
  NoOpRemover remover(analyzer, /*by_values=*/facts != nullptr, {}, workspace);
  if (facts) remover.SetFacts(*facts);
  return remover.VisitStmt(stmt);
}

const PrimFunc* RemoveNoOps(const PrimFunc* func, const PassContext& context, Workspace& workspace) {
  const config::tir::RemoveNoOp config(context);
  arith::Analyzer analyzer(arith::PrimBuilder(workspace), arith::Analyzer::SymVars::kAny);
  const bool by_values = config.use_dataflow_analysis;
  LookupSet<const tir::BufferStore*> overwritten;
  if (by_values) overwritten = FindOverwrittenStores(func->body, analyzer, workspace);
  NoOpRemover remover(analyzer, by_values, std::move(overwritten), workspace);
  remover.SetIgnoreTimers(config.ignore_profiler_call);
  return WithBody(func, remover.VisitStmt(func->body), workspace);
}

Pass CreateRemoveNoOp(const PassOptions& options) {
  return CreatePrimFuncPass(options.info(),
                            [](const PrimFunc* function, FunctionPassContext& context) -> Result<const PrimFunc*> {
                              return RemoveNoOps(function, context.context(), context.workspace());
                            });
}

}  // namespace iropt
