#include "transform/tir/storage/access_sequence.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "iropt/ir/location.h"
#include "iropt/ir/tir/thread_axis.h"
#include "iropt/ir/tir/uses_any_of.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/support/lookup.h"

namespace iropt {

namespace {

class AccessFinder : public tir::StmtExprVisitor {
 public:
  explicit AccessFinder(DiagnosticEngine& diagnostics) : diagnostics_(diagnostics) {}

  AccessSequence sequence;

 protected:
  using StmtExprVisitor::VisitExpr;

  void VisitVarDef(const tir::Var* var) override { bound_.insert(var); }

  void VisitAllocate(const tir::Allocate* allocate) override {
    if (std::ranges::any_of(allocate->extents, [&](const PrimExpr* e) { return tir::UsesAnyOf(bound_, e); })) {
      sequence.fixed.insert(allocate);
      return StmtExprVisitor::VisitAllocate(allocate);
    }
    sequence.allocations[allocate->buffer_var] = allocate;
    levels_[allocate->buffer_var] = touched_.size();
    if (launch_) sequence.launches[allocate->buffer_var] = launch_;
    StmtExprVisitor::VisitAllocate(allocate);
  }

  void VisitBufferStore(const tir::BufferStore* store) override {
    VisitLeaf(store, [&] {
      StmtExprVisitor::VisitBufferStore(store);
      Access(store->buffer, *store);
    });
  }

  void VisitEvaluate(const tir::Evaluate* stmt) override {
    VisitLeaf(stmt, [&] { StmtExprVisitor::VisitEvaluate(stmt); });
  }

  void VisitBufferLoad(const tir::BufferLoad* load) override {
    StmtExprVisitor::VisitBufferLoad(load);
    Access(load->buffer, *load);
  }

  // A pointer that is passed on.
  void VisitVar(const tir::Var* var) override {
    if (var->dtype.is_handle()) Touch(var, *var);
  }

  void VisitAttrStmt(const tir::AttrStmt* stmt) override {
    if (const tir::IterVar* thread = tir::ThreadAxisOf(*stmt)) bound_.insert(thread->var);
    const auto visit = [&] {
      VisitExpr(stmt->value);
      VisitStmt(stmt->body);
    };
    const tir::AttrStmt* outer_launch = launch_;
    if (tir::IsThreadKey(stmt->attr_key)) launch_ = stmt;
    // Only the outermost thread begins a scope.
    if (stmt->attr_key == attr::kThreadExtent && !in_threads_) {
      in_threads_ = true;
      VisitScope(stmt, visit);
      in_threads_ = false;
    } else if (stmt->attr_key == attr::kExternScope || stmt->attr_key == attr::kVirtualThread) {
      VisitScope(stmt, visit);
    } else {
      visit();
    }
    launch_ = outer_launch;
  }

  void VisitIfThenElse(const tir::IfThenElse* stmt) override {
    VisitScope(stmt, [&] { StmtExprVisitor::VisitIfThenElse(stmt); });
  }
  void VisitFor(const tir::For* stmt) override {
    VisitScope(stmt, [&] { StmtExprVisitor::VisitFor(stmt); });
  }
  void VisitWhile(const tir::While* stmt) override {
    VisitScope(stmt, [&] { StmtExprVisitor::VisitWhile(stmt); });
  }
  void VisitAssertStmt(const tir::AssertStmt* stmt) override {
    VisitScope(stmt, [&] { StmtExprVisitor::VisitAssertStmt(stmt); });
  }
  void VisitLetStmt(const tir::LetStmt* stmt) override {
    if (const tir::Var* source = SourceOfPointer(*stmt)) {
      const auto level = levels_.find(RootOf(source));
      if (level != levels_.end()) roots_[stmt->var] = level->first;
      return VisitStmt(stmt->body);
    }
    VisitScope(stmt, [&] { StmtExprVisitor::VisitLetStmt(stmt); });
  }

 private:
  void Access(const tir::Buffer* buffer, const Node& at) {
    sequence.accessed[buffer] = true;
    Touch(buffer->data, at);
  }

  const tir::Var* RootOf(const tir::Var* pointer) const { return roots_.Lookup(pointer, pointer); }

  void Touch(const tir::Var* pointer, const Node& at) {
    pointer = RootOf(pointer);
    const auto level = levels_.find(pointer);
    if (level == levels_.end()) return;
    if (level->second < touched_.size()) {
      touched_[level->second].push_back(pointer);
      return;
    }
    diagnostics_.Error(Location(at), "pass-failed",
                       fmt::format("'{}' is read where it is not known how long its memory is in use", pointer->name));
  }

  template <class F>
  void VisitLeaf(const tir::Stmt* stmt, F&& visit) {
    touched_.emplace_back();
    visit();
    AccessEvent event{.stmt = stmt, .touched = std::move(touched_.back())};
    touched_.pop_back();
    if (!event.touched.empty()) sequence.events.push_back(std::move(event));
  }

  template <class F>
  void VisitScope(const tir::Stmt* stmt, F&& visit) {
    const size_t begin = sequence.events.size();
    sequence.events.push_back({.stmt = stmt});
    touched_.emplace_back();
    visit();
    const auto distance = static_cast<int64_t>(sequence.events.size() - begin);
    sequence.events.push_back({.stmt = stmt, .to_pair = -distance, .touched = std::move(touched_.back())});
    touched_.pop_back();
    sequence.events[begin].to_pair = distance;
  }

  DiagnosticEngine& diagnostics_;
  // The pointers that are touched in the scopes around here, each at the level of the scope that contains it.
  std::vector<std::vector<const tir::Var*>> touched_;
  std::unordered_map<const tir::Var*, size_t> levels_;  // the number of scopes around the allocation
  // The allocations whose memory other pointers name.
  LookupMap<const tir::Var*, const tir::Var*> roots_;
  LookupSet<const tir::Var*> bound_;  // variables of loops, bindings and threads so far
  bool in_threads_ = false;
  const tir::AttrStmt* launch_ = nullptr;  // the innermost one around, also of virtual threads
};

}  // namespace

AccessSequence FindAccesses(const tir::Stmt* body, DiagnosticEngine& diagnostics) {
  AccessFinder finder(diagnostics);
  finder.VisitStmt(body);
  return std::move(finder.sequence);
}

}  // namespace iropt
