// Finding operators of one kind that share their data, and combining them to one.
#pragma once

#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "iropt/pass/pass_options.h"
#include "iropt/support/function_ref.h"
#include "parallel_branches.h"

namespace iropt {

// Calls with the same data and the same form, in order, each with its position in the segment.
struct Siblings {
  std::vector<std::pair<const Call*, uint32_t>> calls = {};
};

// Groups the calls of an operator that `axis_of` takes: it gives the axis of the second operand along which calls are
// combined, or -1. Calls of a group have the same data and attributes, and differ along this axis only, where their
// sizes are numbers.
std::vector<Siblings> FindSiblings(std::span<const Binding* const> segment, OpId op,
                                   FunctionRef<int(const Call&)> axis_of);

// The size of the second operand along this axis.
int64_t WidthOf(const Call& call, size_t axis);

// One call with the second operands concatenated along `axis`, whose result is split along `out_axis`.
const Expr* Concatenated(const Siblings& siblings, size_t axis, int64_t out_axis, OpCalls calls);

// The groups of at least this many calls, and of two.
std::vector<CombinedBranches> Collect(const std::vector<Siblings>& groups, int64_t min_branches,
                                      const std::function<const Expr*(const Siblings&, OpCalls)>& combine);

// Products of tensors of this rank with the same left factor, whose right factors are concatenated along their columns.
std::vector<CombinedBranches> FindWideProducts(std::span<const Binding* const> segment, int64_t min_branches, int rank);
// The groups of such products.
std::vector<Siblings> FindProducts(std::span<const Binding* const> segment, int rank);

// A pass with the option min_num_branches.
Pass CreateCombiningPass(const PassOptions& options, FindGroups find);

}  // namespace iropt
