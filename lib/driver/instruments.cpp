#include "instruments.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

#include "instrument_options/CheckSemantics.h"
#include "instrument_options/Limits.h"
#include "instrument_options/Metrics.h"
#include "instrument_options/OptBisect.h"
#include "instrument_options/PrintAfter.h"
#include "instrument_options/PrintBefore.h"
#include "instrument_options/PrintChanged.h"
#include "instrument_options/PrintTrace.h"
#include "instrument_options/Remarks.h"
#include "instrument_options/Report.h"
#include "instrument_options/ReportFile.h"
#include "instrument_options/ReportPage.h"
#include "instrument_options/RewriteLimit.h"
#include "instrument_options/Stats.h"
#include "instrument_options/TimeTrace.h"
#include "instrument_options/Timing.h"
#include "instrument_options/TrackMemory.h"
#include "instrument_options/VerifyEach.h"
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

// The enumerators of options, and those of the driver that they stand for.
constexpr std::pair<instrument_options::CheckSemantics::Loops, LoopMode> kLoopModes[] = {
    {instrument_options::CheckSemantics::Loops::kInterpret, LoopMode::Interpret},
    {instrument_options::CheckSemantics::Loops::kCompile, LoopMode::Compile},
    {instrument_options::CheckSemantics::Loops::kAuto, LoopMode::Auto},
};
constexpr std::pair<instrument_options::PrintChanged::Mode, ChangePrinting> kChangePrintings[] = {
    {instrument_options::PrintChanged::Mode::kAll, ChangePrinting::All},
    {instrument_options::PrintChanged::Mode::kQuiet, ChangePrinting::Quiet},
    {instrument_options::PrintChanged::Mode::kDiff, ChangePrinting::Diff},
    {instrument_options::PrintChanged::Mode::kCdiff, ChangePrinting::ColourDiff},
};
constexpr std::pair<instrument_options::Timing::Format, TimesForm> kTimesForms[] = {
    {instrument_options::Timing::Format::kTree, TimesForm::Tree},
    {instrument_options::Timing::Format::kList, TimesForm::List},
    {instrument_options::Timing::Format::kJson, TimesForm::Json},
};

template <class Choice, class Form, size_t kSize>
Form FormOf(const std::pair<Choice, Form> (&pairs)[kSize], Choice choice) {
  return std::ranges::find(pairs, choice, &std::pair<Choice, Form>::first)->second;
}

template <class Choice, class Form, size_t kSize>
Choice ChoiceOf(const std::pair<Choice, Form> (&pairs)[kSize], Form form) {
  return std::ranges::find(pairs, form, &std::pair<Choice, Form>::second)->first;
}

std::vector<LocatedName> Located(const std::vector<std::string>& names) {
  std::vector<LocatedName> located;
  for (const std::string& name : names) located.push_back({name, {}});
  return located;
}

template <class Options>
InstrumentSpec SpecWith(const Options& options) {
  return {std::string(Options::kName), options.Given(), {}};
}

void AddLimits(RunLimits& limits, const instrument_options::Limits& given) {
  if (limits.pass_seconds == 0) limits.pass_seconds = *given.pass_timeout;
  if (limits.rss_bytes == 0) limits.rss_bytes = *given.max_rss;
  if (limits.ir_growth == 0) limits.ir_growth = *given.max_ir_growth;
}

template <class Options>
void AddShown(ShownForm& form, const CheckedOptions& options) {
  if (form != ShownForm::None) return;
  form = *Options(options).format == Options::Format::kJson ? ShownForm::Json : ShownForm::Text;
}

// Instruments in the form of a pipeline file.
class SpecList {
 public:
  template <class Options>
  void Add(const Options& options) {
    specs_.push_back(SpecWith(options));
  }
  template <class Options>
  void AddFile(const std::string& file) {
    if (file.empty()) return;
    Options options;
    options.file.Set(file);
    Add(options);
  }
  template <class Options>
  void AddPrint(const PrintRequest& request) {
    if (!request.wanted()) return;
    Options options;
    if (!request.all) options.passes.Set(Located(request.passes));
    Add(options);
  }
  template <class Options>
  void AddShown(ShownForm form) {
    if (form == ShownForm::None) return;
    Options options;
    if (form == ShownForm::Json) options.format.Set(Options::Format::kJson);
    Add(options);
  }
  template <class Options>
  void AddIf(bool is_wanted) {
    if (is_wanted) specs_.push_back({std::string(Options::kName), {}, {}});
  }
  void AddAll(const std::vector<InstrumentSpec>& specs) { specs_.insert(specs_.end(), specs.begin(), specs.end()); }

