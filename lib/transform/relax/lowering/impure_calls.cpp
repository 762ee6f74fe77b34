#include "impure_calls.h"

#include <fmt/format.h>

#include <algorithm>

#include "iropt/analysis/relax/purity.h"
#include "iropt/ir/location.h"
#include "iropt/ir/relax/walk.h"

namespace iropt {

namespace {

// Finds out whether calls with side effects are in dataflow blocks or pure functions, local functions and branches
// included.
struct ImpurePlaces : WalkHandler {
  explicit ImpurePlaces(const Module& m) : module(m) {}

  void EnterBlock(const BindingBlock& block) {
    in_dataflow |= block.is_dataflow() && std::ranges::any_of(block.bindings, [&](const Binding* binding) {
                     return ContainsImpureCall(ValueOf(binding), &module);
                   });
  }
  // The function itself and each local one, whose calls do not count for the functions around it.
  bool EnterFunction(const Function& function) {
    const bool is_checked = function.is_pure && !IsForcedPure(function);
    in_pure |= is_checked && ContainsImpureCall(function.body, &module, &function);
    return true;
  }

  const Module& module;
  bool in_dataflow = false;
  bool in_pure = false;
};

}  // namespace

Status CheckImpureCallsAllowed(const Function& result, const Module& module, std::string_view pass,
                               DiagnosticEngine& diagnostics) {
  const auto refuse = [&](std::string_view place, std::string_view before) -> Status {
    diagnostics.Error(Location(result), "pass-failed",
                      fmt::format("pass '{}' makes calls with side effects, which are not allowed in {}; run {} before",
                                  pass, place, before));
    return Failure{ErrorCode::PassFailed};
  };
  ImpurePlaces places(module);
  Walk(result, places);
  if (places.in_dataflow) return refuse("dataflow blocks", "ToNonDataflow");
  if (places.in_pure) return refuse("a pure function", "RemovePurityChecking");
  return {};
}

}  // namespace iropt
