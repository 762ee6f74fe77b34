#include "transform/tir/util/prim_func_pass.h"

#include <string_view>
#include <utility>

#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/visitor.h"

namespace iropt {

bool IsFromLegacySchedule(const PrimFunc& func) {
  const auto* value = As<IntAttr>(func.attrs->Find(attr::kFromLegacyTESchedule));
  return value && value->value != 0;
}

bool PrimFuncFilter::Includes(const PrimFunc& func) const {
  if (legacy_schedule != LegacySchedule::kInclude &&
      IsFromLegacySchedule(func) != (legacy_schedule == LegacySchedule::kOnly)) {
    return false;
  }
  return !needs || tir::FindStmt(func.body, needs);
}

Pass CreatePrimFuncPass(const PassInfo& info, PrimFuncFilter filter, PrimFuncPassFn run) {
  return CreatePrimFuncPass(
      info,
      [filter, run = std::move(run)](const PrimFunc* func, FunctionPassContext& context) -> Result<const PrimFunc*> {
        return filter.Includes(*func) ? run(func, context) : func;
      });
}

Pass CreateBodyPass(const PassInfo& info, PrimFuncFilter filter, BodyPassFn run) {
  return CreatePrimFuncPass(
      info, filter,
      [run = std::move(run)](const PrimFunc* func, FunctionPassContext& context) -> Result<const PrimFunc*> {
        return tir::WithBody(func, run(*func, context), context.workspace());
      });
}

}  // namespace iropt
