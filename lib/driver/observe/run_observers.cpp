#include "run_observers.h"

#include "time_report.h"

namespace iropt {

void RunObservers::Start(const InstrumentPlan& plan) {
  times_form_ = plan.times;
  if (times_form_ != TimesForm::None) timing_ = std::make_shared<PassTimingInstrument>();
  if (plan.report) report_ = std::make_shared<Report>(err_);
}

void RunObservers::AppendTo(InstrumentList& instruments) const {
  if (timing_) instruments.push_back(timing_);
  if (report_) instruments.push_back(report_);
}

void RunObservers::OnRead(std::string_view subject, const Module& module, TimeSpent time) {
  OnStep(RunStep::Read, time);
  if (report_) report_->Read(subject, module, time);
}

void RunObservers::OnStep(RunStep step, TimeSpent time) {
  step_times_[static_cast<size_t>(step)] += time;
  const bool has_line = step == RunStep::Check || step == RunStep::Write;
  if (report_ && has_line) report_->Step(RunStepName(step), time);
}

void RunObservers::Finish() {
  if (timing_) ShowTimes();
}

void RunObservers::ShowTimes() {
  err_.Append(RenderTimes(*timing_, step_times_, times_form_));
  static_cast<void>(err_.Flush());
}

}  // namespace iropt
