#include "driver/pipeline/pipeline_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "iropt/pass/pipeline.h"
#include "iropt/support/check.h"

namespace iropt {

// The parts of a node, which has external linkage.
namespace pipeline_trace {

// Reasons that differ only in numbers count as one.
struct Skipped {
  std::string key;
  std::string text;
  int times = 1;
};

struct SkippedFunction {
  std::string name;
  std::string attribute;  // that made the pass skip it

  friend bool operator==(const SkippedFunction&, const SkippedFunction&) = default;
};

}  // namespace pipeline_trace

using pipeline_trace::Skipped;
using pipeline_trace::SkippedFunction;

namespace {

using Json = nlohmann::ordered_json;

// One line. Names of files and functions may have malformed UTF-8, which JSON cannot hold.
std::string DumpLine(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n'; }

// Returns whether the name is that of a named pipeline at a level, "default<O2>".
bool HasLevel(std::string_view name) { return name.ends_with('>') && name.find("<O") != std::string_view::npos; }

std::string LabelOf(const PassInfo& info) {
  const bool group = info.kind == PassKind::Sequential && info.name != "pipeline" && !HasLevel(info.name);
  if (!group) return TitleOf(info);
  return info.name == SequentialInfo().name ? "Sequential" : fmt::format("Sequential '{}'", info.name);
}

constexpr size_t kMostFunctions = 8;  // that are named

void Join(std::string& text, const std::string& more) {
  if (!text.empty() && !more.empty()) text += "; ";
  text += more;
}

}  // namespace

struct PipelineTrace::Node {
  PassInfo info;
  std::string requirement_of;  // empty for passes in the pipeline
  std::string exceeded;        // the level in force, if it is below that of the pass
  int changed = 0;
  int unchanged = 0;
  int failed = 0;
  int rounds = 0;
  std::vector<Skipped> skips;
  std::vector<SkippedFunction> functions;  // at most kMostFunctions, and one more if there are more
  std::vector<std::unique_ptr<Node>> children;

