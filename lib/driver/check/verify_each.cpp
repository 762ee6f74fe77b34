#include "driver/check/verify_each.h"

#include <fmt/format.h>

#include <utility>

#include "driver/session/place_notes.h"
#include "iropt/ir/location.h"
#include "iropt/ir/structural.h"
#include "iropt/support/check.h"

namespace iropt {

Status ChangeAudit::EnterPassContext() {
  running_.clear();
  return {};
}

Status ChangeAudit::RunBeforePass(const Module& module, const PassInfo& info) {
  if (info.is_composite()) {
    running_.emplace_back();
  } else {
    running_.push_back({module, StructuralHash(module)});
  }
  return {};
}

Status ChangeAudit::RunAfterPass(const Module&, const PassInfo& info, PassOutcome) {
  IROPT_CHECK(!running_.empty(), "pass '{}' ends, but none has begun", info.name);
  before_ = std::move(running_.back().module);
  hash_before_ = running_.back().hash;
  running_.pop_back();
  return {};
}

bool VerifyMade(const Module& before, const Module& after, VerifyOptions options, DiagnosticEngine& diagnostics) {
  DiagnosticBuffer buffer;
  DiagnosticEngine strict(&buffer);
  options.allow_free_vars = false;
  if (VerifyModule(after, options, strict)) return true;
  options.allow_free_vars = true;
  if (HasFreeVars(before)) return VerifyModule(after, options, diagnostics);
  buffer.ReplayInto(diagnostics);
  return false;
}

Status VerifyEach::RunAfterPass(const Module& module, const PassInfo& info, PassOutcome outcome) {
  // The children of a composite pass were checked already.
  if (info.is_composite() || outcome == PassOutcome::Failed) return {};
  DiagnosticBuffer buffer;
  DiagnosticEngine found(&buffer);
  if (!VerifyMade(audit_->before(), module, options_, found)) {
    diagnostics_.Error({}, "ill-formed-result", fmt::format("pass '{}' made an ill-formed module", info.name));
    ReportWithPlaces(buffer, module, diagnostics_);
    return Failure{ErrorCode::Rejected};
  }
  if (const tir::Stmt* repeated = FindRepeatedStmt(module)) {
    DiagnosticBuffer error;
    DiagnosticEngine(&error).Error(Location(*repeated), "ill-formed-result",
                                   fmt::format("pass '{}' put one statement at two places", info.name));
    ReportWithPlaces(error, module, diagnostics_);
    return Failure{ErrorCode::Rejected};
  }
  if (outcome == PassOutcome::Unchanged && StructuralHash(module) != audit_->hash_before()) {
    diagnostics_.Error({}, "wrong-change-claim",
                       fmt::format("pass '{}' reported no change, but the module has changed", info.name));
    return Failure{ErrorCode::Rejected};
  }
  return {};
}

}  // namespace iropt
