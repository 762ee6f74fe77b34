// Running a part of a pipeline.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "iropt/pass/instrument.h"
#include "iropt/support/lookup.h"
#include "iropt/support/result.h"

namespace iropt {

// A run of a pass in a pipeline.
struct PassPoint {
  std::string pass;       // empty: any pass that is not composite
  int64_t number = 1;     // of its runs, from 1
  std::string text = {};  // as users wrote it
};

// "FoldConstant", "FoldConstant:2" or "6". The error says what is expected.
Result<PassPoint> ParsePassPoint(std::string_view text);

// Skips the passes up to one run and after another one. Skipped runs count as runs; those of passes that the context
// requires do not, and are not skipped.
class PassRange : public PassInstrument {
 public:
  // Nothing: from the first pass, to the last one.
  PassRange(std::optional<PassPoint> start_after, std::optional<PassPoint> stop_after)
      : PassInstrument("pass-range"), start_(std::move(start_after)), stop_(std::move(stop_after)) {}

  // A point that the last run of a pipeline did not have; null if it had both.
  const PassPoint* missing() const;
  // Returns whether missing() is where the run was to start.
  bool is_start(const PassPoint& point) const { return start_ && &point == &*start_; }

  Status EnterPassContext() override;
  bool ShouldRun(const Module& module, const PassInfo& info) override;
  Status RunBeforePass(const Module& module, const PassInfo& info) override;
  Status RunAfterPass(const Module& module, const PassInfo& info, PassOutcome outcome) override;
  std::string VetoReason() const override;

 private:
  void BeginPipeline();
  bool IsAt(const std::optional<PassPoint>& point, const PassInfo& info) const;

  const std::optional<PassPoint> start_;
  const std::optional<PassPoint> stop_;
  int depth_ = 0;  // of the passes that run
  int64_t num_runs_ = 0;
  LookupMap<std::string, int64_t> runs_;  // by pass
  bool has_started_ = false;
  bool has_stopped_ = false;
};

}  // namespace iropt
