#include "transform/tir/threads/sync_planner.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "iropt/analysis/tir/thread_tags.h"
#include "iropt/arith/analyzer.h"
#include "iropt/arith/int_set.h"
#include "iropt/ir/location.h"
#include "iropt/ir/structural.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/support/lookup.h"

namespace iropt {

namespace {

enum class AccessKind : uint8_t { kRead, kWrite, kSync };

struct Access {
  AccessKind kind;
  const tir::Var* buffer = nullptr;  // null for kSync
  std::vector<arith::IntervalSet> touched = {};
  const tir::Var* thread = nullptr;  // the innermost one around it
  bool is_double_buffered = false;   // a write to the half that is not read
};

// The accesses of a statement.
struct Entry {
  const tir::Stmt* stmt;
  std::vector<Access> accesses;
};

class SyncPlanner : public tir::StmtExprVisitor {
 public:
  SyncPlanner(std::string_view scope, Workspace& workspace, DiagnosticEngine& diagnostics)
      : scope_(StorageScope::Of(scope)),
        diagnostics_(diagnostics),
        analyzer_(arith::PrimBuilder(workspace), arith::Analyzer::SymVars::kAny) {}

  SyncPoints points;

 protected:
  void VisitBufferLoad(const tir::BufferLoad* load) override {
    Touch(*load, AccessKind::kRead, load->buffer->data, load->indices);
    StmtExprVisitor::VisitBufferLoad(load);
  }

  void VisitBufferStore(const tir::BufferStore* store) override {
    InStatement(store, /*keep_empty=*/true, [&] {
      Touch(*store, AccessKind::kWrite, store->buffer->data, store->indices);
      StmtExprVisitor::VisitBufferStore(store);
    });
  }

  void VisitEvaluate(const tir::Evaluate* evaluate) override {
    InStatement(evaluate, /*keep_empty=*/false, [&] { StmtExprVisitor::VisitEvaluate(evaluate); });
  }

  void VisitLetStmt(const tir::LetStmt* let) override {
    InStatement(let, /*keep_empty=*/true, [&] { VisitExpr(let->value); });
    VisitStmt(let->body);
  }

  void VisitAttrStmt(const tir::AttrStmt* stmt) override {
    const auto* axis = As<tir::IterVar>(stmt->node);
    if (stmt->attr_key == attr::kDoubleBufferWrite) {
      VisitDoubleBufferWrite(*stmt);
    } else if ((stmt->attr_key == attr::kThreadExtent || stmt->attr_key == attr::kCoprocScope) && axis) {
      threads_.push_back(axis->var);
      if (stmt->attr_key == attr::kThreadExtent && !in_kernel_) {
        in_kernel_ = true;
        Summarize(InScope([&] { StmtExprVisitor::VisitAttrStmt(stmt); }), false);
        in_kernel_ = false;
      } else {
        StmtExprVisitor::VisitAttrStmt(stmt);
      }
      threads_.pop_back();
    } else if (stmt->attr_key != attr::kHandThreaded) {
      StmtExprVisitor::VisitAttrStmt(stmt);
    }
  }

  void VisitFor(const tir::For* loop) override {
    std::vector<Access> accesses = Summarize(InScope([&] { StmtExprVisitor::VisitFor(loop); }), true);
    if (accesses.empty()) return;
    const arith::VarDomains domains = {
        {loop->loop_var, arith::IntervalSet::FromRange(loop->min, loop->extent, analyzer_.make())}};
    for (Access& access : accesses) {
      for (arith::IntervalSet& set : access.touched) set = arith::EvalSet(set, domains, analyzer_);
    }
    scopes_.back().push_back({loop, std::move(accesses)});
  }

  void VisitIfThenElse(const tir::IfThenElse* stmt) override {
    InCondition(stmt->condition, [&] {
      std::vector<Access> accesses = Summarize(InScope([&] { VisitStmt(stmt->then_case); }), false);
      if (stmt->else_case) {
        const std::vector<Access> others = Summarize(InScope([&] { VisitStmt(stmt->else_case); }), false);
        accesses.insert(accesses.end(), others.begin(), others.end());
      }
      scopes_.back().push_back({stmt, std::move(accesses)});
    });
  }

  void VisitWhile(const tir::While* loop) override {
    InCondition(loop->condition, [&] {
      std::vector<Access> accesses = Summarize(InScope([&] { VisitStmt(loop->body); }), false);
      scopes_.back().push_back({loop, std::move(accesses)});
    });
  }

