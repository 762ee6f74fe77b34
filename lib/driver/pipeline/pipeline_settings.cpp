#include "driver/pipeline/pipeline_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include "configs/relax.count_folded_calls.h"
#include "configs/relax.max_constant_bytes.h"
#include "configs/relax.max_constant_growth.h"
#include "configs/relax.mode.h"
#include "driver/pipeline/option_paths.h"
#include "driver/pipeline/pass_names.h"
#include "iropt/analysis/relax/file_bytes.h"
#include "iropt/driver/load_plugins.h"
#include "iropt/observe/module_metrics.h"
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

// The file that a value of -passes names as @FILE; empty if the value is a pipeline.
std::string_view FileOfPasses(std::string_view text) {
  return text.starts_with('@') ? text.substr(1) : std::string_view();
}

// Returns whether a pass works on PrimFuncs alone. Passes over modules do not say so but by their names.
bool IsLoopPass(const PassInfo& info) { return info.kind == PassKind::PrimFunc || info.name.starts_with("tir."); }

}  // namespace

// The pipeline file is in the comments of the input.
Status PipelineSettings::ReadReproducer() {
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

Status PipelineSettings::ReadPipelineFile() {
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

int PipelineSettings::Level() const {
  return options_.pipeline.opt_level.value_or(file_.opt_level.value_or(kDefaultOptLevel));
}

// A value of -passes: a pipeline, or @FILE with one.
Result<Pipeline> PipelineSettings::ReadPipelineText(const std::string& text) {
  const std::string_view path = FileOfPasses(text);
  if (path.empty()) {
    IROPT_ASSIGN_OR_RETURN(const uint32_t base, compiler_.AddText("-passes", text));
    std::optional<Pipeline> passes = ParsePipeline(text, base, compiler_.diagnostics(), Level());
    return passes ? Result<Pipeline>(*std::move(passes)) : Failure{ErrorCode::Usage};
  }
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<const FileBuffer> file, ReadFile(std::string(path)));
  IROPT_ASSIGN_OR_RETURN(const uint32_t base, compiler_.sources().AddBuffer(std::string(path), file->text(), file));
  std::optional<Pipeline> passes = ParsePipeline(file->text(), base, compiler_.diagnostics(), Level());
  if (!passes) return Failure{ErrorCode::Usage};
  ResolveOptionPaths(*passes, compiler_.registry(), std::filesystem::path(path).parent_path());
  return *std::move(passes);
}

Status PipelineSettings::ReadPasses() {
  pipeline_ = std::move(file_.passes);
  for (const std::string& text : options_.pipeline.passes) {
    IROPT_ASSIGN_OR_RETURN(Pipeline more, ReadPipelineText(text));
    if (!pipeline_) pipeline_.emplace();
    std::ranges::move(more, std::back_inserter(*pipeline_));
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

// That of the command line takes precedence.
Status PipelineSettings::FillTarget() {
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

// The command line comes last and takes precedence.
Status PipelineSettings::FillConfig() {
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

Status PipelineSettings::FillContext() {
  if (file_.version) compiler_.set_default_version(*file_.version);
  context_.opt_level = Level();
  if (!options_.debug_channels.empty()) context_.threads = 1;  // for debug output in the order of the functions
  IROPT_RETURN_IF_ERROR(FillTarget());
  return FillConfig();
}

Status PipelineSettings::BuildPasses() {
  if (!pipeline_) return {};
  if (!CheckOptionPaths(*pipeline_, compiler_.registry(), compiler_.diagnostics())) return Failure{ErrorCode::Usage};
  IROPT_ASSIGN_OR_RETURN(pass_, BuildPipeline(*pipeline_, compiler_.registry(), compiler_.diagnostics(), &context_));
  built_ = ExpandPipeline(*pipeline_, compiler_.registry(), std::nullopt, &context_);
  return {};
}

Status PipelineSettings::FillNames() {
  IROPT_RETURN_IF_ERROR(ResolveNames(file_.disabled));
  IROPT_RETURN_IF_ERROR(ResolveNames(file_.required));
  IROPT_ASSIGN_OR_RETURN(disabled_, ReadNames("-disable", options_.pipeline.disable));
  IROPT_ASSIGN_OR_RETURN(required_, ReadNames("-require", options_.pipeline.require));
  // The command line takes precedence: passes that it requires are no longer disabled by the file.
  std::ranges::copy_if(file_.disabled, std::back_inserter(disabled_), [&](const LocatedName& name) {
    return std::ranges::find(required_, name.name, &LocatedName::name) == required_.end();
  });
  std::ranges::copy(file_.required, std::back_inserter(required_));
  context_.disabled_pass = NamesOf(disabled_);
  context_.required_pass = NamesOf(required_);
  return {};
}

Status PipelineSettings::Read() {
  IROPT_RETURN_IF_ERROR(compiler_.LoadPlugins(options_.pipeline.plugins));
  IROPT_RETURN_IF_ERROR(ReadPipelineFile());
  IROPT_RETURN_IF_ERROR(ReadPasses());
  IROPT_RETURN_IF_ERROR(FillContext());
  IROPT_RETURN_IF_ERROR(BuildPasses());
  return FillNames();
}

bool PipelineSettings::WarnOfSkipped() const {
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

bool PipelineSettings::has_no_passes() const {
  return pass_ && HoldsForAll(*pass_, [](const PassInfo&) { return false; });
}

bool PipelineSettings::has_only_loop_passes() const { return pass_ && HoldsForAll(*pass_, IsLoopPass); }

std::shared_ptr<PipelineCursor> PipelineSettings::MakeCursor() const {
  return std::make_shared<PipelineCursor>(built_, context_.opt_level);
}

void PipelineSettings::LimitConstants(const Module& module, int64_t max_growth) {
  if (!stated_bytes_) stated_bytes_ = context_.Config(config::relax::max_constant_bytes);
  int64_t limit = *stated_bytes_;
  const int64_t stated_growth = context_.Config(config::relax::max_constant_growth);
  if (limit < 0 && (stated_growth >= 0 || max_growth >= 0)) {
    const bool is_default = stated_growth < 0;
    const bool counts_calls = context_.Config(config::relax::count_folded_calls);
    const auto bytes = static_cast<int64_t>(counts_calls ? FileBytesOf(module) : CostOf(module).constant_bytes);
    if (__builtin_add_overflow(bytes, stated_growth, &limit)) limit = INT64_MAX;
    if (is_default) {
      const uint64_t left_out = compiler_.file_nodes().left_out;
      limit = static_cast<int64_t>(MostFileBytes(module, static_cast<size_t>(max_growth), left_out));
      static_cast<void>(context_.SetConfig(config::relax::count_folded_calls.name, true, compiler_.diagnostics()));
    }
  }
  static_cast<void>(context_.SetConfig(config::relax::max_constant_bytes.name, limit, compiler_.diagnostics()));
}

NetworkMode PipelineSettings::network_mode() const { return NetworkModeOf(context_.Config(config::relax::mode)); }

std::string PipelineSettings::LevelOrigin() const {
  if (options_.pipeline.opt_level) return fmt::format("-O{}", context_.opt_level);
  if (file_.opt_level) return fmt::format("-O{} of {}", context_.opt_level, *options_.pipeline.file);
  return fmt::format("-O{}, the default", context_.opt_level);
}

// The command line comes first in the lists, so messages name it.
SettingOrigins PipelineSettings::Origins() const {
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

bool PipelineSettings::AddMatching(const LocatedName& pattern, std::vector<LocatedName>& names) const {
  const Result<std::vector<std::string>> matching = NamesMatching(pattern.name, NamesIn(built_));
  if (!matching.ok() || matching->empty()) {
    const std::string why = matching.ok() ? "no pass of the pipeline matches it" : matching.error().message;
    compiler_.diagnostics().Error(pattern.span, "unknown-pass",
                                  fmt::format("the regular expression '{}': {}", pattern.name, why));
    return false;
  }
  for (const std::string& name : *matching) names.push_back({name, pattern.span});
  return true;
}

// A name may be that of a pass, or that of a Sequential in the pipeline.
Status PipelineSettings::ResolveNames(std::vector<LocatedName>& names) const {
  std::vector<std::string_view> groups;
  if (pipeline_) std::ranges::copy(NamesIn(*pipeline_), std::back_inserter(groups));
  bool ok = true;
  std::vector<LocatedName> resolved;
  for (LocatedName& name : names) {
    if (const PassEntry* row = compiler_.registry().Find(name.name)) {
      resolved.push_back({row->info.name, name.span});
    } else if (std::ranges::find(groups, name.name) != groups.end()) {
      resolved.push_back(name);
    } else if (IsNamePattern(name.name)) {
      ok &= AddMatching(name, resolved);
    } else {
      ReportUnknownPass(name.name, compiler_.registry(), name.span, compiler_.diagnostics(), groups);
      ok = false;
    }
  }
  names = std::move(resolved);
  if (!ok) return Failure{ErrorCode::Usage};
  return {};
}

Result<std::vector<LocatedName>> PipelineSettings::ReadNames(const char* flag,
                                                             const std::vector<std::string>& names) const {
  IROPT_ASSIGN_OR_RETURN(std::vector<LocatedName> located, LocateNames(compiler_, flag, names));
  IROPT_RETURN_IF_ERROR(ResolveNames(located));
  return located;
}

void PipelineSettings::AddReadFiles(OutputFiles& files) const {
  for (const std::string& path : options_.compiler.response_files) files.AddRead("the response file", path);
  if (options_.pipeline.file) files.AddRead("-pipeline", *options_.pipeline.file);
  for (const std::string& text : options_.pipeline.passes) {
    if (const std::string_view path = FileOfPasses(text); !path.empty()) files.AddRead("-passes", std::string(path));
  }
  if (options_.compiler.weights) files.AddRead("-weights", *options_.compiler.weights);
  for (const PluginRecord& plugin : compiler_.registry().plugins()) files.AddRead("-load-pass-plugin", plugin.path);
  for (const auto& [owner, path] : FilesOfOptions(built_, compiler_.registry())) files.AddRead(owner, path);
}

PipelineFile PipelineSettings::With(Pipeline passes) const {
  PipelineFile file;
  std::error_code error;  // without a current folder, paths stay as they are
  for (const PluginRecord& plugin : compiler_.registry().plugins()) {
    const std::filesystem::path path = std::filesystem::absolute(plugin.path, error);
    file.plugins.push_back({error ? plugin.path : path.string(), {}});
  }
  file.version = file_.version;
  file.opt_level = context_.opt_level;
  file.disabled = disabled_;
  file.required = required_;
  file.config = file_.config;
  file.target = file_.target;
  file.passes = std::move(passes);
  ResolveOptionPaths(*file.passes, compiler_.registry(), std::filesystem::current_path(error));
  return file;
}

// The run may have enabled the pass in spite of its level: in a Sequential with a level of its own, or because another
// pass requires it.
PipelineFile PipelineSettings::ForPass(const PipelineItem& pass) const {
  PipelineFile file = With({pass});
  const PassEntry* row = compiler_.registry().Find(pass.name);
  if (row != nullptr) file.opt_level = std::max(*file.opt_level, row->info.opt_level);
  std::erase_if(file.disabled, [&](const LocatedName& name) { return name.name == pass.name; });
  return file;
}

PassContext PipelineSettings::ContextFor(const PipelineFile& settings) const {
  PassContext context = context_;
  context.instruments.clear();
  context.opt_level = *settings.opt_level;
  context.disabled_pass = NamesOf(settings.disabled);
  return context;
}

std::string PipelineSettings::PrintedPasses() const { return PrintPipeline(pipeline_.value_or(Pipeline())); }

Result<RunIdentity> PipelineSettings::Identity() const {
  // It would be read twice.
  if (options_.input == "-") return Error{ErrorCode::Usage, "-checkpoint-dir needs an input in a file"};
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<const FileBuffer> input, ReadFile(options_.input));
  return RunIdentity::Of(input->text(), PrintPipelineFile(All()));
}

}  // namespace iropt
