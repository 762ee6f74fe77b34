#include "subject.h"

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

std::string HeaderOf(const Draft& draft, const std::string& path) {
  return draft.pipeline ? SnapshotHeader("reduced by ir-reduce", *draft.pipeline, path) : std::string();
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

SubjectMaker::SubjectMaker(CompilerInstance& compiler, std::string folder)
    : compiler_(compiler), folder_(std::move(folder)) {}

VerifyOptions SubjectMaker::verify_options() const {
  VerifyOptions options = compiler_.verify_options();
  options.allow_free_vars = allow_free_vars_;
  return options;
}

Result<Subject> SubjectMaker::ReadInput(const ModuleSource& source) {
  Subject subject;
  IROPT_ASSIGN_OR_RETURN(subject.draft.pipeline, ReadPipeline(compiler_, source.text));
  // The operators of the module may come from them.
  if (subject.draft.pipeline) {
    IROPT_RETURN_IF_ERROR(
        LoadPluginsOf(*subject.draft.pipeline, source.name, compiler_.registry(), compiler_.diagnostics()));
  }
  IROPT_ASSIGN_OR_RETURN(subject.draft.module, compiler_.Parse(source));
  IROPT_RETURN_IF_ERROR(compiler_.Verify(subject.draft.module));
  if (!CheckTextSize(subject.draft.module, compiler_.diagnostics())) return Failure{ErrorCode::Budget};
  allow_free_vars_ = HasFreeVars(subject.draft.module);
  return subject;
}

std::optional<std::string> SubjectMaker::Print(const Draft& draft) const {
  DiagnosticEngine diagnostics(&Nowhere());
  if (!VerifyModule(draft.module, verify_options(), diagnostics)) return std::nullopt;
  std::string text = HeaderOf(draft, "FILE");
  OutputStream out(&text);
  compiler_.Print(draft.module, out, (std::filesystem::path(folder_) / "module.ir").string());
  static_cast<void>(out.Flush());
  return text;
}

Result<std::string> SubjectMaker::PrintTo(const Subject& subject, const std::string& path) const {
  IROPT_ASSIGN_OR_RETURN(const FormatRow* row, CompilerInstance::OutputFormatOf(path, {}));
  IROPT_ASSIGN_OR_RETURN(const Format* format, LoadFormat(*row));
  const bool is_script = row == &Formats().front();
  std::string text = is_script ? HeaderOf(subject.draft, path) : std::string();
  OutputStream out(&text);
  IROPT_RETURN_IF_ERROR(compiler_.Write(subject.draft.module, out, path, *format));
  IROPT_RETURN_IF_ERROR(out.Flush());
  return text;
}

std::optional<Subject> SubjectMaker::Read(std::string text) const {
  CompilerOptions options = compiler_.options();
  options.input_format = Formats().front().name;
  Subject subject{.reader = std::make_shared<CompilerInstance>(options, Nowhere()), .draft = {}, .text = {}};
  const auto buffer = std::make_shared<const FileBuffer>(text);
  const ModuleSource source = subject.reader->SourceAt((std::filesystem::path(folder_) / "module.ir").string(), buffer);
  Result<std::optional<PipelineFile>> pipeline = ReadPipeline(*subject.reader, text);
  Result<Module> module = subject.reader->Parse(source);
  if (!pipeline.ok() || !module.ok()) return std::nullopt;
  if (!VerifyModule(*module, verify_options(), subject.reader->diagnostics())) return std::nullopt;
  subject.draft = {*std::move(module), *std::move(pipeline)};
  subject.text = std::move(text);
  return subject;
}

}  // namespace iropt
