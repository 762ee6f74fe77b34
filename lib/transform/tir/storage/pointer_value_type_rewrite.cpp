// tir.PointerValueTypeRewrite: makes memory that is only accessed as vectors of one size memory of such vectors.
//
//   A = T.allocate([16], "float32", "global")                 A = T.allocate([4], "float32x4", "global")
//   A_1 = T.Buffer((16,), data=A)                       -->   A_1 = T.Buffer((4,), "float32x4", data=A)
//   A_1[i * 4:i * 4 + 4] = T.Broadcast(T.float32(0), 4)       A_1[i * 4 // 4] = T.Broadcast(T.float32(0), 4)
//
// Parameters and their buffers change as well. A read of one element at a known position of a vector becomes a shuffle.
// O(nodes).
//
// Source: TVM 0.18's pass of this name.
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "transform/tir/storage/pointer_value_type.h"

namespace iropt {

Pass CreatePointerValueTypeRewrite(const PassOptions& options) {
  return CreatePrimFuncPass(options.info(), [](const PrimFunc* func, FunctionPassContext& context) {
    return Result<const PrimFunc*>(RewritePointerValueTypes(func, {}, context.workspace()));
  });
}

}  // namespace iropt
