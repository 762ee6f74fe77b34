#include "iropt/op/type_rules.h"

#include <algorithm>
#include <iterator>

#include "iropt/op/op.h"
#include "iropt/support/check.h"

namespace iropt {
namespace {

struct Row {
  InferTypeFn rule;
  std::string_view phrase;
};

constexpr Row kRows[] = {
#define IROPT_TYPE_RULE(Name, phrase) {Name, phrase},
#include "iropt/op/type_rules.def"
};

}  // namespace

std::string_view TypeRulePhrase(InferTypeFn rule) {
  const auto row = std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& r) { return r.rule == rule; });
  IROPT_CHECK(row != std::end(kRows), "a type rule that type_rules.def does not list");
  return row->phrase;
}

}  // namespace iropt
