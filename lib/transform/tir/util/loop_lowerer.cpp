#include "transform/tir/util/loop_lowerer.h"

#include <fmt/format.h>

#include "iropt/analysis/tir/loop_jumps.h"
#include "iropt/ir/location.h"
#include "iropt/ir/tir/copy_if_changed.h"
#include "transform/tir/util/pragmas.h"

namespace iropt {

LoopLowerer::LoopLowerer(tir::MutatorOptions options, bool keeps_unroll, Workspace& workspace,
                         DiagnosticEngine& diagnostics)
    : StmtExprMutator(workspace, options), keeps_unroll_(keeps_unroll), diagnostics_(diagnostics), make_(workspace) {}

void LoopLowerer::Error(const Node& at, const std::string& message) {
  diagnostics_.Error(Location(at), "pass-failed", message);
}

const tir::Stmt* LoopLowerer::VisitFor(const tir::For* loop) {
  tir::For copy = *loop;
  copy.min = VisitExpr(loop->min);
  copy.extent = VisitExpr(loop->extent);
  const bool runs_once = arith::IsInt(copy.extent, 1) && loop->annotations->size() == 0 && !HasLoopJumps(loop->body);
  if (runs_once) Remap(loop->loop_var, make_.Cast(loop->loop_var->dtype, copy.min));
  const bool is_launch = loop->for_kind == tir::ForKind::kThreadBinding;
  if (is_launch && !runs_once && !arith::IsInt(copy.min, 0)) {
    // The variables of threads begin with 0.
    Remap(loop->loop_var, make_.Add(loop->loop_var, copy.min));
    copy.min = make_.Const(0, copy.min->dtype);
  }
  copy.body = VisitStmt(loop->body);
  std::vector<DictAttr::Entry> pragmas;
  copy.annotations = SplitPragmas(loop->annotations, keeps_unroll_, pragmas);
  if (is_launch) return AddPragmas(loop->loop_var, pragmas, LaunchThread(copy, workspace()), *loop);
  if (runs_once) return copy.body;
  return AddPragmas(loop->loop_var, pragmas, tir::CopyIfChanged(loop, copy, workspace()), *loop);
}

const tir::Stmt* LoopLowerer::AddPragmas(const PrimExpr* node, const std::vector<DictAttr::Entry>& pragmas,
                                         const tir::Stmt* stmt, const Node& at) {
  for (size_t i = pragmas.size(); i-- > 0;) {
    const PrimExpr* value = PragmaValue(VisitAttr(pragmas[i].second), workspace());
    if (value) {
      stmt = workspace().New<tir::AttrStmt>(node, pragmas[i].first, value, stmt);
    } else {
      Error(at, fmt::format("the annotation '{}' is neither a number nor a string", pragmas[i].first));
    }
  }
  return stmt;
}

}  // namespace iropt
