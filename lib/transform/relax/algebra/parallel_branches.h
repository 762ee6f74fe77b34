// Replacing several operators that share an operand by one bigger operator and parts of its result.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "iropt/ir/relax/mutator.h"
#include "iropt/ir/relax/tuple_leaves.h"
#include "iropt/support/function_ref.h"

namespace iropt {

// One operator for several bindings of a segment, which become its parts.
struct CombinedBranches {
  // Everything that the combined operator uses.
  std::vector<const Expr*> operands;
  // The bindings that are replaced, by their positions in the segment, and which part each becomes.
  std::vector<std::pair<uint32_t, uint32_t>> replaced;
};

// The bindings of a segment in an order in which each binding comes after what it uses, if the bindings that `groups`
// replace use the operands of their groups: a binding that is too early waits, everything else stays where it is. Drops
// groups for which there is no such order, because an operand depends on a part. Near-linear.
// Source: TVM 0.18's order of rewritten bindings.
std::vector<uint32_t> OrderCombined(std::span<const Binding* const> segment, std::vector<CombinedBranches>& groups);

// The parts of a block between the bindings that must not move: all of a dataflow block; in others, calls with effects
// and conditionals are such bindings, which `visit_fixed` gets.
void ForEachSegment(const BindingBlock& block, const Module& module,
                    FunctionRef<void(std::span<const Binding* const>)> visit,
                    FunctionRef<void(const Binding*)> visit_fixed);

}  // namespace iropt
