// tir.FP8StorageLegalize: stores 8-bit floats as uint8.
//
//   def main(A: T.handle("e4m3_float8", "global")):           def main(A: T.handle("uint8", "global")):
//       A_1 = T.decl_buffer((8,), "e4m3_float8", data=A)          A_1 = T.decl_buffer((8,), "uint8", data=A)
//       ... T.reinterpret("uint8", A_1[i]) ...          -->       ... A_1[i] ...
//       A_1[i] = T.reinterpret("e4m3_float8", x)                  A_1[i] = x
//
// Functions must state their target; those for GPUs that compute with 8-bit floats stay. The rest is as in
// tir.BF16StorageLegalize. O(nodes).
//
// Source: TVM 0.18's pass of this name.
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "transform/tir/dtypes/storage_legalizer.h"

namespace iropt {

Pass CreateFP8StorageLegalize(const PassOptions& options) {
  return CreatePrimFuncPass(options.info(),
                            [](const PrimFunc* func, FunctionPassContext& context) -> Result<const PrimFunc*> {
                              if (!NeedsFloat8Legalization(*func, context.module().version(), context.diagnostics()))
                                return func;
                              return LegalizeStorage(func, &IsFloat8, context.workspace(), context.diagnostics());
                            });
}

}  // namespace iropt
