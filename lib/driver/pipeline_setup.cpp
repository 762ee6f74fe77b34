#include "pipeline_setup.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "configs/relax.mode.h"
#include "iropt/driver/load_plugins.h"
#include "iropt/observe/ir_printer.h"
#include "iropt/observe/pass_counter.h"
#include "iropt/observe/print_changed.h"
#include "iropt/observe/snapshot.h"
#include "iropt/pass/bisect.h"
#include "iropt/pass/config.h"
#include "iropt/pass/property_audit.h"
#include "iropt/pass/target_value.h"
#include "option_paths.h"
#include "output_paths.h"
#include "pass_names.h"
#include "round_trip_audit.h"
#include "verify_each.h"

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
    : compiler_(compiler),
      options_(options),
      context_(compiler.MakeContext()),
      resumed_(resumed),
      observers_(compiler, counter_) {}

Status PipelineSetup::Run() {
  IROPT_RETURN_IF_ERROR(compiler_.LoadPlugins(options_.plugins));
  IROPT_RETURN_IF_ERROR(ReadPipelineFile());
  IROPT_RETURN_IF_ERROR(ReadPasses());
  IROPT_RETURN_IF_ERROR(FillContext());
  IROPT_RETURN_IF_ERROR(BuildPasses());
  IROPT_RETURN_IF_ERROR(FillNames());
  IROPT_RETURN_IF_ERROR(AddInstruments());
  if (!pipeline_) return {};
  if (options_.explain_pipeline != ShownForm::None) {
    AddTrace();  // which prints the skipped passes, too
  } else if (!WarnOfSkipped()) {
    return Failure{ErrorCode::Usage};
  }
  IROPT_RETURN_IF_ERROR(AddPositionalInstruments());
  pipeline_ = ExpandPipeline(*pipeline_, compiler_.registry(), context_.opt_level, &context_);
  if (Progress::IsWanted(options_.progress)) observers_.ShowProgress(*pipeline_, context_.instruments);
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

// Instruments that need the position in the pipeline. The one for failed passes comes last: those after an instrument
// that fails see the pass as failed.
Status PipelineSetup::AddPositionalInstruments() {
  if (options_.print_pipeline != ShownForm::None) return {};  // nothing runs
  if (!options_.dump_dir && !options_.checkpoint_dir && !options_.reproducer) return {};
  cursor_ = MakeCursor();
  context_.instruments.insert(context_.instruments.begin(), cursor_);
  if (options_.checkpoint_dir) IROPT_RETURN_IF_ERROR(AddCheckpoints(cursor_));
  if (options_.dump_dir) {
    IROPT_ASSIGN_OR_RETURN(dump_dir_,
                           DumpDir::Make("dump-dir", *options_.dump_dir, compiler_, counter_, cursor_,
                                         [this](Pipeline passes) { return SettingsWith(std::move(passes)); }));
    context_.instruments.push_back(dump_dir_);
    if (observers_.watchdog() != nullptr) observers_.watchdog()->set_dump_dir(dump_dir_);
  }
  if (options_.reproducer) context_.instruments.push_back(failed_pass_ = std::make_shared<FailedPass>(cursor_));
  return {};
}

// The modules are written first, and then the record that they are there.
Status PipelineSetup::AddCheckpoints(const std::shared_ptr<PipelineCursor>& cursor) {
  const auto settings = [this](Pipeline passes) {
    PipelineFile file = SettingsWith(std::move(passes));
    file.instruments = instruments_;
    // A run that goes on may have other limits.
    std::erase_if(file.instruments, [](const InstrumentSpec& spec) { return spec.name == "limits"; });
    return file;
  };
  const std::string& folder = *options_.checkpoint_dir;
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<DumpDir> files,
                         DumpDir::Make("checkpoint-dir", folder, compiler_, counter_, cursor, settings));
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
  checkpoints_ = {files, recorder};
  context_.instruments.insert(context_.instruments.end(), checkpoints_.begin(), checkpoints_.end());
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
  if (options_.run_reproducer) return ReadReproducer();
  if (!options_.pipeline_file) return {};
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<const FileBuffer> text, ReadFile(*options_.pipeline_file));
  IROPT_ASSIGN_OR_RETURN(const uint32_t base,
                         compiler_.sources().AddBuffer(*options_.pipeline_file, text->text(), text));
  std::optional<PipelineFile> file = ParsePipelineFile(text->text(), base, compiler_.diagnostics());
  if (!file) return Failure{ErrorCode::Usage};
  file_ = *std::move(file);
  IROPT_RETURN_IF_ERROR(LoadPluginsOf(file_, *options_.pipeline_file, compiler_.registry(), compiler_.diagnostics()));
  const std::filesystem::path folder = std::filesystem::path(*options_.pipeline_file).parent_path();
  if (file_.passes) ResolveOptionPaths(*file_.passes, compiler_.registry(), folder);
  return {};
}

