#include "iropt/analysis/tir/buffer_scopes.h"

#include <deque>

#include "iropt/analysis/tir/thread_tags.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/support/lookup.h"

namespace iropt {

namespace {

// A loop or block, or the function (statement null).
struct Scope {
  const Scope* parent;
  const tir::Stmt* stmt;
  int depth;
};

// Null stands for "not seen yet".
const Scope* CommonAncestor(const Scope* a, const Scope* b) {
  if (!a) return b;
  if (!b) return a;
  while (a->depth > b->depth) a = a->parent;
  while (b->depth > a->depth) b = b->parent;
  while (a != b) {
    a = a->parent;
    b = b->parent;
  }
  return a;
}

class ScopeDetector : public tir::StmtExprVisitor {
 public:
  BufferScopes Detect(const PrimFunc& func) {
    for (const tir::Buffer* buffer : func.param_buffers) {
      if (buffer) by_pointer_.try_emplace(buffer->data, buffer);
    }
    scopes_.push_back({nullptr, nullptr, 0});
    current_ = &scopes_.back();
    VisitStmt(func.body);

    BufferScopes result;
    for (const auto& [buffer, scope] : found_) result.try_emplace(buffer, scope->stmt);
    return result;
  }

 protected:
  using StmtExprVisitor::VisitExpr;

  void VisitFor(const tir::For* loop) override {
    const Scope* outer = Enter(loop);
    loops_.try_emplace(loop->loop_var, current_);
    WithinKernel(loop->thread_binding, [&] { StmtExprVisitor::VisitFor(loop); });
    loops_.erase(loop->loop_var);
    current_ = outer;
  }

  void VisitBlockRealize(const tir::BlockRealize* realize) override {
    const tir::Block& block = *realize->block;
    for (const tir::Buffer* buffer : block.alloc_buffers) by_pointer_.try_emplace(buffer->data, buffer);
    const Scope* outer = Enter(&block);
    VisitOpaqueAxes(*realize);
    VisitReductionAxes(*realize);
    for (const tir::MatchBufferRegion* match : block.match_buffers) {
      Access(match->source->buffer);
      matched_.insert(match->buffer);
    }
    StmtExprVisitor::VisitBlockRealize(realize);
    current_ = outer;
  }

  void VisitAttrStmt(const tir::AttrStmt* stmt) override {
    VisitExpr(stmt->value);
    const auto* axis = stmt->attr_key == attr::kThreadExtent ? As<tir::IterVar>(stmt->node) : nullptr;
    WithinKernel(axis, [&] { VisitStmt(stmt->body); });
  }

  void VisitBufferLoad(const tir::BufferLoad* load) override {
    Access(load->buffer);
    StmtExprVisitor::VisitBufferLoad(load);
  }

  void VisitBufferStore(const tir::BufferStore* store) override {
    Access(store->buffer);
    StmtExprVisitor::VisitBufferStore(store);
  }

  // A pointer that is passed on.
  void VisitVar(const tir::Var* var) override {
    if (!var->dtype.is_handle()) return;
    const auto* found = by_pointer_.Find(var);
    if (found) Access(*found);
  }

 private:
  const Scope* Enter(const tir::Stmt* stmt) {
    const Scope* outer = current_;
    scopes_.push_back({outer, stmt, outer->depth + 1});
    current_ = &scopes_.back();
    return outer;
  }

  // Visits what is within the thread, which begins a kernel if it is the outermost one of blockIdx.
  template <class F>
  void WithinKernel(const tir::IterVar* thread, const F& visit) {
    const bool begins = !kernel_ && thread && ThreadTag::Of(thread->thread_tag).rank == ThreadRank::kBlock;
    if (begins) kernel_ = current_;
    visit();
    if (begins) kernel_ = nullptr;
  }

  void Access(const tir::Buffer* buffer) { Access(buffer, current_); }
  void Access(const tir::Buffer* buffer, const Scope* scope) {
    by_pointer_.try_emplace(buffer->data, buffer);
    if (matched_.contains(buffer)) return;
    if (kernel_ && StorageScope::Of(buffer->scope()).rank == StorageRank::kGlobal)
      scope = CommonAncestor(scope, kernel_);
    const Scope*& found = found_[buffer];
    found = CommonAncestor(found, scope);
  }

  // The order of the values of an opaque axis may matter: one iteration may read what an earlier one wrote.
  void VisitOpaqueAxes(const tir::BlockRealize& realize) {
    const tir::Block& block = *realize.block;
    LookupMap<const tir::Var*, const Scope*> outside;  // of the loops that an axis depends on
    for (uint32_t i = 0; i < realize.iter_values.size(); ++i) {
      const tir::IterVar& axis = *block.iter_vars[i];
      if (axis.iter_type == tir::IterVarType::kDataPar || axis.iter_type == tir::IterVarType::kCommReduce) continue;
      tir::ForEachVar(realize.iter_values[i], [&](const tir::Var* var) {
        const auto* loop = loops_.Find(var);
        if (!loop) return;
        const Scope*& scope = outside[axis.var];
        if (!scope || (*loop)->parent->depth < scope->depth) scope = (*loop)->parent;
      });
    }
    if (outside.empty()) return;
    const auto visit = [&](const tir::BufferRegion& region) {
      const Scope* scope = current_;
      const auto raise = [&](const tir::Var* var) {
        const auto* found = outside.Find(var);
        if (found && (*found)->depth < scope->depth) scope = *found;
      };
      for (const tir::Range* range : region.region) {
        tir::ForEachVar(range->min, raise);
        tir::ForEachVar(range->extent, raise);
      }
      Access(region.buffer, scope);
    };
    for (const tir::BufferRegion* region : block.reads) visit(*region);
    for (const tir::BufferRegion* region : block.writes) visit(*region);
  }

  // A reduction updates what earlier iterations have written. Threads have their own part of it.
  void VisitReductionAxes(const tir::BlockRealize& realize) {
    const Scope* scope = current_;
    for (uint32_t i = 0; i < realize.iter_values.size(); ++i) {
      if (realize.block->iter_vars[i]->iter_type != tir::IterVarType::kCommReduce) continue;
      tir::ForEachVar(realize.iter_values[i], [&](const tir::Var* var) {
        const auto* loop = loops_.Find(var);
        if (!loop || To<tir::For>((*loop)->stmt)->thread_binding) return;
        if ((*loop)->parent->depth < scope->depth) scope = (*loop)->parent;
      });
    }
    if (scope == current_) return;
    for (const tir::BufferRegion* region : realize.block->writes) Access(region->buffer, scope);
  }

  std::deque<Scope> scopes_;
  const Scope* current_ = nullptr;
  const Scope* kernel_ = nullptr;  // of the outermost loop over blockIdx around the visited statement
  // Looked up; the order in which found_ is iterated does not matter.
  LookupMap<const tir::Var*, const Scope*> loops_;
  LookupMap<const tir::Var*, const tir::Buffer*> by_pointer_;
  std::unordered_map<const tir::Buffer*, const Scope*> found_;
  LookupSet<const tir::Buffer*> matched_;
};

}  // namespace

BufferScopes DetectBufferScopes(const PrimFunc& func) { return ScopeDetector().Detect(func); }

}  // namespace iropt
