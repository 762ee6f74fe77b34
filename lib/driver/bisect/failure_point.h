// The point where a run goes wrong: a pass, and the module before it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "iropt/pass/bisect.h"
#include "iropt/pass/pipeline_cursor.h"

namespace iropt {

struct FailurePoint {
  Module module;
  PipelineItem pass;
  std::string function = {};  // of the pass, if it is known
};

// Records the first pass that fails, or that an instrument before this one rejects. Comes last in the context.
class FailedPass : public PassInstrument {
 public:
  // `cursor` is in the context, too.
  explicit FailedPass(std::shared_ptr<const PipelineCursor> cursor)
      : PassInstrument("failed-pass"), cursor_(std::move(cursor)) {}

  // Nothing if no pass has failed since the last call.
  std::optional<FailurePoint> Take() { return std::exchange(point_, std::nullopt); }

  Status EnterPassContext() override;
  Status RunBeforePass(const Module& module, const PassInfo& info) override;
  Status RunAfterPass(const Module& module, const PassInfo& info, PassOutcome outcome) override;

 private:
  const std::shared_ptr<const PipelineCursor> cursor_;
  std::vector<FailurePoint> running_;  // the passes that have begun, without composite ones
  std::optional<FailurePoint> point_;
};

// Runs the steps before one, finds the module at that point, and stops the run.
class StepInput : public OptBisect {
 public:
  StepInput(int64_t step, std::shared_ptr<const PipelineCursor> cursor);

  // Nothing if the run has no such step.
  std::optional<FailurePoint> Take();

  bool ShouldRun(const Module& module, const PassInfo& info) override;
  bool ShouldRunOnFunction(const GlobalVar& name, const BaseFunc& function, const PassInfo& info) override;
  Status RunBeforePass(const Module& module, const PassInfo& info) override;

 private:
  const std::shared_ptr<const PipelineCursor> cursor_;
  FailurePoint point_;
  bool is_found_ = false;
  bool is_complete_ = false;
};

}  // namespace iropt
