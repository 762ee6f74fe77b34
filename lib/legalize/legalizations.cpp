// The table of legalizations.
#include "legalize/legalizations.h"

#include <array>

#include "iropt/op/op.h"

namespace iropt {

namespace {

struct Row {
  OpId op;
  Legalization legalization;
};

constexpr Row kRows[] = {
#define IROPT_LEGALIZE(id) {OpId::k##id, {&legalize::Legalize##id, {}, true}},
#define IROPT_LEGALIZE_ANY_SHAPE(id) {OpId::k##id, {&legalize::Legalize##id, {}, false}},
#define IROPT_NOT_LEGALIZED(id, why) {OpId::k##id, {nullptr, why, true}},
#include "legalize/legalizations.def"
};

// The rows are those of ops.def, in the same order.
constexpr bool AllOpsHaveRows() {
  size_t i = 0;
#define IROPT_OP(id, ...)                                                                                              \
  if (i >= std::size(kRows) || kRows[i++].op != OpId::k##id) return false;
#include "iropt/op/ops.def"
  return i == std::size(kRows);
}
static_assert(AllOpsHaveRows(), "legalizations.def lacks a row of ops.def, or has another order");

}  // namespace

Legalization LegalizationOf(const OpInfo& op) {
  const size_t index = IndexOf(op.id);
  // The Relax operators come after the intrinsics.
  if (index >= kNumIntrinsics && index < kNumOps) return kRows[index - kNumIntrinsics].legalization;
  if (op.functions.legalize) return {op.functions.legalize, {}, true};
  return {nullptr, "the plugin that added the operator has no legalization", true};
}

}  // namespace iropt
