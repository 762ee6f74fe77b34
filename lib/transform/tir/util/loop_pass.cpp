#include "transform/tir/util/loop_pass.h"

#include <utility>

#include "iropt/ir/tir/visitor.h"
#include "transform/tir/util/legacy_schedule.h"

namespace iropt {

namespace {

constexpr std::string_view kFromLegacySchedule = "from_legacy_te_schedule";

}  // namespace

bool AnyStmt(const tir::Stmt* stmt, FunctionRef<bool(const tir::Stmt*)> holds) {
  return tir::FindStmt(stmt, holds) != nullptr;
}

bool IsFromLegacySchedule(const PrimFunc& func) {
  const auto* value = As<IntAttr>(func.attrs->Find(kFromLegacySchedule));
  return value && value->value != 0;
}

Pass CreateLoopPass(const PassInfo& info, PrimFuncPassFn run) {
  return CreatePrimFuncPass(
      info, [run = std::move(run)](const PrimFunc* func, FunctionPassContext& context) -> Result<const PrimFunc*> {
        if (IsFromLegacySchedule(*func)) return func;
        return run(func, context);
      });
}

}  // namespace iropt
