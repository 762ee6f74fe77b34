// tir.StorageFlatten: allocates the buffers that functions of the older scheduler realize, and gives all buffers the
// dimensions of their memory.
//
//   with T.realize(B[2:6, 0:8], ""):                B = T.allocate([32], "float32", "global")
//       for i, j in T.grid(4, 8):                   B_1 = T.Buffer((32,), data=B)
//           B[i + 2, j] = A[i, j]             -->   A_1 = T.Buffer((32,), data=A.data)
//                                                   for i, j in T.grid(4, 8):
//                                                       B_1[i * 8 + j] = A_1[i * 8 + j]
//
// The shape of a realized buffer becomes what is realized, with strides as T.attr(B, "buffer_dim_align", ...) requests
// them. A buffer without a scope lies where the threads around it share memory. The buffers of parameters stay as they
// are in the signature; realizing one only states its shape, which is checked. Truth values are stored as int8, and
// assertions that hold are removed. With create_bound_attribute, attributes state the sizes of buffers for
// tir.InstrumentBoundCheckers. Functions that are not marked with from_legacy_te_schedule stay. O(nodes), plus the
// simplification of the indices.
//
// T.prefetch(A, [...]) becomes loops with a T.prefetch(address, 0, 3, 1) for each cache line, that is, to be read, and
// kept in all caches for data. The address has the indices in the reverse order, as it has in TVM; a prefetch is only a
// hint.
//
// Source: TVM 0.18's pass of this name, without what text cannot express: views (buffer_bind_scope) and transformations
// of layouts. The attribute of an allocation is inside of it.
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/transform/options/StorageFlatten.h"
#include "transform/tir/buffers/storage_flattener.h"
#include "transform/tir/util/prim_func_pass.h"

namespace iropt {

Pass CreateStorageFlatten(const PassOptions& options) {
  const pass_options::StorageFlatten given(options);
  const StorageFlattenOptions flatten{.cache_line_size = options.Count(given.cache_line_size),
                                      .create_bound_attribute = *given.create_bound_attribute};
  return CreatePrimFuncPass(options.info(), kOnlyLegacy,
                            [flatten](const PrimFunc* func, FunctionPassContext& context) -> Result<const PrimFunc*> {
                              return FlattenStorage(func, flatten, context.workspace(), context.diagnostics());
                            });
}

}  // namespace iropt
