#include "iropt/pass/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "guard.h"
#include "iropt/ir/target.h"
#include "iropt/pass/context.h"
#include "iropt/support/check.h"
#include "iropt/support/crash.h"
#include "iropt/support/edit_distance.h"
#include "pipeline_text.h"

namespace iropt {

std::string_view PassKindName(PassKind kind) {
  switch (kind) {
    case PassKind::Module: return "module";
    case PassKind::Function: return "function";
    case PassKind::DataflowBlock: return "dataflow-block";
    case PassKind::PrimFunc: return "primfunc";
    case PassKind::Sequential: return "sequential";
    case PassKind::Fixpoint: return "fixpoint";
    case PassKind::Repeat: return "repeat";
  }
  IROPT_UNREACHABLE("pass kind {}", kind);
}

namespace {

void ReportUnknown(std::string message, std::optional<std::string> meant, DiagId kind, SourceSpan span,
                   DiagnosticEngine& diagnostics) {
  if (!meant) {
    diagnostics.Error(span, kind, std::move(message));
    return;
  }
  message += fmt::format("; did you mean '{}'?", *meant);
  diagnostics.Error(span, kind, std::move(message)).FixIt(span, *std::move(meant));
}

}  // namespace

void ReportUnknownName(std::string message, std::string_view name, std::span<const std::string_view> known, DiagId kind,
                       SourceSpan span, DiagnosticEngine& diagnostics) {
  const std::optional<std::string_view> nearest = NearestName(name, known);
  ReportUnknown(std::move(message), nearest ? std::optional<std::string>(*nearest) : std::nullopt, kind, span,
                diagnostics);
}

void ReportUnknownPass(std::string_view name, const PassRegistry& registry, SourceSpan span,
                       DiagnosticEngine& diagnostics, std::span<const std::string_view> others) {
  ReportUnknown(fmt::format("unknown pass '{}'", name), registry.Suggest(name, others), "unknown-pass", span,
                diagnostics);
}

PassRegistry::PassRegistry() {
  OptionSpec verify{std::string(config::testing::verify_analyses.name), OptionType::Bool, false,
                    "check that passes preserve the analyses that they claim to preserve"};
  rows_.Own().configs.emplace(verify.name, verify);
  OptionSpec immutable{std::string(config::testing::immutable_module.name), OptionType::Bool, false,
                       "check that no pass modifies its input module"};
  rows_.Own().configs.emplace(immutable.name, immutable);
}

// Of the area of the passes, which is above this one; null in programs without it.
[[gnu::weak]] const PassRegistry& AllPasses();

PassRegistry& PassRegistry::Global() {
  static PassRegistry global = &AllPasses != nullptr ? AllPasses() : PassRegistry();
  return global;
}

namespace {

// Walks the requirements of `info` in depth first order: each pass once, after what it requires.
class RequirementWalk {
 public:
  explicit RequirementWalk(const PassRegistry& registry) : registry_(registry) {}

  // Requirements that are not registered yet are ignored unless `complete`.
  Status Visit(const PassInfo& info, bool complete) {
    path_.push_back(info.name);
    for (const std::string& name : info.required) {
      if (std::ranges::find(path_, name) != path_.end()) return CircleThrough(name);
      if (!visited_.insert(name).second) continue;
      const PassEntry* row = registry_.Find(name);
      if (row == nullptr) {
        if (complete) return Unknown(info, name);
        continue;
      }
      IROPT_RETURN_IF_ERROR(Visit(row->info, complete));
      order_.push_back(row);
    }
    path_.pop_back();
    return {};
  }

  std::vector<const PassEntry*>& order() { return order_; }

 private:
  static Error Unknown(const PassInfo& info, const std::string& name) {
    return {ErrorCode::PassFailed, fmt::format("pass '{}' requires the unknown pass '{}'", info.name, name)};
  }
  Error CircleThrough(const std::string& name) const {
    std::string circle;
    for (auto step = std::ranges::find(path_, name); step != path_.end(); ++step) circle += *step + " -> ";
    return {ErrorCode::PassFailed, fmt::format("passes require each other in a circle: {}{}", circle, name)};
  }

