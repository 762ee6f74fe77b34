// The table of reductions, and those of the text and of the pipeline.
#include <charconv>
#include <set>
#include <string>
#include <utility>

#include "iropt/diag/diagnostic.h"
#include "iropt/text/script/lexer.h"
#include "reductions.h"

namespace iropt {

namespace {

constexpr Reduction kReductions[] = {
    {"pipeline", ReducePipeline},
    {"functions", RemoveFunctions},
    {"bindings", RemoveBindings},
    {"results", NarrowResults},
    {"closures", LiftFunctions},
    {"params", RemoveParams},
    {"operands", ForwardOperands},
    {"constants", RemoveConstants},
    {"branches", InlineBranches},
    {"attributes", RemoveAttributes},
    {"dataflow", OpenDataflowBlocks},
    {"symbolic", BindSymbolicVars},
    {"statements", RemoveStatements},
    {"nesting", UnwrapStatements},
    {"clauses", RemoveClauses},
    {"expressions", SimplifyExpressions},
    {"ones", nullptr, ReplaceIntegersByOne},
    {"twos", nullptr, ReplaceIntegersByTwo},
};

struct IntegerToken {
  size_t begin = 0;
  size_t end = 0;
  int64_t value = 0;
};

std::vector<IntegerToken> IntegersIn(std::string_view text) {
  DiagnosticBuffer unused;
  DiagnosticEngine diagnostics(&unused);
  Lexer lexer(text, 0, 0, static_cast<uint32_t>(text.size()), diagnostics);
  std::vector<IntegerToken> integers;
  while (lexer.kind() != TokenKind::kEnd) {
    const Token token = lexer.Next();
    if (token.kind != TokenKind::kInt) continue;
    IntegerToken integer{token.begin, token.end};
    const auto [end, error] = std::from_chars(text.data() + token.begin, text.data() + token.end, integer.value);
    if (error == std::errc() && end == text.data() + token.end) integers.push_back(integer);
  }
  return integers;
}

// Replaces all integers of a value above `value` by it.
std::string ReplaceIntegersBy(int64_t value, std::string_view text, Edits& edits) {
  const std::vector<IntegerToken> integers = IntegersIn(text);
  // The edits are in the order of the values.
  std::set<int64_t> values;
  for (const IntegerToken& integer : integers) {
    if (integer.value > value) values.insert(integer.value);
  }
  std::erase_if(values, [&](int64_t found) { return !edits.Take(nullptr, found); });
  std::string replaced;
  size_t copied = 0;
  for (const IntegerToken& integer : integers) {
    if (!values.contains(integer.value)) continue;
    replaced += text.substr(copied, integer.begin - copied);
    replaced += std::to_string(value);
    copied = integer.end;
  }
  return replaced += text.substr(copied);
}

// Removes items, and groups around items. `number` counts the items in the order of their beginnings.
Pipeline ReduceItems(const Pipeline& items, Edits& edits, int64_t& number) {
  enum : int64_t { kItem, kGroup, kOption, kEditsOfItem };
  Pipeline reduced;
  for (const PipelineItem& item : items) {
    const int64_t first = kEditsOfItem * number++;
    const bool removes_item = edits.Take(nullptr, first + kItem);
    const bool removes_options = !item.options.empty() && edits.Take(nullptr, first + kOption);
    const bool removes_group = !item.children.empty() && edits.Take(nullptr, first + kGroup);
    Pipeline children = ReduceItems(item.children, edits, number);
    if (removes_item) continue;
    if (removes_group) {
      reduced.insert(reduced.end(), children.begin(), children.end());
      continue;
    }
    reduced.push_back(item);
    reduced.back().children = std::move(children);
    if (removes_options) reduced.back().options.clear();
  }
  return reduced;
}

}  // namespace

std::span<const Reduction> Reductions() { return kReductions; }

std::string ReplaceIntegersByOne(std::string_view text, Edits& edits) { return ReplaceIntegersBy(1, text, edits); }
std::string ReplaceIntegersByTwo(std::string_view text, Edits& edits) { return ReplaceIntegersBy(2, text, edits); }

void ReducePipeline(Candidate& candidate, Edits& edits) {
  if (!candidate.pipeline) return;
  PipelineFile& file = *candidate.pipeline;
  // Settings are numbered below the passes.
  int64_t setting = -1;
  const auto removes = [&](const auto&) { return edits.Take(nullptr, setting--); };
  int64_t number = 0;
  if (file.passes) file.passes = ReduceItems(*file.passes, edits, number);
  std::erase_if(file.instruments, removes);
  std::erase_if(file.disabled, removes);
  std::erase_if(file.required, removes);
  std::erase_if(file.config, removes);
  std::erase_if(file.plugins, removes);
  if (file.opt_level && removes(0)) file.opt_level.reset();
}

}  // namespace iropt