Status PipelineSetup::ReadPasses() {
  pipeline_ = std::move(file_.passes);
  for (const std::string& text : options_.passes) {
    IROPT_ASSIGN_OR_RETURN(const uint32_t base, compiler_.AddText("-passes", text));
    std::optional<Pipeline> more = ParsePipeline(text, base, compiler_.diagnostics());
    if (!more) return Failure{ErrorCode::Usage};
    if (!pipeline_) pipeline_.emplace();
    std::ranges::move(*more, std::back_inserter(*pipeline_));
  }
  if (!pipeline_ && options_.opt_level) {
    PipelineItem item;
    item.kind = PipelineItem::Kind::Named;
    item.name = kDefaultPipeline;
    item.count = *options_.opt_level;
    pipeline_ = Pipeline{item};
  }
  return {};
}

Status PipelineSetup::FillContext() {
  if (file_.version) compiler_.set_default_version(*file_.version);
  context_.opt_level = options_.opt_level.value_or(file_.opt_level.value_or(kDefaultOptLevel));
  if (!options_.debug_channels.empty()) context_.threads = 1;  // for debug output in the order of the functions
  IROPT_RETURN_IF_ERROR(FillTarget());
  return FillConfig();
}

// That of the command line takes precedence.
Status PipelineSetup::FillTarget() {
  if (options_.target) {
    IROPT_ASSIGN_OR_RETURN(const uint32_t base, compiler_.AddText("-target", *options_.target));
    file_.target = *options_.target;
    file_.target.set_span({base, static_cast<uint32_t>(base + options_.target->size())});
  }
  if (file_.target.is_null()) return {};
  context_.target = ReadTarget(file_.target, compiler_.diagnostics());
  if (context_.target == nullptr) return Failure{ErrorCode::Usage};
  return {};
}

NetworkMode PipelineSetup::network_mode() const { return NetworkModeOf(context_.Config(config::relax::mode)); }

// The command line comes last and takes precedence.
Status PipelineSetup::FillConfig() {
  for (const std::string& text : options_.config) {
    IROPT_ASSIGN_OR_RETURN(const uint32_t base, compiler_.AddText("-config", text));
    std::optional<OptionValue::Dict> config = ParseConfig(text, base, compiler_.diagnostics());
    if (!config) return Failure{ErrorCode::Usage};
    std::ranges::move(*config, std::back_inserter(file_.config));
  }
  if (options_.mode) file_.config.push_back({"relax.mode", *options_.mode, {}});
  bool ok = true;
  for (const OptionValue::Entry& entry : file_.config) {
    ok &= context_.SetConfig(entry.key, entry.value, compiler_.diagnostics(), entry.key_span);
  }
  if (!ok) return Failure{ErrorCode::Usage};
  file_.config.clear();
  for (const auto& [key, value] : context_.config()) file_.config.push_back({key, value, {}});
  return {};
}

