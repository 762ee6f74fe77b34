// The attribute num_input: how many parameters of a function are inputs of a run; the others are weights.
#pragma once

#include <optional>
#include <string_view>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"

namespace iropt {

struct NumInput {
  // Nothing where the function lacks the attribute.
  std::optional<uint32_t> value;
  // The attribute is no number of parameters.
  bool is_wrong = false;
};

NumInput NumInputOf(const Function& function);
// The same; reports what is wrong.
NumInput ReadNumInput(const Function& function, std::string_view name, DiagnosticEngine& diagnostics);

}  // namespace iropt
