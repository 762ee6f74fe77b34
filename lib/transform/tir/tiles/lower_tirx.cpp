// tir.LowerTIRx: lowers functions that are written with tile operations and layouts, first tir.TilePrimitiveDispatch,
// then tir.LowerTIRxCleanup.
//
//   A = T.alloc_buffer((128, 512), scope="trn.sbuf", layout=T.TileLayout(T.S[(128, 512):(1 @ Axis.P, 1 @ Axis.F)]))
//   T.tile.memset(A[0:128, 0:512], T.float32(0.0))
//   -->
//   A = T.alloc_buffer((128, 512), scope="trn.sbuf", layout=None)
//   for b_loop in range(1):
//       ...
//               T.nki.memset(A[p_loop, f_loop], T.float32(0.0))
//
// Source: TVM 0.25's pass of this name.
#include "transform/tir/tiles/lower_tirx.h"

#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "transform/tir/util/prim_func_pass.h"

namespace iropt {

Pass CreateLowerTIRx(const PassOptions& options) {
  return CreatePrimFuncPass(options.info(), kSkipLegacy,
                            [](const PrimFunc* func, FunctionPassContext& context) -> Result<const PrimFunc*> {
                              const DictAttr* target = TileTargetOf(*func, context.context());
                              func = DispatchTiles(func, target, context.workspace(), context.diagnostics());
                              if (func) func = ApplyLayouts(func, target, context.workspace(), context.diagnostics());
                              if (!func) return Failure{ErrorCode::PassFailed};
                              return func;
                            });
}

}  // namespace iropt
