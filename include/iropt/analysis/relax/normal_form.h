// Whether a function is in A-normal form: every operand is a leaf, every intermediate result has a variable, every
// expression has a type.
#pragma once

#include <string_view>

#include "iropt/ir/module.h"

namespace iropt {

// What a function lacks of A-normal form, nearly always nothing.
struct FormFacts {
  struct Result {
    bool is_normal = true;
    bool has_operator_forms = false;  // calls whose operators ask for more

    friend bool operator==(const Result&, const Result&) = default;
  };
  static constexpr std::string_view kName = "form_facts";
  static constexpr bool kPortable = true;
  static Result Of(const Function& function);
  // The same as an analysis that passes share (see pass/analysis.h). Loop-level functions lack nothing. Linear.
  static Result Compute(const BaseFunc& function, const FuncStorage& storage);
  // A pass may do better than to preserve them.
  static bool StillHolds(const Result& kept, const Result& actual) {
    return (!kept.is_normal || actual.is_normal) && (kept.has_operator_forms || !actual.has_operator_forms);
  }
};

// Whether the operator wants something that A-normal form does not ask for: a tuple of operands for call_tir, the value
// in place of an R.inspect of what is known.
bool NeedsOperatorForm(const Call& call);

}  // namespace iropt
