#include "session.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "iropt/pass/print_ir.h"
#include "iropt/support/parallel.h"
#include "iropt/text/printer.h"
#include "iropt/transform/passes.h"
#include "load_plugins.h"
#include "verify_each.h"

namespace iropt {

namespace {

bool WantsColour(Colour colour) {
  if (colour != Colour::Auto) return colour == Colour::Always;
  const char* terminal = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr && terminal != nullptr &&
         std::string_view(terminal) != "dumb";
}

std::unique_ptr<DiagnosticConsumer> MakeConsumer(const DriverOptions& options, OutputStream* out,
                                                 const SourceManager* sources) {
  if (options.diagnostics == DiagnosticFormat::Json) return std::make_unique<JsonConsumer>(out, sources);
  return std::make_unique<TextConsumer>(out, sources, WantsColour(options.colour));
}

std::vector<std::string> NamesOf(const std::vector<LocatedName>& names) {
  std::vector<std::string> result;
  for (const LocatedName& name : names) result.push_back(name.name);
  return result;
}

std::vector<LocatedName> WithoutPlace(const std::vector<std::string>& names) {
  std::vector<LocatedName> result;
  for (const std::string& name : names) result.push_back({name, {}});
  return result;
}

void Append(std::vector<std::string>& to, const std::vector<std::string>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

}  // namespace

Session::Session(const DriverOptions& options)
    : options_(options),
      err_(STDERR_FILENO),
      consumer_(MakeConsumer(options, &err_, &sources_)),
      diagnostics_(consumer_.get()),
      wants_timing_(options.time_passes) {
  const Status registered = RegisterAllPasses(registry_);
  IROPT_CHECK(registered.ok(), "{}", registered.error().message);
  context_.registry = &registry_;
  context_.diagnostics = &diagnostics_;
  context_.threads = options.threads > 0 ? options.threads : DefaultThreadCount();
}

int Session::Fail(const Error& error, std::string_view kind) {
  if (!error.reported()) diagnostics_.Error({}, kind, error.message);
  return ExitCode(error.code);
}

Status Session::SetUp() {
  IROPT_RETURN_IF_ERROR(LoadPlugins(options_.plugins, registry_));
  IROPT_RETURN_IF_ERROR(ReadPipelineFile());
  IROPT_RETURN_IF_ERROR(ReadPasses());
  IROPT_RETURN_IF_ERROR(FillContext());
  IROPT_RETURN_IF_ERROR(AddInstruments());
  if (!pipeline_) return {};
  IROPT_ASSIGN_OR_RETURN(pass_, BuildPipeline(*pipeline_, registry_, diagnostics_, &context_));
  if (options_.print_pipeline) {
    err_.Append(PrintPipeline(*pipeline_) + '\n');
    static_cast<void>(err_.Flush());
  }
  NoteSkipped();
  return {};
}

Status Session::ReadPipelineFile() {
  if (!options_.pipeline_file) return {};
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<const FileBuffer> text, ReadFile(*options_.pipeline_file));
  IROPT_ASSIGN_OR_RETURN(const uint32_t base, sources_.AddBuffer(*options_.pipeline_file, text->text(), text));
  std::optional<PipelineFile> file = ParsePipelineFile(text->text(), base, diagnostics_);
  if (!file) return Failure{ErrorCode::Usage};
  file_ = *std::move(file);
  return LoadPluginsOf(file_, *options_.pipeline_file, registry_, diagnostics_);
}

Status Session::ReadPasses() {
  pipeline_ = std::move(file_.passes);
  if (options_.passes) {
    const auto text = std::make_shared<const FileBuffer>(*options_.passes);
    IROPT_ASSIGN_OR_RETURN(const uint32_t base, sources_.AddBuffer("-passes", text->text(), text));
    pipeline_ = ParsePipeline(text->text(), base, diagnostics_);
    if (!pipeline_) return Failure{ErrorCode::Usage};
  }
  if (!pipeline_ && options_.opt_level) {
    PipelineItem item;
    item.kind = PipelineItem::Kind::Default;
    item.count = *options_.opt_level;
    pipeline_ = Pipeline{item};
  }
  return {};
}

// A name may be that of a pass, or that of a Sequential in the pipeline.
Status Session::CheckNames(const std::vector<LocatedName>& names) {
  std::vector<std::string_view> known;
  for (const auto& [name, row] : registry_.passes()) known.push_back(name);
  if (pipeline_) std::ranges::copy(NamesIn(*pipeline_), std::back_inserter(known));
  bool ok = true;
  for (const LocatedName& name : names) {
    if (std::ranges::find(known, name.name) != known.end()) continue;
    ReportUnknownName(fmt::format("unknown pass '{}'", name.name), name.name, known, "unknown-pass", name.span,
                      diagnostics_);
    ok = false;
  }
  if (!ok) return Failure{ErrorCode::Usage};
  return {};
}

Status Session::FillContext() {
  IROPT_RETURN_IF_ERROR(CheckNames(file_.disabled));
  IROPT_RETURN_IF_ERROR(CheckNames(file_.required));
  IROPT_RETURN_IF_ERROR(CheckNames(WithoutPlace(options_.disable)));
  IROPT_RETURN_IF_ERROR(CheckNames(WithoutPlace(options_.require)));
  context_.opt_level = options_.opt_level.value_or(file_.opt_level.value_or(kDefaultOptLevel));
  context_.disabled_pass = NamesOf(file_.disabled);
  context_.required_pass = NamesOf(file_.required);
  // The command line wins: what it requires is no longer disabled by the file.
  std::erase_if(context_.disabled_pass, [&](const std::string& name) {
    return std::ranges::find(options_.require, name) != options_.require.end();
  });
  Append(context_.disabled_pass, options_.disable);
  Append(context_.required_pass, options_.require);
  context_.target = std::move(file_.target);
  bool ok = true;
  for (Value::Entry& entry : file_.config) {
    ok &= context_.SetConfig(entry.key, std::move(entry.value), diagnostics_, entry.key_span);
  }
  if (!ok) return Failure{ErrorCode::Usage};
  return {};
}

Status Session::AddInstrumentsOfFile(PrintRequest& before, PrintRequest& after, bool& verify) {
  constexpr std::string_view kKnown[] = {"print-after", "print-before", "timing", "verify-each"};
  bool ok = true;
  for (const InstrumentSpec& spec : file_.instruments) {
    IROPT_RETURN_IF_ERROR(CheckNames(spec.passes));
    if (spec.name == "timing") {
      wants_timing_ = true;
    } else if (spec.name == "verify-each") {
      verify = true;
    } else if (spec.name == "print-before" || spec.name == "print-after") {
      PrintRequest& request = spec.name == "print-before" ? before : after;
      request.all |= spec.passes.empty();
      Append(request.passes, NamesOf(spec.passes));
    } else {
      ReportUnknownName(fmt::format("unknown instrument '{}'", spec.name), spec.name, kKnown, "unknown-instrument",
                        spec.span, diagnostics_);
      ok = false;
    }
  }
  if (!ok) return Failure{ErrorCode::Usage};
  return {};
}

// What looks at the module before a pass comes before the clocks, what looks at it afterwards comes after them.
Status Session::AddInstruments() {
  PrintRequest before = options_.print_before;
  PrintRequest after = options_.print_after;
  bool verify = options_.verify_each;
  IROPT_RETURN_IF_ERROR(CheckNames(WithoutPlace(before.passes)));
  IROPT_RETURN_IF_ERROR(CheckNames(WithoutPlace(after.passes)));
  IROPT_RETURN_IF_ERROR(AddInstrumentsOfFile(before, after, verify));
  const auto print = [this](const Module& module, const std::string& heading) -> Status {
    err_.Append(fmt::format("# {}\n", heading));
    PrintModule(module, {.inline_constants = options_.inline_constants, .threads = threads()}, err_);
    return err_.Flush();
  };
  const auto passes_of = [](const PrintRequest& r) { return r.all ? std::vector<std::string>() : r.passes; };
  InstrumentList& list = context_.instruments;
  const auto audit = verify ? std::make_shared<ChangeAudit>() : nullptr;
  if (before.wanted()) list.push_back(std::make_shared<PrintIRBefore>(passes_of(before), print));
  if (verify) list.push_back(audit);
  if (options_.report) list.push_back(report_ = std::make_shared<Report>(err_));
  if (wants_timing_) list.push_back(timing_ = std::make_shared<PassTimingInstrument>());
  const VerifyOptions checks{.check_types = !options_.skip_type_check, .threads = threads()};
  if (verify) list.push_back(std::make_shared<VerifyEach>(checks, audit, diagnostics_));
  if (after.wanted()) list.push_back(std::make_shared<PrintIRAfter>(passes_of(after), print));
  return {};
}

void Session::NoteSkipped() {
  for (const PipelineItem* item : SkippedByLevel(*pipeline_, registry_, context_)) {
    const bool is_pass = item->kind == PipelineItem::Kind::Pass;
    const int level = is_pass ? registry_.Find(item->name)->info.opt_level : *item->opt_level;
    const std::string name =
        is_pass ? fmt::format("pass '{}'", item->name) : fmt::format("Sequential '{}'", item->name);
    Diagnostic note;
    note.severity = Severity::Note;
    note.kind = "pass-skipped";
    note.span = item->span;
    note.message = fmt::format("{} is skipped: its level {} is above -O{}", name, level, context_.opt_level);
    diagnostics_.Report(std::move(note));
  }
}

}  // namespace iropt
