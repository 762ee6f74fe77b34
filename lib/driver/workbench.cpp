#include "iropt/driver/workbench.h"

#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <utility>

#include "iropt/analysis/well_formed.h"
#include "iropt/pass/pipeline.h"
#include "iropt/text/parser.h"
#include "iropt/text/printer.h"
#include "iropt/transform/passes.h"
#include "script_reader.h"

namespace iropt {

namespace {

Result<Module> ReadBuffer(const std::string& name, std::shared_ptr<const FileBuffer> text, Workbench& bench) {
  IROPT_ASSIGN_OR_RETURN(const uint32_t base, bench.sources().AddBuffer(name, text->text(), text));
  std::optional<Module> module = ParseModule(text->text(), base, {}, bench.diagnostics());
  if (!module) return Failure{ErrorCode::Parse};
  if (!VerifyModule(*module, {}, bench.diagnostics())) return Failure{ErrorCode::IllFormed};
  return *std::move(module);
}

}  // namespace

Workbench::Workbench() : err_(STDERR_FILENO), consumer_(&err_, &sources_, /*colour=*/false), diagnostics_(&consumer_) {}

Result<Module> Workbench::ReadModule(const std::string& path) {
  IROPT_ASSIGN_OR_RETURN(std::shared_ptr<const FileBuffer> text, ReadFile(path));
  return ReadBuffer(path == "-" ? "<stdin>" : path, std::move(text), *this);
}

Result<Module> Workbench::ParseModule(std::string text, std::string name) {
  return ReadBuffer(name, std::make_shared<const FileBuffer>(std::move(text)), *this);
}

Result<Pass> Workbench::MakePass(std::string pipeline) {
  const auto text = std::make_shared<const FileBuffer>(std::move(pipeline));
  IROPT_ASSIGN_OR_RETURN(const uint32_t base, sources_.AddBuffer("passes", text->text(), text));
  const std::optional<Pipeline> parsed = ParsePipeline(text->text(), base, diagnostics_);
  if (!parsed) return Failure{ErrorCode::Usage};
  return BuildPipeline(*parsed, AllPasses(), diagnostics_);
}

PassContext Workbench::MakeContext(int opt_level) {
  PassContext context;
  context.opt_level = opt_level;
  context.diagnostics = &diagnostics_;
  context.registry = &AllPasses();
  context.printer = [this](const Module& module, const std::string& heading) {
    err_.Append(fmt::format("# {}\n", heading));
    PrintModule(module, {}, err_);
    return err_.Flush();
  };
  context.reader = std::make_shared<ScriptReader>();
  return context;
}

int Workbench::Finish(const Status& status) {
  if (status.ok()) return 0;
  const Error& error = status.error();
  if (!error.reported())
    diagnostics_.Error({}, error.code == ErrorCode::Usage ? "usage" : "pass-failed", error.message);
  return ExitCode(error.code);
}

}  // namespace iropt
