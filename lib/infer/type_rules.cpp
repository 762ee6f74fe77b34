#include "iropt/infer/type_rules.h"

#include "iropt/op/op.h"

namespace iropt {

// Each rule is declared by the rows that name it.
#define IROPT_OP(id, name, rule, ...)                                                                                  \
  const Type* rule(const Call& call, InferContext& ctx);                                                               \
  extern const char rule##Phrase[];
#include "iropt/op/ops.def"

namespace {

struct Row {
  TypeRule rule;
  const char* phrase;
};

constexpr Row kRows[] = {
#define IROPT_OP(id, name, rule, ...) {&rule, rule##Phrase},
#include "iropt/op/ops.def"
};

}  // namespace

TypeRule TypeRuleOf(const OpInfo& op) {
  const Row* row = EntryOf(op, kRows);
  return row ? row->rule : op.functions.infer;
}

std::string_view ResultPhraseOf(const OpInfo& op) {
  const Row* row = EntryOf(op, kRows);
  return row ? row->phrase : "";
}

}  // namespace iropt
