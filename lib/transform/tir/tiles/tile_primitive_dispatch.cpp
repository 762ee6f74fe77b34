// tir.TilePrimitiveDispatch: lowers tile operations to code for the target, and launches kernels.
//
//   T.device_entry()                                        bx = T.launch_thread("blockIdx.x", 32)
//   bx = T.cta_id([32])                                     tx = T.launch_thread("threadIdx.x", 128)
//   tx = T.thread_id([128])                         -->     ...
//   ...
//
// Operations on Trainium become instructions, see trn_rules.h. Those of other targets need code of the device, which
// this pass does not have: they are errors. O(nodes + the size of the instructions).
//
// Source: TVM 0.25's pass of this name.
#include <fmt/format.h>

#include "iropt/arith/mutator.h"
#include "iropt/ir/location.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "transform/tir/host/func_target.h"
#include "transform/tir/tiles/lower_tirx.h"
#include "transform/tir/tiles/scope_ids.h"
#include "transform/tir/tiles/trn_rules.h"
#include "transform/tir/util/prim_func_pass.h"

namespace iropt {

namespace {

// Its analyzer knows the loops around each operation.
class TileDispatcher : public arith::StmtExprMutatorWithAnalyzer {
 public:
  TileDispatcher(const PrimFunc& func, const DictAttr* target, Workspace& workspace, DiagnosticEngine& diagnostics)
      : StmtExprMutatorWithAnalyzer(func, workspace, {.mutator = {}, .resolve_conditions = false}),
        target_(target),
        diagnostics_(diagnostics) {}

  bool failed() const { return failed_; }

 protected:
  const PrimExpr* VisitExpr(const PrimExpr* expr) override { return expr; }

  const tir::Stmt* VisitEvaluate(const tir::Evaluate* stmt) override {
    const auto call = AsTileCall(stmt->value);
    if (!call) return stmt;
    const std::string_view kind = target_ ? KindOf(*target_) : std::string_view();
    if (kind != "trn") {
      return Report(*stmt,
                    {ErrorCode::PassFailed,
                     fmt::format("T.{}.{} needs code of the device, which only 'trn' has here, not the target '{}'",
                                 call->scope, call->name, kind)});
    }
    auto lowered = LowerTrnTile({.call = *call, .analyzer = analyzer(), .workspace = workspace()});
    return lowered ? *lowered : Report(*stmt, lowered.TakeError());
  }

  const tir::Stmt* VisitAttrStmt(const tir::AttrStmt* stmt) override {
    if (stmt->attr_key != attr::kDeviceEntry) return StmtExprMutatorWithAnalyzer::VisitAttrStmt(stmt);
    auto launch = LaunchOf(stmt->body, workspace());
    if (!launch) return Report(*stmt, launch.TakeError());
    if (!launch->threads.empty() && (!target_ || KindOf(*target_) != "cuda"))
      return Report(*stmt, {ErrorCode::PassFailed, "only kernels of 'cuda' are launched in groups of threads"});
    const tir::Stmt* body = WithoutScopeIds(VisitStmt(stmt->body), workspace());
    for (auto it = launch->values.rbegin(); it != launch->values.rend(); ++it)
      body = workspace().New<tir::LetStmt>(it->first, it->second, body);
    for (auto it = launch->threads.rbegin(); it != launch->threads.rend(); ++it)
      body = workspace().New<tir::AttrStmt>(*it, attr::kThreadExtent, (*it)->dom->extent, body);
    return body;
  }

 private:
  const tir::Stmt* Report(const tir::Stmt& at, const Error& error) {
    diagnostics_.Error(Location(at), "pass-failed", error.message);
    failed_ = true;
    return &at;
  }

  const DictAttr* target_;
  DiagnosticEngine& diagnostics_;
  bool failed_ = false;
};

}  // namespace

const DictAttr* TileTargetOf(const PrimFunc& func, const PassContext& context) {
  if (const DictAttr* target = TargetOf(func)) return target;
  return context.target ? context.target->config : nullptr;
}

const PrimFunc* DispatchTiles(const PrimFunc* func, const DictAttr* target, Workspace& workspace,
                              DiagnosticEngine& diagnostics) {
  TileDispatcher dispatcher(*func, target, workspace, diagnostics);
  const tir::Stmt* body = dispatcher.VisitStmt(func->body);
  return dispatcher.failed() ? nullptr : WithBody(func, body, workspace);
}

Pass CreateTilePrimitiveDispatch(const PassOptions& options) {
  return CreatePrimFuncPass(
      options.info(), kSkipLegacy, [](const PrimFunc* func, FunctionPassContext& context) -> Result<const PrimFunc*> {
        func = DispatchTiles(func, TileTargetOf(*func, context.context()), context.workspace(), context.diagnostics());
        if (!func) return Failure{ErrorCode::PassFailed};
        return func;
      });
}

}  // namespace iropt
