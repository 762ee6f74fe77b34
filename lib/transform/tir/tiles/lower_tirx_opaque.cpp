// tir.LowerTIRxOpaque: lowers the loops of functions that have no blocks, as tir.LowerOpaqueBlock does for those that
// have.
//
//   for tx in T.thread_binding(128, thread="threadIdx.x"):        tx = T.launch_thread("threadIdx.x", 128)
//       for i in range(1):                                   -->  A[tx] = 0
//           A[tx + i] = 0
//
// Loops over threads become launches of them, and loops with one iteration and no annotations go away. Annotations
// pragma_* become attributes, except for pragma_unroll. O(nodes).
//
// Source: TVM 0.25's pass of this name.
#include <fmt/format.h>

#include "iropt/arith/prim_builder.h"
#include "iropt/ir/location.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "transform/tir/util/loop_pass.h"
#include "transform/tir/util/pragmas.h"

namespace iropt {

namespace {

class OpaqueLoopLowerer : public tir::StmtExprMutator {
 public:
  OpaqueLoopLowerer(Workspace& workspace, DiagnosticEngine& diagnostics)
      : StmtExprMutator(workspace, {.rewrite_buffers = true}), diagnostics_(diagnostics), make_(workspace.arena()) {}

 protected:
  const tir::Stmt* VisitFor(const tir::For* loop) override {
    tir::For copy = *loop;
    copy.min = VisitExpr(loop->min);
    copy.extent = VisitExpr(loop->extent);
    const bool runs_once = arith::IsInt(copy.extent, 1) && loop->annotations->size() == 0;
    if (runs_once) Remap(loop->loop_var, make_.Cast(loop->loop_var->dtype, copy.min));
    copy.body = VisitStmt(loop->body);
    std::vector<DictAttr::Entry> pragmas;
    copy.annotations = SplitPragmas(loop->annotations, /*keeps_unroll=*/true, pragmas);
    const tir::Stmt* lowered = nullptr;
    if (loop->for_kind == tir::ForKind::kThreadBinding) {
      lowered = LaunchThread(copy, workspace());
    } else if (runs_once) {
      return copy.body;
    } else {
      lowered = workspace().New<tir::For>(copy);
    }
    return WithPragmas(loop->loop_var, pragmas, lowered);
  }

 private:
  const tir::Stmt* WithPragmas(const tir::Var* var, std::span<const DictAttr::Entry> pragmas, const tir::Stmt* stmt) {
    for (size_t i = pragmas.size(); i-- > 0;) {
      const PrimExpr* value = PragmaValue(VisitAttr(pragmas[i].second), workspace());
      if (value) {
        stmt = workspace().New<tir::AttrStmt>(var, pragmas[i].first, value, stmt);
      } else {
        diagnostics_.Error(Location(*var), "pass-failed",
                           fmt::format("the annotation '{}' is neither a number nor a string", pragmas[i].first));
      }
    }
    return stmt;
  }

  DiagnosticEngine& diagnostics_;
  const arith::PrimBuilder make_;
};

}  // namespace

Pass CreateLowerTIRxOpaque(const PassOptions& options) {
  return CreateLoopPass(options.info(), [](const PrimFunc* func, FunctionPassContext& context) {
    OpaqueLoopLowerer lowerer(context.workspace(), context.diagnostics());
    return Result<const PrimFunc*>(WithBody(func, lowerer.VisitStmt(func->body), context.workspace()));
  });
}

}  // namespace iropt
