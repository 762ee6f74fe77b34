// PrintIR: prints the module at its position in a pipeline.
//
//   -passes='FoldConstant,PrintIR<header="after folding">,EliminateCommonSubexpr'
//
// The printer of the context decides on the output; in ir-opt, it is the standard error output. The header is printed
// above the module as a comment. O(size of the text). Source: reference 000, "Debugging".
#include <string>

#include "iropt/transform/options/PrintIR.h"
#include "iropt/transform/passes.h"

namespace iropt {

Pass CreatePrintIR(const PassOptions& options) {
  std::string heading = *pass_options::PrintIR(options).header;
  if (heading.empty()) heading = "IR";
  return CreateModulePass(options.info(), [heading](Module module, ModulePassContext& context) -> Result<Module> {
    const ModulePrinter& print = context.context.printer;
    if (!print) return Error{ErrorCode::PassFailed, "the context has no printer"};
    IROPT_RETURN_IF_ERROR(print(module, heading));
    return module;
  });
}

}  // namespace iropt
