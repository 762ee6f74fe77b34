// Checks that a function is in A-normal form: every operand is a leaf, every intermediate result has a variable, every
// expression has a type.
#pragma once

#include <string_view>

#include "iropt/ir/module.h"

namespace iropt {

// Deviations of a function from A-normal form; nearly always none.
struct NormalFormInfo {
  struct Result {
    bool is_normal = true;
    bool needs_op_normalization = false;  // there are calls for which NeedsOpNormalization holds

    friend bool operator==(const Result&, const Result&) = default;
  };
  static constexpr std::string_view kName = "normal_form";
  static constexpr bool kSurvivesCloning = true;
  static Result Of(const Function& function);
  // Finds the deviations of a function, as an analysis that passes share (see pass/analysis.h). PrimFuncs have none.
  // Linear.
  static Result Compute(const BaseFunc& function, const FuncStorage& storage);
  // A pass may also remove deviations.
  static bool StillHolds(const Result& kept, const Result& actual) {
    return (!kept.is_normal || actual.is_normal) && (kept.needs_op_normalization || !actual.needs_op_normalization);
  }
};

// Returns whether the call lacks the normalization of its operator (TVM's FNormalize): the inputs of call_tir must be a
// Tuple, and an R.inspect with a known result must be replaced by it.
bool NeedsOpNormalization(const Call& call);

}  // namespace iropt
