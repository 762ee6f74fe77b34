// Rules with types for their variables.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "iropt/ir/module.h"

namespace iropt::proof {

// Types for the variables of a rule, in their order.
using RuleTypes = std::vector<const Type*>;

// Types that stand for those that the parameters may have.
std::vector<RuleTypes> TypesOf(const Function& rule);

// The pattern and the replacement as functions `main` of two modules. Nothing if the types do not fit, or the
// replacement would have another type than the pattern: then the rule is not applied.
std::optional<std::pair<Module, Module>> Instantiate(const Function& rule, const RuleTypes& types);

}  // namespace iropt::proof
