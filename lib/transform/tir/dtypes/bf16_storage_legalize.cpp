// tir.BF16StorageLegalize: stores bfloat16 as uint16.
//
//   def main(A: T.handle("bfloat16", "global")):              def main(A: T.handle("uint16", "global")):
//       A_1 = T.decl_buffer((8,), "bfloat16", data=A)             A_1 = T.decl_buffer((8,), "uint16", data=A)
//       ... T.reinterpret("uint16", A_1[i]) ...         -->       ... A_1[i] ...
//       A_1[i] = T.reinterpret("bfloat16", x)                     A_1[i] = x
//
// After tir.MakePackedAPI: parameters that are buffers are an error. Computations in bfloat16 stay, see
// tir.BF16ComputeLegalize. O(nodes).
//
// Source: TVM 0.18's pass of this name. It lets operations that stay compute with the integers instead.
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "transform/tir/dtypes/storage_legalizer.h"

namespace iropt {

Pass CreateBF16StorageLegalize(const PassOptions& options) {
  return CreatePrimFuncPass(options.info(), [](const PrimFunc* func, FunctionPassContext& context) {
    if (!NeedsBFloat16Legalization(*func, context.module().version())) return Result<const PrimFunc*>(func);
    return Result<const PrimFunc*>(LegalizeStorage(func, &IsBFloat16, context.workspace(), context.diagnostics()));
  });
}

}  // namespace iropt
