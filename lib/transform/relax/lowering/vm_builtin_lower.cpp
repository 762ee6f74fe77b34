// VMBuiltinLower: the name that LowerRuntimeBuiltin had before TVM 0.17, which pipelines may still use.
//
// O(nodes). Source: TVM 0.18's pass of this name.
#include "iropt/transform/passes.h"

namespace iropt {

Pass CreateVMBuiltinLower(const PassOptions& options) { return CreateLowerRuntimeBuiltin(options); }

}  // namespace iropt