  void VisitCall(const tir::Call* call) override {
    if (IsOp(call->op, op::kTirAddressOf) && call->args.size() == 1 && Is<tir::BufferLoad>(call->args[0])) {
      StmtExprVisitor::VisitBufferLoad(To<tir::BufferLoad>(call->args[0]));
      return;
    }
    if (IsOp(call->op, op::kTirTvmStorageSync)) {
      const auto* scope = call->args.empty() ? nullptr : As<tir::StringImm>(call->args[0]);
      if (!scope || scope->value != "warp") current_.push_back({.kind = AccessKind::kSync});
      return;
    }
    if (IsOp(call->op, op::kTirTvmAccessPtr) && call->args.size() == 5) TouchPointer(*call);
    StmtExprVisitor::VisitCall(call);
  }

 private:
  void Error(const Node& at, std::string_view message) {
    diagnostics_.Error(Location(at), "pass-failed", std::string(message));
  }

  // The accesses of visit() are those of the statement.
  template <class F>
  void InStatement(const tir::Stmt* stmt, bool keep_empty, F&& visit) {
    const bool outer = std::exchange(in_statement_, true);
    visit();
    in_statement_ = outer;
    std::vector<Access> accesses = std::exchange(current_, {});
    if (keep_empty || !accesses.empty()) scopes_.back().push_back({stmt, std::move(accesses)});
  }

  template <class F>
  std::vector<Entry> InScope(F&& visit) {
    scopes_.emplace_back();
    visit();
    std::vector<Entry> entries = std::move(scopes_.back());
    scopes_.pop_back();
    return entries;
  }

  template <class F>
  void InCondition(const PrimExpr* condition, F&& visit) {
    const auto* call = As<tir::Call>(condition);
    const bool is_invariant = call && IsOp(call->op, op::kTirTvmThreadInvariant);
    conditions_ += !is_invariant;
    VisitExpr(condition);
    visit();
    conditions_ -= !is_invariant;
  }

  void VisitDoubleBufferWrite(const tir::AttrStmt& stmt) {
    std::vector<Access> accesses = Summarize(InScope([&] { StmtExprVisitor::VisitAttrStmt(&stmt); }), false);
    for (Access& access : accesses)
      access.is_double_buffered |= access.kind == AccessKind::kWrite && access.buffer == stmt.node;
    if (!accesses.empty()) scopes_.back().push_back({&stmt, std::move(accesses)});
  }

  bool IsPlanned(const tir::Var* buffer) const {
    return in_kernel_ && StorageScope::Of(buffer->pointer ? buffer->pointer->scope : "") == scope_;
  }

  void Add(const Node& at, Access access) {
    if (!in_statement_) return Error(at, "a condition or the bounds of a loop read memory that threads share");
    access.thread = threads_.empty() ? nullptr : threads_.back();
    current_.push_back(std::move(access));
  }

  void Touch(const Node& at, AccessKind kind, const tir::Var* buffer, List<const PrimExpr*> indices) {
    if (!IsPlanned(buffer)) return;
    std::vector<arith::IntervalSet> touched;
    for (const PrimExpr* index : indices) touched.push_back(arith::EvalSet(index, {}, analyzer_));
    Add(at, {.kind = kind, .buffer = buffer, .touched = std::move(touched)});
  }

  void TouchPointer(const tir::Call& call) {
    const auto* buffer = As<tir::Var>(call.args[1]);
    const int64_t* flags = arith::AsInt(call.args[4]);
    if (!buffer || !flags || !IsPlanned(buffer)) return;
    const auto range = arith::IntervalSet::FromRange(call.args[2], call.args[3], analyzer_.make());
    if (*flags & 1) Add(call, {.kind = AccessKind::kRead, .buffer = buffer, .touched = {range}});
    if (*flags & 2) Add(call, {.kind = AccessKind::kWrite, .buffer = buffer, .touched = {range}});
  }

  static bool AreAtOnePosition(const Access& a, const Access& b) {
    return std::ranges::equal(a.touched, b.touched, [](const arith::IntervalSet& x, const arith::IntervalSet& y) {
      return x.is_point() && y.is_point() && DeepEqual(x.min(), y.min());
    });
  }

  // All threads touch elements of their own: the same ones in both accesses.
  static bool AreOwnElements(const Access& a, const Access& b) {
    return AreAtOnePosition(a, b) && (!b.thread || std::ranges::all_of(b.touched, [&](const arith::IntervalSet& set) {
             return tir::UsesVar(set.min(), b.thread);
           }));
  }

