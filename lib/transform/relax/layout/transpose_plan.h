// Where the transposes of a dataflow block are best: which operators compute on transposed tensors instead.
#pragma once

#include <cstdint>
#include <vector>

#include "iropt/infer/layout_rules.h"
#include "iropt/ir/relax/expr.h"
#include "iropt/support/arena.h"
#include "iropt/support/lookup.h"

namespace iropt {

// What becomes of a binding of the block if tensors may be stored in an order.
enum class TransposeRole : uint8_t {
  kStays,    // it computes what it did
  kBegins,   // a R.permute_dims whose operand is its result, stored in the order
  kEnds,     // a R.permute_dims whose result is its operand, stored in the order
  kFollows,  // it computes on operands that are stored in the order
};

// The roles of the bindings of a block; those that are not in it stay.
using TransposeRoles = LookupMap<const Binding*, TransposeRole>;

// Returns whether the operator computes element by element, with operands that are broadcast to the rank of the result.
bool IsBroadcasting(const Call& call);

// The layouts of the operands if tensors of the rank of `layout` have it, and others that of the program.
std::vector<const ValueLayout*> FollowingLayouts(const Call& call, const ValueLayout* layout, Arena& arena);

// Decides on the layouts of a call whose operands have those of FollowingLayouts. Returns whether it can follow: the
// operands keep their layouts, and each tensor of the result has `layout` or that of the program. Operands of a lower
// rank of an operator that broadcasts must get new axes in front first.
bool DecideToFollow(LayoutCall& decision, const ValueLayout* layout);

// The roles with which the block needs the fewest transposes from and to the order; empty if they are as many as there
// are. Exact for the operators that can follow: it is a minimum cut between the values that are needed in the order of
// the program and those that are needed in the other one (Ford and Fulkerson). O(nodes * transposes).
TransposeRoles PlanTransposes(const DataflowBlock& block, const ValueLayout& layout);

}  // namespace iropt
