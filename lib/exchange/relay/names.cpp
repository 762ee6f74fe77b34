#include "names.h"

#include <fmt/format.h>

#include <string>

#include "iropt/support/edit_distance.h"
#include "iropt/support/identifier.h"
#include "ops/op_table.h"

namespace iropt::relay {

namespace {

// Of %0. Numbers of more than 18 digits are one; nobody writes them.
uint64_t NumberOf(std::string_view text) {
  constexpr size_t kMostDigits = 18;
  if (text.size() > kMostDigits + 1) return UINT64_MAX;
  uint64_t number = 0;
  for (const char digit : text.substr(1)) number = 10 * number + static_cast<uint64_t>(digit - '0');
  return number;
}

}  // namespace

std::string_view Names::InScript(std::string_view name, Arena& arena) {
  if (!IsReservedInPython(name)) return name;
  return arena.CopyString(fmt::format("{}_", name));
}

NodeId Names::FindVar(Token token) const {
  const std::string_view name = core_.lex.Text(token).substr(1);
  if (const auto var = vars_.Find(name)) return *var;
  DiagnosticBuilder error =
      core_.diagnostics.Error(core_.lex.SpanOf(token), "unknown-name", fmt::format("unknown variable '%{}'", name));
  const std::vector<std::string_view> names = vars_.Names();
  if (const auto nearest = NearestName(name, names))
    error.FixIt(core_.lex.SpanOf(token), fmt::format("%{}", *nearest))
        .Note(fmt::format("did you mean '%{}'?", *nearest));
  return kNoNode;
}

void Names::ReportUnknownOperator(Token token) const {
  const std::string_view name = core_.lex.Text(token);
  const SourceSpan span = core_.lex.SpanOf(token);
  DiagnosticBuilder error =
      core_.diagnostics.Error(span, "unknown-operator", fmt::format("unknown operator '{}'", name));
  std::string meant;
  if (vars_.Find(name)) {
    meant = fmt::format("%{}", name);
  } else if (globals_.contains(name)) {
    meant = fmt::format("@{}", name);
  } else {
    meant = NearestOperator(name);
  }
  if (!meant.empty()) error.FixIt(span, meant).Note(fmt::format("did you mean '{}'?", meant));
}

NodeId Names::FindGraphVar(Token token) const {
  const std::string_view text = core_.lex.Text(token);
  const uint64_t number = NumberOf(text);
  if (number < graph_vars_.size() && graph_vars_[number] != kNoNode) return graph_vars_[number];
  if (const auto* value = far_graph_vars_.Find(number)) return *value;
  core_.Error(core_.lex.SpanOf(token), "unknown-name", fmt::format("unknown graph variable '{}'", text));
  return kNoNode;
}

void Names::DefineGraphVar(Token token, NodeId value) {
  const uint64_t number = NumberOf(core_.lex.Text(token));
  constexpr uint64_t kLargestGap = 1024;
  if (number >= graph_vars_.size() + kLargestGap) {
    far_graph_vars_[number] = value;
    return;
  }
  while (graph_vars_.size() <= number) graph_vars_.push_back(kNoNode);
  graph_vars_[number] = value;
}

uint32_t Names::IndexOfGlobal(std::string_view name) {
  const auto [known, added] = globals_.try_emplace(name, static_cast<uint32_t>(core_.graph.globals.size()));
  if (added) core_.graph.globals.push_back(InScript(core_.Keep(name), core_.graph.arena));
  return known;
}

}  // namespace iropt::relay
