// Replacing several operators that share an operand by one bigger operator and parts of its result.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "iropt/diag/source.h"
#include "iropt/ir/relax/builder.h"
#include "iropt/pass/pass.h"

namespace iropt {

// Bindings that may change their order.
struct Segment {
  std::span<const Binding* const> bindings;
  std::span<const uint32_t> uses;  // the uses of variables in the function, by Var::id

  bool IsUsedOnce(const Var* var) const { return var->id < uses.size() && uses[var->id] == 1; }
};

// One operator for several bindings of a segment, which become its parts.
struct CombinedBranches {
  // Everything that the combined operator uses.
  std::vector<const Expr*> operands = {};
  // The bindings that are replaced, by their positions in the segment, and which part each becomes.
  std::vector<std::pair<uint32_t, uint32_t>> replaced = {};
  // Where the operators that are combined come from.
  std::vector<SourceSpan> places = {};
  // The combined operator, as a tuple of the parts.
  std::function<const Expr*(BlockBuilder&)> combine = nullptr;
  // A smaller combination, for the case that an operand depends on a part; or null.
  std::shared_ptr<const CombinedBranches> fallback = nullptr;
};

// The bindings of a segment in an order in which each binding comes after what it uses, if the bindings that `groups`
// replace use the operands of their groups: a binding that is too early waits, everything else stays where it is. Drops
// groups without such an order, because an operand depends on a part, or takes their fallbacks. Near-linear.
// Source: TVM 0.18's order of rewritten bindings.
std::vector<uint32_t> OrderCombined(std::span<const Binding* const> segment, std::vector<CombinedBranches>& groups);

// Combines the branches that `find_groups` finds in a segment: in a dataflow block, or in a part of another block
// between the bindings that must not move, calls with effects and conditionals. Changed functions are cleaned up, with
// equal expressions merged if `merges`.
using FindGroups = std::function<std::vector<CombinedBranches>(const Segment& segment, int64_t min_branches)>;
Result<const Function*> CombineBranches(const Function* function, const FindGroups& find_groups, int64_t min_branches,
                                        FunctionPassContext& context, bool merges = true);

}  // namespace iropt
