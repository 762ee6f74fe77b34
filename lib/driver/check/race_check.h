// The check for races as an instrument: of -verify-races, -bisect=races and -verify-each.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "driver/check/verify_each.h"
#include "iropt/analysis/tir/races.h"
#include "iropt/diag/diagnostic.h"
#include "iropt/pass/instrument.h"
#include "iropt/pass/pass.h"

namespace iropt {

// Checks PrimFuncs for races. Until the last tir.ThreadSync of the pipeline has run, barriers count as if they were
// between all statements of a kernel. So they do in a pipeline without it that begins with blocks, and no pass is
// blamed for the races of kernels that have no barriers at all. Comes after `audit` in the context.
class RaceCheck : public PassInstrument {
 public:
  // `pipeline` is what runs, null if nothing does.
  RaceCheck(const Pass* pipeline, std::shared_ptr<const ChangeAudit> audit, DiagnosticEngine& diagnostics);

  Status EnterPassContext() override;
  Status RunBeforePass(const Module& module, const PassInfo& info) override;
  Status RunAfterFunction(const GlobalVar& name, const BaseFunc& function, const PassInfo& info,
                          PassOutcome outcome) override;
  Status OnSkippedFunction(const GlobalVar& name, std::string_view reason, const PassInfo& info) override;
  // Reports races in what a pass changed, and fails with Rejected, if it is known that there were none before it. Tries
  // few values, so that it costs little.
  Status RunAfterPass(const Module& module, const PassInfo& info, PassOutcome outcome) override;

  // Reports all races, and what is not decided. Fails with Rejected if there is a race.
  Status Check(const Module& module, const RaceOptions& limits) const;

 private:
  // By functions, how many runs of tir.ThreadSync have made barriers in them.
  using BarrierRuns = std::map<std::string, int, std::less<>>;

  bool AreBarriersToCome(std::string_view function, const BarrierRuns& runs) const;
  template <class Handle>
  void FindIn(const Module& module, const Module& except, const RaceOptions& limits, const BarrierRuns& runs,
              bool has_barriers, Handle&& handle) const;

  const bool has_passes_;
  const int barrier_passes_;  // of the pipeline
  const std::shared_ptr<const ChangeAudit> audit_;
  DiagnosticEngine& diagnostics_;
  BarrierRuns runs_;
  BarrierRuns runs_before_;  // before the last run of tir.ThreadSync
  int depth_ = 0;            // of running passes, the pipeline among them
  bool had_blocks_ = false;  // in a kernel before a pass
  bool had_barriers_ = false;
};

}  // namespace iropt
