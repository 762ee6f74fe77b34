// The library without the driver: reads a module, runs two passes on it, prints it.
//
//   optimize sequential.ir
#include <cstdio>
#include <optional>

#include "iropt/diag/consumers.h"
#include "iropt/pass/context.h"
#include "iropt/pass/pipeline.h"
#include "iropt/text/parser.h"
#include "iropt/text/printer.h"
#include "iropt/transform/passes.h"

namespace {

constexpr const char* kPasses = "FoldConstant,EliminateCommonSubexpr";

// Errors in the module go to the diagnostics; what is returned says which step failed.
iropt::Status Optimize(const char* path, iropt::SourceManager& sources, iropt::DiagnosticEngine& diagnostics) {
  IROPT_ASSIGN_OR_RETURN(const auto file, iropt::ReadFile(path));
  IROPT_ASSIGN_OR_RETURN(const uint32_t base, sources.AddBuffer(path, file->text(), file));
  std::optional<iropt::Module> module = iropt::ParseModule(file->text(), base, {}, diagnostics);
  if (!module) return iropt::Failure{iropt::ErrorCode::Parse};

  iropt::PassRegistry registry;
  IROPT_RETURN_IF_ERROR(iropt::RegisterAllPasses(registry));
  iropt::PassContext context;
  context.registry = &registry;
  context.diagnostics = &diagnostics;
  context.opt_level = 3;

  // The same language as that of `ir-opt -passes=`; CreateFunctionPass and its like make passes of your own.
  IROPT_ASSIGN_OR_RETURN(const uint32_t passes_base, sources.AddBuffer("passes", kPasses, nullptr));
  const std::optional<iropt::Pipeline> pipeline = iropt::ParsePipeline(kPasses, passes_base, diagnostics);
  if (!pipeline) return iropt::Failure{iropt::ErrorCode::Usage};
  IROPT_ASSIGN_OR_RETURN(const iropt::Pass pass, iropt::BuildPipeline(*pipeline, registry, diagnostics));
  IROPT_ASSIGN_OR_RETURN(const iropt::PassResult result, pass(*std::move(module), context));
  std::fputs(iropt::ModuleToString(result.module).c_str(), stdout);
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: optimize MODULE.ir\n", stderr);
    return 1;
  }
  iropt::OutputStream err(2);
  iropt::SourceManager sources;
  iropt::TextConsumer consumer(&err, &sources, false);
  iropt::DiagnosticEngine diagnostics(&consumer);
  const iropt::Status status = Optimize(argv[1], sources, diagnostics);
  if (status.ok()) return 0;
  if (!status.error().reported()) diagnostics.Error({}, "pass-failed", status.error().message);
  return iropt::ExitCode(status.error().code);
}