  int runs() const { return changed + unchanged + failed; }
  void AddSkip(std::string key, std::string text) {
    const auto same = std::ranges::find(skips, key, &Skipped::key);
    if (same != skips.end()) {
      ++same->times;
    } else {
      skips.push_back({std::move(key), std::move(text)});
    }
  }
  bool Has(std::string_view pass) const {
    return info.name == pass || std::ranges::any_of(children, [&](const auto& child) { return child->Has(pass); });
  }
  size_t Width(size_t indent) const {
    size_t width = indent + LabelOf(info).size();
    for (const std::unique_ptr<Node>& child : children) width = std::max(width, child->Width(indent + 2));
    return width;
  }
};

PipelineTrace::PipelineTrace(const PassContext& context, SettingOrigins origins, Pass pipeline)
    : PassInstrument("explain-pipeline"),
      context_(context),
      origins_(std::move(origins)),
      pipeline_(std::move(pipeline)),
      root_(MakeNode(pipeline_)) {}

PipelineTrace::~PipelineTrace() = default;

Status PipelineTrace::EnterPassContext() {
  root_ = MakeNode(pipeline_);
  running_.clear();
  return {};
}

std::unique_ptr<PipelineTrace::Node> PipelineTrace::MakeNode(const Pass& pass) {
  auto node = std::make_unique<Node>();
  node->info = pass.info();
  for (const Pass& child : pass.children()) node->children.push_back(MakeNode(child));
  return node;
}

// Passes in the pipeline have their nodes from the start; requirements get theirs when they first run.
PipelineTrace::Node& PipelineTrace::NextNode(const PassInfo& info) {
  if (running_.empty()) return *root_;
  const std::string requirement_of = std::exchange(requirement_of_, {});
  Frame& frame = running_.back();
  std::vector<std::unique_ptr<Node>>& siblings = frame.node->children;
  const auto place = siblings.begin() + static_cast<ptrdiff_t>(frame.next++);
  const bool known =
      place != siblings.end() && (*place)->info.name == info.name && (*place)->requirement_of == requirement_of;
  if (known) return **place;
  auto node = std::make_unique<Node>();
  node->info = info;
  node->requirement_of = requirement_of;
  return **siblings.insert(place, std::move(node));
}

Status PipelineTrace::OnRound(const PassInfo&) {
  if (running_.empty()) return {};
  running_.back().next = 0;
  ++running_.back().node->rounds;
  return {};
}

Status PipelineTrace::OnSkippedPass(const PassInfo& info, const PassSkip& skip) {
  const std::string text = SkipText(info, skip);
  switch (skip.reason) {
    case PassSkip::Reason::Disabled: NextNode(info).AddSkip("disabled", text); break;
    case PassSkip::Reason::Level: NextNode(info).AddSkip("level", text); break;
    case PassSkip::Reason::Veto: NextNode(info).AddSkip(skip.veto->name(), text); break;
  }
  return {};
}

std::string PipelineTrace::SkipText(const PassInfo& info, const PassSkip& skip) const {
  if (skip.reason == PassSkip::Reason::Veto) {
    const std::string reason = skip.veto->VetoReason();
    return reason.empty() ? fmt::format("vetoed by instrument '{}'", skip.veto->name()) : reason;
  }
  if (skip.reason == PassSkip::Reason::Disabled) {
    const std::string also = context_.IsRequired(info.name)
                                 ? fmt::format(", which wins over {}", origins_.required(info.name))
                                 : std::string();
    return fmt::format("disabled by {}{}", origins_.disabled(info.name), also);
  }
  return fmt::format("requires -O{} (current level: {})", info.opt_level, LevelText(skip.level));
}

std::string PipelineTrace::LevelText(int level) const {
  const auto group =
      std::find_if(running_.rbegin(), running_.rend(), [&](const Frame& frame) { return frame.level != level; });
  if (group == running_.rend()) return origins_.level;
  return fmt::format("-O{}, that of {}", level, LabelOf(group->node->info));
}

Status PipelineTrace::OnRequiredPass(const PassInfo& requiring, const PassInfo&) {
  requirement_of_ = requiring.name;
  return {};
}

Status PipelineTrace::OnSkippedFunction(const GlobalVar& name, std::string_view attribute, const PassInfo&) {
  if (running_.empty()) return {};
  std::vector<SkippedFunction>& functions = running_.back().node->functions;
  SkippedFunction function{std::string(name.name), std::string(attribute)};
  if (functions.size() <= kMostFunctions && std::ranges::find(functions, function) == functions.end()) {
    functions.push_back(std::move(function));
  }
  return {};
}

Status PipelineTrace::RunBeforePass(const Module&, const PassInfo& info) {
  Node& node = NextNode(info);
  const int level = context_.opt_level;
  if (info.opt_level > level && context_.IsRequired(info.name)) node.exceeded = LevelText(level);
  running_.push_back({.node = &node, .level = level});
  return {};
}

Status PipelineTrace::RunAfterPass(const Module&, const PassInfo& info, PassOutcome outcome) {
  IROPT_CHECK(!running_.empty(), "pass '{}' ends, but none has begun", info.name);
  Node& node = *running_.back().node;
  running_.pop_back();
  switch (outcome) {
    case PassOutcome::Changed: ++node.changed; break;
    case PassOutcome::Unchanged: ++node.unchanged; break;
    case PassOutcome::Failed: ++node.failed; break;
  }
  return {};
}

namespace {

std::string Times(int n) { return n == 1 ? "once" : fmt::format("{} times", n); }

// "changed", "unchanged in 3 runs", "changed in 1 of 3 runs", ...
std::string RunsText(int changed, int runs, int failed) {
  if (failed != 0) return runs == 1 ? "failed" : fmt::format("failed in run {}", runs);
  if (changed == 0) return runs == 1 ? "unchanged" : fmt::format("unchanged in {} runs", runs);
  if (runs == 1) return "changed";
  return changed == runs ? fmt::format("changed in {} runs", runs)
                         : fmt::format("changed in {} of {} runs", changed, runs);
}

std::string FunctionsText(const std::vector<SkippedFunction>& functions) {
  if (functions.empty()) return "";
  std::string text;
  for (size_t i = 0; i < functions.size() && i < kMostFunctions; ++i) {
    text += fmt::format("{}'{}' ({})", i == 0 ? "" : ", ", functions[i].name, functions[i].attribute);
  }
  return fmt::format("skips {}{}", text, functions.size() > kMostFunctions ? ", ..." : "");
}

}  // namespace

std::string PipelineTrace::Outcome(const Node& node, const std::string& inherited) const {
  std::string text;
  if (node.runs() != 0) {
    text = RunsText(node.changed, node.runs(), node.failed);
    if (node.info.kind == PassKind::Fixpoint) {
      text += fmt::format(" ({} round{})", node.rounds, node.rounds == 1 ? "" : "s");
    }
    if (!node.requirement_of.empty()) {
      Join(text, fmt::format("runs because '{}' requires it", node.requirement_of));
    } else if (!node.exceeded.empty()) {
      Join(text, fmt::format("its level {} is above {}, but {} names it", node.info.opt_level, node.exceeded,
                             origins_.required(node.info.name)));
    }
    Join(text, FunctionsText(node.functions));
  }
  for (const Skipped& skip : node.skips) {
    const bool always = node.runs() == 0 && node.skips.size() == 1;
    Join(text, always ? "skipped: " + skip.text : fmt::format("skipped {}: {}", Times(skip.times), skip.text));
  }
  return text.empty() ? inherited : text;
}

void PipelineTrace::RenderInto(const Node& node, size_t indent, const std::string& inherited, size_t width,
                               std::string& out) const {
  const std::string label = std::string(indent, ' ') + LabelOf(node.info);
  out += fmt::format("{:<{}}  {}\n", label, width, Outcome(node, inherited));
  std::string inner = inherited;
  if (node.runs() != 0) {
    inner = "not reached";
  } else if (!node.skips.empty()) {
    inner = fmt::format("skipped: inside of {}", LabelOf(node.info));
  }
  for (const std::unique_ptr<Node>& child : node.children) RenderInto(*child, indent + 2, inner, width, out);
}

std::vector<std::string> PipelineTrace::AbsentPasses() const {
  std::vector<std::string> out;
  const auto add = [&](const std::vector<std::string>& names, const auto& origin) {
    for (const std::string& name : names) {
      if (!root_->Has(name)) out.push_back(fmt::format("{}: pass '{}' is not in the pipeline", origin(name), name));
    }
  };
  add(context_.disabled_pass, origins_.disabled);
  add(context_.required_pass, origins_.required);
  return out;
}

std::string PipelineTrace::Render() {
  IROPT_CHECK(running_.empty(), "a pass is still running");
  std::string out;
  RenderInto(*root_, 0, "", root_->Width(0), out);
  for (const std::string& line : AbsentPasses()) out += line + '\n';
  root_ = MakeNode(pipeline_);
  return out;
}

struct PipelineTrace::NodeJson {
  static Json Of(const Node& node) {
    Json json = {{"name", node.info.name},
                 {"kind", PassKindName(node.info.kind)},
                 {"runs", node.runs()},
                 {"changed", node.changed},
                 {"failed", node.failed}};
    if (node.info.kind == PassKind::Fixpoint) json["rounds"] = node.rounds;
    if (!node.requirement_of.empty()) json["required_by"] = node.requirement_of;
    for (const Skipped& skip : node.skips) json["skipped"].push_back({{"times", skip.times}, {"reason", skip.text}});
    const size_t functions = std::min(node.functions.size(), kMostFunctions);
    for (size_t i = 0; i < functions; ++i) {
      json["skipped_functions"].push_back(
          {{"name", node.functions[i].name}, {"attribute", node.functions[i].attribute}});
    }
    if (node.functions.size() > functions) json["more_skipped_functions"] = true;
    for (const std::unique_ptr<Node>& child : node.children) json["passes"].push_back(Of(*child));
    return json;
  }
};

std::string PipelineTrace::RenderJson(std::string_view input) {
  IROPT_CHECK(running_.empty(), "a pass is still running");
  Json explained = {{"input", input}, {"pipeline", NodeJson::Of(*root_)}, {"absent", AbsentPasses()}};
  root_ = MakeNode(pipeline_);
  return DumpLine({{"explain-pipeline", std::move(explained)}});
}

std::string PipelineTrace::RenderNothing(std::string_view input) {
  return DumpLine({{"explain-pipeline", {{"input", input}, {"pipeline", nullptr}}}});
}

}  // namespace iropt
