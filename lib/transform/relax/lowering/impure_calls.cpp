#include "impure_calls.h"

#include <fmt/format.h>

#include <algorithm>

#include "iropt/analysis/relax/purity.h"
#include "iropt/ir/location.h"

namespace iropt {

namespace {

bool IsImpureDataflow(const BindingBlock* block, const Module& module) {
  return Is<DataflowBlock>(block) && std::ranges::any_of(block->bindings, [&](const Binding* binding) {
           return ContainsImpureCall(ValueOf(binding), &module);
         });
}

}  // namespace

Status CheckImpureCallsAllowed(const Function& result, const Module& module, std::string_view pass,
                               DiagnosticEngine& diagnostics) {
  const auto refuse = [&](std::string_view place, std::string_view before) -> Status {
    diagnostics.Error(Location(result), "pass-failed",
                      fmt::format("pass '{}' makes calls with side effects, which are not allowed in {}; run {} before",
                                  pass, place, before));
    return Failure{ErrorCode::PassFailed};
  };
  const auto* seq = As<SeqExpr>(result.body);
  const bool in_dataflow =
      seq && std::ranges::any_of(seq->blocks, [&](const BindingBlock* b) { return IsImpureDataflow(b, module); });
  if (in_dataflow) return refuse("dataflow blocks", "ToNonDataflow");
  const bool is_checked = result.is_pure && !IsForcedPure(result);
  if (is_checked && ContainsImpureCall(result.body, &module, &result))
    return refuse("a pure function", "RemovePurityChecking");
  return {};
}

}  // namespace iropt
