#include "session.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "iropt/pass/bisect.h"
#include "iropt/pass/config.h"
#include "iropt/pass/print_instruments.h"
#include "iropt/support/parallel.h"
#include "iropt/text/printer.h"
#include "iropt/transform/passes.h"
#include "load_plugins.h"
#include "script_reader.h"
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

}  // namespace

Session::Session(const DriverOptions& options)
    : options_(options),
      err_(STDERR_FILENO),
      consumer_(MakeConsumer(options, &err_, &sources_)),
      diagnostics_(consumer_.get()) {
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
  if (options_.explain_pipeline) {
    explanation_ = std::make_unique<Explanation>(context_, Origins());
    context_.observer = explanation_.get();
  } else {
    NoteSkipped();
  }
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
    IROPT_ASSIGN_OR_RETURN(const uint32_t base, AddText("-passes", *options_.passes));
    pipeline_ = ParsePipeline(*options_.passes, base, diagnostics_);
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

// A source of its own for the value of a flag, so that messages show where in it they are about.
Result<uint32_t> Session::AddText(std::string flag, const std::string& value) {
  const auto text = std::make_shared<const FileBuffer>(value);
  return sources_.AddBuffer(std::move(flag), text->text(), text);
}

Result<std::vector<LocatedName>> Session::ReadNames(const char* flag, const std::vector<std::string>& names) {
  std::vector<LocatedName> located;
  if (names == std::vector<std::string>{""}) return located;  // "-disable=" names nothing
  IROPT_ASSIGN_OR_RETURN(uint32_t base, AddText(flag, fmt::format("{}", fmt::join(names, ","))));
  for (const std::string& name : names) {
    const auto end = static_cast<uint32_t>(base + name.size());
    located.push_back({name, {base, end}});
    base = end + 1;
  }
  IROPT_RETURN_IF_ERROR(CheckNames(located));
  return located;
}

Status Session::FillNames() {
  IROPT_RETURN_IF_ERROR(CheckNames(file_.disabled));
  IROPT_RETURN_IF_ERROR(CheckNames(file_.required));
  IROPT_ASSIGN_OR_RETURN(disabled_, ReadNames("-disable", options_.disable));
  IROPT_ASSIGN_OR_RETURN(required_, ReadNames("-require", options_.require));
  // The command line wins: what it requires is no longer disabled by the file.
  std::ranges::copy_if(file_.disabled, std::back_inserter(disabled_), [&](const LocatedName& name) {
    return std::ranges::find(options_.require, name.name) == options_.require.end();
  });
  std::ranges::copy(file_.required, std::back_inserter(required_));
  context_.disabled_pass = NamesOf(disabled_);
  context_.required_pass = NamesOf(required_);
  return {};
}

Status Session::FillContext() {
  IROPT_RETURN_IF_ERROR(FillNames());
  context_.opt_level = options_.opt_level.value_or(file_.opt_level.value_or(kDefaultOptLevel));
  context_.target = file_.target;
  return FillConfig();
}

// What the command line says comes last and wins.
Status Session::FillConfig() {
  for (const std::string& text : options_.config) {
    IROPT_ASSIGN_OR_RETURN(const uint32_t base, AddText("-config", text));
    std::optional<OptionValue::Dict> config = ParseConfig(text, base, diagnostics_);
    if (!config) return Failure{ErrorCode::Usage};
    std::ranges::move(*config, std::back_inserter(file_.config));
  }
  bool ok = true;
  for (const OptionValue::Entry& entry : file_.config) {
    ok &= context_.SetConfig(entry.key, entry.value, diagnostics_, entry.key_span);
  }
  if (!ok) return Failure{ErrorCode::Usage};
  file_.config.clear();
  for (const auto& [key, value] : context_.config()) file_.config.push_back({key, value, {}});
  return {};
}

Result<InstrumentPlan> Session::PlanInstruments() {
  InstrumentPlan plan(options_);
  IROPT_RETURN_IF_ERROR(ReadNames("-print-before", options_.print_before.passes));
  IROPT_RETURN_IF_ERROR(ReadNames("-print-after", options_.print_after.passes));
  std::vector<InstrumentSpec> specs = file_.instruments;
  for (const std::string& text : options_.instruments) {
    IROPT_ASSIGN_OR_RETURN(const uint32_t base, AddText("-instruments", text));
    const std::optional<std::vector<InstrumentSpec>> more = ParseInstruments(text, base, diagnostics_);
    if (!more) return Failure{ErrorCode::Usage};
    specs.insert(specs.end(), more->begin(), more->end());
  }
  std::optional<ErrorCode> failure;
  for (const InstrumentSpec& spec : specs) {
    const Status added = plan.Add(spec, registry_, diagnostics_);
    if (!added.ok() && !failure) failure = added.error().code;
  }
  if (failure) return Failure{*failure};
  IROPT_RETURN_IF_ERROR(CheckNames(plan.print_passes));
  return plan;
}

// What looks at the module before a pass comes before the clocks, what looks at it afterwards comes after them.
Status Session::AddInstruments() {
  IROPT_ASSIGN_OR_RETURN(const InstrumentPlan plan, PlanInstruments());
  instruments_ = plan.Specs();
  const auto say = [this](std::string_view text) {
    err_.Append(text);
    static_cast<void>(err_.Flush());
  };
  const auto print = [this](const Module& module, std::string heading) -> Status {
    // The heading is a comment, of one line or more.
    for (size_t i = 0; (i = heading.find('\n', i)) != std::string::npos; i += 3) heading.replace(i, 1, "\n# ");
    err_.Append(fmt::format("# {}\n", heading));
    PrintModule(module, {.inline_constants = options_.inline_constants, .threads = threads()}, err_);
    return err_.Flush();
  };
  context_.printer = print;
  context_.reader = std::make_shared<ScriptReader>();
  const auto passes_of = [](const PrintRequest& r) { return r.all ? std::vector<std::string>() : r.passes; };
  InstrumentList& list = context_.instruments;
  const auto audit = plan.verify_each ? std::make_shared<ChangeAudit>() : nullptr;
  if (plan.bisect_limit) list.push_back(std::make_shared<OptBisect>(*plan.bisect_limit, say));
  if (plan.print_before.wanted()) list.push_back(std::make_shared<PrintIRBefore>(passes_of(plan.print_before), print));
  if (plan.verify_each) {
    list.push_back(audit);
    for (const char* key : {"testing.verify_analyses", "testing.verify_forms"}) {
      static_cast<void>(context_.SetConfig(key, true, diagnostics_));
    }
  }
  list.insert(list.end(), plan.others.begin(), plan.others.end());
  if (plan.report) list.push_back(report_ = std::make_shared<Report>(err_));
  if (plan.timing) list.push_back(timing_ = std::make_shared<PassTimingInstrument>());
  const VerifyOptions checks{.check_types = !options_.skip_type_check, .threads = threads()};
  if (plan.verify_each) list.push_back(std::make_shared<VerifyEach>(checks, audit, diagnostics_));
  if (plan.print_after.wanted()) list.push_back(std::make_shared<PrintIRAfter>(passes_of(plan.print_after), print));
  return {};
}

std::string Session::LevelOrigin() const {
  if (options_.opt_level) return fmt::format("-O{}", context_.opt_level);
  if (file_.opt_level) return fmt::format("-O{} of {}", context_.opt_level, *options_.pipeline_file);
  return fmt::format("-O{}, the default", context_.opt_level);
}

// The command line comes first in the lists, and is what is then named.
SettingOrigins Session::Origins() const {
  const auto find = [this](const std::vector<LocatedName>& names, std::string_view pass) -> std::string {
    const auto at = std::ranges::find(names, pass, &LocatedName::name);
    if (at == names.end()) return "the context";
    const SourceLocation location = sources_.Locate(at->span.begin);
    if (location.name.starts_with('-')) return std::string(location.name);
    return fmt::format("{}:{}:{}", location.name, location.line, location.column);
  };
  return {.level = LevelOrigin(),
          .disabled = [this, find](std::string_view pass) { return find(disabled_, pass); },
          .required = [this, find](std::string_view pass) { return find(required_, pass); }};
}

std::string Session::PrintPipeline() const { return iropt::PrintPipeline(pipeline_.value_or(Pipeline())) + '\n'; }

std::string Session::PrintPipelineFile() const {
  PipelineFile file;
  for (const PluginRecord& plugin : registry_.plugins()) file.plugins.push_back({plugin.path, {}});
  file.opt_level = context_.opt_level;
  file.disabled = disabled_;
  file.required = required_;
  file.config = file_.config;
  file.passes = pipeline_;
  file.target = file_.target;
  file.instruments = instruments_;
  return iropt::PrintPipelineFile(file);
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
