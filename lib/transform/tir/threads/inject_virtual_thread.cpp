// tir.InjectVirtualThread: runs the virtual threads of a launch one after the other.
//
//   vt = T.launch_thread("vthread", 2)                B = T.allocate([8], "float32", "local")
//   B = T.allocate([4], "float32", "local")           B_1 = T.Buffer((8,), data=B)
//   B_1 = T.Buffer((4,), data=B)                 -->  for i in range(4):
//   for i in range(4):                                    B_1[i] = A[i]
//       B_1[i] = A[i + vt * 4]                            B_1[i + 4] = A[i + 4]
//
// Each statement that depends on the thread is repeated for all threads: unrolled if it has no loop and there
// are less than 16 threads, otherwise in a serial loop. Memory that holds values of the threads gets one part for each
// of them. Memory that does not is shared by threads "vthread", but not by those of other tags. O(nodes), plus the
// copies.
//
// Source: TVM 0.18's pass of this name.
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "iropt/analysis/tir/loop_jumps.h"
#include "iropt/arith/mutator.h"
#include "iropt/ir/location.h"
#include "iropt/ir/tir/copy_if_changed.h"
#include "iropt/ir/tir/copy_stmt.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "transform/tir/util/constant_conditions.h"
#include "transform/tir/util/prim_func_pass.h"

namespace iropt {

namespace {

using Vars = std::unordered_set<const tir::Var*>;

// The variables, and data pointers of memory, whose values depend on a variable.
class DependencyFinder : public tir::StmtExprVisitor {
 public:
  static Vars Find(const tir::Stmt* stmt, const tir::Var* var) {
    DependencyFinder finder;
    finder.VisitStmt(stmt);
    Vars found = {var};
    std::vector<const tir::Var*> work = {var};
    while (!work.empty()) {
      const tir::Var* source = work.back();
      work.pop_back();
      for (const tir::Var* target : finder.targets_[source]) {
        if (found.insert(target).second) work.push_back(target);
      }
    }
    return found;
  }

 protected:
  void VisitLetStmt(const tir::LetStmt* let) override {
    Depends(let->var, {let->value});
    VisitStmt(let->body);
  }
  void VisitFor(const tir::For* loop) override {
    Depends(loop->loop_var, {loop->min, loop->extent});
    std::vector<const PrimExpr*> conditions = {loop->min, loop->extent};
    // Whether a statement runs depends on the jumps before it.
    if (HasLoopJumps(loop->body)) {
      tir::PostOrderVisit(loop->body, [&](const Node* node) {
        if (const auto* branch = As<tir::IfThenElse>(node)) conditions.push_back(branch->condition);
      });
    }
    VisitUnder(conditions, loop->body);
  }
  void VisitIfThenElse(const tir::IfThenElse* branch) override {
    const PrimExpr* conditions[] = {branch->condition};
    VisitUnder(conditions, branch->then_case);
    if (branch->else_case) VisitUnder(conditions, branch->else_case);
  }
  void VisitAllocate(const tir::Allocate* allocate) override {
    DependsOnAll(allocate->buffer_var, allocate->extents);
    Depends(allocate->buffer_var, {allocate->condition});
    VisitStmt(allocate->body);
  }
  void VisitBufferStore(const tir::BufferStore* store) override {
    Depends(store->buffer->data, {store->value});
    DependsOnAll(store->buffer->data, store->indices);
  }
  // A call that writes through a pointer.
  void VisitEvaluate(const tir::Evaluate* stmt) override {
    tir::PostOrderVisit(stmt->value, [&](const Node* node) {
      const auto* call = As<tir::Call>(node);
      if (!call || !IsOp(call->op, op::kTirTvmAccessPtr) || call->args.size() != 5) return;
      const int64_t* mask = arith::AsInt(call->args[4]);
      const auto* pointer = As<tir::Var>(call->args[1]);
      if (pointer && mask && (*mask & 2)) Depends(pointer, {stmt->value});
    });
  }

 private:
  // Visits what runs only where the conditions say so: the values that it stores depend on them.
  void VisitUnder(std::span<const PrimExpr* const> conditions, const tir::Stmt* body) {
    const size_t outer = conditions_.size();
    for (const PrimExpr* condition : conditions) AddSources(condition, conditions_);
    VisitStmt(body);
    conditions_.resize(outer);
  }
  static void AddSources(const PrimExpr* expr, std::vector<const tir::Var*>& sources) {
    tir::PostOrderVisit(expr, [&](const Node* node) {
      if (const auto* var = As<tir::Var>(node)) sources.push_back(var);
      if (const auto* load = As<tir::BufferLoad>(node)) sources.push_back(load->buffer->data);
    });
  }
  void DependsOnAll(const tir::Var* target, List<const PrimExpr*> exprs) {
    for (const PrimExpr* expr : exprs) Depends(target, {expr});
  }
  void Depends(const tir::Var* target, std::initializer_list<const PrimExpr*> exprs) {
    std::vector<const tir::Var*> sources = conditions_;
    for (const PrimExpr* expr : exprs) AddSources(expr, sources);
    for (const tir::Var* source : sources) targets_[source].push_back(target);
  }

