// main MODULE.ir PASSES [PLUGIN]...: runs a pipeline and prints the module.
#include <cstdio>
#include <optional>
#include <string>

#include "iropt/diag/consumers.h"
#include "iropt/pass/context.h"
#include "iropt/pass/load_plugin.h"
#include "iropt/pass/pipeline.h"
#include "iropt/text/script/parser.h"
#include "iropt/text/script/printer.h"
#include "iropt/transform/passes.h"

namespace {

iropt::Status Run(int argc, char** argv, iropt::SourceManager& sources, iropt::DiagnosticEngine& diagnostics) {
  const std::string path = argv[1];
  const std::string passes = argv[2];
  iropt::PassRegistry registry;
  IROPT_RETURN_IF_ERROR(iropt::RegisterAllPasses(registry));
  for (int i = 3; i < argc; ++i) IROPT_RETURN_IF_ERROR(iropt::LoadPassPlugin(argv[i], registry));
  IROPT_ASSIGN_OR_RETURN(const auto file, iropt::ReadFile(path));
  IROPT_ASSIGN_OR_RETURN(const uint32_t base, sources.AddBuffer(path, file->text(), file));
  std::optional<iropt::Module> module = iropt::ParseModule(file->text(), base, {}, diagnostics);
  if (!module) return iropt::Failure{iropt::ErrorCode::Parse};
  IROPT_ASSIGN_OR_RETURN(const uint32_t passes_base, sources.AddBuffer("passes", passes, nullptr));
  const std::optional<iropt::Pipeline> pipeline = iropt::ParsePipeline(passes, passes_base, diagnostics);
  if (!pipeline) return iropt::Failure{iropt::ErrorCode::Usage};
  IROPT_ASSIGN_OR_RETURN(const iropt::Pass pass, iropt::BuildPipeline(*pipeline, registry, diagnostics));
  iropt::PassContext context;
  context.registry = &registry;
  context.diagnostics = &diagnostics;
  IROPT_ASSIGN_OR_RETURN(const iropt::PassResult result, pass(*std::move(module), context));
  std::fputs(iropt::ModuleToString(result.module).c_str(), stdout);
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 1;
  iropt::OutputStream err(2);
  iropt::SourceManager sources;
  iropt::TextConsumer consumer(&err, &sources, false);
  iropt::DiagnosticEngine diagnostics(&consumer);
  const iropt::Status status = Run(argc, argv, sources, diagnostics);
  if (status.ok()) return 0;
  if (!status.error().reported()) diagnostics.Error({}, "pass-failed", status.error().message);
  return iropt::ExitCode(status.error().code);
}
