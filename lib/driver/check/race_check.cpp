#include "driver/check/race_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "driver/session/place_notes.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/support/function_ref.h"

namespace iropt {

namespace {

constexpr RaceOptions kCheapRaceOptions = {.max_values = 1 << 12, .solver_limit = 0};

constexpr std::string_view kMakesBarriers = "tir.ThreadSync";

int CountBarrierPasses(const Pass& pass) {
  int count = pass.info().name == kMakesBarriers ? 1 : 0;
  for (const Pass& child : pass.children()) count += CountBarrierPasses(child);
  return count;
}

bool IsRace(const RaceFinding& finding) { return finding.kind != RaceFinding::Kind::kNotDecided; }

bool Contains(const Module& module, const BaseFunc* func) {
  return std::ranges::find(module.functions(), func, &ModuleEntry::func) != module.functions().end();
}

bool IsBlock(const tir::Stmt* stmt) { return Is<tir::BlockRealize>(stmt); }

bool IsBarrier(const tir::Stmt* stmt) {
  const auto* evaluate = As<tir::Evaluate>(stmt);
  const auto* call = evaluate ? As<tir::Call>(evaluate->value) : nullptr;
  return call != nullptr && IsOp(call->op, op::kTirTvmStorageSync);
}

bool AnyInKernels(const Module& module, FunctionRef<bool(const tir::Stmt*)> holds) {
  return std::ranges::any_of(module.functions(), [&](const ModuleEntry& entry) {
    const auto* func = As<PrimFunc>(entry.func);
    return func != nullptr && tir::FindStmt(func->body, holds) != nullptr && HasConcurrency(*func);
  });
}

}  // namespace

RaceCheck::RaceCheck(const Pass* pipeline, std::shared_ptr<const ChangeAudit> audit, DiagnosticEngine& diagnostics)
    : PassInstrument("race-check"),
      has_passes_(pipeline != nullptr),
      barrier_passes_(pipeline == nullptr ? 0 : CountBarrierPasses(*pipeline)),
      audit_(std::move(audit)),
      diagnostics_(diagnostics) {}

Status RaceCheck::EnterPassContext() {
  depth_ = 0;
  return {};
}

Status RaceCheck::RunAfterFunction(const GlobalVar& name, const BaseFunc& /*function*/, const PassInfo& info,
                                   PassOutcome /*outcome*/) {
  if (info.name == kMakesBarriers) ++runs_[std::string(name.name)];
  return {};
}

Status RaceCheck::OnSkippedFunction(const GlobalVar& name, std::string_view /*reason*/, const PassInfo& info) {
  if (info.name == kMakesBarriers) runs_.try_emplace(std::string(name.name));
  return {};
}

// A function that tir.ThreadSync has not seen was made of others.
bool RaceCheck::AreBarriersToCome(std::string_view function, const BarrierRuns& runs) const {
  if (barrier_passes_ == 0) return had_blocks_;
  const auto own = runs.find(function);
  if (own != runs.end()) return own->second < barrier_passes_;
  return std::ranges::none_of(runs, [&](const auto& entry) { return entry.second >= barrier_passes_; });
}

// Calls `handle` with what is found in each PrimFunc that the other module does not have with the same barriers.
template <class Handle>
void RaceCheck::FindIn(const Module& module, const Module& except, const RaceOptions& limits, const BarrierRuns& runs,
                       bool has_barriers, Handle&& handle) const {
  for (const ModuleEntry& entry : module.functions()) {
    const auto* func = As<PrimFunc>(entry.func);
    if (func == nullptr || !HasConcurrency(*func)) continue;
    const std::string_view name = entry.var->name;
    const bool has_same_barriers = AreBarriersToCome(name, runs_) == AreBarriersToCome(name, runs_before_);
    if (has_same_barriers && Contains(except, func)) continue;
    RaceOptions options = limits;
    options.barriers_to_come = !has_barriers || AreBarriersToCome(name, runs);
    // Findings refer to nodes of the function, not to those that are made on the way.
    Workspace workspace(module, entry.storage);
    handle(FindRaces(*func, options, workspace));
  }
}

Status RaceCheck::RunBeforePass(const Module& /*module*/, const PassInfo& info) {
  // A context may see several modules and runs, which share names of functions.
  if (depth_++ == 0) {
    runs_.clear();
    had_blocks_ = false;
    had_barriers_ = false;
  }
  if (!info.is_composite()) runs_before_ = runs_;
  return {};
}

Status RaceCheck::RunAfterPass(const Module& module, const PassInfo& info, PassOutcome outcome) {
  --depth_;
  if (info.is_composite() || outcome == PassOutcome::Failed) return {};
  const Module& before = audit_->before();
  had_blocks_ = had_blocks_ || AnyInKernels(before, IsBlock);
  had_barriers_ = had_barriers_ || barrier_passes_ != 0 || AnyInKernels(before, IsBarrier);
  DiagnosticBuffer buffer;
  DiagnosticEngine found(&buffer);
  FindIn(module, before, kCheapRaceOptions, runs_, had_barriers_, [&](std::vector<RaceFinding> findings) {
    std::erase_if(findings, [](const RaceFinding& finding) { return !IsRace(finding); });
    ReportRaces(std::move(findings), found);
  });
  if (!found.has_errors()) return {};
  bool was_free_of_races = true;
  FindIn(before, module, kCheapRaceOptions, runs_before_, had_barriers_,
         [&](const std::vector<RaceFinding>& findings) { was_free_of_races &= findings.empty(); });
  if (!was_free_of_races) return {};
  diagnostics_.Error({}, "race", fmt::format("pass '{}' made a race", info.name));
  ReportWithPlaces(buffer, module, diagnostics_);
  return Failure{ErrorCode::Rejected};
}

Status RaceCheck::Check(const Module& module, const RaceOptions& limits) const {
  DiagnosticBuffer buffer;
  DiagnosticEngine found(&buffer);
  FindIn(module, Module(), limits, runs_, /*has_barriers=*/true,
         [&](std::vector<RaceFinding> findings) { ReportRaces(std::move(findings), found); });
  if (has_passes_) {
    ReportWithPlaces(buffer, module, diagnostics_);
  } else {
    buffer.ReplayInto(diagnostics_);
  }
  return found.has_errors() ? Status(Failure{ErrorCode::Rejected}) : Status();
}

}  // namespace iropt
