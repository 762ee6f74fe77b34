// A-normal form: every operand is a leaf, every intermediate result has a variable, every expression has a type.
#pragma once

#include <string_view>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"
#include "iropt/support/result.h"

namespace iropt {

// What is not as it is in A-normal form, of which there is nearly always nothing.
struct FormFacts {
  struct Result {
    bool is_normal = true;
    bool has_operator_forms = false;  // calls whose operators ask for more

    friend bool operator==(const Result&, const Result&) = default;
  };
  static constexpr std::string_view kName = "form_facts";
  static constexpr bool kPortable = true;
  // Loop-level functions lack nothing. Linear.
  static Result Compute(const BaseFunc& function, const FuncStorage& storage);
  // A pass may do better than to preserve them.
  static bool StillHolds(const Result& kept, const Result& actual) {
    return (!kept.is_normal || actual.is_normal) && (kept.has_operator_forms || !actual.has_operator_forms);
  }
};

// The function in A-normal form; the same pointer where it is. Fails where a type cannot be inferred. `module` gives
// the types of global functions.
Result<const Function*> Normalize(const Function* function, const Module* module, Workspace& workspace,
                                  DiagnosticEngine& diagnostics);

}  // namespace iropt
