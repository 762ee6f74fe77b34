// Rules with types for their variables.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "iropt/ir/module.h"
#include "iropt/ir/substitute.h"

namespace iropt::proof {

// Types for the variables of a rule, in their order.
using RuleTypes = std::vector<const Type*>;

// Types that stand for those that the parameters may have.
std::vector<RuleTypes> TypesOf(const Function& rule);

// The same with unknown ranks of those variables whose rank the rule does not state.
RuleTypes WithoutRanks(const Function& rule, const RuleTypes& types);

// The conditions of a rule, and the sizes and integers that they are about.
struct RuleConditions {
  std::vector<const PrimExpr*> conditions = {};
  std::vector<const tir::Var*> variables = {};
};
RuleConditions ConditionsOf(const Function& rule);
// Values of variables that equations among the conditions give, which leaves the other conditions and variables.
SymVarMap SolveEquations(RuleConditions& conditions);
// A few small numbers for all variables for which the conditions hold: 0 and 1 first.
std::vector<SymVarMap> SmallSizes(const RuleConditions& conditions, const SymVarMap& solved);

// The pattern and the replacement as functions `main` of two modules, with these sizes. Nothing if the types do not
// fit, or the replacement would have another type than the pattern: then the rule is not applied. Dimensions may be
// equal under the conditions of the rule.
std::optional<std::pair<Module, Module>> Instantiate(const Function& rule, const RuleTypes& types,
                                                     const SymVarMap& sizes = {});

}  // namespace iropt::proof