  std::vector<const tir::Var*> conditions_;  // what the conditions around depend on

  LookupMap<const tir::Var*, std::vector<const tir::Var*>> targets_;
};

// Repeats statements for the threads of one axis.
class ThreadRepeater : public tir::StmtExprMutator {
 public:
  ThreadRepeater(const tir::Var* var, int64_t count, bool share, Vars touched, arith::Analyzer& analyzer,
                 Workspace& workspace, DiagnosticEngine& diagnostics)
      : StmtExprMutator(workspace, tir::kRewriteBuffers),
        diagnostics_(diagnostics),
        var_(var),
        count_(count),
        share_(share),
        touched_(std::move(touched)),
        analyzer_(analyzer),
        copier_(workspace) {}

  const tir::Stmt* VisitStmt(const tir::Stmt* stmt) override {
    const tir::Stmt* visited = StmtExprMutator::VisitStmt(stmt);
    if (!depends_ && !must_repeat_) return visited;
    if (!repeating_) return Repeat(visited, /*visit_first=*/false);
    depends_ = false;
    must_repeat_ = false;
    return visited;
  }

 protected:
  using StmtExprMutator::VisitExpr;

  const PrimExpr* VisitVar(const tir::Var* var) override {
    if (touched_.contains(var)) depends_ = true;
    return StmtExprMutator::VisitVar(var);
  }
  const tir::Buffer* VisitBufferUse(const tir::Buffer* buffer) override { return Enlarge(buffer); }
  const tir::Buffer* VisitBufferDef(const tir::Buffer* buffer) override { return Enlarge(buffer); }

  const PrimExpr* VisitCall(const tir::Call* call) override {
    if (IsOp(call->op, op::kTirTvmContextId)) return share_ ? static_cast<const PrimExpr*>(call) : VisitExpr(var_);
    const bool is_access = IsOp(call->op, op::kTirTvmAccessPtr) && call->args.size() == 5;
    const auto* part = is_access ? parts_.Find(As<tir::Var>(call->args[1])) : nullptr;
    if (!part) return StmtExprMutator::VisitCall(call);
    depends_ = true;
    const PrimExpr* offset = VisitExpr(call->args[2]);
    const PrimExpr* size = make().TruncDiv(*part, make().Const(call->args[0]->dtype.lanes, offset->dtype));
    const std::vector<const PrimExpr*> args = {call->args[0], call->args[1], Shift(offset, size),
                                               VisitExpr(call->args[3]), call->args[4]};
    return workspace().New<tir::Call>(call->dtype, call->op, workspace().Copy(args));
  }

  const PrimExpr* VisitBufferLoad(const tir::BufferLoad* load) override {
    const PrimExpr* visited = StmtExprMutator::VisitBufferLoad(load);
    if (touched_.contains(load->buffer->data)) depends_ = true;
    if (!parts_.contains(load->buffer->data)) return visited;
    tir::BufferLoad copy = *To<tir::BufferLoad>(visited);
    copy.flags = 0;
    copy.indices = Shift(copy.indices, *load->buffer, *load);
    return workspace().New<tir::BufferLoad>(copy);
  }
  const tir::Stmt* VisitBufferStore(const tir::BufferStore* store) override {
    const tir::Stmt* visited = StmtExprMutator::VisitBufferStore(store);
    must_repeat_ = !share_;
    if (touched_.contains(store->buffer->data)) depends_ = true;
    if (!parts_.contains(store->buffer->data)) return visited;
    tir::BufferStore copy = *To<tir::BufferStore>(visited);
    copy.indices = Shift(copy.indices, *store->buffer, *store);
    return workspace().New<tir::BufferStore>(copy);
  }
  const tir::Stmt* VisitEvaluate(const tir::Evaluate* stmt) override {
    must_repeat_ = !share_;
    return StmtExprMutator::VisitEvaluate(stmt);
  }

  const tir::Stmt* VisitAttrStmt(const tir::AttrStmt* stmt) override {
    tir::AttrStmt copy = *stmt;
    copy.value = VisitExpr(stmt->value);
    if (depends_ && !repeating_) return Repeat(stmt, /*visit_first=*/true);
    depends_ = false;
    copy.body = VisitStmt(stmt->body);
    return tir::CopyIfChanged(stmt, copy, workspace());
  }

