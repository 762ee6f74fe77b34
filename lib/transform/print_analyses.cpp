// PrintAnalyses: prints what analyses find out about the module at its position in a pipeline.
//
//   -passes='FuseOps,print<call_graph;uses>'
//
// Each option is an analysis, of the library or of a plugin (PassRegistry::AddAnalysis). The module stays unchanged.
// Source: the passes print<...> of LLVM's opt.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "iropt/pass/registry.h"
#include "iropt/transform/passes.h"

namespace iropt {

namespace {

Status PrintAnalysis(std::string_view name, const Module& module, const PassContext& context) {
  const auto& analyses = context.Registry().analyses();
  const auto found = analyses.find(name);
  if (found == analyses.end())
    return Error{ErrorCode::PassFailed, fmt::format("the registry of the context lacks the analysis '{}'", name)};
  return context.text_printer(fmt::format("# analysis {}\n{}", name, found->second.print(module, context)));
}

}  // namespace

Pass CreatePrintAnalyses(const PassOptions& options) {
  std::vector<std::string> names;
  for (const OptionValue::Entry& option : options.info().options) {
    if (options.Bool(option.key)) names.push_back(option.key);
  }
  if (names.empty()) {
    options.diagnostics().Error({}, "wrong-option-value",
                                fmt::format("{} names no analysis: expected some of its options, as in print<uses>; "
                                            "PrintIR prints the module",
                                            options.owner()));
  }
  return CreateModulePass(options.info(), [names](Module module, ModulePassContext& context) -> Result<Module> {
    if (!context.context.text_printer) return Error{ErrorCode::PassFailed, "the context has no printer of text"};
    for (const std::string& name : names) IROPT_RETURN_IF_ERROR(PrintAnalysis(name, module, context.context));
    return module;
  });
}

}  // namespace iropt
