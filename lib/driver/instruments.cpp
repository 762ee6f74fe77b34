#include "instruments.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>

#include "iropt/observe/watchdog.h"
#include "iropt/support/check.h"

namespace iropt {

namespace {

#define IROPT_OPTIONS(...)                                                                                             \
  { __VA_ARGS__ }
#define IROPT_OPTION(Name, Type, Default, Summary)                                                                     \
  OptionSpec { #Name, OptionType::Type, Default, Summary }
#define IROPT_CHOICE(Name, Default, Summary, ...)                                                                      \
  OptionSpec {                                                                                                         \
#Name, OptionType::String, Default, Summary, {}, { __VA_ARGS__ }                                                   \
  }
#define IROPT_INSTRUMENT(Id, Name, Options, Flags, Summary) {InstrumentId::Id, Name, Options, Flags, Summary},

const std::vector<OwnInstrument>& Rows() {
  static const std::vector<OwnInstrument> rows = {
#include "iropt/driver/instruments.def"
  };
  return rows;
}

#undef IROPT_CHOICE
#undef IROPT_OPTION
#undef IROPT_OPTIONS

TimesForm TimesFormOf(std::string_view word) {
  if (word == "list") return TimesForm::List;
  return word == "json" ? TimesForm::Json : TimesForm::Tree;
}

Result<InputKinds> InputKindsOf(const OptionValue& value) {
  std::vector<std::string> words;
  for (const OptionValue& word : *value.as_list()) words.push_back(*word.as_string());
  return words.empty() ? InputKinds() : InputKinds::Of(words);
}

// By the order of the options in instruments.def.
SemanticCheckOptions SemanticCheckOf(const OptionValue::Dict& options) {
  SemanticCheckOptions check{.each = *options[0].value.as_bool(),
                             .budget = *options[1].value.as_int(),
                             .seed = *options[2].value.as_int(),
                             .loops = LoopModeOf(*options[3].value.as_string()),
                             .inputs = *InputKindsOf(options[4].value)};
  if (const double rtol = *options[5].value.as_double(); rtol >= 0) check.tolerance.relative = rtol;
  if (const double atol = *options[6].value.as_double(); atol >= 0) check.tolerance.absolute = atol;
  return check;
}

// The command line takes precedence.
void AddShown(ShownForm& form, const OptionValue::Dict& options) {
  if (form != ShownForm::None) return;
  form = *options[0].value.as_string() == "json" ? ShownForm::Json : ShownForm::Text;
}

// Instruments with an option for a file need one.
bool HasFile(const OwnInstrument& own, const OptionValue::Dict& options) {
  for (size_t i = 0; i < options.size(); ++i) {
    if (own.options[i].name == "file" && options[i].value.as_string()->empty()) return false;
  }
  return true;
}

void AddFile(std::string& file, const OptionValue::Dict& options) {
  if (file.empty()) file = *options[0].value.as_string();
}

void AddLimits(RunLimits& limits, const OptionValue::Dict& options) {
  if (limits.pass_seconds == 0) limits.pass_seconds = *options[0].value.as_double();
  if (limits.rss_bytes == 0) limits.rss_bytes = *options[1].value.as_int();
  if (limits.ir_growth == 0) limits.ir_growth = *options[2].value.as_double();
}

std::vector<std::string_view> KnownNames(const PassRegistry& registry) {
  std::vector<std::string_view> names;
  for (const OwnInstrument& own : OwnInstruments()) names.push_back(own.name);
  for (const auto& [name, row] : registry.instruments()) names.push_back(name);
  return names;
}

}  // namespace

InstrumentSpec SpecOf(const SemanticCheckOptions& check) {
  InstrumentSpec spec{
      "check-semantics", {{"each", check.each, {}}, {"budget", check.budget, {}}, {"seed", check.seed, {}}}, {}};
  const std::vector<std::string> inputs = check.inputs.Words();
  if (inputs.size() != InputKinds().Words().size())
    spec.options.push_back({"inputs", OptionValue::List(inputs.begin(), inputs.end()), {}});
  if (check.loops != LoopMode::Auto) spec.options.push_back({"loops", std::string(NameOf(check.loops)), {}});
  if (check.tolerance.relative) spec.options.push_back({"rtol", *check.tolerance.relative, {}});
  if (check.tolerance.absolute) spec.options.push_back({"atol", *check.tolerance.absolute, {}});
  return spec;
}

std::optional<size_t> RunNumberOf(std::string_view name) {
  size_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  const bool is_number = error == std::errc() && end == name.data() + name.size() && number > 0;
  return is_number ? std::optional(number) : std::nullopt;
}

std::span<const OwnInstrument> OwnInstruments() { return Rows(); }

InstrumentPlan::InstrumentPlan(const DriverOptions& options)
    : print_before(options.print_before),
      print_after(options.print_after),
      print_changed(options.print_changed),
      print_trace(options.print_trace),
      verify_each(options.verify_each),
      check_semantics(options.check_semantics),
      times(options.time_passes),
      stats(options.stats),
      metrics(options.metrics),
      report(options.report),
      track_memory(options.track_memory),
      remarks(options.remarks),
      report_file(options.report_file),
      report_page(options.report_page),
      time_trace(options.time_trace),
      bisect_limit(options.opt_bisect_limit),
      limits(options.limits) {}

Status InstrumentPlan::Add(const InstrumentSpec& spec, const PassRegistry& registry, DiagnosticEngine& diagnostics) {
  const std::string owner = fmt::format("instrument '{}'", spec.name);
  OptionValue::Dict options = spec.options;
  const auto own = std::ranges::find(Rows(), spec.name, &OwnInstrument::name);
  if (own != Rows().end()) {
    if (!CheckOptions(own->options, owner, options, diagnostics)) return Failure{ErrorCode::Usage};
    if (!HasFile(*own, options)) {
      diagnostics.Error(spec.span, "usage", fmt::format("{} needs the option 'file'", owner));
      return Failure{ErrorCode::Usage};
    }
    if (own->id == InstrumentId::CheckSemantics) {
      const Result<InputKinds> inputs = InputKindsOf(options[4].value);
      if (!inputs.ok()) {
        diagnostics.Error(options[4].value.span(), "usage", fmt::format("{}: {}", owner, inputs.error().message));
        return Failure{ErrorCode::Usage};
      }
    }
    AddOwn(own->id, options);
    return {};
  }
  if (!registry.instruments().contains(spec.name)) {
    ReportUnknownName(fmt::format("unknown instrument '{}'", spec.name), spec.name, KnownNames(registry),
                      "unknown-instrument", spec.span, diagnostics);
    return Failure{ErrorCode::Usage};
  }
  Result<std::shared_ptr<PassInstrument>> instrument =
      registry.CreateInstrument(spec.name, std::move(options), diagnostics);
  if (!instrument.ok()) {
    if (!instrument.error().reported()) diagnostics.Error(spec.span, "pass-failed", instrument.error().message);
    return Failure{instrument.error().code};
  }
  others.push_back(*std::move(instrument));
  other_specs.push_back(spec);
  return {};
}

std::vector<InstrumentSpec> InstrumentPlan::Specs() const {
  std::vector<InstrumentSpec> specs;
  const auto add_print = [&](const char* name, const PrintRequest& request) {
    if (!request.wanted()) return;
    InstrumentSpec& spec = specs.emplace_back(InstrumentSpec{name, {}, {}});
    OptionValue::List passes(request.passes.begin(), request.passes.end());
    if (!request.all) spec.options.push_back({"passes", std::move(passes), {}});
  };
  const auto add_shown = [&](const char* name, ShownForm form) {
    if (form == ShownForm::None) return;
    InstrumentSpec& spec = specs.emplace_back(InstrumentSpec{name, {}, {}});
    if (form == ShownForm::Json) spec.options.push_back({"format", "json", {}});
  };
  const auto add_file = [&](const char* name, const std::string& file) {
    if (!file.empty()) specs.push_back({name, {{"file", file, {}}}, {}});
  };
  if (check_semantics) specs.push_back(SpecOf(*check_semantics));
  if (limits.any()) specs.push_back(LimitsSpec(limits));
  add_shown("metrics", metrics);
  if (bisect_limit) specs.push_back({"opt-bisect", {{"limit", *bisect_limit, {}}}, {}});
  add_print("print-after", print_after);
  add_print("print-before", print_before);
  if (print_changed != ChangePrinting::Off) {
    specs.push_back({"print-changed", {{"mode", std::string(NameOf(print_changed)), {}}}, {}});
  }
  if (print_trace) specs.push_back({"print-trace", {}, {}});
  add_file("remarks", remarks);
  add_shown("report", report);
  add_file("report-file", report_file);
  add_file("report-page", report_page);
  if (!rewrite_limits.empty()) {
    OptionValue::List limited;
    for (const LocatedName& limit : rewrite_limits) limited.emplace_back(limit.name);
    specs.push_back({"rewrite-limit", {{"limits", std::move(limited), {}}}, {}});
  }
  add_shown("stats", stats);
  add_file("time-trace", time_trace);
  if (times != TimesForm::None) {
    InstrumentSpec& spec = specs.emplace_back(InstrumentSpec{"timing", {}, {}});
    if (times != TimesForm::Tree) spec.options.push_back({"format", times == TimesForm::List ? "list" : "json", {}});
  }
  add_shown("track-memory", track_memory);
  if (verify_each) specs.push_back({"verify-each", {}, {}});
  specs.insert(specs.end(), other_specs.begin(), other_specs.end());
  return specs;
}

void InstrumentPlan::AddOwn(InstrumentId id, const OptionValue::Dict& options) {
  switch (id) {
    // The command line takes precedence.
    case InstrumentId::CheckSemantics:
      if (!check_semantics) check_semantics = SemanticCheckOf(options);
      break;
    case InstrumentId::Limits: AddLimits(limits, options); break;
    case InstrumentId::Metrics: AddShown(metrics, options); break;
    case InstrumentId::OptBisect:
      if (!bisect_limit) bisect_limit = *options[0].value.as_int();
      break;
    case InstrumentId::PrintAfter: AddPrint(print_after, options); break;
    case InstrumentId::PrintBefore: AddPrint(print_before, options); break;
    case InstrumentId::PrintChanged:
      if (print_changed == ChangePrinting::Off) print_changed = ChangePrintingOf(*options[0].value.as_string());
      break;
    case InstrumentId::PrintTrace: print_trace = true; break;
    case InstrumentId::Remarks: AddFile(remarks, options); break;
    case InstrumentId::Report: AddShown(report, options); break;
    case InstrumentId::ReportFile: AddFile(report_file, options); break;
    case InstrumentId::ReportPage: AddFile(report_page, options); break;
    case InstrumentId::RewriteLimit: AddRewriteLimits(options); break;
    case InstrumentId::Stats: AddShown(stats, options); break;
    case InstrumentId::TimeTrace: AddFile(time_trace, options); break;
    case InstrumentId::Timing:
      if (times == TimesForm::None) times = TimesFormOf(*options[0].value.as_string());
      break;
    case InstrumentId::TrackMemory: AddShown(track_memory, options); break;
    case InstrumentId::VerifyEach: verify_each = true; break;
  }
}

void InstrumentPlan::AddPrint(PrintRequest& request, const OptionValue::Dict& options) {
  const OptionValue::List& passes = *options[0].value.as_list();
  request.all |= passes.empty();
  for (const OptionValue& pass : passes) {
    request.passes.push_back(*pass.as_string());
    print_passes.push_back({*pass.as_string(), pass.span()});
  }
}

void InstrumentPlan::AddRewriteLimits(const OptionValue::Dict& options) {
  for (const OptionValue& limit : *options[0].value.as_list()) {
    rewrite_limits.push_back({*limit.as_string(), limit.span()});
  }
}

}  // namespace iropt