Result<InstrumentPlan> PipelineSetup::PlanInstruments() {
  InstrumentPlan plan(options_);
  IROPT_ASSIGN_OR_RETURN(std::vector<LocatedName> before, LocateNames("-print-before", options_.print_before.passes));
  IROPT_RETURN_IF_ERROR(CheckPrinted(std::move(before)));
  IROPT_ASSIGN_OR_RETURN(std::vector<LocatedName> after, LocateNames("-print-after", options_.print_after.passes));
  IROPT_RETURN_IF_ERROR(CheckPrinted(std::move(after)));
  std::vector<InstrumentSpec> specs = file_.instruments;
  for (const std::string& text : options_.instruments) {
    IROPT_ASSIGN_OR_RETURN(const uint32_t base, compiler_.AddText("-instruments", text));
    const std::optional<std::vector<InstrumentSpec>> more = ParseInstruments(text, base, compiler_.diagnostics());
    if (!more) return Failure{ErrorCode::Usage};
    specs.insert(specs.end(), more->begin(), more->end());
  }
  std::optional<ErrorCode> failure;
  for (const InstrumentSpec& spec : specs) {
    const Status added = plan.Add(spec, compiler_.registry(), compiler_.diagnostics());
    if (!added.ok() && !failure) failure = added.error().code;
  }
  if (failure) return Failure{*failure};
  IROPT_RETURN_IF_ERROR(CheckPrinted(plan.print_passes));
  IROPT_ASSIGN_OR_RETURN(const std::vector<LocatedName> limits, LocateNames("-rewrite-limit", options_.rewrite_limits));
  plan.rewrite_limits.insert(plan.rewrite_limits.end(), limits.begin(), limits.end());
  limits_ = plan.limits;
  if (options_.bisect) plan.limits = {};
  return plan;
}

void PipelineSetup::AddReadFiles(OutputFiles& files) const {
  for (const std::string& path : options_.compiler.response_files) files.AddRead("the response file", path);
  if (options_.pipeline_file) files.AddRead("-pipeline", *options_.pipeline_file);
  if (options_.compiler.weights) files.AddRead("-weights", *options_.compiler.weights);
  for (const PluginRecord& plugin : compiler_.registry().plugins()) files.AddRead("-load-pass-plugin", plugin.path);
  for (const auto& [owner, path] : FilesOfOptions(built_, compiler_.registry())) files.AddRead(owner, path);
}

// Who names a folder may not think of the files that are there.
bool PipelineSetup::WarnOfReplacedInputs() {
  if (!options_.output.ends_with('/')) return true;
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
    if (!options_.externalize_constants) continue;
    IROPT_ASSIGN_OR_RETURN(const std::string weights, ConstantExternalizer::PathBeside(pair.output));
    IROPT_RETURN_IF_ERROR(
        files.ClaimInPlace("-externalize-constants", weights, options_.compiler.weights.value_or("-")));
  }
  if (!options_.reproducer) return {};
  constexpr FileKind kReproducer = {"a reproducer of ir-opt", kSnapshotBegin, kSnapshotMark};
  // A crash could not report that the file cannot be written.
  IROPT_RETURN_IF_ERROR(files.Open("-reproducer", *options_.reproducer, kReproducer));
  return {};
}

Status PipelineSetup::RemoveOldDumps() {
  if (dump_dir_) IROPT_RETURN_IF_ERROR(dump_dir_->RemoveOldFiles());
  return {};
}

