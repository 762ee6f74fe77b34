// The built-in instruments that measure a run and tell about it at the end, together with the steps of the driver that
// are not passes.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "driver/instruments.h"
#include "driver/report.h"
#include "iropt/ir/module.h"
#include "iropt/pass/instrument.h"
#include "iropt/pass/timing.h"
#include "iropt/support/file.h"
#include "run_statistics.h"
#include "run_step.h"

namespace iropt {

class RunObservers {
 public:
  // Text goes to `err`, which must outlive it.
  explicit RunObservers(OutputStream& err) : err_(err) {}

  // Makes the observers of the plan.
  void Start(const InstrumentPlan& plan);
  // The timer comes first: the work of the others is not part of the time of a pass.
  void AppendTo(InstrumentList& instruments) const;

  void OnRead(std::string_view subject, const Module& module, TimeSpent time);
  // Before and after the passes run; not after they have failed.
  void BeforePasses(const Module& module);
  void AfterPasses(const Module& module);
  void OnStep(RunStep step, TimeSpent time);
  // Prints the tables. At the end of a run, also of one that failed.
  void Finish();

 private:
  void Show(const std::string& text);

  OutputStream& err_;
  TimesForm times_form_ = TimesForm::None;
  ShownForm stats_form_ = ShownForm::None;
  StepTimes step_times_;
  // Null unless the plan has them.
  std::shared_ptr<PassTimingInstrument> timing_;
  std::shared_ptr<RunStatistics> statistics_;
  std::shared_ptr<Report> report_;
};

// Measures a step of the driver from its construction to the end of the scope.
class StepTimer {
 public:
  StepTimer(RunObservers& observers, RunStep step) : observers_(observers), step_(step) {}
  StepTimer(const StepTimer&) = delete;
  StepTimer& operator=(const StepTimer&) = delete;
  ~StepTimer() { observers_.OnStep(step_, watch_.Read()); }

 private:
  RunObservers& observers_;
  const RunStep step_;
  const Stopwatch watch_;
};

}  // namespace iropt
