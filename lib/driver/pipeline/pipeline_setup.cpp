#include "driver/pipeline/pipeline_setup.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "driver/check/verify_each.h"
#include "driver/instruments/setup.h"
#include "driver/pipeline/pass_names.h"
#include "iropt/observe/progress.h"
#include "iropt/observe/snapshot.h"

namespace iropt {

namespace {

// Gives each text the span that it has in the value of the flag.
Status Locate(CompilerInstance& compiler, const std::string& flag, OptionValue::List& texts) {
  std::vector<std::string> words;
  for (const OptionValue& text : texts) words.push_back(*text.as_string());
  IROPT_ASSIGN_OR_RETURN(const std::vector<LocatedName> located, LocateNames(compiler, flag.c_str(), words));
  for (size_t i = 0; i < texts.size(); ++i) texts[i].set_span(located[i].span);
  return {};
}

}  // namespace

PipelineSetup::PipelineSetup(CompilerInstance& compiler, const DriverOptions& options, const CheckpointIndex* resumed)
    : compiler_(compiler),
      options_(options),
      resumed_(resumed),
      settings_(compiler, options),
      run_(compiler),
      selection_(compiler, options, settings_, run_) {}

Status PipelineSetup::Run() {
  IROPT_RETURN_IF_ERROR(settings_.Read());
  IROPT_RETURN_IF_ERROR(AddInstruments());
  context().instruments = run_.ListFor(InstrumentRuns::First);
  if (pass() == nullptr) return {};
  // The explanation has the skipped passes, too.
  if (FindInstrument("explain-pipeline") == nullptr && !settings_.WarnOfSkipped()) return Failure{ErrorCode::Usage};
  settings_.Expand();
  return {};
}

// Instruments that need the position in the pipeline.
Status PipelineSetup::AddSnapshots() {
  if (pass() == nullptr || options_.print_pipeline != ShownForm::None) return {};  // nothing runs
  const SnapshotOptions& snapshots = options_.snapshots;
  if (!snapshots.dump_dir && !snapshots.checkpoint_dir && !snapshots.reproducer) return {};
  cursor_ = settings_.MakeCursor();
  run_.Add(InstrumentPhase::Decide, InstrumentRuns::All, cursor_);
  if (snapshots.checkpoint_dir) IROPT_RETURN_IF_ERROR(AddCheckpoints());
  if (!snapshots.dump_dir) return {};
  IROPT_ASSIGN_OR_RETURN(dump_dir_,
                         DumpDir::Make("dump-dir", *snapshots.dump_dir, compiler_, selection_.NumberPasses(), cursor_,
                                       [this](Pipeline passes) { return settings_.With(std::move(passes)); }));
  run_.Add(InstrumentPhase::Trace, InstrumentRuns::First, dump_dir_);
  return {};
}

// The modules are written first, and then the record that they are there.
Status PipelineSetup::AddCheckpoints() {
  const auto settings = [this](Pipeline passes) {
    PipelineFile file = settings_.With(std::move(passes));
    file.instruments = instruments_;
    // A run that goes on may have other limits.
    std::erase_if(file.instruments, [](const InstrumentSpec& spec) { return spec.name == "limits"; });
    return file;
  };
  const std::string& folder = *options_.snapshots.checkpoint_dir;
  const std::shared_ptr<PassCounter> counter = selection_.NumberPasses();
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<DumpDir> files,
                         DumpDir::Make("checkpoint-dir", folder, compiler_, counter, cursor_, settings));
  CheckpointIndex index;
  if (resumed_ != nullptr) {
    index = *resumed_;
    counter->Skip(index.passes_done);
  } else {
    settings_.Expand();
    IROPT_ASSIGN_OR_RETURN(index.run, settings_.Identity());
  }
  IROPT_RETURN_IF_ERROR(index.Write(folder));
  const auto recorder = std::make_shared<CheckpointRecorder>(folder, std::move(index), counter);
  files->set_on_written([recorder](std::string file) { recorder->Add(std::move(file)); });
  run_.Add(InstrumentPhase::Trace, InstrumentRuns::First, files);
  run_.Add(InstrumentPhase::Trace, InstrumentRuns::First, recorder);
  return {};
}