  const PassRegistry& registry_;
  std::vector<std::string> path_;
  std::set<std::string> visited_;
  std::vector<const PassEntry*> order_;
};

Status CheckName(std::string_view what, std::string_view name, bool has_factory) {
  const auto refuse = [&](std::string_view why) {
    return Error{ErrorCode::Usage, fmt::format("the {} '{}' {}", what, name, why)};
  };
  if (!IsWord(name)) return refuse("has a name that is not a word");
  if (!IsBareName(name)) return refuse("has a reserved name");
  if (!has_factory) return refuse("has no factory");
  return {};
}

// `what` comes with its article.
Error TakenName(std::string_view what, std::string_view name, std::string_view plugin) {
  std::string message = fmt::format("there is already {} '{}'", what, name);
  if (!plugin.empty()) message += fmt::format(", of plugin '{}'", plugin);
  return {ErrorCode::Usage, std::move(message)};
}

// The result of a factory. Factories of plugins may throw.
template <class F>
std::invoke_result_t<F&> CallFactory(std::string_view what, std::string_view name, F&& create) {
  const CrashNote note("creating", name);
  return CatchExceptions([&] { return fmt::format("the factory of {} '{}'", what, name); }, create);
}

}  // namespace

Status PassRegistry::Add(PassEntry row) {
  IROPT_RETURN_IF_ERROR(CheckName("pass", row.info.name, row.create != nullptr));
  const std::string name = row.info.name;
  row.plugin = adding_plugin_;
  auto& passes = rows_.Own().passes;
  const auto [place, added] = passes.emplace(name, std::move(row));
  if (!added) return TakenName("a pass", name, place->second.plugin);
  Status acyclic = RequirementWalk(*this).Visit(place->second.info, /*complete=*/false);
  if (!acyclic.ok()) passes.erase(place);
  return acyclic;
}

Status PassRegistry::AddConfig(OptionSpec spec) {
  const std::string name = spec.name;
  if (spec.type == OptionType::Record && spec.default_value.is_null()) {
    OptionValue::Dict fields;
    for (const OptionSpec& field : spec.fields) fields.push_back({field.name, field.default_value, {}});
    spec.default_value = std::move(fields);
  }
  if (rows_.Own().configs.emplace(name, std::move(spec)).second) return {};
  return Error{ErrorCode::Usage, fmt::format("there is already a configuration option '{}'", name)};
}

Status PassRegistry::AddAlias(PassAlias alias) {
  if (Find(alias.alias) != nullptr) return TakenName("a pass", alias.alias, {});
  if (Find(alias.pass) == nullptr) {
    return Error{ErrorCode::Usage,
                 fmt::format("'{}' is another name of the unknown pass '{}'", alias.alias, alias.pass)};
  }
  rows_.Own().aliases.push_back(alias);
  return {};
}

Status PassRegistry::AddPassName(OtherName other) {
  if (Find(other.name) != nullptr) return TakenName("a pass", other.name, {});
  if (rows_->passes.find(other.known_as) == rows_->passes.end()) {
    return Error{ErrorCode::Usage,
                 fmt::format("'{}' is another name of the unknown pass '{}'", other.name, other.known_as)};
  }
  rows_.Own().other_pass_names.emplace(other.name, other);
  return {};
}

Status PassRegistry::AddConfigName(OtherName other) {
  if (FindConfig(other.name) != nullptr) return TakenName("a configuration option", other.name, {});
  if (rows_->configs.find(other.known_as) == rows_->configs.end()) {
    return Error{ErrorCode::Usage, fmt::format("'{}' is another name of the unknown configuration option '{}'",
                                               other.name, other.known_as)};
  }
  rows_.Own().other_config_names.emplace(other.name, other.known_as);
  return {};
}

Status PassRegistry::AddInstrument(InstrumentEntry row) {
  IROPT_RETURN_IF_ERROR(CheckName("instrument", row.name, row.create != nullptr));
  const std::string name = row.name;
  row.plugin = adding_plugin_;
  const auto [place, added] = rows_.Own().instruments.emplace(name, std::move(row));
  if (!added) return TakenName("an instrument", name, place->second.plugin);
  return {};
}

Status PassRegistry::AddAnalysis(PrintedAnalysis analysis) {
  IROPT_RETURN_IF_ERROR(CheckName("analysis", analysis.name, /*has_factory=*/true));
  if (analysis.print == nullptr)
    return Error{ErrorCode::Usage, fmt::format("the analysis '{}' has no function that prints it", analysis.name)};
  Rows& own = rows_.Own();
  const auto printer = own.passes.find(kPrintAnalysesPass);
  if (printer == own.passes.end()) {
    return Error{ErrorCode::Usage,
                 fmt::format("the registry lacks the pass '{}', which prints '{}'", kPrintAnalysesPass, analysis.name)};
  }
  const std::string name = analysis.name;
  analysis.plugin = adding_plugin_;
  const auto [place, added] = own.analyses.emplace(name, std::move(analysis));
  if (!added) return TakenName("an analysis", name, place->second.plugin);
  std::vector<OptionSpec>& options = printer->second.options;
  if (std::ranges::find(options, name, &OptionSpec::name) == options.end())
    options.push_back(
        {.name = name, .type = OptionType::Bool, .default_value = false, .summary = place->second.summary});
  return {};
}

namespace {

// Fails if the pipeline names one that is not registered.
Status CheckNested(const Pipeline& pipeline, const PassRegistry& registry) {
  for (const PipelineItem& item : pipeline) {
    if (item.kind == PipelineItem::Kind::Named && registry.FindPipeline(item.name, item.count) == nullptr) {
      return Error{ErrorCode::Usage, fmt::format("'{}<O{}>' is not registered before it", item.name, item.count)};
    }
    IROPT_RETURN_IF_ERROR(CheckNested(item.children, registry));
  }
  return {};
}

Status CheckRule(const PipelineRule& rule, const Pipeline& passes, const PassRegistry& registry) {
  const bool is_phase = rule.kind == PipelineRule::Kind::Phase;
  const OptionSpec* config = registry.FindConfig(rule.config);
  if (config == nullptr) {
    return Error{ErrorCode::Usage, fmt::format("a rule for the unknown configuration option '{}'", rule.config)};
  }
  if (is_phase != (config->type == OptionType::Phases)) {
    return Error{ErrorCode::Usage,
                 fmt::format("a rule for '{}', which is {}", rule.config, OptionTypeName(config->type))};
  }
  if (is_phase && rule.pass.empty()) return {};
  if (std::ranges::find(passes, rule.pass, &PipelineItem::name) != passes.end()) return {};
  return Error{ErrorCode::Usage, fmt::format("a rule for the pass '{}', which it does not run", rule.pass)};
}

Status CheckPasses(const PipelineEntry& entry, const PassRegistry& registry) {
  DiagnosticBuffer reports;
  DiagnosticEngine diagnostics(&reports);
  const std::optional<Pipeline> passes = ParsePipeline(entry.passes, 1, diagnostics);
  if (!passes) return Error{ErrorCode::Usage, reports.diagnostics().front().message};
  for (const PipelineRule& rule : entry.rules) IROPT_RETURN_IF_ERROR(CheckRule(rule, *passes, registry));
  return CheckNested(*passes, registry);
}

}  // namespace

Status PassRegistry::AddPipeline(PipelineEntry entry) {
  const auto refuse = [&](std::string_view why) {
    return Error{ErrorCode::Usage, fmt::format("the pipeline '{}': {}", entry.name, why)};
  };
  if (entry.name != kDefaultPipeline && !IsBareName(entry.name))
    return refuse("a name must be a word that is not reserved");
  if (entry.lowest_level < 0 || entry.lowest_level > entry.highest_level || entry.highest_level > kMaxOptLevel) {
    return refuse(fmt::format("levels must be from 0 to {}", kMaxOptLevel));
  }
  for (int level = entry.lowest_level; level <= entry.highest_level; ++level) {
    if (FindPipeline(entry.name, level) != nullptr) return refuse(fmt::format("there is already one for O{}", level));
  }
  if (const Status passes = CheckPasses(entry, *this); !passes.ok()) return refuse(passes.error().message);
  entry.plugin = adding_plugin_;
  const auto key = [](const PipelineEntry& e) { return std::tie(e.name, e.lowest_level); };
  auto& pipelines = rows_.Own().pipelines;
  const auto place = std::ranges::upper_bound(pipelines, key(entry), std::less<>(), key);
  pipelines.insert(place, std::move(entry));
  return {};
}

Status PassRegistry::ExtendPipeline(PipelineEntry addition) {
  const auto refuse = [&](std::string_view why) {
    return Error{ErrorCode::Usage, fmt::format("passes for the pipeline '{}': {}", addition.name, why)};
  };
  if (addition.lowest_level > addition.highest_level) return refuse("there are no levels");
  for (int level = addition.lowest_level; level <= addition.highest_level; ++level) {
    if (FindPipeline(addition.name, level) == nullptr) return refuse(fmt::format("it has no level O{}", level));
  }
  if (!addition.target.empty() && FindTargetKind(addition.target) == nullptr) {
    return refuse(fmt::format("there are no targets of the kind '{}'", addition.target));
  }
  if (const Status passes = CheckPasses(addition, *this); !passes.ok()) return refuse(passes.error().message);
  addition.plugin = adding_plugin_;
  rows_.Own().additions.push_back(std::move(addition));
  return {};
}

Status PassRegistry::AddDiagnosticKind(const DiagnosticKind& kind) {
  if (!CanAddDiagnosticKind(kind)) {
    return Error{ErrorCode::Usage,
                 fmt::format("the diagnostic kind '{}' is taken, or not words joined by '-'", kind.id)};
  }
  const auto add = [kind] { IROPT_CHECK(iropt::AddDiagnosticKind(kind), "the kind '{}' is taken", kind.id); };
  adding_plugin_.empty() ? add() : static_cast<void>(when_added_.emplace_back(add));
  return {};
}

Status PassRegistry::AddOperator(const OpSpec& spec) {
  if (const std::string refusal = RefusalOf(spec); !refusal.empty()) {
    return Error{ErrorCode::Usage, fmt::format("the operator '{}': {}", spec.name, refusal)};
  }
  const auto add = [spec] { AddOp(spec); };
  adding_plugin_.empty() ? add() : static_cast<void>(when_added_.emplace_back(add));
  return {};
}

Status PassRegistry::AddPlugin(PluginRecord plugin, FunctionRef<Status(PassRegistry&)> add) {
  PassRegistry extended = *this;
  extended.adding_plugin_ = plugin.name;
  IROPT_RETURN_IF_ERROR(
      CatchExceptions([&] { return fmt::format("plugin '{}'", plugin.name); }, [&] { return add(extended); }));
  for (const std::function<void()>& action : std::exchange(extended.when_added_, {})) action();
  extended.adding_plugin_.clear();
  extended.rows_.Own().plugins.push_back(std::move(plugin));
  *this = std::move(extended);
  return {};
}

const PassEntry* PassRegistry::Find(std::string_view name) const {
  const auto at = rows_->passes.find(PassName(name));
  return at == rows_->passes.end() ? nullptr : &at->second;
}

// The name of the function in Python for that of the registry of TVM's functions: tirx.X for tirx.transform.X, and X
// for relax.transform.X, relax.training.X, relay._transform.X or transform.X.
static std::string PythonName(std::string_view name) {
  std::string text(name);
  constexpr std::string_view kCommon = "transform.";
  if (name.starts_with(kCommon)) return text.substr(kCommon.size());
  for (const std::string_view folder : {"._transform.", ".transform.", ".transforms.", ".training."}) {
    const size_t at = text.find(folder);
    if (at == std::string::npos) continue;
    text.erase(at, folder.size() - 1);
    for (const std::string_view level : {"relax.", "relay."}) {
      if (text.starts_with(level)) text.erase(0, level.size());
    }
    break;
  }
  return text;
}

// What the name stands for: itself if a pass has it, which may be one of a plugin, else a row of names.def.
static OtherName MeaningOf(std::string_view name, const std::map<std::string, PassEntry, std::less<>>& passes,
                           const std::map<std::string, OtherName, std::less<>>& others) {
  const auto find = [&](std::string_view spelling) -> std::optional<OtherName> {
    if (const auto pass = passes.find(spelling); pass != passes.end()) return OtherName{name, pass->first};
    if (const auto other = others.find(spelling); other != others.end()) return other->second;
    return std::nullopt;
  };
  if (const std::optional<OtherName> found = find(name)) return *found;
  return find(PythonName(name)).value_or(OtherName{name, name});
}

std::string_view PassRegistry::PassName(std::string_view name) const {
  return MeaningOf(name, rows_->passes, rows_->other_pass_names).known_as;
}

void PassRegistry::AddOptionsOf(std::string_view name, OptionValue::Dict& options) const {
  const std::string_view setting = MeaningOf(name, rows_->passes, rows_->other_pass_names).option;
  if (setting.empty()) return;
  const size_t equals = setting.find('=');
  const std::string_view option = setting.substr(0, equals);
  if (std::ranges::find(options, option, &OptionValue::Entry::key) != options.end()) return;
  const OptionValue value = equals == std::string_view::npos ? OptionValue(true) : setting.substr(equals + 1);
  options.push_back({std::string(option), value, {}});
}

std::vector<std::string_view> PassRegistry::OtherNames(std::string_view pass) const {
  std::vector<std::string_view> names;
  for (const auto& [name, other] : rows_->other_pass_names) {
    if (other.known_as == pass && !rows_->passes.contains(name)) names.push_back(name);
  }
  return names;
}

// The pass whose name has the same last part: TVM's "relax.transform.FoldConstant" is FoldConstant, and "UnrollLoop" is
// meant for tir.UnrollLoop. Of two levels, that of the name.
static std::optional<std::string_view> FindLastPart(const std::map<std::string, PassEntry, std::less<>>& passes,
                                                    std::string_view name) {
  const auto is_of_loops = [](std::string_view text) {
    constexpr std::string_view kLoops[] = {"tir.", "tirx.", "s_tir."};
    return std::ranges::any_of(kLoops, [&](std::string_view prefix) { return text.starts_with(prefix); });
  };
  const auto last_part = [](std::string_view text) { return text.substr(text.rfind('.') + 1); };
  std::optional<std::string_view> found;
  for (const auto& [pass, row] : passes) {
    if (last_part(pass) != last_part(name)) continue;
    if (!found || is_of_loops(pass) == is_of_loops(name)) found = pass;
  }
  return found;
}

std::optional<std::string> PassRegistry::Suggest(std::string_view name,
                                                 std::span<const std::string_view> others) const {
  if (IsLevel(name) && FindPipeline(kDefaultPipeline, name[1] - '0') != nullptr) {
    return fmt::format("{}<{}>", kDefaultPipeline, name);
  }
  if (const std::optional<std::string_view> same = FindLastPart(rows_->passes, name)) return std::string(*same);
  std::vector<std::string_view> known(others.begin(), others.end());
  for (const auto& [pass, row] : rows_->passes) known.push_back(pass);
  for (const auto& [other, pass] : rows_->other_pass_names) known.push_back(other);
  for (const PipelineEntry& entry : rows_->pipelines) known.push_back(entry.name);
  for (const PassAlias& alias : rows_->aliases) known.push_back(alias.alias);
  const std::optional<std::string_view> nearest = NearestName(name, known);
  if (!nearest) return std::nullopt;
  if (*nearest == kDefaultPipeline) return fmt::format("{}<O{}>", kDefaultPipeline, kDefaultOptLevel);
  const auto alias = std::ranges::find(rows_->aliases, *nearest, &PassAlias::alias);
  return std::string(alias == rows_->aliases.end() ? *nearest : alias->pass);
}

const PipelineEntry* PassRegistry::FindPipeline(std::string_view name, int level) const {
  const auto at = std::ranges::find_if(rows_->pipelines, [&](const PipelineEntry& entry) {
    return entry.name == name && entry.lowest_level <= level && level <= entry.highest_level;
  });
  return at == rows_->pipelines.end() ? nullptr : &*at;
}

std::vector<const PipelineEntry*> PassRegistry::FindPipelineParts(std::string_view name, int level,
                                                                  std::string_view target) const {
  std::vector<const PipelineEntry*> parts;
  const auto add = [&](bool comes_first) {
    for (const PipelineEntry& added : rows_->additions) {
      if ((!added.target.empty() && added.target != target) || added.comes_first != comes_first) continue;
      if (added.name == name && added.lowest_level <= level && level <= added.highest_level) parts.push_back(&added);
    }
  };
  add(true);
  if (const PipelineEntry* own = FindPipeline(name, level)) parts.push_back(own);
  add(false);
  return parts;
}

const OptionSpec* PassRegistry::FindConfig(std::string_view key) const {
  if (const auto at = rows_->configs.find(key); at != rows_->configs.end()) return &at->second;
  const auto other = rows_->other_config_names.find(key);
  return other == rows_->other_config_names.end() ? nullptr : &rows_->configs.find(other->second)->second;
}

Result<Pass> PassRegistry::Create(std::string_view name, OptionValue::Dict options, DiagnosticEngine& diagnostics,
                                  SourceSpan name_span) const {
  const PassEntry* row = Find(name);
  if (row == nullptr) {
    ReportUnknownPass(name, *this, name_span, diagnostics);
    return Failure{ErrorCode::Usage};
  }
  AddOptionsOf(name, options);
  PassInfo info = row->info;
  info.options = options;
  if (!CheckOptions(row->options, fmt::format("pass '{}'", name), options, diagnostics)) {
    return Failure{ErrorCode::Usage};
  }
  const size_t errors = diagnostics.error_count();
  return CallFactory("pass", name, [&]() -> Result<Pass> {
    Pass pass = row->create(PassOptions(std::move(info), std::move(options), diagnostics, reader()));
    if (diagnostics.error_count() != errors) return Failure{ErrorCode::Usage};
    if (pass.info().name == row->info.name && pass.info().kind == row->info.kind) return pass;
    return Error{ErrorCode::PassFailed, fmt::format("the factory of pass '{}' made the {} pass '{}'", name,
                                                    PassKindName(pass.info().kind), pass.info().name)};
  });
}

Result<std::shared_ptr<PassInstrument>> PassRegistry::CreateInstrument(std::string_view name, OptionValue::Dict options,
                                                                       DiagnosticEngine& diagnostics) const {
  const auto at = rows_->instruments.find(name);
  IROPT_CHECK(at != rows_->instruments.end(), "unknown instrument '{}'", name);
  const InstrumentEntry& row = at->second;
  if (!CheckOptions(row.options, fmt::format("instrument '{}'", name), options, diagnostics)) {
    return Failure{ErrorCode::Usage};
  }
  const size_t errors = diagnostics.error_count();
  return CallFactory("instrument", name, [&]() -> Result<std::shared_ptr<PassInstrument>> {
    std::shared_ptr<PassInstrument> made =
        row.create(PassOptions({.name = row.name}, std::move(options), diagnostics, reader()));
    if (diagnostics.error_count() != errors) return Failure{ErrorCode::Usage};
    if (made != nullptr) return made;
    return Error{ErrorCode::PassFailed, fmt::format("the factory of instrument '{}' returned null", name)};
  });
}

Result<std::vector<const PassEntry*>> PassRegistry::RequiredBy(const PassInfo& info) const {
  RequirementWalk walk(*this);
  IROPT_RETURN_IF_ERROR(walk.Visit(info, /*complete=*/true));
  return std::move(walk.order());
}

}  // namespace iropt
