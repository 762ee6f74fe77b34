#include "iropt/driver/compiler_instance.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "driver/script_reader.h"
#include "driver/session/bind_sizes.h"
#include "driver/session/bind_weights.h"
#include "driver/session/wants_colour.h"
#include "iropt/analysis/well_formed.h"
#include "iropt/diag/consumers.h"
#include "iropt/driver/foreign_files.h"
#include "iropt/driver/load_plugins.h"
#include "iropt/ir/relax/walk.h"
#include "iropt/pass/pipeline.h"
#include "iropt/support/check.h"
#include "iropt/support/parallel.h"
#include "iropt/support/terminal.h"
#include "iropt/text/script/printer.h"
#include "iropt/text/script/version.h"
#include "iropt/transform/passes.h"

namespace iropt {

namespace {

// The folder that paths in the text of a file are relative to; empty for the current one, which streams have.
std::string FolderOf(const std::string& path) {
  return IsStandardStream(path) ? std::string() : std::filesystem::path(path).parent_path().string();
}

// Of a constant in text that is only to be looked at.
constexpr int64_t kMostShownBytes = 1024;

bool HasLargerConstant(const Module& module, int64_t bytes) {
  struct Handler : WalkHandler {
    void OnConstant(const Constant& constant) { most = std::max<uint64_t>(most, constant.data->num_bytes()); }
    uint64_t most = 0;
  };
  Handler handler;
  for (const ModuleEntry& entry : module.functions()) {
    if (const auto* function = As<Function>(entry.func)) Walk(function, handler);
  }
  return handler.most > static_cast<uint64_t>(bytes);
}

std::unique_ptr<DiagnosticConsumer> MakeConsumer(const CompilerOptions& options, OutputStream* out,
                                                 const SourceManager* sources) {
  switch (options.diagnostics) {
    case DiagnosticFormat::Text:
      return std::make_unique<TextConsumer>(
          out, sources,
          TextStyle{.colour = WantsColour(options.colour, STDERR_FILENO),
                    .columns = TerminalWidth(STDERR_FILENO).value_or(TextStyle().columns),
                    .program = options.program});
    case DiagnosticFormat::Json: return std::make_unique<JsonConsumer>(out, sources);
    case DiagnosticFormat::Sarif: return std::make_unique<SarifConsumer>(out, sources);
  }
  IROPT_UNREACHABLE("format of diagnostics {}", options.diagnostics);
}

PrintOptions PrintOptionsFor(const CompilerInstance& compiler, const SourceManager& sources, const std::string& path) {
  const CompilerOptions& options = compiler.options();
  const ConstantExternalizer* externalizer = compiler.weights().externalizer();
  return {.pep695 = options.pep695,
          .inline_constants = options.inline_constants,
          .threads = compiler.threads(),
          .external = externalizer ? &externalizer->references() : nullptr,
          .elide_larger_than = options.elide_larger_than.value_or(INT64_MAX),
          .folder = FolderOf(path),
          .locations = options.print_locations ? &sources : nullptr};
}

// Those of text that is only to be looked at. Constants whose data is left out need no metadata section.
PrintOptions ShownOptions(const CompilerInstance& compiler, const SourceManager& sources, const Module& module) {
  PrintOptions shown = PrintOptionsFor(compiler, sources, "-");
  if (!compiler.options().elide_larger_than) shown.show_meta = !HasLargerConstant(module, kMostShownBytes);
  return shown;
}

}  // namespace

// Passes diagnostics on to a consumer, and to a listener if there is one.
class DiagnosticTee : public DiagnosticConsumer {
 public:
  // A quiet one does not pass remarks on to the consumer.
  DiagnosticTee(DiagnosticConsumer& consumer, bool is_quiet) : consumer_(consumer), is_quiet_(is_quiet) {}
  void set_listener(DiagnosticConsumer* listener) { listener_ = listener; }

  void Consume(const Diagnostic& diagnostic) override {
    if (!is_quiet_ || diagnostic.severity != Severity::Remark) consumer_.Consume(diagnostic);
    if (listener_ != nullptr) listener_->Consume(diagnostic);
  }

