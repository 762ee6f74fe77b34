// PrintIR: shows the module where it stands in a pipeline, and changes nothing.
//
//   -passes='FoldConstant,PrintIR<header="after folding">,EliminateCommonSubexpr'
//
// Where the module goes is up to the printer of the context; in ir-opt, to the standard error output. The header is
// shown above it as a comment. O(size of the text). Source: reference 000, "Debugging".
#include <string>

#include "iropt/transform/passes.h"

namespace iropt {

Pass CreatePrintIR(const PassOptions& options) {
  std::string heading = options.String("header");
  if (heading.empty()) heading = "IR";
  return CreateModulePass(options.info(), [heading](Module module, ModulePassContext& context) -> Result<Module> {
    const ModulePrinter& print = context.context.printer;
    if (!print) return Error{ErrorCode::PassFailed, "the context has no printer"};
    IROPT_RETURN_IF_ERROR(print(module, heading));
    return module;
  });
}

}  // namespace iropt