// The flags of an instrument are one specification of it. Parts of their lists are located in what follows the flag.
Result<std::vector<InstrumentSpec>> PipelineSetup::FlaggedInstruments() {
  std::vector<InstrumentSpec> specs;
  for (const FlaggedInstrument& flagged : options_.flagged_instruments) {
    auto spec = std::ranges::find(specs, flagged.spec.name, &InstrumentSpec::name);
    if (spec == specs.end()) spec = specs.insert(spec, {flagged.spec.name, {}, {}});
    for (OptionValue::Entry entry : flagged.spec.options) {
      OptionValue::List* list = entry.value.as_list();
      if (list != nullptr) IROPT_RETURN_IF_ERROR(Locate(compiler_, flagged.flag, *list));
      const auto other = std::ranges::find(spec->options, entry.key, &OptionValue::Entry::key);
      if (other == spec->options.end()) {
        spec->options.push_back(std::move(entry));
      } else {
        std::ranges::move(*list, std::back_inserter(*other->value.as_list()));
      }
    }
  }
  return specs;
}

// The command line comes first and takes precedence.
Result<InstrumentPlan> PipelineSetup::PlanInstruments() {
  IROPT_ASSIGN_OR_RETURN(std::vector<InstrumentSpec> specs, FlaggedInstruments());
  specs.insert(specs.end(), settings_.instruments().begin(), settings_.instruments().end());
  for (const std::string& text : options_.instruments) {
    IROPT_ASSIGN_OR_RETURN(const uint32_t base, compiler_.AddText("-instruments", text));
    const std::optional<std::vector<InstrumentSpec>> more = ParseInstruments(text, base, compiler_.diagnostics());
    if (!more) return Failure{ErrorCode::Usage};
    specs.insert(specs.end(), more->begin(), more->end());
  }
  InstrumentPlan plan;
  std::optional<ErrorCode> failure;
  for (const InstrumentSpec& spec : specs) {
    const Status added = plan.Add(spec, compiler_.registry(), compiler_.diagnostics());
    if (!added.ok() && !failure) failure = added.error().code;
  }
  if (failure) return Failure{*failure};
  return plan;
}

bool PipelineSetup::TakesLimits(const RunLimits& limits) {
  limits_ = limits;
  return options_.bisect.has_value();
}

bool PipelineSetup::TakesSemantics(const SemanticCheckOptions& check) {
  semantics_ = check;
  return options_.bisect.has_value();
}

const InstrumentSpec* PipelineSetup::FindInstrument(std::string_view name) const {
  const auto spec = std::ranges::find(own_instruments_, name, &InstrumentSpec::name);
  return spec == own_instruments_.end() ? nullptr : &*spec;
}

bool PipelineSetup::prints_times_as_json() const {
  const InstrumentSpec* timing = FindInstrument("timing");
  return timing != nullptr && *timing->options.front().value.as_string() == "json";
}

// Who names a folder may not think of the files that are there.
bool PipelineSetup::WarnOfReplacedInputs() {
  if (!options_.output.path.ends_with('/')) return true;
  for (const InputOutput& pair : pairs_) {
    std::error_code error;
    if (!std::filesystem::equivalent(pair.input, pair.output, error)) continue;
    compiler_.diagnostics().Warning(
        {}, "replaced-input",
        fmt::format("the module replaces its input '{}', which is in the folder of -o", pair.input));
  }
  return !compiler_.diagnostics().has_errors();
}

// The files of the inputs and of their modules, and that of a reproducer. Those of observers come later.
Status PipelineSetup::ClaimFiles(OutputFiles& files) {
  IROPT_ASSIGN_OR_RETURN(pairs_, PairInputs(options_));
  for (const InputOutput& pair : pairs_) files.AddRead("the input", pair.input);
  settings_.AddReadFiles(files);
  for (const std::string& path : options_.precision.inputs) files.AddRead("-inputs", path);
  if (const auto& report = options_.precision.report) IROPT_RETURN_IF_ERROR(files.Claim("-precision-report", *report));
  if (!WarnOfReplacedInputs()) return Failure{ErrorCode::Usage};
  for (const InputOutput& pair : pairs_) {
    if (!WritesModules(options_)) break;
    IROPT_RETURN_IF_ERROR(files.ClaimInPlace("the module", pair.output, pair.input));
    if (!options_.output.external_constants) continue;
    IROPT_ASSIGN_OR_RETURN(const std::string weights, ConstantExternalizer::PathNextTo(pair.output));
    IROPT_RETURN_IF_ERROR(
        files.ClaimInPlace("-externalize-constants", weights, options_.compiler.weights.value_or("-")));
  }
  if (!options_.snapshots.reproducer) return {};
  constexpr FileKind kReproducer = {"a reproducer of ir-opt", kSnapshotBegin, kSnapshotMark};
  // A crash could not report that the file cannot be written.
  IROPT_RETURN_IF_ERROR(files.Open("-reproducer", *options_.snapshots.reproducer, kReproducer));
  return {};
}

