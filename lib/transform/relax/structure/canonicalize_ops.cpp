// CanonicalizeOps: expand composite operators of Relay into simple ones.
//
// There is nothing to do for a module of Relax: what the passes CanonicalizeOps and qnn.CanonicalizeOps of Relay do,
// the reader of Relay has done. It expands bias_add, and quantized operators into integer arithmetic.
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"

namespace iropt {

Pass CreateCanonicalizeOps(const PassOptions& options) {
  return CreateModulePass(options.info(), [](Module module, ModulePassContext&) -> Result<Module> { return module; });
}

}  // namespace iropt