  const tir::Stmt* VisitLetStmt(const tir::LetStmt* let) override {
    tir::LetStmt copy = *let;
    copy.value = VisitExpr(let->value);
    if (depends_ && !repeating_) return Repeat(let, /*visit_first=*/true);
    depends_ = false;
    copy.body = VisitStmt(let->body);
    return tir::CopyIfChanged(let, copy, workspace());
  }

  const tir::Stmt* VisitFor(const tir::For* loop) override {
    tir::For copy = *loop;
    copy.min = VisitExpr(loop->min);
    copy.extent = VisitExpr(loop->extent);
    // Threads need not leave the loop together.
    const bool jumps = !repeating_ && HasLoopJumps(loop->body) && (!share_ || Touches(loop->body));
    if ((depends_ || jumps) && !repeating_) {
      const tir::Stmt* repeated = Repeat(loop, /*visit_first=*/true);
      ++loop_depth_;
      return repeated;
    }
    depends_ = false;
    copy.body = VisitStmt(loop->body);
    ++loop_depth_;
    return tir::CopyIfChanged(loop, copy, workspace());
  }

  const tir::Stmt* VisitIfThenElse(const tir::IfThenElse* stmt) override {
    tir::IfThenElse copy = *stmt;
    copy.condition = VisitExpr(stmt->condition);
    if (depends_ && !repeating_) return Repeat(stmt, /*visit_first=*/true);
    depends_ = false;
    copy.then_case = VisitStmt(stmt->then_case);
    if (stmt->else_case) {
      const int then_depth = std::exchange(loop_depth_, 0);
      copy.else_case = VisitStmt(stmt->else_case);
      loop_depth_ = std::max(then_depth, loop_depth_);
    }
    return tir::CopyIfChanged(stmt, copy, workspace());
  }

  const tir::Stmt* VisitWhile(const tir::While* stmt) override {
    diagnostics_.Error(Location(*stmt), "pass-failed", "a while loop in a virtual thread cannot be repeated");
    return stmt;
  }

  const tir::Stmt* VisitSeqStmt(const tir::SeqStmt* seq) override {
    std::vector<const tir::Stmt*> stmts;
    for (const tir::Stmt* stmt : seq->seq) {
      const int depth = std::exchange(loop_depth_, 0);
      stmts.push_back(VisitStmt(stmt));
      loop_depth_ = std::max(depth, loop_depth_);
    }
    return std::ranges::equal(stmts, seq->seq) ? seq : MakeFlatSeq(workspace(), stmts);
  }

  const tir::Stmt* VisitAllocate(const tir::Allocate* allocate) override {
    tir::Allocate copy = *allocate;
    copy.condition = VisitExpr(allocate->condition);
    std::vector<const PrimExpr*> extents;
    for (const PrimExpr* extent : allocate->extents) extents.push_back(VisitExpr(extent));
    if (depends_ && !repeating_) return Repeat(allocate, /*visit_first=*/true);
    depends_ = false;
    if (touched_.contains(allocate->buffer_var) || !share_) {
      if (extents.size() != 1) {
        diagnostics_.Error(Location(*allocate), "pass-failed",
                           fmt::format("the memory '{}' of virtual threads must be flat: run tir.FlattenBuffer first",
                                       allocate->buffer_var->name));
        return allocate;
      }
      // The thread is the outermost dimension.
      parts_[allocate->buffer_var] = extents[0];
      extents[0] = make().Mul(extents[0], make().Const(count_, extents[0]->dtype));
    }
    copy.extents = workspace().Copy(extents);
    copy.body = VisitStmt(allocate->body);
    return workspace().New<tir::Allocate>(copy);
  }

 private:
  const arith::PrimBuilder& make() const { return analyzer_.make(); }

  // Returns whether the thread matters to something in the statement.
  bool Touches(const tir::Stmt* stmt) {
    bool found = false;
    tir::PostOrderVisit(stmt, [&](const Node* node) {
      const auto* var = As<tir::Var>(node);
      const auto* load = As<tir::BufferLoad>(node);
      const auto* store = As<tir::BufferStore>(node);
      found = found || (var && touched_.contains(var)) || (load && touched_.contains(load->buffer->data)) ||
              (store && touched_.contains(store->buffer->data));
    });
    return found;
  }

  const PrimExpr* Shift(const PrimExpr* index, const PrimExpr* part) {
    const PrimExpr* offset = make().Mul(var_, part);
    if (const auto* ramp = As<tir::Ramp>(index))
      return make().Ramp(analyzer_.Simplify(make().Add(ramp->base, offset)), ramp->stride, ramp->lanes);
    return analyzer_.Simplify(make().Add(index, offset));
  }
  List<const PrimExpr*> Shift(List<const PrimExpr*> indices, const tir::Buffer& buffer, const Node& at) {
    if (indices.size() != 1) {
      diagnostics_.Error(Location(at), "pass-failed",
                         fmt::format("'{}' in virtual threads must be flat: run tir.FlattenBuffer first", buffer.name));
      return indices;
    }
    const std::vector<const PrimExpr*> shifted = {Shift(indices[0], parts_.at(buffer.data))};
    return workspace().Copy(shifted);
  }

