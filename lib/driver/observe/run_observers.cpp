#include "run_observers.h"

#include "time_report.h"

namespace iropt {

void RunObservers::Start(const InstrumentPlan& plan) {
  times_form_ = plan.times;
  if (times_form_ != TimesForm::None) timing_ = std::make_shared<PassTimingInstrument>();
  stats_form_ = plan.stats;
  if (stats_form_ != ShownForm::None) statistics_ = std::make_shared<RunStatistics>();
  if (plan.report) report_ = std::make_shared<Report>(err_);
}

void RunObservers::AppendTo(InstrumentList& instruments) const {
  if (timing_) instruments.push_back(timing_);
  if (statistics_) instruments.push_back(statistics_);
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

void RunObservers::BeforePasses(const Module& module) {
  if (statistics_) statistics_->Before(module);
}

void RunObservers::AfterPasses(const Module& module) {
  if (statistics_) statistics_->After(module);
}

void RunObservers::Finish() {
  if (statistics_) Show(statistics_->Render(stats_form_));
  if (timing_) Show(RenderTimes(*timing_, step_times_, times_form_));
}

void RunObservers::Show(const std::string& text) {
  err_.Append(text);
  static_cast<void>(err_.Flush());
}

}  // namespace iropt
