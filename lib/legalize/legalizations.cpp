// The table of legalizations.
#include <iterator>
#include <string_view>

#include "iropt/legalize/legalize.h"
#include "iropt/op/op.h"

namespace iropt {

namespace legalize {
#define IROPT_LEGALIZE(id) const Expr* Legalize##id(LegalizeCall& call);
#define IROPT_LEGALIZE_ANY_SHAPE(id) IROPT_LEGALIZE(id)
#include "legalize/legalizations.def"
}  // namespace legalize

namespace {

struct Row {
  std::string_view op;
  Legalization legalization;
};

constexpr Row kRows[] = {
#define IROPT_LEGALIZE(id) {#id, {&legalize::Legalize##id, {}, true}},
#define IROPT_LEGALIZE_ANY_SHAPE(id) {#id, {&legalize::Legalize##id, {}, false}},
#define IROPT_LEGALIZE_COUNTED(id) {#id, {&legalize::Legalize##id, {}, true, true}},
#define IROPT_NOT_LEGALIZED(id, why) {#id, {nullptr, why, true}},
#include "legalize/legalizations.def"
};

// The rows are those of ops.def, in the same order.
constexpr bool AllOpsHaveRows() {
  size_t i = 0;
#define IROPT_OP(id, ...)                                                                                              \
  if (i >= std::size(kRows) || kRows[i++].op != #id) return false;
#include "iropt/op/ops.def"
  return i == std::size(kRows);
}
static_assert(AllOpsHaveRows(), "legalizations.def lacks a row of ops.def, or has another order");

}  // namespace

Legalization LegalizationOf(const OpInfo& op) {
  if (const Row* row = EntryOf(op, kRows)) return row->legalization;
  if (op.functions.legalize) return {op.functions.legalize, {}, true};
  return {nullptr, "the plugin that added the operator has no legalization", true};
}

}  // namespace iropt