Status PipelineSetup::RemoveOldDumps() {
  if (dump_dir_) IROPT_RETURN_IF_ERROR(dump_dir_->RemoveOldFiles());
  return {};
}

Status PipelineSetup::AddInstruments() {
  IROPT_ASSIGN_OR_RETURN(InstrumentPlan plan, PlanInstruments());
  own_instruments_ = plan.OwnSpecs();
  // A run of -bisect takes the options of these alone.
  for (const std::string_view name : {"limits", "check-semantics", "prove"}) {
    if (options_.bisect) plan.Remove(name);
  }
  instruments_ = plan.Specs();
  if (options_.filter_functions) {
    IROPT_ASSIGN_OR_RETURN(filter_, FunctionFilter::Make(*options_.filter_functions));
  }
  OutputFiles files;
  IROPT_RETURN_IF_ERROR(ClaimFiles(files));
  IROPT_RETURN_IF_ERROR(selection_.AddRange());
  IROPT_RETURN_IF_ERROR(AddSnapshots());
  for (const auto& other : plan.others()) run_.Add(InstrumentPhase::Before, InstrumentRuns::Again, other);
  // An ill-formed module cannot be run.
  const auto is_around_each = [&](std::string_view name) {
    const InstrumentSpec* check = FindInstrument(name);
    return check != nullptr && *check->options.front().value.as_bool();
  };
  if ((is_around_each("check-semantics") || is_around_each("prove")) && !options_.bisect) {
    IROPT_RETURN_IF_ERROR(plan.Add({"verify-each", {}, {}}, compiler_.registry(), compiler_.diagnostics()));
    own_instruments_ = plan.OwnSpecs();
  }
  InstrumentSetup setup(*this, run_, files);
  for (const InstrumentSpec& spec : own_instruments_) {
    IROPT_RETURN_IF_ERROR(setup.Make(*FindOwnInstrument(spec.name), spec));
  }
  if (cursor_ && options_.snapshots.reproducer) {
    failed_pass_ = std::make_shared<FailedPass>(cursor_);
    run_.Add(InstrumentPhase::Trace, InstrumentRuns::All, failed_pass_);
  }
  if (pass() != nullptr && Progress::IsWanted(options_.progress)) {
    const auto progress = std::make_shared<Progress>();
    progress->set_total(CountPasses(settings_.Expanded()));
    run_.Add(InstrumentPhase::Trace, InstrumentRuns::Again, progress);
    run_.Listen(progress);
  }
  return {};
}

PipelineFile PipelineSetup::Settings() const {
  PipelineFile file = settings_.All();
  if (pass() == nullptr) file.passes.reset();
  file.instruments = instruments_;
  return file;
}

PassContext PipelineSetup::ContextWith(InstrumentList instruments) const {
  PassContext context = settings_.context();
  context.instruments = std::move(instruments);
  return context;
}

PassContext PipelineSetup::ContextForAnother() const { return ContextWith(run_.ListFor(InstrumentRuns::Again)); }

PassContext PipelineSetup::CheckingContext() const {
  RunInstruments run = run_;
  const auto audit = std::make_shared<ChangeAudit>();
  run.Add(InstrumentPhase::Before, InstrumentRuns::All, audit);
  run.Add(InstrumentPhase::After, InstrumentRuns::All,
          std::make_shared<VerifyEach>(compiler_.verify_options(), audit, compiler_.diagnostics()));
  return ContextWith(run.ListFor(InstrumentRuns::All));
}

}  // namespace iropt
