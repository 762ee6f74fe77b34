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
#include "iropt/pass/pass_options.h"
#include "transform/tir/util/loop_lowerer.h"
#include "transform/tir/util/prim_func_pass.h"

namespace iropt {

namespace {

class OpaqueLoopLowerer : public LoopLowerer {
 public:
  OpaqueLoopLowerer(Workspace& workspace, DiagnosticEngine& diagnostics)
      : LoopLowerer({.rewrite_buffers = true}, /*keeps_unroll=*/true, workspace, diagnostics) {}
};

}  // namespace

Pass CreateLowerTIRxOpaque(const PassOptions& options) {
  return CreateMutatorPass<OpaqueLoopLowerer>(options.info(), kSkipLegacy);
}

}  // namespace iropt
