// tir.LiftThreadBinding: moves the loops over a thread axis to the innermost loop around all of them in a kernel.
//
//   for b in T.thread_binding(8, thread="blockIdx.x"):           for b in T.thread_binding(8, thread="blockIdx.x"):
//       for i in range(4):                                           for t in T.thread_binding(16, ...
//           for t in T.thread_binding(16, thread="threadIdx.x"):         for i in range(4):
//               B[b, t] = A[b, t]                          -->               B[b, t] = A[b, t]
//       for u in T.thread_binding(16, thread="threadIdx.x"):             C[b, t] = B[b, t]
//           C[b, u] = B[b, u]
//
// A kernel is everything in the outermost loop over threads. The loops keep the annotations of all loops over the axis,
// and the dtype of the first; where another loop had a variable of another dtype, the new one is converted to that.
// Functions of the older scheduler stay. O(nodes times nesting).
//
// Source: TVM 0.18's pass of this name. Loops at the same place are in the order of their tags, from the shorter to the
// longer.
#include <algorithm>
#include <functional>
#include <string_view>
#include <vector>

#include "iropt/arith/prim_builder.h"
#include "iropt/ir/tir/copy_if_changed.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "transform/tir/util/prim_func_pass.h"

namespace iropt {

namespace {

// The loops over one axis in a kernel.
struct LiftedAxis {
  std::string_view tag;
  std::vector<const tir::For*> path;  // the loops around all of them, from the kernel inwards
  const tir::For* first;
  const tir::Var* var;
  const DictAttr* annotations = DictAttr::Empty();
  std::vector<const tir::Var*> loop_vars = {};
};

class AxisCollector : public tir::StmtExprVisitor {
 public:
  explicit AxisCollector(Workspace& workspace) : workspace_(workspace) {}
  std::vector<LiftedAxis> axes;

  void VisitExpr(const PrimExpr*) override {}

 protected:
  void VisitFor(const tir::For* loop) override {
    path_.push_back(loop);
    StmtExprVisitor::VisitFor(loop);
    if (loop->for_kind == tir::ForKind::kThreadBinding) Add(*loop);
    path_.pop_back();
  }

 private:
  void Add(const tir::For& loop) {
    const std::string_view tag = loop.thread_binding->thread_tag;
    auto axis = std::ranges::find(axes, tag, &LiftedAxis::tag);
    if (axis == axes.end()) {
      axes.push_back({tag, path_, &loop, workspace_.NewPrimVar(tag, loop.loop_var->dtype)});
      axis = axes.end() - 1;
    }
    const auto end = std::ranges::mismatch(axis->path, path_).in1;
    axis->path.erase(end, axis->path.end());
    axis->loop_vars.push_back(loop.loop_var);
    for (uint32_t i = 0; i < loop.annotations->size(); ++i)
      axis->annotations = axis->annotations->With(loop.annotations->keys[i], loop.annotations->values[i]);
  }

  Workspace& workspace_;
  std::vector<const tir::For*> path_;
};

class ThreadBindingLifter : public tir::StmtExprMutator {
 public:
  explicit ThreadBindingLifter(Workspace& workspace) : StmtExprMutator(workspace, tir::kRewriteBuffers) {}

 protected:
  const tir::Stmt* VisitFor(const tir::For* loop) override {
    const bool is_thread = loop->for_kind == tir::ForKind::kThreadBinding;
    const bool is_kernel = is_thread && !in_kernel_;
    if (is_kernel) EnterKernel(*loop);
    const auto* visited = To<tir::For>(StmtExprMutator::VisitFor(loop));
    const tir::Stmt* body = visited->body;
    if (const auto* lifted = lifted_.Find(loop)) {
      for (const LiftedAxis& axis : *lifted) body = MakeLoop(axis, body);
    }
    if (is_kernel) {
      in_kernel_ = false;
      lifted_.clear();
    }
    if (is_thread) return body;
    tir::For copy = *visited;
    copy.body = body;
    return tir::CopyIfChanged(visited, copy, workspace());
  }

 private:
  void EnterKernel(const tir::For& loop) {
    in_kernel_ = true;
    AxisCollector collector(workspace());
    collector.VisitStmt(&loop);
    // Innermost first.
    std::ranges::stable_sort(collector.axes, std::greater(), [](const LiftedAxis& axis) { return axis.tag.size(); });
    for (LiftedAxis& axis : collector.axes) {
      for (const tir::Var* var : axis.loop_vars) Remap(var, arith::PrimBuilder(workspace()).Cast(var->dtype, axis.var));
      lifted_[axis.path.back()].push_back(std::move(axis));
    }
  }

  const tir::Stmt* MakeLoop(const LiftedAxis& axis, const tir::Stmt* body) {
    const auto* thread = workspace().New<tir::IterVar>(nullptr, workspace().NewPrimVar("", axis.var->dtype),
                                                       tir::IterVarType::kThreadIndex, axis.tag);
    return workspace().New<tir::For>(axis.var, VisitExpr(axis.first->min), VisitExpr(axis.first->extent),
                                     tir::ForKind::kThreadBinding, body, thread, axis.annotations);
  }

  bool in_kernel_ = false;
  LookupMap<const tir::For*, std::vector<LiftedAxis>> lifted_;
};

bool NeedsLiftThreadBinding(const tir::Stmt* stmt) {
  const auto* loop = As<tir::For>(stmt);
  return loop ? loop->for_kind == tir::ForKind::kThreadBinding : HasNoOps(stmt);
}

}  // namespace

Pass CreateLiftThreadBinding(const PassOptions& options) {
  return CreateMutatorPass<ThreadBindingLifter>(
      options.info(), {.legacy_schedule = LegacySchedule::kSkip, .needs = &NeedsLiftThreadBinding});
}

}  // namespace iropt