Status PipelineSetup::AddRewriteLimits(const InstrumentPlan& plan) {
  bool ok = true;
  for (const LocatedName& text : plan.rewrite_limits) {
    Result<RewriteLimit> limit = ParseRewriteLimit(text.name);
    if (!limit.ok()) {
      compiler_.diagnostics().Error(text.span, "usage", limit.error().message);
      ok = false;
      continue;
    }
    const PassEntry* row = compiler_.registry().Find(limit->pass);
    if (row == nullptr) {
      ReportUnknownPass(limit->pass, compiler_.registry(), text.span, compiler_.diagnostics());
    } else if (!row->info.counts_rewrites) {
      compiler_.diagnostics().Error(
          text.span, "usage",
          fmt::format("pass '{}' does not count its rewrites: -help-pass=NAME tells which pass does", limit->pass));
    } else {
      limits_of_rewrites_.push_back({row->info.name, limit->limit});
      continue;
    }
    ok = false;
  }
  if (!ok) return Failure{ErrorCode::Usage};
  if (limits_of_rewrites_.empty()) return {};
  context_.instruments.push_back(rewrite_limits_ = std::make_shared<RewriteLimits>(limits_of_rewrites_));
  context_.threads = 1;  // for numbers that do not depend on threads
  return {};
}

void PipelineSetup::ReportRewrites() {
  if (!rewrite_limits_) return;
  for (const auto& [pass, counter] : rewrite_limits_->counters()) {
    const CountedRewrite last = counter->last();
    std::string message = fmt::format("pass '{}' made {} rewrite{}", pass, last.number, last.number == 1 ? "" : "s");
    if (last.number > 0) message += fmt::format(", the last one is {}", last.kind);
    if (counter->has_stopped()) message += "; the limit stopped it";
    compiler_.diagnostics().Remark(last.span, "rewrite-limit", std::move(message));
  }
}

// Instruments that inspect the module before a pass come before the observers, which begin with the timer; those that
// inspect it afterwards come after them.
Status PipelineSetup::AddInstruments() {
  IROPT_ASSIGN_OR_RETURN(const InstrumentPlan plan, PlanInstruments());
  instruments_ = plan.Specs();
  if (options_.filter_functions) {
    IROPT_ASSIGN_OR_RETURN(filter_, FunctionFilter::Make(*options_.filter_functions));
  }
  const auto printer = std::make_shared<const IrPrinter>(compiler_, filter_, counter_);
  const ModulePrinter print = [printer](const Module& module, const std::string& heading) {
    return printer->Print(module, heading);
  };
  InstrumentList& list = context_.instruments;
  bisect_limit_ = plan.bisect_limit;
  // An ill-formed module cannot be run.
  const bool verify_each = plan.verify_each || (plan.check_semantics && plan.check_semantics->each);
  const auto audit = verify_each ? std::make_shared<ChangeAudit>() : nullptr;
  const bool numbers = plan.prints() || plan.limits.any() || plan.bisect_limit;
  if (numbers || options_.dump_dir || options_.checkpoint_dir) list.push_back(counter_);
  if (plan.bisect_limit) {
    const auto say = [this](const BisectStep& step, bool runs) { ShowBisectStep(step, runs); };
    list.push_back(bisect_ = std::make_shared<OptBisect>(*plan.bisect_limit, say));
  }
  IROPT_RETURN_IF_ERROR(AddPassRange());
  IROPT_RETURN_IF_ERROR(AddRewriteLimits(plan));
  if (plan.print_before.wanted()) {
    IROPT_ASSIGN_OR_RETURN(PassFilter filter, FilterOf(plan.print_before));
    list.push_back(std::make_shared<PrintIRBefore>(std::move(filter), print));
  }
  if (verify_each) {
    list.push_back(audit);
    static_cast<void>(context_.SetConfig(config::testing::verify_analyses.name, true, compiler_.diagnostics()));
  }
  list.insert(list.end(), plan.others.begin(), plan.others.end());
  OutputFiles files;
  IROPT_RETURN_IF_ERROR(ClaimFiles(files));
  IROPT_RETURN_IF_ERROR(observers_.Start(plan, iropt::PrintPipeline(pipeline_.value_or(Pipeline())), files));
  observers_.AppendTo(list);
  if (verify_each) {
    list.push_back(std::make_shared<VerifyEach>(compiler_.verify_options(), audit, compiler_.diagnostics()));
    const auto is_set = [this](std::string_view key) { return context_.Config(ConfigKey<bool>{key}); };
    list.push_back(std::make_shared<PropertyAudit>(is_set, compiler_.diagnostics()));
    list.push_back(std::make_shared<RoundTripAudit>(audit, compiler_.threads(), compiler_.diagnostics()));
    verifies_each_ = true;
  }
  if (plan.check_semantics) {
    IROPT_ASSIGN_OR_RETURN(semantic_check_, SemanticCheck::Make(compiler_.diagnostics(), compiler_.err(),
                                                                *plan.check_semantics, network_mode()));
    list.push_back(semantic_check_);
  }
  if (plan.print_after.wanted()) {
    IROPT_ASSIGN_OR_RETURN(PassFilter filter, FilterOf(plan.print_after));
    list.push_back(std::make_shared<PrintIRAfter>(std::move(filter), print));
  }
  if (plan.print_changed != ChangePrinting::Off)
    list.push_back(std::make_shared<PrintChanged>(plan.print_changed, printer, compiler_));
  return {};
}

