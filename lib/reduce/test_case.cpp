#include "test_case.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "iropt/analysis/well_formed.h"
#include "iropt/diag/consumers.h"
#include "iropt/driver/load_plugins.h"
#include "iropt/observe/snapshot.h"

namespace iropt {

namespace {

// Diagnostics of candidates are not shown.
class NullConsumer : public DiagnosticConsumer {
 public:
  void Consume(const Diagnostic&) override {}
};

DiagnosticConsumer& Nowhere() {
  static NullConsumer consumer;
  return consumer;
}

std::string HeaderOf(const Candidate& candidate, const std::string& path) {
  return candidate.pipeline ? SnapshotHeader("reduced by ir-reduce", *candidate.pipeline, path) : std::string();
}

Result<std::optional<PipelineFile>> ReadPipeline(CompilerInstance& compiler, std::string_view text) {
  const std::optional<std::string> json = PipelineOfSnapshot(text);
  if (!json) return std::optional<PipelineFile>();
  IROPT_ASSIGN_OR_RETURN(const uint32_t base, compiler.AddText("the pipeline in the comments", *json));
  std::optional<PipelineFile> file = ParsePipelineFile(*json, base, compiler.diagnostics());
  if (!file) return Failure{ErrorCode::Usage};
  return file;
}

}  // namespace

TestCaseMaker::TestCaseMaker(CompilerInstance& compiler, std::string folder)
    : compiler_(compiler), folder_(std::move(folder)) {}

VerifyOptions TestCaseMaker::verify_options() const {
  VerifyOptions options = compiler_.verify_options();
  options.allow_free_vars = allow_free_vars_;
  return options;
}

Result<TestCase> TestCaseMaker::ReadInput(const ModuleSource& source) {
  TestCase test_case;
  IROPT_ASSIGN_OR_RETURN(test_case.parts.pipeline, ReadPipeline(compiler_, source.text));
  // The operators of the module may come from them.
  if (test_case.parts.pipeline) {
    IROPT_RETURN_IF_ERROR(
        LoadPluginsOf(*test_case.parts.pipeline, source.name, compiler_.registry(), compiler_.diagnostics()));
  }
  IROPT_ASSIGN_OR_RETURN(test_case.parts.module, compiler_.Parse(source));
  IROPT_RETURN_IF_ERROR(compiler_.Verify(test_case.parts.module));
  if (!CheckTextSize(test_case.parts.module, compiler_.diagnostics())) return Failure{ErrorCode::Budget};
  allow_free_vars_ = HasFreeVars(test_case.parts.module);
  return test_case;
}

std::optional<std::string> TestCaseMaker::Print(const Candidate& candidate) const {
  DiagnosticEngine diagnostics(&Nowhere());
  if (!VerifyModule(candidate.module, verify_options(), diagnostics)) return std::nullopt;
  std::string text = HeaderOf(candidate, "FILE");
  OutputStream out(&text);
  compiler_.Print(candidate.module, out, (std::filesystem::path(folder_) / "module.ir").string());
  static_cast<void>(out.Flush());
  return text;
}

Result<std::string> TestCaseMaker::PrintTo(const TestCase& test_case, const std::string& path) const {
  IROPT_ASSIGN_OR_RETURN(const FormatRow* row, CompilerInstance::OutputFormatOf(path, {}));
  IROPT_ASSIGN_OR_RETURN(const Format* format, LoadFormat(*row));
  const bool is_script = row == &Formats().front();
  std::string text = is_script ? HeaderOf(test_case.parts, path) : std::string();
  OutputStream out(&text);
  IROPT_RETURN_IF_ERROR(compiler_.Write(test_case.parts.module, out, path, *format));
  IROPT_RETURN_IF_ERROR(out.Flush());
  return text;
}

std::optional<TestCase> TestCaseMaker::Read(std::string text) const {
  CompilerOptions options = compiler_.options();
  options.input_format = Formats().front().name;
  TestCase test_case{.reader = std::make_shared<CompilerInstance>(options, Nowhere()), .parts = {}, .text = {}};
  const auto buffer = std::make_shared<const FileBuffer>(text);
  const ModuleSource source =
      test_case.reader->SourceAt((std::filesystem::path(folder_) / "module.ir").string(), buffer);
  Result<std::optional<PipelineFile>> pipeline = ReadPipeline(*test_case.reader, text);
  Result<Module> module = test_case.reader->Parse(source);
  if (!pipeline.ok() || !module.ok()) return std::nullopt;
  if (!VerifyModule(*module, verify_options(), test_case.reader->diagnostics())) return std::nullopt;
  test_case.parts = {*std::move(module), *std::move(pipeline)};
  test_case.text = std::move(text);
  return test_case;
}

}  // namespace iropt
