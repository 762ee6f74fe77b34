// VMBuiltinLower: the name that LowerRuntimeBuiltin had before TVM 0.17, which pipelines may still use.
//
// O(nodes). Source: TVM 0.18's pass of this name.
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"

namespace iropt {

Pass CreateLowerRuntimeBuiltin(const PassOptions& options);

Pass CreateVMBuiltinLower(const PassOptions& options) { return CreateLowerRuntimeBuiltin(options); }

}  // namespace iropt
