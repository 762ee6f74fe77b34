// Applying rewriting rules to functions, for passes.
#pragma once

#include <functional>
#include <memory>

#include "iropt/ir/relax/rewrite_rules.h"
#include "iropt/pass/pass.h"

namespace iropt {

// The function after the rules of `rules` and, if that changed it, CanonicalizeBindings, EliminateCommonSubexpr and the
// removal of dead bindings, which may make more rules apply; the same pointer if no rule applies. Primitive functions
// are not changed, nor are those that overwrite operands.
Result<const Function*> ApplyRules(const Function* function, const RuleSet& rules, FunctionPassContext& context);

// A function pass that applies the same rules to all functions.
Pass CreateRulePass(const PassInfo& info, std::shared_ptr<const RuleSet> rules);
// A function pass that applies the same rules to all functions and gives changed ones the order of SortByOperands.
Pass CreateOrderedRulePass(const PassInfo& info, std::shared_ptr<const RuleSet> rules);
// A function pass that makes rules for each function, which is one of a module of the version.
Pass CreateRulePass(const PassInfo& info, std::function<RuleSet(const Function&, TextVersion)> make_rules);

// Canonicalizes bindings, eliminates common subexpressions, if `merges`, and dead bindings until nothing changes.
Result<const Function*> CleanUpFunction(const Function* function, FunctionPassContext& context, bool merges = true);

}  // namespace iropt
