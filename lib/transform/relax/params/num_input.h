// The attribute num_input: the number of parameters of a function that are runtime inputs; the others are weights.
#pragma once

#include <optional>
#include <string_view>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"

namespace iropt {

struct NumInput {
  // Nothing if the function lacks the attribute.
  std::optional<uint32_t> value;
  // The attribute is not a valid number of parameters.
  bool is_wrong = false;
};

NumInput NumInputOf(const Function& function);
// Reads the attribute; reports an error if it is wrong.
NumInput ReadNumInput(const Function& function, std::string_view name, DiagnosticEngine& diagnostics);

}  // namespace iropt
