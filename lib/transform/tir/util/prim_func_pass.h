// Passes over PrimFuncs that leave some functions alone, and those that rewrite bodies.
#pragma once

#include <functional>
#include <type_traits>

#include "iropt/ir/tir/stmt.h"
#include "iropt/pass/pass.h"

namespace iropt {

// Returns whether the function is marked as made by the older scheduler (the attribute from_legacy_te_schedule), whose
// code has other conventions.
bool IsFromLegacySchedule(const PrimFunc& func);

enum class LegacySchedule : uint8_t { kInclude, kSkip, kOnly };

// The functions that a pass runs on; it returns others as they are.
struct PrimFuncFilter {
  LegacySchedule legacy_schedule = LegacySchedule::kInclude;
  // Unless null: functions with a statement for which it returns true. A cheap pre-check: expressions are not visited.
  bool (*needs)(const tir::Stmt* stmt) = nullptr;

  bool Includes(const PrimFunc& func) const;
};
inline constexpr PrimFuncFilter kSkipLegacy = {.legacy_schedule = LegacySchedule::kSkip};
inline constexpr PrimFuncFilter kOnlyLegacy = {.legacy_schedule = LegacySchedule::kOnly};

Pass CreatePrimFuncPass(const PassInfo& info, PrimFuncFilter filter, PrimFuncPassFn run);

// A pass that only replaces bodies. One that returns the body of the function has not changed it.
using BodyPassFn = std::function<const tir::Stmt*(const PrimFunc&, FunctionPassContext&)>;
Pass CreateBodyPass(const PassInfo& info, PrimFuncFilter filter, BodyPassFn run);

// A pass that visits bodies with a Mutator, which is constructed from the function, the options, the workspace and the
// diagnostics, in this order. It can do without the function and without the diagnostics.
template <class Mutator, class... Options>
Pass CreateMutatorPass(const PassInfo& info, PrimFuncFilter filter, Options... options) {
  return CreateBodyPass(info, filter, [options...](const PrimFunc& func, FunctionPassContext& context) {
    const auto make = [&](const auto&... args) {
      if constexpr (std::is_constructible_v<Mutator, decltype(args)..., Workspace&, DiagnosticEngine&>)
        return Mutator(args..., context.workspace(), context.diagnostics());
      else
        return Mutator(args..., context.workspace());
    };
    if constexpr (std::is_constructible_v<Mutator, const PrimFunc&, Options..., Workspace&, DiagnosticEngine&> ||
                  std::is_constructible_v<Mutator, const PrimFunc&, Options..., Workspace&>)
      return make(func, options...).VisitStmt(func.body);
    else
      return make(options...).VisitStmt(func.body);
  });
}

}  // namespace iropt
