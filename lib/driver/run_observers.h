// The built-in instruments that measure a run and tell about it at the end, together with the steps of the driver that
// are not passes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "driver/instruments.h"
#include "iropt/driver/compiler_instance.h"
#include "iropt/ir/module.h"
#include "iropt/observe/memory_report.h"
#include "iropt/observe/output_files.h"
#include "iropt/observe/pass_counter.h"
#include "iropt/observe/progress.h"
#include "iropt/observe/remark_file.h"
#include "iropt/observe/report/run_diagnostics.h"
#include "iropt/observe/report/run_record.h"
#include "iropt/observe/report/text_report.h"
#include "iropt/observe/run_statistics.h"
#include "iropt/observe/run_step.h"
#include "iropt/observe/time_trace.h"
#include "iropt/observe/trace_printer.h"
#include "iropt/observe/watchdog.h"
#include "iropt/pass/instrument.h"
#include "iropt/pass/timing.h"
#include "iropt/support/result.h"

namespace iropt {

class RunObservers {
 public:
  // Text and messages go to the stderr of `compiler`, which must outlive it.
  RunObservers(CompilerInstance& compiler, std::shared_ptr<const PassCounter> counter)
      : compiler_(compiler), counter_(std::move(counter)) {}
  RunObservers(const RunObservers&) = delete;
  RunObservers& operator=(const RunObservers&) = delete;
  ~RunObservers();

  // Makes the observers of the plan and opens their files. `pipeline` is that of the run, for the reports.
  Status Start(const InstrumentPlan& plan, std::string pipeline, OutputFiles& files);
  // The timer comes first: the work of the others is not part of the time of a pass.
  void AppendTo(InstrumentList& instruments) const;

  // Null without limits. The limits hold, and the progress is shown, from BeginRun to BeginOutput.
  Watchdog* watchdog() { return watchdog_.get(); }
  // Makes the line of -progress for this pipeline.
  void ShowProgress(const Pipeline& pipeline, InstrumentList& instruments);
  void BeginRun();
  void BeginOutput();

  void OnRead(std::string_view subject, const Module& module, const Stopwatch& watch);
  // Before and after the passes run; not after they have failed.
  void BeforePasses(const Module& module);
  void AfterPasses(const Module& module);
  // A step that ends now and began when the watch did.
  void OnStep(RunStep step, const Stopwatch& watch);
  // Prints the tables and writes the files, at the end of a run, also of one that failed; no files if no module was
  // read. `code` is the exit code of the run; returns it, or that of the first file that cannot be written if it is 0.
  int Finish(int code);

 private:
  Status StartReports(const InstrumentPlan& plan, std::string pipeline, OutputFiles& files);
  int FinishReports(int code);
  void Show(const std::string& text);
  // The exit code after a file was written, or was not.
  int CodeAfter(const Status& written, std::string_view flag, int code);

  CompilerInstance& compiler_;
  std::shared_ptr<const PassCounter> counter_;
  TimesForm times_form_ = TimesForm::None;
  ShownForm stats_form_ = ShownForm::None;
  ShownForm metrics_form_ = ShownForm::None;
  std::map<std::string, uint64_t> operators_before_;  // for the metrics
  ShownForm memory_form_ = ShownForm::None;
  std::string metrics_;  // of the modules so far
  std::string subject_;  // the module that was read last
  bool has_read_ = false;
  StepTimes step_times_;
  // Null unless the plan has them.
  std::shared_ptr<PassTimingInstrument> timing_;
  std::shared_ptr<RunStatistics> statistics_;
  std::shared_ptr<MemoryReport> memory_;
  std::shared_ptr<RunRecorder> recorder_;        // for the reports
  std::unique_ptr<RunDiagnostics> diagnostics_;  // for the reports
  std::optional<TextReport> report_;
  ShownForm report_form_ = ShownForm::None;
  std::unique_ptr<AtomicFile> report_file_;
  std::unique_ptr<AtomicFile> page_;
  std::string pipeline_;
  std::shared_ptr<TimeTrace> trace_;
  std::shared_ptr<RemarkFile> remarks_;
  std::shared_ptr<TracePrinter> trace_printer_;
  std::shared_ptr<Watchdog> watchdog_;
  std::shared_ptr<Progress> progress_;
};

// Measures a step of the driver from its construction to the end of the scope.
class StepTimer {
 public:
  StepTimer(RunObservers& observers, RunStep step) : observers_(observers), step_(step) {}
  StepTimer(const StepTimer&) = delete;
  StepTimer& operator=(const StepTimer&) = delete;
  ~StepTimer() { observers_.OnStep(step_, watch_); }

 private:
  RunObservers& observers_;
  const RunStep step_;
  const Stopwatch watch_;
};

}  // namespace iropt
