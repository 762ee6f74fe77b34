// tir.UnifyThreadBinding: gives each thread axis of a kernel one variable, and one loop around the kernel.
//
//   for i in T.thread_binding(16, thread="threadIdx.x"):       for tx in T.thread_binding(16, thread="threadIdx.x"):
//       B[i] = A[i]                                                for k in range(4):
//       for k in range(4):                              -->            B[tx] = A[tx]
//           for j in T.thread_binding(16, ...                          C[tx, k] = B[tx]
//               C[j, k] = B[j]
//
// A kernel is everything in the outermost loop over threads. All loops over one axis must have the same extent.
// Functions of the older scheduler stay. O(nodes).
//
// Source: TVM 0.18's pass of this name.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "iropt/arith/analyzer.h"
#include "iropt/ir/location.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/thread_axis.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "transform/tir/util/prim_func_pass.h"

namespace iropt {

namespace {

class ThreadBindingUnifier : public tir::StmtExprMutator {
 public:
  ThreadBindingUnifier(Workspace& workspace, DiagnosticEngine& diagnostics)
      : StmtExprMutator(workspace, tir::kRewriteBuffers),
        diagnostics_(diagnostics),
        analyzer_(arith::PrimBuilder(workspace), arith::Analyzer::SymVars::kAny) {}

 protected:
  const tir::Stmt* VisitAttrStmt(const tir::AttrStmt* stmt) override {
    const tir::IterVar* axis = tir::ThreadAxisOf(*stmt);
    if (!axis) return StmtExprMutator::VisitAttrStmt(stmt);
    const tir::Range range(make().Const(0, stmt->value->dtype), stmt->value);
    return Unify(axis->var, axis->thread_tag, range, stmt->body, *stmt);
  }

  const tir::Stmt* VisitFor(const tir::For* loop) override {
    if (loop->for_kind != tir::ForKind::kThreadBinding) return StmtExprMutator::VisitFor(loop);
    const tir::Stmt* unified =
        Unify(loop->loop_var, loop->thread_binding->thread_tag, tir::Range(loop->min, loop->extent), loop->body, *loop);
    if (loop->annotations->size() == 0) return unified;
    // The annotations need a loop.
    const auto* inner = As<tir::For>(unified);
    auto* copy = inner ? workspace().New<tir::For>(*inner) : MakeUnitLoop(loop->loop_var->dtype, unified);
    copy->annotations = loop->annotations;
    return copy;
  }

 private:
  struct Axis {
    std::string_view tag;
    const tir::Var* var;
    const PrimExpr* min;
    const PrimExpr* extent;
  };

  const arith::PrimBuilder& make() const { return analyzer_.make(); }

  // The body with the variable of the axis for `var`.
  const tir::Stmt* Unify(const tir::Var* var, std::string_view tag, const tir::Range& range, const tir::Stmt* body,
                         const Node& at) {
    const bool is_kernel = depth_ == 0;
    const int outer_depth = depth_;
    if (is_kernel) axes_.clear();
    if (is_kernel || tag.starts_with("blockIdx.")) ++depth_;
    Remap(var, make().Cast(var->dtype, AxisOf(tag, range, at).var));
    body = VisitStmt(body);
    depth_ = outer_depth;
    return is_kernel ? Launch(body) : body;
  }

  const Axis& AxisOf(std::string_view tag, const tir::Range& range, const Node& at) {
    const auto known = std::ranges::find(axes_, tag, &Axis::tag);
    if (known == axes_.end()) {
      const tir::Var* var = workspace().NewPrimVar(tag, range.extent->dtype);
      return axes_.emplace_back(Axis{tag, var, range.min, range.extent});
    }
    if (!analyzer_.CanProveEqual(range.extent, known->extent) || !analyzer_.CanProveEqual(range.min, known->min)) {
      diagnostics_.Error(Location(at), "pass-failed",
                         fmt::format("all loops over '{}' in a kernel must have the same extent", tag));
    }
    return *known;
  }

  // The loops over all axes of the kernel, the first one outermost.
  const tir::Stmt* Launch(const tir::Stmt* body) {
    for (auto axis = axes_.rbegin(); axis != axes_.rend(); ++axis) {
      const tir::Var* iter = workspace().NewPrimVar("", axis->var->dtype);
      const auto* thread = workspace().New<tir::IterVar>(nullptr, iter, tir::IterVarType::kThreadIndex, axis->tag);
      body = workspace().New<tir::For>(axis->var, axis->min, axis->extent, tir::ForKind::kThreadBinding, body, thread,
                                       DictAttr::Empty());
    }
    axes_.clear();
    return body;
  }

  tir::For* MakeUnitLoop(DataType dtype, const tir::Stmt* body) {
    return workspace().New<tir::For>(workspace().NewPrimVar("var", dtype), make().Const(0, dtype),
                                     make().Const(1, dtype), tir::ForKind::kSerial, body, nullptr, DictAttr::Empty());
  }

  DiagnosticEngine& diagnostics_;
  arith::Analyzer analyzer_;
  std::vector<Axis> axes_;  // of the kernel, in the order of their first loops; a handful
  int depth_ = 0;           // of kernels
};

bool NeedsUnifyThreadBinding(const tir::Stmt* stmt) {
  if (const auto* loop = As<tir::For>(stmt)) return loop->for_kind == tir::ForKind::kThreadBinding;
  if (const auto* attr = As<tir::AttrStmt>(stmt)) return tir::IsThreadKey(attr->attr_key);
  return HasNoOps(stmt);
}

}  // namespace

Pass CreateUnifyThreadBinding(const PassOptions& options) {
  return CreateMutatorPass<ThreadBindingUnifier>(
      options.info(), {.legacy_schedule = LegacySchedule::kSkip, .needs = &NeedsUnifyThreadBinding});
}

}  // namespace iropt