// Comes last: instruments after one that fails see the pass as failed.
void PipelineSetup::AddTrace() {
  trace_ = std::make_shared<PipelineTrace>(context_, Origins(), *pass_);
  context_.instruments.push_back(trace_);
}

// With the number of the pass in what is printed and dumped, which counts mandatory passes, and functions only once. A
// pass over functions has begun when it asks.
void PipelineSetup::ShowBisectStep(const BisectStep& step, bool runs) {
  std::string line = BisectLine(step, runs);
  const bool has_begun = !step.function.empty();
  if (has_begun || runs) {
    const size_t number = has_begun ? counter_->current() : counter_->num_begun() + 1;
    line.insert(line.size() - 1, fmt::format(", pass {} of the run", number));
  }
  compiler_.err().Append(line);
  static_cast<void>(compiler_.err().Flush());
}

std::shared_ptr<PassInstrument> PipelineSetup::AnotherBisect() const {
  return std::make_shared<OptBisect>(*bisect_limit_, [](const BisectStep&, bool) {});
}

std::shared_ptr<PassInstrument> PipelineSetup::AnotherRewriteLimits() const {
  return std::make_shared<RewriteLimits>(limits_of_rewrites_);
}

PassContext PipelineSetup::UntracedContext() const {
  PassContext context = context_;
  if (rewrite_limits_) {
    std::ranges::replace(context.instruments, std::shared_ptr<PassInstrument>(rewrite_limits_), AnotherRewriteLimits());
  }
  if (bisect_) std::ranges::replace(context.instruments, std::shared_ptr<PassInstrument>(bisect_), AnotherBisect());
  std::erase(context.instruments, trace_);
  std::erase(context.instruments, semantic_check_);
  std::erase(context.instruments, dump_dir_);
  for (const auto& writer : checkpoints_) std::erase(context.instruments, writer);
  return context;
}

PassContext PipelineSetup::CheckingContext() const {
  PassContext context = context_;
  context.instruments.clear();
  if (bisect_) context.instruments.push_back(AnotherBisect());
  if (range_) context.instruments.push_back(range_);
  if (rewrite_limits_) context.instruments.push_back(AnotherRewriteLimits());
  const auto audit = std::make_shared<ChangeAudit>();
  context.instruments.push_back(audit);
  context.instruments.push_back(
      std::make_shared<VerifyEach>(compiler_.verify_options(), audit, compiler_.diagnostics()));
  if (failed_pass_) {
    context.instruments.insert(context.instruments.begin(), cursor_);
    context.instruments.push_back(failed_pass_);
  }
  return context;
}

std::string PipelineSetup::LevelOrigin() const {
  if (options_.opt_level) return fmt::format("-O{}", context_.opt_level);
  if (file_.opt_level) return fmt::format("-O{} of {}", context_.opt_level, *options_.pipeline_file);
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
