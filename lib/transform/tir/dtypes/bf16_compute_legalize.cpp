// tir.BF16ComputeLegalize: computes in float32 what is computed in bfloat16.
//
//   C = T.decl_buffer((8,), "bfloat16")        C = T.decl_buffer((8,))
//   C[i] = A[i] + B[i]                   -->   C[i] = T.reinterpret("float32", ...A[i]...) + ...
//   D[i] = T.exp(C[i])                         D[i] = T.reinterpret("bfloat16", ...T.exp(C[i])...)
//
// Memory of constant size that only loads and stores use becomes float32; other memory stays, among it the buffers of
// parameters, see tir.BF16StorageLegalize. Conversions are operations on bits, see float_conversion.h. Intermediate
// values are not rounded. What functions of the module pass and return stays. O(nodes).
//
// Source: TVM 0.18's pass of this name. Operands of T.address_of stay, and so does memory that is also accessed as
// another dtype; the values of bound variables are converted, too.
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "transform/tir/dtypes/compute_legalizer.h"

namespace iropt {

Pass CreateBF16ComputeLegalize(const PassOptions& options) {
  return CreatePrimFuncPass(options.info(), [](const PrimFunc* func, FunctionPassContext& context) {
    if (!NeedsBFloat16Legalization(*func, context.module().version())) return Result<const PrimFunc*>(func);
    const ComputePromotion promotion = {.is_narrow = &IsBFloat16, .wide = DataType::Float(32)};
    return Result<const PrimFunc*>(LegalizeCompute(func, promotion, context.workspace(), context.diagnostics()));
  });
}

}  // namespace iropt
