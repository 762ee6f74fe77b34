// tir.AnnotateIrregularLoop: marks loops that `break` or `continue` may leave early, for passes that must not change
// them.
//
//   for i in range(10):                           for i in T.serial(10, annotations={"irregular_loop_mark": 1}):
//       if A[i] > 5:                    -->           if A[i] > 5:
//           T.break_loop()                                T.break_loop()
//
// Such a loop must be serial, and must not be annotated for passes that split, unroll or pipeline it. O(statements).
//
// Source: the pass of this name of TVM 0.22.
#include <fmt/format.h>

#include <utility>

#include "iropt/analysis/tir/loop_jumps.h"
#include "iropt/ir/location.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "transform/tir/util/prim_func_pass.h"

namespace iropt {

namespace {

class IrregularLoopAnnotator : public tir::StmtExprMutator {
 public:
  IrregularLoopAnnotator(Workspace& workspace, DiagnosticEngine& diagnostics)
      : StmtExprMutator(workspace), diagnostics_(diagnostics) {}

 protected:
  const PrimExpr* VisitExpr(const PrimExpr* expr) override { return expr; }

  const tir::Stmt* VisitFor(const tir::For* loop) override {
    const bool outer = std::exchange(has_jump_, false);
    const auto* visited = To<tir::For>(StmtExprMutator::VisitFor(loop));
    if (!std::exchange(has_jump_, outer)) return visited;
    Check(*loop);
    const DictAttr* annotations = loop->annotations->With(attr::kIrregularLoopMark, IntAttr::Get(1));
    if (annotations == visited->annotations) return visited;
    auto* marked = workspace().New<tir::For>(*visited);
    marked->annotations = annotations;
    return marked;
  }

  const tir::Stmt* VisitWhile(const tir::While* loop) override {
    const bool outer = std::exchange(has_jump_, false);
    const tir::Stmt* visited = StmtExprMutator::VisitWhile(loop);
    has_jump_ = outer;
    return visited;
  }

  const tir::Stmt* VisitEvaluate(const tir::Evaluate* stmt) override {
    has_jump_ = has_jump_ || IsLoopJump(*stmt);
    return stmt;
  }

 private:
  void Check(const tir::For& loop) {
    const auto refuse = [&](std::string_view why) {
      diagnostics_.Error(
          Location(loop), "pass-failed",
          fmt::format("the loop over '{}', which 'break' or 'continue' may leave, {}", loop.loop_var->name, why));
    };
    if (loop.for_kind != tir::ForKind::kSerial) refuse("must be serial");
    constexpr std::string_view kInvalid[] = {attr::kPragmaAutoUnrollMaxStep, attr::kPragmaUnrollExplicit,
                                             attr::kLoopPartitionHint, attr::kSoftwarePipelineStage};
    for (const std::string_view key : kInvalid) {
      if (loop.annotations->Find(key)) refuse(fmt::format("must not have the annotation '{}'", key));
    }
  }

  DiagnosticEngine& diagnostics_;
  bool has_jump_ = false;  // in the innermost loop
};

}  // namespace

Pass CreateAnnotateIrregularLoop(const PassOptions& options) {
  return CreateMutatorPass<IrregularLoopAnnotator>(options.info(),
                                                   {.needs = [](const tir::Stmt* stmt) { return IsLoopJump(*stmt); }});
}

}  // namespace iropt
