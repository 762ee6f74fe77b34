#include "run_observers.h"

#include <fmt/format.h>

#include <utility>

#include "iropt/observe/module_metrics.h"
#include "iropt/observe/operator_counts.h"
#include "iropt/observe/report/report_json.h"
#include "iropt/observe/report/report_page.h"
#include "iropt/observe/time_report.h"

namespace iropt {

namespace {

constexpr FileKind kTraceFile = {"a trace of ir-opt", R"({"displayTimeUnit": "ms", "traceEvents": [)", {}};
constexpr FileKind kRemarkFile = {"a file of remarks", "--- !", {}};
constexpr FileKind kReportFile = {"a report of ir-opt", R"({"report":{)", {}};

// Fails before anything runs if the file cannot be written, or must not be replaced.
Result<std::unique_ptr<AtomicFile>> OpenOutput(std::string_view owner, const std::string& path, const FileKind& kind,
                                               OutputFiles& files) {
  IROPT_ASSIGN_OR_RETURN(AtomicFile file, files.Open(owner, path, kind));
  return std::make_unique<AtomicFile>(std::move(file));
}

}  // namespace

RunObservers::~RunObservers() {
  if (diagnostics_) compiler_.set_listener(nullptr);
}

Status RunObservers::Start(const InstrumentPlan& plan, std::string pipeline, OutputFiles& files) {
  times_form_ = plan.times;
  if (times_form_ != TimesForm::None) timing_ = std::make_shared<PassTimingInstrument>();
  metrics_form_ = plan.metrics;
  stats_form_ = plan.stats;
  if (stats_form_ != ShownForm::None) statistics_ = std::make_shared<RunStatistics>();
  memory_form_ = plan.track_memory;
  if (memory_form_ != ShownForm::None) memory_ = std::make_shared<MemoryReport>();
  if (plan.print_trace) trace_printer_ = std::make_shared<TracePrinter>(compiler_.err());
  if (plan.limits.any()) watchdog_ = std::make_shared<Watchdog>(plan.limits, compiler_.diagnostics(), counter_);
  if (!plan.time_trace.empty()) {
    IROPT_ASSIGN_OR_RETURN(std::unique_ptr<AtomicFile> file,
                           OpenOutput("-time-trace", plan.time_trace, kTraceFile, files));
    trace_ = std::make_shared<TimeTrace>(std::move(file));
  }
  if (!plan.remarks.empty()) {
    IROPT_ASSIGN_OR_RETURN(std::unique_ptr<AtomicFile> file, OpenOutput("-remarks", plan.remarks, kRemarkFile, files));
    remarks_ = std::make_shared<RemarkFile>(std::move(file), compiler_.sources());
  }
  return StartReports(plan, std::move(pipeline), files);
}

// All reports show one record.
Status RunObservers::StartReports(const InstrumentPlan& plan, std::string pipeline, OutputFiles& files) {
  report_form_ = plan.report;
  pipeline_ = std::move(pipeline);
  std::unique_ptr<FunctionTexts> texts;
  if (!plan.report_page.empty()) {
    IROPT_ASSIGN_OR_RETURN(page_, OpenOutput("-report", plan.report_page, kReportPage, files));
    texts = std::make_unique<FunctionTexts>(PrintOptions{.inline_constants = compiler_.options().inline_constants});
  }
  if (!plan.report_file.empty()) {
    IROPT_ASSIGN_OR_RETURN(report_file_, OpenOutput("-report", plan.report_file, kReportFile, files));
  }
  if (report_form_ == ShownForm::None && !report_file_ && !page_) return {};
  recorder_ = std::make_shared<RunRecorder>(std::move(texts));
  diagnostics_ = std::make_unique<RunDiagnostics>(compiler_.sources());
  compiler_.set_listener(diagnostics_.get());
  if (report_form_ != ShownForm::Text) return {};
  report_.emplace(compiler_.err());
  recorder_->set_on_pass([this](const PassRecord& pass) { report_->Pass(pass); });
  return {};
}

void RunObservers::AppendTo(InstrumentList& instruments) const {
  if (timing_) instruments.push_back(timing_);
  if (trace_) instruments.push_back(trace_);
  if (remarks_) instruments.push_back(remarks_);
  if (trace_printer_) instruments.push_back(trace_printer_);
  if (statistics_) instruments.push_back(statistics_);
  if (recorder_) instruments.push_back(recorder_);
  if (memory_) instruments.push_back(memory_);
  if (watchdog_) instruments.push_back(watchdog_);
}

void RunObservers::ShowProgress(const Pipeline& pipeline, InstrumentList& instruments) {
  progress_ = std::make_shared<Progress>();
  progress_->set_total(CountPasses(pipeline));
  instruments.push_back(progress_);
}

void RunObservers::BeginRun() {
  if (progress_) progress_->Start();
  if (watchdog_) watchdog_->Start();
}

void RunObservers::BeginOutput() {
  if (progress_) progress_->Stop();
  if (watchdog_) watchdog_->Stop();
}

void RunObservers::OnRead(std::string_view subject, const Module& module, const Stopwatch& watch) {
  OnStep(RunStep::Read, watch);
  subject_ = subject;
  has_read_ = true;
  if (!recorder_) return;
  const TimeSpent time = watch.Read();
  recorder_->OnRead(subject, module);
  if (report_) report_->Read(recorder_->modules().back(), time);
}

void RunObservers::OnStep(RunStep step, const Stopwatch& watch) {
  const TimeSpent time = watch.Read();
  step_times_[static_cast<size_t>(step)] += time;
  if (trace_) trace_->OnStep(step, watch.begin());
  const bool has_line = step == RunStep::Check || step == RunStep::Write;
  if (recorder_) recorder_->OnStep(step, time);
  if (report_ && has_line) report_->Step(RunStepName(step), time);
}

void RunObservers::BeforePasses(const Module& module) {
  has_read_ = true;
  if (statistics_) statistics_->Before(module);
  if (metrics_form_ != ShownForm::None) operators_before_ = CountOperators(module);
  if (memory_) memory_->AddInput(subject_, module);
  if (watchdog_) watchdog_->SetInput(module);
}

void RunObservers::AfterPasses(const Module& module) {
  if (statistics_) statistics_->After(module);
  if (metrics_form_ != ShownForm::None) metrics_ += RenderMetrics(module, operators_before_, subject_, metrics_form_);
}

int RunObservers::Finish(int code) {
  BeginOutput();
  if (!metrics_.empty()) Show(metrics_);
  if (memory_) Show(memory_->Render(memory_form_));
  if (statistics_) Show(statistics_->Render(stats_form_));
  if (timing_) Show(RenderTimes(*timing_, step_times_, times_form_));
  if (trace_ && has_read_) code = CodeAfter(trace_->Write(), "-time-trace", code);
  if (remarks_ && has_read_) code = CodeAfter(remarks_->Write(), "-remarks", code);
  return FinishReports(code);
}

int RunObservers::FinishReports(int code) {
  if (!recorder_) return code;
  const RunSummary summary{pipeline_, code, diagnostics_->diagnostics()};
  if (report_form_ == ShownForm::Json) Show(RenderReportJson(*recorder_, summary));
  if (!has_read_) return code;
  if (report_file_) {
    report_file_->stream().Append(RenderReportJson(*recorder_, summary));
    code = CodeAfter(report_file_->Commit(), "-report", code);
  }
  return page_ ? CodeAfter(WriteReportPage(*recorder_, summary, *page_), "-report", code) : code;
}

int RunObservers::CodeAfter(const Status& written, std::string_view flag, int code) {
  if (written.ok()) return code;
  const Error error{written.error().code, fmt::format("{}: {}", flag, written.error().message)};
  const int failure = compiler_.Report(error, "file");
  return code == 0 ? failure : code;
}

void RunObservers::Show(const std::string& text) {
  compiler_.err().Append(text);
  static_cast<void>(compiler_.err().Flush());
}

}  // namespace iropt
