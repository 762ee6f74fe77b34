#include "driver/pipeline/pipeline_setup.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "configs/relax.mode.h"
#include "driver/check/verify_each.h"
#include "driver/instruments/setup.h"
#include "driver/pipeline/option_paths.h"
#include "driver/pipeline/pass_names.h"
#include "iropt/driver/load_plugins.h"
#include "iropt/observe/ir_printer.h"
#include "iropt/observe/pass_counter.h"
#include "iropt/observe/progress.h"
#include "iropt/observe/snapshot.h"
#include "iropt/pass/config.h"
#include "iropt/pass/target_value.h"

namespace iropt {

namespace {

// Returns whether the predicate holds for all passes in the pass that are not composite.
template <class Predicate>
bool HoldsForAll(const Pass& pass, const Predicate& predicate) {
  const auto holds = [&](const Pass& child) { return HoldsForAll(child, predicate); };
  return pass.info().is_composite() ? std::ranges::all_of(pass.children(), holds) : predicate(pass.info());
}

// Returns whether a pass works on PrimFuncs alone. Passes over modules do not say so but by their names.
bool IsLoopPass(const PassInfo& info) { return info.kind == PassKind::PrimFunc || info.name.starts_with("tir."); }

}  // namespace

PipelineSetup::PipelineSetup(CompilerInstance& compiler, const DriverOptions& options, const CheckpointIndex* resumed)
    : compiler_(compiler), options_(options), context_(compiler.MakeContext()), resumed_(resumed), run_(compiler) {}

Status PipelineSetup::Run() {
  IROPT_RETURN_IF_ERROR(compiler_.LoadPlugins(options_.pipeline.plugins));
  IROPT_RETURN_IF_ERROR(ReadPipelineFile());
  IROPT_RETURN_IF_ERROR(ReadPasses());
  IROPT_RETURN_IF_ERROR(FillContext());
  IROPT_RETURN_IF_ERROR(BuildPasses());
  IROPT_RETURN_IF_ERROR(FillNames());
  IROPT_RETURN_IF_ERROR(AddInstruments());
  context_.instruments = run_.ListFor(InstrumentRuns::First);
  if (!pipeline_) return {};
  // The explanation has the skipped passes, too.
  if (FindInstrument("explain-pipeline") == nullptr && !WarnOfSkipped()) return Failure{ErrorCode::Usage};
  pipeline_ = ExpandPipeline(*pipeline_, compiler_.registry(), context_.opt_level, &context_);
  return {};
}

bool PipelineSetup::has_no_passes() const {
  return pass_ && HoldsForAll(*pass_, [](const PassInfo&) { return false; });
}

bool PipelineSetup::has_only_loop_passes() const { return pass_ && HoldsForAll(*pass_, IsLoopPass); }

Status PipelineSetup::BuildPasses() {
  if (!pipeline_) return {};
  if (!CheckOptionPaths(*pipeline_, compiler_.registry(), compiler_.diagnostics())) return Failure{ErrorCode::Usage};
  IROPT_ASSIGN_OR_RETURN(pass_, BuildPipeline(*pipeline_, compiler_.registry(), compiler_.diagnostics(), &context_));
  built_ = ExpandPipeline(*pipeline_, compiler_.registry(), std::nullopt, &context_);
  return {};
}

std::shared_ptr<PipelineCursor> PipelineSetup::MakeCursor() const {
  return std::make_shared<PipelineCursor>(built_, context_.opt_level);
}

// Instruments that need the position in the pipeline.
Status PipelineSetup::AddSnapshots() {
  if (!pipeline_ || options_.print_pipeline != ShownForm::None) return {};  // nothing runs
  const SnapshotOptions& snapshots = options_.snapshots;
  if (!snapshots.dump_dir && !snapshots.checkpoint_dir && !snapshots.reproducer) return {};
  cursor_ = MakeCursor();
  run_.Add(InstrumentPhase::Decide, InstrumentRuns::All, cursor_);
  if (snapshots.checkpoint_dir) IROPT_RETURN_IF_ERROR(AddCheckpoints());
  if (!snapshots.dump_dir) return {};
  IROPT_ASSIGN_OR_RETURN(dump_dir_, DumpDir::Make("dump-dir", *snapshots.dump_dir, compiler_, NumberPasses(), cursor_,
                                                  [this](Pipeline passes) { return SettingsWith(std::move(passes)); }));
  run_.Add(InstrumentPhase::Trace, InstrumentRuns::First, dump_dir_);
  return {};
}

// The modules are written first, and then the record that they are there.
Status PipelineSetup::AddCheckpoints() {
  const auto settings = [this](Pipeline passes) {
    PipelineFile file = SettingsWith(std::move(passes));
    file.instruments = instruments_;
    // A run that goes on may have other limits.
    std::erase_if(file.instruments, [](const InstrumentSpec& spec) { return spec.name == "limits"; });
    return file;
  };
  const std::string& folder = *options_.snapshots.checkpoint_dir;
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<DumpDir> files,
                         DumpDir::Make("checkpoint-dir", folder, compiler_, NumberPasses(), cursor_, settings));
  CheckpointIndex index;
  if (resumed_ != nullptr) {
    index = *resumed_;
    counter_->Skip(index.passes_done);
  } else {
    pipeline_ = ExpandPipeline(*pipeline_, compiler_.registry(), context_.opt_level, &context_);
    IROPT_ASSIGN_OR_RETURN(index.run, Identity());
  }
  IROPT_RETURN_IF_ERROR(index.Write(folder));
  const auto recorder = std::make_shared<CheckpointRecorder>(folder, std::move(index), counter_);
  files->set_on_written([recorder](std::string file) { recorder->Add(std::move(file)); });
  run_.Add(InstrumentPhase::Trace, InstrumentRuns::First, files);
  run_.Add(InstrumentPhase::Trace, InstrumentRuns::First, recorder);
  return {};
}