  std::vector<InstrumentSpec> Take() { return std::move(specs_); }

 private:
  std::vector<InstrumentSpec> specs_;
};

std::vector<std::string_view> KnownNames(const PassRegistry& registry) {
  std::vector<std::string_view> names;
  for (const OwnInstrument& own : OwnInstruments()) names.push_back(own.name);
  for (const auto& [name, row] : registry.instruments()) names.push_back(name);
  return names;
}

}  // namespace

// Options of an instrument, with the location of its name.
class InstrumentPlan::OwnOptions : public CheckedOptions {
 public:
  OwnOptions(std::string owner, OptionValue::Dict options, SourceSpan span, DiagnosticEngine& diagnostics)
      : CheckedOptions(std::move(owner), std::move(options)), span_(span), diagnostics_(diagnostics) {}

  Status Refuse(SourceSpan part, std::string message) const {
    diagnostics_.Error(part, "usage", std::move(message));
    return Failure{ErrorCode::Usage};
  }
  // Sets the file of an instrument that needs one, unless the command line has set it.
  template <class Options>
  Status ReadFile(std::string& file) const {
    const Options given(*this);
    if (given.file->empty()) return Refuse(span_, fmt::format("{} needs the option 'file'", owner()));
    if (file.empty()) file = *given.file;
    return {};
  }
  Status ReadSemanticCheck(std::optional<SemanticCheckOptions>& check) const;

 private:
  SourceSpan span_;
  DiagnosticEngine& diagnostics_;
};

Status InstrumentPlan::OwnOptions::ReadSemanticCheck(std::optional<SemanticCheckOptions>& check) const {
  const instrument_options::CheckSemantics given(*this);
  InputKinds kinds;
  if (!given.inputs->empty()) {
    std::vector<std::string> words;
    for (const LocatedName& word : *given.inputs) words.push_back(word.name);
    Result<InputKinds> inputs = InputKinds::Of(words);
    if (!inputs.ok()) return Refuse(given.inputs.span(), fmt::format("{}: {}", owner(), inputs.error().message));
    kinds = *inputs;
  }
  if (check) return {};
  check = {.each = *given.each,
           .budget = *given.budget,
           .seed = *given.seed,
           .loops = FormOf(kLoopModes, *given.loops),
           .inputs = kinds};
  if (*given.rtol >= 0) check->tolerance.relative = *given.rtol;
  if (*given.atol >= 0) check->tolerance.absolute = *given.atol;
  return {};
}

