#include "iropt/infer/type_rules.h"

#include "iropt/op/op.h"

namespace iropt {
namespace {

struct Row {
  TypeRule rule;
  const char* phrase;
};

// The Relax operators come after the intrinsics.
constexpr Row kRows[] = {
#define IROPT_OP(id, name, rule, ...) {&rule, rule##Phrase},
#include "iropt/op/ops.def"
};

const Row* RowOf(const OpInfo& op) {
  const size_t index = IndexOf(op.id);
  return index >= kNumIntrinsics && index < kNumOps ? &kRows[index - kNumIntrinsics] : nullptr;
}

}  // namespace

TypeRule TypeRuleOf(const OpInfo& op) {
  const Row* row = RowOf(op);
  return row ? row->rule : op.functions.infer;
}

std::string_view ResultPhraseOf(const OpInfo& op) {
  const Row* row = RowOf(op);
  return row ? row->phrase : "";
}

}  // namespace iropt
