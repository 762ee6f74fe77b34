// tir.CanonicalizeLoop: lets loops begin at 0 and count by 1.
//
//   for i in range(1, 128, 5):                    for i in range(26):
//       B[i] = A[i]                     -->           B[i * 5 + 1] = A[i * 5 + 1]
//
// Refuses a step that may not be positive: such a loop might not end. O(nodes), plus the simplification of extents.
//
// Source: the pass of this name of TVM 0.23.
#include <fmt/format.h>

#include "iropt/arith/analyzer.h"
#include "iropt/ir/location.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "transform/tir/util/prim_func_pass.h"

namespace iropt {

namespace {

bool IsCanonicalLoop(const tir::For& loop) { return !loop.step && arith::IsInt(loop.min, 0); }

class LoopCanonicalizer : public tir::StmtExprMutator {
 public:
  LoopCanonicalizer(Workspace& workspace, DiagnosticEngine& diagnostics)
      : StmtExprMutator(workspace, {.rewrite_buffers = true}),
        diagnostics_(diagnostics),
        analyzer_(arith::PrimBuilder(workspace), arith::Analyzer::SymVars::kAny) {}

 protected:
  const tir::Stmt* VisitFor(const tir::For* loop) override {
    if (IsCanonicalLoop(*loop)) return StmtExprMutator::VisitFor(loop);
    const arith::PrimBuilder& make = analyzer_.make();
    const DataType dtype = loop->loop_var->dtype;
    auto* canonical = workspace().New<tir::For>(*loop);
    const PrimExpr* step = loop->step ? VisitExpr(loop->step) : make.Const(1, dtype);
    if (!analyzer_.CanProveGreaterEqual(step, 1)) return Refuse(loop);
    canonical->extent = analyzer_.Simplify(make.CeilDiv(VisitExpr(loop->extent), step));
    canonical->min = make.Const(0, dtype);
    canonical->step = nullptr;
    Remap(loop->loop_var, make.Add(make.Mul(loop->loop_var, step), VisitExpr(loop->min)));
    canonical->body = VisitStmt(loop->body);
    return canonical;
  }

 private:
  const tir::Stmt* Refuse(const tir::For* loop) {
    diagnostics_.Error(Location(*loop), "pass-failed",
                       fmt::format("the step of the loop over '{}' may not be positive", loop->loop_var->name));
    return loop;
  }

  DiagnosticEngine& diagnostics_;
  arith::Analyzer analyzer_;
};

bool NeedsCanonicalizeLoop(const tir::Stmt* stmt) {
  const auto* loop = As<tir::For>(stmt);
  return loop && !IsCanonicalLoop(*loop);
}

}  // namespace

Pass CreateCanonicalizeLoop(const PassOptions& options) {
  return CreateMutatorPass<LoopCanonicalizer>(options.info(), {.needs = &NeedsCanonicalizeLoop});
}

}  // namespace iropt