 private:
  DiagnosticConsumer& consumer_;
  const bool is_quiet_;
  DiagnosticConsumer* listener_ = nullptr;
};

CompilerInstance::CompilerInstance(CompilerOptions options, DiagnosticConsumer* consumer)
    : options_(std::move(options)),
      threads_(options_.threads > 0 ? options_.threads : DefaultThreadCount()),
      console_(options_.console != nullptr ? OutputStream(options_.console) : OutputStream(STDERR_FILENO)),
      own_consumer_(consumer == nullptr ? MakeConsumer(options_, &console_, &sources_) : nullptr),
      consumers_(std::make_unique<DiagnosticTee>(consumer == nullptr ? *own_consumer_ : *consumer, options_.quiet)),
      diagnostics_(consumers_.get()),
      registry_(AllPasses()),
      weights_(options_, diagnostics_) {
  // A consumer that also takes other output prints everything in one form.
  if (auto* sink = dynamic_cast<OutputSink*>(own_consumer_.get())) formatted_err_.emplace(sink);
  diagnostics_.set_warnings_as_errors(options_.warnings_as_errors);
  registry_.set_reader(std::make_shared<ScriptReader>(sources_));
}

CompilerInstance::~CompilerInstance() = default;

void CompilerInstance::set_listener(DiagnosticConsumer* listener) { consumers_->set_listener(listener); }

Status CompilerInstance::LoadPlugins(std::span<const std::string> paths) {
  return iropt::LoadPlugins(paths, registry_);
}

Result<Module> CompilerInstance::ReadModule(const std::string& path) {
  IROPT_ASSIGN_OR_RETURN(std::shared_ptr<const FileBuffer> text, ReadFile(path));
  ModuleSource source = SourceAt(path, text);
  IROPT_ASSIGN_OR_RETURN(source.format, FormatOf(path, source.text));
  IROPT_ASSIGN_OR_RETURN(Module module, Parse(source));
  IROPT_RETURN_IF_ERROR(Verify(module));
  return module;
}

Result<std::optional<TextVersion>> CompilerInstance::named_version() const {
  if (!options_.text_version) return default_version_;
  const std::optional<TextVersion> version = ParseTextVersion(*options_.text_version);
  if (version) return version;
  return Error{ErrorCode::Usage, fmt::format("unknown text version '{}' (-text-version): expected one of {}",
                                             *options_.text_version, fmt::join(kTextVersions, ", "))};
}

Result<Module> CompilerInstance::ParseModule(std::string text, std::string name) {
  const auto owner = std::make_shared<const FileBuffer>(std::move(text));
  IROPT_ASSIGN_OR_RETURN(Module module, Parse({.name = std::move(name), .owner = owner, .text = owner->text()}));
  IROPT_RETURN_IF_ERROR(Verify(module));
  return module;
}

ModuleSource CompilerInstance::SourceAt(const std::string& path, std::shared_ptr<const FileBuffer> text) const {
  const std::string_view contents = text->text();
  return {.name = path == "-" ? "<stdin>" : path,
          .owner = std::move(text),
          .text = contents,
          .folder = FolderOf(path),
          .weights = options_.weights};
}

Result<Module> CompilerInstance::Parse(const ModuleSource& source) {
  const FormatRow* row = source.format;
  if (row == nullptr) {
    IROPT_ASSIGN_OR_RETURN(row, FormatOf(source.name, source.text));
  }
  IROPT_ASSIGN_OR_RETURN(const Format* format, LoadFormat(*row));
  IROPT_ASSIGN_OR_RETURN(const StatedSizes sizes, ParseStatedSizes(options_.input_shapes, options_.symbols));
  file_nodes_ = {};
  ReadRequest request{.contents = source.text,
                      .owner = source.owner,
                      .name = source.name,
                      .folder = source.folder,
                      .sizes = sizes.empty() ? nullptr : &sizes,
                      .sources = &sources_,
                      .value_names = source.value_names,
                      .nodes = &file_nodes_.read,
                      .left_out = &file_nodes_.left_out,
                      .is_written_back = source.output == row,
                      .format_options = &options_.format_options,
                      .options = {.threads = threads_,
                                  .on_read = [&](std::string_view text) { source.owner->Discard(text); },
                                  .open_tensor = weights_.OpenerFor(source.folder, source.weights),
                                  .unknown_version = source.unknown_version,
                                  .allow_unknown_calls = options_.allow_unknown_calls}};
  if (row->is_text) {
    IROPT_RETURN_IF_ERROR(CheckIsText(source.text));
    IROPT_ASSIGN_OR_RETURN(request.base, sources_.AddBuffer(source.name, source.text, source.owner, source.first_line));
  }
  IROPT_ASSIGN_OR_RETURN(Module module, format->Read(request, diagnostics_));
  if (row->is_text && !sizes.empty()) {
    IROPT_ASSIGN_OR_RETURN(module, BindSizes(std::move(module), sizes, *this));
  }
  if (row->weights_are_parameters && source.weights) {
    IROPT_ASSIGN_OR_RETURN(module, BindWeights(std::move(module), *source.weights, *this));
    weights_.set_bound();
  }
  IROPT_ASSIGN_OR_RETURN(const std::optional<TextVersion> version, named_version());
  if (version) MoveToVersion(module, *version);
  if (options_.verify_weights) {
    weights_.files().CheckAll();
    IROPT_RETURN_IF_ERROR(weights_.Check());
  }
  if (source.transform) {
    IROPT_RETURN_IF_ERROR(Verify(module));
    return source.transform(module);
  }
  return module;
}

Status CompilerInstance::Verify(const Module& module, bool allow_free_vars) {
  if (options_.no_verify) return {};
  VerifyOptions options = verify_options();
  options.allow_free_vars = allow_free_vars;
  if (!VerifyModule(module, options, diagnostics_)) return Failure{ErrorCode::IllFormed};
  return {};
}

Result<const FormatRow*> CompilerInstance::FormatOf(std::string_view path, std::string_view text) const {
  if (options_.input_format) return FindInputFormat(*options_.input_format);
  return &DetectInputFormat(path, text);
}

Result<const FormatRow*> CompilerInstance::OutputFormatOf(std::string_view path, const std::string& emit) {
  if (!emit.empty()) return FindOutputFormat(emit);
  return &DetectOutputFormat(path);
}

void CompilerInstance::Print(const Module& module, OutputStream& out, const std::string& path) const {
  PrintModule(module, PrintOptionsFor(*this, sources_, path), out);
}

Status CompilerInstance::Write(const Module& module, OutputStream& out, const std::string& path, const Format& format,
                               NetworkMode mode) {
  const bool is_shown = path == "-" && !options_.elide_larger_than && isatty(STDOUT_FILENO) != 0 &&
                        &format == &Formats().front().built_in();
  if (is_shown && HasLargerConstant(module, kMostShownBytes)) {
    diagnostics_.Remark(
        {}, "elided-constants",
        fmt::format("constants are left out on a terminal if some have more than {} bytes: -o FILE writes "
                    "them to a file, -elide-constants-larger-than=N prints those of up to N bytes",
                    kMostShownBytes));
  }
  if (path != "-" && options_.elide_larger_than && HasLargerConstant(module, *options_.elide_larger_than)) {
    diagnostics_.Remark({}, "elided-constants",
                        fmt::format("'{}' lacks the data of constants of more than {} bytes, so it cannot be read",
                                    path, *options_.elide_larger_than));
  }
  const WriteRequest request{
      .printing = is_shown ? ShownOptions(*this, sources_, module) : PrintOptionsFor(*this, sources_, path),
      .path = path,
      .options = &options_.format_options,
      .mode = mode,
      .sources = &sources_,
      .nodes = &file_nodes_.written};
  return format.Write(module, request, out, diagnostics_);
}

std::string CompilerInstance::PrintToString(const Module& module) const {
  std::string text;
  OutputStream out(&text);
  Print(module, out);
  static_cast<void>(out.Flush());
  return text;
}

std::string CompilerInstance::ShownText(const Module& module) const {
  return ModuleToString(module, ShownOptions(*this, sources_, module));
}

Result<Pass> CompilerInstance::MakePass(const std::string& pipeline, const PassContext* context) {
  IROPT_ASSIGN_OR_RETURN(const uint32_t base, AddText("passes", pipeline));
  const std::optional<Pipeline> parsed = ParsePipeline(pipeline, base, diagnostics_);
  if (!parsed) return Failure{ErrorCode::Usage};
  return BuildPipeline(*parsed, registry_, diagnostics_, context);
}

PassContext CompilerInstance::MakeContext(int opt_level) {
  PassContext context;
  context.opt_level = opt_level;
  context.diagnostics = &diagnostics_;
  context.registry = &registry_;
  context.threads = threads_;
  context.printer = [this](const Module& module, const std::string& heading) {
    return PrintUnderHeading(module, heading, {});
  };
  context.text_printer = [this](std::string_view text) {
    err().Append(text);
    return err().Flush();
  };
  context.reader = registry_.shared_reader();
  return context;
}

std::string CompilerInstance::Heading(std::string heading, std::string_view details, std::string_view result) const {
  for (size_t i = 0; (i = heading.find('\n', i)) != std::string::npos; i += 3) heading.replace(i, 1, "\n# ");
  std::vector<std::string_view> more = {details, names_inputs_ ? input_ : std::string_view(), chunk_};
  std::erase(more, std::string_view());
  if (!more.empty()) heading += fmt::format(" ({})", fmt::join(more, ", "));
  return fmt::format("# {}{}{}\n", heading, result.empty() ? "" : ": ", result);
}

Status CompilerInstance::PrintUnderHeading(const Module& module, const std::string& heading, std::string_view details) {
  if (!CheckTextSize(module, diagnostics_)) return Failure{ErrorCode::Budget};
  err().Append(Heading(heading, details));
  PrintModule(module, ShownOptions(*this, sources_, module), err());
  return err().Flush();
}

void CompilerInstance::set_input(std::string file, std::string chunk) {
  input_ = std::move(file);
  chunk_ = std::move(chunk);
  diagnostics_.set_input(input_, chunk_);
}

Result<uint32_t> CompilerInstance::AddText(std::string name, std::string text) {
  const auto owner = std::make_shared<const FileBuffer>(std::move(text));
  return sources_.AddBuffer(std::move(name), owner->text(), owner);
}

int CompilerInstance::Report(const Error& error, DiagId kind) {
  if (!error.reported()) diagnostics_.Error({}, kind, error.message);
  return ExitCode(error.code);
}

int CompilerInstance::Finish(const Status& status) {
  if (status.ok()) return 0;
  return Report(status.error(), status.error().code == ErrorCode::Usage ? DiagId("usage") : DiagId("pass-failed"));
}

}  // namespace iropt
