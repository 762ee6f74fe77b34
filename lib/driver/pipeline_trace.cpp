#include "explanation.h"

#include <fmt/format.h>

#include <algorithm>

#include "iropt/support/check.h"

namespace iropt {

namespace {

// Reasons that are the same but for numbers in them count as one.
struct Skipped {
  std::string key;
  std::string text;
  int times = 1;
};

std::string LabelOf(const PassInfo& info) {
  const bool group = info.kind == PassKind::Sequential && info.name != "pipeline" && !info.name.starts_with("default<");
  if (!group) return info.name;
  return info.name == SequentialInfo().name ? "Sequential" : fmt::format("Sequential '{}'", info.name);
}

constexpr size_t kMostFunctions = 8;  // that are named

void Join(std::string& text, const std::string& more) {
  if (!text.empty() && !more.empty()) text += "; ";
  text += more;
}

}  // namespace

struct Explanation::Node {
  PassInfo info;
  std::string requirement_of;  // empty for what stands in the pipeline
  int changed = 0;
  int unchanged = 0;
  int failed = 0;
  int rounds = 0;
  std::vector<Skipped> skips;
  std::vector<std::string> functions;  // that it left alone, and why
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

Explanation::Explanation(const PassContext& context, SettingOrigins origins)
    : context_(context), origins_(std::move(origins)) {}

Explanation::~Explanation() = default;

std::unique_ptr<Explanation::Node> Explanation::MakeNode(const Pass& pass, std::string requirement_of) {
  auto node = std::make_unique<Node>();
  node->info = pass.info();
  node->requirement_of = std::move(requirement_of);
  for (const Pass& child : pass.children()) node->children.push_back(MakeNode(child, ""));
  return node;
}

// What is in the pipeline has its node from the start; requirements get theirs when they run first.
Explanation::Node& Explanation::NextNode(const Pass& pass) {
  std::string requirement_of = std::exchange(requirement_of_, {});
  if (running_.empty()) {
    root_ = MakeNode(pass, std::move(requirement_of));
    return *root_;
  }
  Frame& frame = running_.back();
  std::vector<std::unique_ptr<Node>>& siblings = frame.node->children;
  const auto place = siblings.begin() + static_cast<ptrdiff_t>(frame.next++);
  const bool known =
      place != siblings.end() && (*place)->info.name == pass.info().name && (*place)->requirement_of == requirement_of;
  return known ? **place : **siblings.insert(place, MakeNode(pass, std::move(requirement_of)));
}

void Explanation::BeginRound() {
  if (running_.empty()) return;
  running_.back().next = 0;
  ++running_.back().node->rounds;
}

void Explanation::Skip(const Pass& pass, SkipReason reason, int level) {
  const std::string key = reason == SkipReason::Disabled ? "disabled" : "level";
  NextNode(pass).AddSkip(key, SkipText(pass.info(), reason, level));
}

std::string Explanation::SkipText(const PassInfo& info, SkipReason reason, int level) const {
  if (reason == SkipReason::Disabled) {
    const std::string also = context_.IsRequired(info.name)
                                 ? fmt::format(", which wins over {}", origins_.required(info.name))
                                 : std::string();
    return fmt::format("disabled by {}{}", origins_.disabled(info.name), also);
  }
  // A default pipeline has a level of its own.
  const std::string limit =
      level == context_.opt_level ? origins_.level : fmt::format("that of {}", running_.back().node->info.name);
  return fmt::format("its level {} is above {}", info.opt_level, limit);
}

void Explanation::RunRequirement(const Pass& pass, const Pass&) { requirement_of_ = pass.info().name; }

void Explanation::SkipFunction(std::string_view function, std::string_view attribute) {
  if (running_.empty()) return;
  std::vector<std::string>& functions = running_.back().node->functions;
  std::string text = fmt::format("'{}' ({})", function, attribute);
  if (functions.size() <= kMostFunctions && std::ranges::find(functions, text) == functions.end()) {
    functions.push_back(std::move(text));
  }
}

void Explanation::Begin(const Pass& pass) { running_.push_back({&NextNode(pass)}); }

void Explanation::Veto(const Pass&, const PassInstrument& by) {
  Node& node = *running_.back().node;
  running_.pop_back();
  const std::string reason = by.VetoReason();
  node.AddSkip(by.name(), reason.empty() ? fmt::format("vetoed by instrument '{}'", by.name()) : reason);
}

void Explanation::End(const Pass&, PassOutcome outcome) {
  Node& node = *running_.back().node;
  running_.pop_back();
  switch (outcome) {
    case PassOutcome::Changed: ++node.changed; break;
    case PassOutcome::Unchanged: ++node.unchanged; break;
    case PassOutcome::Failed: ++node.failed; break;
  }
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

std::string FunctionsText(const std::vector<std::string>& functions) {
  if (functions.empty()) return "";
  std::string text;
  for (size_t i = 0; i < functions.size() && i < kMostFunctions; ++i) text += (i == 0 ? "" : ", ") + functions[i];
  return fmt::format("leaves alone {}{}", text, functions.size() > kMostFunctions ? ", ..." : "");
}

}  // namespace

std::string Explanation::Outcome(const Node& node, const std::string& inherited) const {
  std::string text;
  if (node.runs() != 0) {
    text = RunsText(node.changed, node.runs(), node.failed);
    if (node.info.kind == PassKind::Fixpoint) {
      text += fmt::format(" ({} round{})", node.rounds, node.rounds == 1 ? "" : "s");
    }
    if (!node.requirement_of.empty()) {
      Join(text, fmt::format("runs because '{}' requires it", node.requirement_of));
    } else if (context_.IsRequired(node.info.name) && node.info.opt_level > context_.opt_level) {
      Join(text, fmt::format("its level {} is above {}, but {} asks for it", node.info.opt_level, origins_.level,
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

void Explanation::RenderInto(const Node& node, size_t indent, const std::string& inherited, size_t width,
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

std::string Explanation::RenderAbsent() const {
  std::string out;
  const auto add = [&](const std::vector<std::string>& names, const auto& origin) {
    for (const std::string& name : names) {
      if (!root_->Has(name)) out += fmt::format("'{}', which {} names, is not in the pipeline\n", name, origin(name));
    }
  };
  add(context_.disabled_pass, origins_.disabled);
  add(context_.required_pass, origins_.required);
  return out;
}

std::string Explanation::Render() {
  IROPT_CHECK(running_.empty(), "a pass is still running");
  if (root_ == nullptr) return "";
  std::string out;
  RenderInto(*root_, 0, "", root_->Width(0), out);
  out += RenderAbsent();
  root_.reset();
  return out;
}

}  // namespace iropt
