// Finding operators of one kind that share their data, and combining them to one, with the operators that follow them.
#pragma once

#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "iropt/pass/pass_options.h"
#include "iropt/support/function_ref.h"
#include "parallel_branches.h"

namespace iropt {

// A call, and its position in the segment.
using PlacedCall = std::pair<const Call*, uint32_t>;

// One elementwise operator after each of several branches, whose operand `parent` is what the branch computes.
struct ElementwiseUsers {
  std::vector<PlacedCall> calls = {};
  uint32_t parent = 0;
};

// Calls with the same data and the same form, in order, and what follows all of them.
struct Siblings {
  std::vector<PlacedCall> calls = {};
  std::vector<ElementwiseUsers> elementwise_users = {};
  // If every second operand is a permute_dims that exchanges its last two axes: what it permutes. Else empty.
  std::vector<const Expr*> transposed = {};
};

// Axes along which the second operands, and the results, of siblings become one.
struct ConcatAxes {
  size_t weight_axis = 0;
  int64_t out_axis = 0;
  bool stacks = false;  // along a new axis in front, instead of concatenating along these axes
  // Operands of operators that follow are concatenated along their last axis, which is that of the results. If it has a
  // single element or no axis, that element is repeated.
  bool repeats = false;
};

// Groups the calls of an operator that `axis_of` takes: it gives the axis of the second operand along which calls are
// combined, or -1. Calls of a group have the same data and attributes, and differ along this axis only, where their
// sizes are numbers.
std::vector<Siblings> FindSiblings(const Segment& segment, OpId op, FunctionRef<int(const Call&)> axis_of);

// The size of the second operand along this axis.
int64_t WidthOf(const Call& call, size_t axis);

// The groups of at least this many calls, and of two, as combinations. Elementwise operators that follow every call of
// a group, with the same attributes and with operands that can be joined as the results, are combined, too.
std::vector<CombinedBranches> Collect(const Segment& segment, std::vector<Siblings> groups, int64_t min_branches,
                                      FunctionRef<ConcatAxes(const Call&)> joint_of);

// Products of tensors of this rank with the same left factor, whose right factors are concatenated along their columns.
std::vector<CombinedBranches> FindWideProducts(const Segment& segment, int64_t min_branches, int rank);
// The groups of such products.
std::vector<Siblings> FindProducts(const Segment& segment, int rank);

// A pass that combines groups of at least as many calls as the option says.
Pass CreateCombiningPass(const PassOptions& options, const TypedOption<int64_t>& min_num_branches,
                         const FindGroups& find);

}  // namespace iropt
