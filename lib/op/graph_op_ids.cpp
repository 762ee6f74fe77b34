#include "graph_op_ids.h"

#include <iterator>

#include "iropt/op/ops/all.h"

namespace iropt::op_detail {

namespace {

constexpr OpId kIds[] = {
#define IROPT_OP(id, ...) op::k##id,
#include "iropt/op/ops.def"
};

// Within a family, the next row has the next place.
constexpr bool AreDense() {
  for (size_t i = 0; i < std::size(kIds); ++i) {
    const bool begins = i == 0 || FamilyOf(kIds[i]) != FamilyOf(kIds[i - 1]);
    if (PlaceInFamily(kIds[i]) != (begins ? 0 : PlaceInFamily(kIds[i - 1]) + 1)) return false;
    if (static_cast<uint16_t>(kIds[i]) >= kFirstIntrinsicId) return false;
  }
  return true;
}
static_assert(AreDense(), "the headers that scripts/tables makes are not those of ops.def");

}  // namespace

std::span<const OpId> GraphOpIds() { return kIds; }

}  // namespace iropt::op_detail
