// Checks that a function is in A-normal form: every operand is a leaf, every intermediate result has a variable, every
// expression has a type.
#pragma once

#include <string_view>

#include "iropt/ir/module.h"

namespace iropt {

// Deviations of a function from A-normal form; nearly always none.
struct FormFacts {
  struct Result {
    bool is_normal = true;
    bool has_operator_forms = false;  // calls whose operators require more

    friend bool operator==(const Result&, const Result&) = default;
  };
  static constexpr std::string_view kName = "form_facts";
  static constexpr bool kSurvivesCloning = true;
  static Result Of(const Function& function);
  // The same as an analysis that passes share (see pass/analysis.h). PrimFuncs have no deviations. Linear.
  static Result Compute(const BaseFunc& function, const FuncStorage& storage);
  // A pass may also remove deviations.
  static bool StillHolds(const Result& kept, const Result& actual) {
    return (!kept.is_normal || actual.is_normal) && (kept.has_operator_forms || !actual.has_operator_forms);
  }
};

// Returns whether the operator requires more than A-normal form: a tuple of operands for call_tir, the value in place
// of an R.inspect with a known result.
bool NeedsOperatorForm(const Call& call);

}  // namespace iropt
