#include "failure_point.h"

namespace iropt {

Status FailedPass::EnterPassContext() {
  running_.clear();
  point_.reset();
  return {};
}

Status FailedPass::RunBeforePass(const Module& module, const PassInfo& info) {
  if (!info.is_composite()) running_.push_back({module, cursor_->current()});
  return {};
}

Status FailedPass::RunAfterPass(const Module&, const PassInfo& info, PassOutcome outcome) {
  if (info.is_composite()) return {};
  if (outcome == PassOutcome::Failed && !point_) point_ = std::move(running_.back());
  running_.pop_back();
  return {};
}

StepInput::StepInput(int64_t step, std::shared_ptr<const PipelineCursor> cursor)
    : OptBisect(step - 1,
                [this, step](const BisectStep& begun, bool) {
                  if (begun.number != step) return;
                  is_found_ = true;
                  point_.function = begun.function;
                }),
      cursor_(std::move(cursor)) {}

std::optional<FailurePoint> StepInput::Take() {
  if (!is_complete_) return std::nullopt;
  return std::move(point_);
}

// A module pass begins, so that the cursor comes to it, and does not run.
bool StepInput::ShouldRun(const Module& module, const PassInfo& info) {
  if (is_found_) return false;
  point_.module = module;
  return OptBisect::ShouldRun(module, info) || is_found_;
}

bool StepInput::ShouldRunOnFunction(const GlobalVar& name, const BaseFunc& function, const PassInfo& info) {
  const bool runs = OptBisect::ShouldRunOnFunction(name, function, info);
  is_complete_ |= is_found_;
  return runs;
}

Status StepInput::RunBeforePass(const Module&, const PassInfo& info) {
  if (is_complete_) return Failure{ErrorCode::PassFailed};
  if (info.is_composite()) return {};
  point_.pass = cursor_->current();
  if (!is_found_) return {};
  is_complete_ = true;
  return Failure{ErrorCode::PassFailed};
}

}  // namespace iropt
