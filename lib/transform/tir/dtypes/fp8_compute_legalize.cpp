// tir.FP8ComputeLegalize: computes in a wider format what is computed in 8-bit floats.
//
//   C = T.decl_buffer((8,), "e5m2_float8")        C = T.decl_buffer((8,), "float16")
//   C[i] = A[i] + B[i]                      -->   C[i] = T.reinterpret("float16", ...A[i]...) + ...
//   D[i] = T.exp(C[i])                            D[i] = T.reinterpret("e5m2_float8", ...T.exp(C[i])...)
//
// Functions must state their target; those for GPUs that compute with 8-bit floats stay. The rest is as in
// tir.BF16ComputeLegalize. O(nodes).
//
// Source: TVM 0.18's pass of this name.
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/transform/options/FP8ComputeLegalize.h"
#include "transform/tir/dtypes/compute_legalizer.h"

namespace iropt {

Pass CreateFP8ComputeLegalize(const PassOptions& options) {
  const pass_options::FP8ComputeLegalize given(options);
  return CreatePrimFuncPass(options.info(),
                            [wide = given.promote_dtype->value_or(*given.promote_dtype_str)](
                                const PrimFunc* func, FunctionPassContext& context) -> Result<const PrimFunc*> {
                              if (!NeedsFloat8Legalization(*func, context.module().version(), context.diagnostics()))
                                return func;
                              const ComputePromotion promotion = {.is_narrow = &IsFloat8, .wide = wide};
                              return LegalizeCompute(func, promotion, context.workspace(), context.diagnostics());
                            });
}

}  // namespace iropt
