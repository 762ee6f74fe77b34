// tir.ConvertForLoopsToSerial: makes parallel loops serial, for targets without threads.
//
//   for i in T.parallel(16):                      for i in range(16):
//       B[i] = A[i]                      -->          B[i] = A[i]
//
// The body of a parallel loop stays as it is. O(nodes).
//
// Source: TVM 0.18's pass of this name.
#include "iropt/ir/tir/mutator.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "transform/tir/util/prim_func_pass.h"

namespace iropt {

namespace {

class SerialConverter : public tir::StmtExprMutator {
 public:
  explicit SerialConverter(Workspace& workspace) : StmtExprMutator(workspace, tir::kRewriteBuffers) {}

 protected:
  const PrimExpr* VisitExpr(const PrimExpr* expr) override { return expr; }

  const tir::Stmt* VisitFor(const tir::For* loop) override {
    if (loop->for_kind != tir::ForKind::kParallel) return StmtExprMutator::VisitFor(loop);
    auto* serial = workspace().New<tir::For>(*loop);
    serial->for_kind = tir::ForKind::kSerial;
    return serial;
  }
};

}  // namespace

Pass CreateConvertForLoopsToSerial(const PassOptions& options) {
  return CreateMutatorPass<SerialConverter>(options.info(), {});
}

}  // namespace iropt