  // Accesses of one kind since the last synchronization. Of those to a buffer that are alike, one counts for all: what
  // is at other positions conflicts with it. So two positions are enough, of each kind of double buffering.
  class PendingAccesses {
   public:
    bool empty() const { return by_buffer_.empty(); }
    void Clear() {
      if (!empty()) by_buffer_ = {};
    }
    void Add(const Access& access) {
      Positions& positions = by_buffer_[access.buffer][access.is_double_buffered];
      if (!positions.first) {
        positions.first = &access;
      } else if (!positions.second && !AreAtOnePosition(*positions.first, access)) {
        positions.second = &access;
      }
    }
    // Returns whether the access must wait for one of the pending accesses, of this round of a loop or of the one
    // before it.
    bool ConflictWith(const Access& access, bool next_round) const {
      const auto* found = by_buffer_.Find(access.buffer);
      if (!found) return false;
      const auto conflicts = [&](const Access* other) { return other && !AreOwnElements(*other, access); };
      const auto& [plain, double_buffered] = *found;
      if (conflicts(plain.first) || conflicts(plain.second)) return true;
      const bool waits = access.kind != AccessKind::kRead || next_round;
      return waits && (conflicts(double_buffered.first) || conflicts(double_buffered.second));
    }

   private:
    struct Positions {
      const Access* first = nullptr;
      const Access* second = nullptr;
    };
    LookupMap<const tir::Var*, std::array<Positions, 2>> by_buffer_;
  };

  struct Pending {
    PendingAccesses reads, writes;

    void Clear() {
      reads.Clear();
      writes.Clear();
    }
    // Returns whether the statement must wait for the pending accesses, up to a synchronization in it.
    bool ConflictsWith(const Entry& entry, bool next_round) {
      for (const Access& access : entry.accesses) {
        if (access.kind == AccessKind::kSync) {
          Clear();
        } else if ((access.kind == AccessKind::kRead ? writes : reads).ConflictWith(access, next_round)) {
          return true;
        }
      }
      return false;
    }
    void Append(const Entry& entry) {
      for (const Access& access : entry.accesses) {
        if (access.kind == AccessKind::kSync) {
          Clear();
        } else {
          (access.kind == AccessKind::kRead ? reads : writes).Add(access);
        }
      }
    }
  };

  void WaitBefore(const tir::Stmt* stmt) {
    if (conditions_ != 0) return Error(*stmt, "threads cannot wait for each other inside a condition");
    points.insert(stmt);
  }

  // Plans the waits before the statements of a sequence, and returns its accesses that those around it may conflict
  // with.
  std::vector<Access> Summarize(std::vector<Entry> seq, bool is_loop) {
    JoinDynamicMemory(seq);
    Pending pending;
    for (const Entry& entry : seq) {
      if (points.contains(entry.stmt)) pending.Clear();
      if (pending.ConflictsWith(entry, /*next_round=*/false)) {
        pending.Clear();
        WaitBefore(entry.stmt);
      }
      pending.Append(entry);
    }
    for (const Entry& entry : seq) {
      if (!is_loop || points.contains(entry.stmt) || (pending.reads.empty() && pending.writes.empty())) break;
      if (!pending.ConflictsWith(entry, /*next_round=*/true)) continue;
      WaitBefore(entry.stmt);
      break;
    }
    std::vector<Access> exposed = Exposed(seq);
    for (Access& access : exposed) access.is_double_buffered &= !is_loop;
    return exposed;
  }

  // Accesses before the first synchronization, that, and those after the last one.
  std::vector<Access> Exposed(const std::vector<Entry>& seq) const {
    std::vector<Access> head, tail;
    bool synced = false;
    const auto sync = [&] {
      if (!synced) head.push_back({.kind = AccessKind::kSync});
      tail.clear();
      synced = true;
    };
    for (const Entry& entry : seq) {
      if (points.contains(entry.stmt)) sync();
      for (const Access& access : entry.accesses) {
        if (access.kind == AccessKind::kSync) {
          sync();
        } else {
          (synced ? tail : head).push_back(access);
        }
      }
    }
    head.insert(head.end(), tail.begin(), tail.end());
    return head;
  }

  // Buffers in dynamic shared memory may get the same place.
  void JoinDynamicMemory(std::vector<Entry>& seq) const {
    if (scope_.tag != ".dyn") return;
    const tir::Var* first = nullptr;
    for (Entry& entry : seq) {
      for (Access& access : entry.accesses) {
        if (!access.buffer) continue;
        if (!first) first = access.buffer;
        access.buffer = first;
      }
    }
  }

  const StorageScope scope_;
  DiagnosticEngine& diagnostics_;
  arith::Analyzer analyzer_;
  std::vector<std::vector<Entry>> scopes_{1};
  std::vector<Access> current_;  // of the current statement
  std::vector<const tir::Var*> threads_;
  bool in_statement_ = false;
  bool in_kernel_ = false;
  int conditions_ = 0;
};

}  // namespace

SyncPoints PlanSyncs(const tir::Stmt* body, std::string_view scope, Workspace& workspace,
                     DiagnosticEngine& diagnostics) {
  SyncPlanner planner(scope, workspace, diagnostics);
  planner.VisitStmt(body);
  return std::move(planner.points);
}

}  // namespace iropt
