// Rules for several values of names: attributes, axes, dtypes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "iropt/pass/option_value.h"

namespace iropt {

// A rule with values for its names.
struct RuleWithValues {
  OptionValue description;
  std::string values = {};  // "low=0, high=1"; empty if the rule has no names
};

// The rule for each choice of the key "values" of its description, {"low": [0, 1], "dtype, least": [["int8", -128]]},
// without the key. The names are replaced as words in all texts but that of the rule's name. Nothing if the values have
// another form, or there are too many, with the reason in `problem`.
std::optional<std::vector<RuleWithValues>> ChooseValues(const OptionValue& description, std::string& problem);

}  // namespace iropt