// The pipeline file is in the comments of the input.
Status PipelineSetup::ReadReproducer() {
  if (options_.input == "-") return Error{ErrorCode::Usage, "-run-reproducer needs a file"};
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<const FileBuffer> text, ReadFile(options_.input));
  std::optional<std::string> pipeline = PipelineOfSnapshot(text->text());
  if (!pipeline) {
    return Error{
        ErrorCode::Usage,
        fmt::format("'{}' is not a reproducer: it does not begin with a pipeline in comments", options_.input)};
  }
  IROPT_ASSIGN_OR_RETURN(const uint32_t base,
                         compiler_.AddText(fmt::format("{} (pipeline)", options_.input), *pipeline));
  std::optional<PipelineFile> file = ParsePipelineFile(*pipeline, base, compiler_.diagnostics());
  if (!file) return Failure{ErrorCode::Usage};
  file_ = *std::move(file);
  return LoadPluginsOf(file_, options_.input, compiler_.registry(), compiler_.diagnostics());
}

Status PipelineSetup::ReadPipelineFile() {
  if (options_.pipeline.is_in_input) return ReadReproducer();
  if (!options_.pipeline.file) return {};
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<const FileBuffer> text, ReadFile(*options_.pipeline.file));
  IROPT_ASSIGN_OR_RETURN(const uint32_t base,
                         compiler_.sources().AddBuffer(*options_.pipeline.file, text->text(), text));
  std::optional<PipelineFile> file = ParsePipelineFile(text->text(), base, compiler_.diagnostics());
  if (!file) return Failure{ErrorCode::Usage};
  file_ = *std::move(file);
  IROPT_RETURN_IF_ERROR(LoadPluginsOf(file_, *options_.pipeline.file, compiler_.registry(), compiler_.diagnostics()));
  const std::filesystem::path folder = std::filesystem::path(*options_.pipeline.file).parent_path();
  if (file_.passes) ResolveOptionPaths(*file_.passes, compiler_.registry(), folder);
  return {};
}

Status PipelineSetup::ReadPasses() {
  pipeline_ = std::move(file_.passes);
  for (const std::string& text : options_.pipeline.passes) {
    IROPT_ASSIGN_OR_RETURN(const uint32_t base, compiler_.AddText("-passes", text));
    std::optional<Pipeline> more = ParsePipeline(text, base, compiler_.diagnostics());
    if (!more) return Failure{ErrorCode::Usage};
    if (!pipeline_) pipeline_.emplace();
    std::ranges::move(*more, std::back_inserter(*pipeline_));
  }
  if (!pipeline_ && options_.pipeline.opt_level) {
    PipelineItem item;
    item.kind = PipelineItem::Kind::Named;
    item.name = kDefaultPipeline;
    item.count = *options_.pipeline.opt_level;
    pipeline_ = Pipeline{item};
  }
  return {};
}

Status PipelineSetup::FillContext() {
  if (file_.version) compiler_.set_default_version(*file_.version);
  context_.opt_level = options_.pipeline.opt_level.value_or(file_.opt_level.value_or(kDefaultOptLevel));
  if (!options_.debug_channels.empty()) context_.threads = 1;  // for debug output in the order of the functions
  IROPT_RETURN_IF_ERROR(FillTarget());
  return FillConfig();
}

// That of the command line takes precedence.
Status PipelineSetup::FillTarget() {
  if (options_.pipeline.target) {
    IROPT_ASSIGN_OR_RETURN(const uint32_t base, compiler_.AddText("-target", *options_.pipeline.target));
    file_.target = *options_.pipeline.target;
    file_.target.set_span({base, static_cast<uint32_t>(base + options_.pipeline.target->size())});
  }
  if (file_.target.is_null()) return {};
  context_.target = ReadTarget(file_.target, compiler_.diagnostics());
  if (context_.target == nullptr) return Failure{ErrorCode::Usage};
  return {};
}

NetworkMode PipelineSetup::network_mode() const { return NetworkModeOf(context_.Config(config::relax::mode)); }

