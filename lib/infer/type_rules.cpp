#include "iropt/infer/type_rules.h"

#include <algorithm>
#include <iterator>

#include "iropt/op/op.h"
#include "iropt/support/check.h"

namespace iropt {
namespace {

struct Row {
  TypeRule rule;
  std::string_view phrase;
};

constexpr Row kRows[] = {
#define IROPT_TYPE_RULE(Name, phrase) {Name, phrase},
#include "iropt/infer/type_rules.def"
};

// By operator id: the graph-level operators come first, in the order of ops.def.
constexpr TypeRule kRuleOf[] = {
#define IROPT_OP(name, rule, ...) &rule,
#include "iropt/op/ops.def"
};

}  // namespace

TypeRule TypeRuleOf(const OpInfo& op) { return op.is_graph_level() ? kRuleOf[op.id] : nullptr; }

std::string_view TypeRulePhrase(TypeRule rule) {
  const auto row = std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& r) { return r.rule == rule; });
  IROPT_CHECK(row != std::end(kRows), "a type rule that type_rules.def does not list");
  return row->phrase;
}

}  // namespace iropt
