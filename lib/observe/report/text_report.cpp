#include "iropt/observe/report/text_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

namespace iropt {

namespace {

std::string Plural(size_t n, std::string_view noun) { return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s"); }

// "functions: 1 added, 2 changed"; nothing if all are 0.
void AddPart(std::vector<std::string>& parts, std::string_view noun, size_t added, size_t removed, size_t changed) {
  std::vector<std::string> counts;
  const auto add = [&](size_t n, std::string_view verb) {
    if (n != 0) counts.push_back(fmt::format("{} {}", n, verb));
  };
  add(added, "added");
  add(removed, "removed");
  add(changed, "changed");
  if (!counts.empty()) parts.push_back(fmt::format("{}: {}", noun, fmt::join(counts, ", ")));
}

// In the order of the names; the JSON has those that do not fit.
void AddOperators(std::vector<std::string>& parts, const std::map<std::string, OperatorChange>& operators) {
  constexpr size_t kMostKinds = 8;
  if (operators.empty()) return;
  std::vector<std::string> kinds;
  for (const auto& [name, n] : operators) {
    if (kinds.size() == kMostKinds) break;
    kinds.push_back(fmt::format("{} {:+}", name, static_cast<int64_t>(n.after) - static_cast<int64_t>(n.before)));
  }
  if (operators.size() > kMostKinds) {
    kinds.push_back(fmt::format("and {}", Plural(operators.size() - kMostKinds, "other kind")));
  }
  parts.push_back(fmt::format("calls: {}", fmt::join(kinds, ", ")));
}

}  // namespace

std::string DescribeEffect(const PassEffect& effect) {
  std::vector<std::string> parts;
  AddPart(parts, "functions", effect.added.size(), effect.removed.size(), effect.changed.size());
  AddPart(parts, "bindings", effect.bindings.added, effect.bindings.removed, effect.bindings.changed);
  AddOperators(parts, effect.operators);
  if (effect.attributes) parts.emplace_back("attributes of the module");
  return parts.empty() ? "renames only" : fmt::format("{}", fmt::join(parts, "; "));
}

void TextReport::Line(std::string_view what, TimeSpent time, std::string_view text) {
  const std::string line = fmt::format("{:<28}{:>10.2f} ms  {}", what, 1e3 * time.wall_seconds, text);
  out_.Append(line.substr(0, line.find_last_not_of(' ') + 1));
  out_.Append('\n');
  static_cast<void>(out_.Flush());
}

void TextReport::Read(const ModuleRecord& module, TimeSpent time) {
  std::string text = Plural(module.relax_functions, "Relax function");
  if (module.prim_funcs != 0) text += ", " + Plural(module.prim_funcs, "PrimFunc");
  text += fmt::format(", {}, {}", Plural(module.bindings, "binding"), Plural(module.calls, "call"));
  out_.Append(fmt::format("{}\n", module.name));
  Line("read", time, text);
}

void TextReport::Step(std::string_view what, TimeSpent time) { Line(what, time, {}); }

// The options come last: the columns have no room for them.
void TextReport::Pass(const PassRecord& pass) {
  const std::string_view options = std::string_view(pass.title).substr(pass.name.size());
  const auto line = [&](std::string_view text) {
    Line(pass.name, pass.time, fmt::format("{}{}{}", text, options.empty() ? "" : "  ", options));
  };
  switch (pass.outcome) {
    case PassOutcome::Failed: return line("failed");
    case PassOutcome::Unchanged: return line("unchanged");
    case PassOutcome::Changed: return line(DescribeEffect(pass.effect));
  }
}

}  // namespace iropt