// The command line comes last and takes precedence.
Status PipelineSetup::FillConfig() {
  for (const std::string& text : options_.pipeline.config) {
    IROPT_ASSIGN_OR_RETURN(const uint32_t base, compiler_.AddText("-config", text));
    auto config = ParseConfig(text, base, compiler_.diagnostics());
    if (!config) return Failure{ErrorCode::Usage};
    std::ranges::move(*config, std::back_inserter(file_.config));
  }
  if (options_.pipeline.mode) file_.config.push_back({"relax.mode", *options_.pipeline.mode, {}});
  bool ok = true;
  for (const OptionValue::Entry& entry : file_.config) {
    ok &= context_.SetConfig(entry.key, entry.value, compiler_.diagnostics(), entry.key_span);
  }
  if (!ok) return Failure{ErrorCode::Usage};
  file_.config.clear();
  for (const auto& [key, value] : context_.config()) file_.config.push_back({key, value, {}});
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
      if (list != nullptr) IROPT_RETURN_IF_ERROR(Locate(flagged.flag, *list));
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
  specs.insert(specs.end(), file_.instruments.begin(), file_.instruments.end());
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

std::shared_ptr<PassCounter> PipelineSetup::NumberPasses() {
  if (!std::exchange(counts_passes_, true)) run_.Add(InstrumentPhase::Decide, InstrumentRuns::Again, counter_);
  return counter_;
}

void PipelineSetup::AddReadFiles(OutputFiles& files) const {
  for (const std::string& path : options_.compiler.response_files) files.AddRead("the response file", path);
  if (options_.pipeline.file) files.AddRead("-pipeline", *options_.pipeline.file);
  if (options_.compiler.weights) files.AddRead("-weights", *options_.compiler.weights);
  for (const PluginRecord& plugin : compiler_.registry().plugins()) files.AddRead("-load-pass-plugin", plugin.path);
  for (const auto& [owner, path] : FilesOfOptions(built_, compiler_.registry())) files.AddRead(owner, path);
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
  AddReadFiles(files);
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
  for (const std::string_view name : {"limits", "check-semantics"}) {
    if (options_.bisect) plan.Remove(name);
  }
  instruments_ = plan.Specs();
  if (options_.filter_functions) {
    IROPT_ASSIGN_OR_RETURN(filter_, FunctionFilter::Make(*options_.filter_functions));
  }
  OutputFiles files;
  IROPT_RETURN_IF_ERROR(ClaimFiles(files));
  IROPT_RETURN_IF_ERROR(AddPassRange());
  IROPT_RETURN_IF_ERROR(AddSnapshots());
  for (const auto& other : plan.others()) run_.Add(InstrumentPhase::Before, InstrumentRuns::Again, other);
  // An ill-formed module cannot be run.
  const InstrumentSpec* semantics = FindInstrument("check-semantics");
  if (semantics != nullptr && *semantics->options.front().value.as_bool() && !options_.bisect) {
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
  if (pipeline_ && Progress::IsWanted(options_.progress)) {
    const auto progress = std::make_shared<Progress>();
    progress->set_total(CountPasses(ExpandPipeline(*pipeline_, compiler_.registry(), context_.opt_level, &context_)));
    run_.Add(InstrumentPhase::Trace, InstrumentRuns::Again, progress);
    run_.Listen(progress);
  }
  return {};
}

PassContext PipelineSetup::ContextWith(InstrumentList instruments) const {
  PassContext context = context_;
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

std::string PipelineSetup::LevelOrigin() const {
  if (options_.pipeline.opt_level) return fmt::format("-O{}", context_.opt_level);
  if (file_.opt_level) return fmt::format("-O{} of {}", context_.opt_level, *options_.pipeline.file);
  return fmt::format("-O{}, the default", context_.opt_level);
}

// The command line comes first in the lists, so messages name it.
SettingOrigins PipelineSetup::Origins() const {
  const auto find = [this](const std::vector<LocatedName>& names, std::string_view pass) -> std::string {
    const auto at = std::ranges::find(names, pass, &LocatedName::name);
    if (at == names.end()) return "the context";
    const SourceLocation location = compiler_.sources().Locate(at->span.begin);
    if (location.name.starts_with('-')) return std::string(location.name);
    return fmt::format("{}:{}:{}", location.name, location.line, location.column);
  };
  return {.level = LevelOrigin(),
          .disabled = [this, find](std::string_view pass) { return find(disabled_, pass); },
          .required = [this, find](std::string_view pass) { return find(required_, pass); }};
}

PassContext PipelineSetup::ContextFor(const PipelineFile& settings) const {
  PassContext context = context_;
  context.instruments.clear();
  context.opt_level = *settings.opt_level;
  context.disabled_pass = NamesOf(settings.disabled);
  return context;
}

bool PipelineSetup::WarnOfSkipped() {
  for (const auto& [item, current] : SkippedByLevel(*pipeline_, compiler_.registry(), context_)) {
    const bool is_pass = item->kind == PipelineItem::Kind::Pass;
    const int level = is_pass ? compiler_.registry().Find(item->name)->info.opt_level : *item->opt_level;
    const std::string name =
        is_pass ? fmt::format("pass '{}'", item->name) : fmt::format("Sequential '{}'", item->name);
    compiler_.diagnostics().Warning(
        item->span, "pass-skipped",
        fmt::format("{} is not run: it requires -O{} (current level: -O{})", name, level, current));
  }
  return !compiler_.diagnostics().has_errors();
}

}  // namespace iropt