InstrumentSpec SpecOf(const SemanticCheckOptions& check) {
  instrument_options::CheckSemantics options;
  options.each.Set(check.each);
  options.budget.Set(check.budget);
  options.seed.Set(check.seed);
  if (check.loops != LoopMode::Auto) options.loops.Set(ChoiceOf(kLoopModes, check.loops));
  const std::vector<std::string> inputs = check.inputs.Words();
  if (inputs.size() != InputKinds().Words().size()) options.inputs.Set(Located(inputs));
  if (check.tolerance.relative) options.rtol.Set(*check.tolerance.relative);
  if (check.tolerance.absolute) options.atol.Set(*check.tolerance.absolute);
  return SpecWith(options);
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
    return AddOwn(own->id, OwnOptions(owner, std::move(options), spec.span, diagnostics));
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
  SpecList specs;
  if (check_semantics) specs.AddAll({SpecOf(*check_semantics)});
  if (limits.any()) specs.AddAll({LimitsSpec(limits)});
  specs.AddShown<instrument_options::Metrics>(metrics);
  if (bisect_limit) {
    instrument_options::OptBisect options;
    options.limit.Set(*bisect_limit);
    specs.Add(options);
  }
  specs.AddPrint<instrument_options::PrintAfter>(print_after);
  specs.AddPrint<instrument_options::PrintBefore>(print_before);
  if (print_changed != ChangePrinting::Off) {
    instrument_options::PrintChanged options;
    options.mode.Set(ChoiceOf(kChangePrintings, print_changed));
    specs.Add(options);
  }
  specs.AddIf<instrument_options::PrintTrace>(print_trace);
  specs.AddFile<instrument_options::Remarks>(remarks);
  specs.AddShown<instrument_options::Report>(report);
  specs.AddFile<instrument_options::ReportFile>(report_file);
  specs.AddFile<instrument_options::ReportPage>(report_page);
  if (!rewrite_limits.empty()) {
    instrument_options::RewriteLimit options;
    options.limits.Set(rewrite_limits);
    specs.Add(options);
  }
  specs.AddShown<instrument_options::Stats>(stats);
  specs.AddFile<instrument_options::TimeTrace>(time_trace);
  if (times != TimesForm::None) {
    instrument_options::Timing options;
    if (times != TimesForm::Tree) options.format.Set(ChoiceOf(kTimesForms, times));
    specs.Add(options);
  }
  specs.AddShown<instrument_options::TrackMemory>(track_memory);
  specs.AddIf<instrument_options::VerifyEach>(verify_each);
  specs.AddAll(other_specs);
  return specs.Take();
}

// The command line takes precedence.
Status InstrumentPlan::AddOwn(InstrumentId id, const OwnOptions& options) {
  switch (id) {
    case InstrumentId::CheckSemantics: return options.ReadSemanticCheck(check_semantics);
    case InstrumentId::Limits: AddLimits(limits, instrument_options::Limits(options)); break;
    case InstrumentId::Metrics: AddShown<instrument_options::Metrics>(metrics, options); break;
    case InstrumentId::OptBisect:
      if (!bisect_limit) bisect_limit = *instrument_options::OptBisect(options).limit;
      break;
    case InstrumentId::PrintAfter: AddPrint(print_after, *instrument_options::PrintAfter(options).passes); break;
    case InstrumentId::PrintBefore: AddPrint(print_before, *instrument_options::PrintBefore(options).passes); break;
    case InstrumentId::PrintChanged:
      if (print_changed == ChangePrinting::Off)
        print_changed = FormOf(kChangePrintings, *instrument_options::PrintChanged(options).mode);
      break;
    case InstrumentId::PrintTrace: print_trace = true; break;
    case InstrumentId::Remarks: return options.ReadFile<instrument_options::Remarks>(remarks);
    case InstrumentId::Report: AddShown<instrument_options::Report>(report, options); break;
    case InstrumentId::ReportFile: return options.ReadFile<instrument_options::ReportFile>(report_file);
    case InstrumentId::ReportPage: return options.ReadFile<instrument_options::ReportPage>(report_page);
    case InstrumentId::RewriteLimit: {
      const instrument_options::RewriteLimit given(options);
      rewrite_limits.insert(rewrite_limits.end(), given.limits->begin(), given.limits->end());
      break;
    }
    case InstrumentId::Stats: AddShown<instrument_options::Stats>(stats, options); break;
    case InstrumentId::TimeTrace: return options.ReadFile<instrument_options::TimeTrace>(time_trace);
    case InstrumentId::Timing:
      if (times == TimesForm::None) times = FormOf(kTimesForms, *instrument_options::Timing(options).format);
      break;
    case InstrumentId::TrackMemory: AddShown<instrument_options::TrackMemory>(track_memory, options); break;
    case InstrumentId::VerifyEach: verify_each = true; break;
  }
  return {};
}

void InstrumentPlan::AddPrint(PrintRequest& request, const std::vector<LocatedName>& passes) {
  request.all |= passes.empty();
  for (const LocatedName& pass : passes) request.passes.push_back(pass.name);
  print_passes.insert(print_passes.end(), passes.begin(), passes.end());
}

}  // namespace iropt