  // The buffer in memory for all threads.
  const tir::Buffer* Enlarge(const tir::Buffer* buffer) {
    if (const tir::Buffer* known = RemapOf(buffer)) return known;
    const auto* part = parts_.Find(buffer->data);
    if (!part || buffer->shape.size() != 1) return buffer;
    tir::Buffer copy = *buffer;
    const std::vector<const PrimExpr*> shape = {
        make().Mul(buffer->shape[0], make().Const(count_, buffer->shape[0]->dtype))};
    copy.shape = workspace().Copy(shape);
    copy.id = workspace().NextVarId();
    const auto* enlarged = workspace().New<tir::Buffer>(copy);
    Remap(buffer, enlarged);
    return enlarged;
  }

  const tir::Stmt* Repeat(const tir::Stmt* stmt, bool visit_first) {
    constexpr int64_t kMaxUnrolled = 16;
    depends_ = false;
    must_repeat_ = false;
    repeating_ = true;
    if (visit_first) stmt = VisitStmt(stmt);
    repeating_ = false;
    depends_ = false;
    must_repeat_ = false;
    if (loop_depth_ == 0 && count_ < kMaxUnrolled) {
      std::vector<const tir::Stmt*> copies;
      for (int64_t i = 0; i < count_; ++i)
        copies.push_back(copier_.Copy(stmt, {{var_, make().Const(i, var_->dtype)}},
                                      i == 0 ? OwnDefinitions::kKeep : OwnDefinitions::kRenew));
      return MakeFlatSeq(workspace(), copies);
    }
    const std::string_view name = workspace().arena().CopyString(fmt::format("{}.s", var_->name));
    const tir::Var* index = workspace().NewPrimVar(name, var_->dtype);
    return workspace().New<tir::For>(index, make().Const(0, var_->dtype), make().Const(count_, var_->dtype),
                                     tir::ForKind::kSerial, copier_.Copy(stmt, {{var_, index}}, OwnDefinitions::kKeep),
                                     nullptr, DictAttr::Empty());
  }

  DiagnosticEngine& diagnostics_;
  const tir::Var* var_;
  const int64_t count_;
  const bool share_;  // memory that does not depend on the thread
  const Vars touched_;
  arith::Analyzer& analyzer_;
  StmtCopier copier_;
  bool repeating_ = false;    // inside of a statement that is repeated
  bool depends_ = false;      // the current statement depends on the thread
  bool must_repeat_ = false;  // the current statement is repeated in any case
  int loop_depth_ = 0;        // the nesting of the loops that were visited in the current statement
  LookupMap<const tir::Var*, const PrimExpr*> parts_;  // the sizes for one thread
};

class VirtualThreadInjector : public arith::StmtExprMutatorWithAnalyzer {
 public:
  VirtualThreadInjector(const PrimFunc& func, Workspace& workspace, DiagnosticEngine& diagnostics)
      : StmtExprMutatorWithAnalyzer(func, workspace), diagnostics_(diagnostics) {}

 protected:
  const PrimExpr* VisitExpr(const PrimExpr* expr) override { return expr; }

  const tir::Stmt* VisitAttrStmt(const tir::AttrStmt* stmt) override {
    const tir::Stmt* visited = StmtExprMutatorWithAnalyzer::VisitAttrStmt(stmt);
    const auto* axis = As<tir::IterVar>(stmt->node);
    if (!axis || stmt->attr_key != attr::kVirtualThread) return visited;
    const int64_t* count = arith::AsInt(stmt->value);
    if (!count || *count < 0) {
      diagnostics_.Error(Location(*stmt), "pass-failed", "the number of virtual threads must be constant");
      return visited;
    }
    const tir::Stmt* body = To<tir::AttrStmt>(visited)->body;
    ThreadRepeater repeater(axis->var, *count, axis->thread_tag.starts_with("vthread"),
                            DependencyFinder::Find(body, axis->var), analyzer(), workspace(), diagnostics_);
    return repeater.VisitStmt(body);
  }

 private:
  DiagnosticEngine& diagnostics_;
};

bool NeedsInjectVirtualThread(const tir::Stmt* stmt) {
  if (const auto* attr = As<tir::AttrStmt>(stmt)) return attr->attr_key == attr::kVirtualThread;
  return HasNoOps(stmt) || HasConstantCondition(stmt);
}

}  // namespace

Pass CreateInjectVirtualThread(const PassOptions& options) {
  return CreateMutatorPass<VirtualThreadInjector>(options.info(), {.needs = &NeedsInjectVirtualThread});
}

}  // namespace iropt
