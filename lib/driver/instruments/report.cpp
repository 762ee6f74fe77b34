// The reports of a run, which show one record.
#include "instrument_options/Report.h"

#include <utility>

#include "driver/instruments/setup.h"
#include "instrument_options/ReportFile.h"
#include "instrument_options/ReportPage.h"
#include "iropt/observe/report/report_json.h"
#include "iropt/observe/report/report_page.h"
#include "iropt/observe/report/run_diagnostics.h"
#include "iropt/observe/report/run_record.h"
#include "iropt/observe/report/text_report.h"

namespace iropt {

namespace {

constexpr FileKind kReportFile = {"a report of ir-opt", R"({"report":{)", {}};

class ReportListener : public RunListener {
 public:
  ReportListener(CompilerInstance& compiler, std::string pipeline)
      : compiler_(compiler),
        pipeline_(std::move(pipeline)),
        diagnostics_(compiler.sources(), [this] { return recorder_->running_pass(); }) {
    compiler_.set_listener(&diagnostics_);
  }
  ~ReportListener() override { compiler_.set_listener(nullptr); }

  const std::shared_ptr<RunRecorder>& recorder() const { return recorder_; }
  void PrintText() {
    text_.emplace(compiler_.err());
    recorder_->set_on_pass([this](const PassRecord& pass) { text_->Pass(pass); });
  }
  void PrintJson() { prints_json_ = true; }
  void WriteJson(std::unique_ptr<AtomicFile> file) { json_ = std::move(file); }
  void WritePage(std::unique_ptr<AtomicFile> file) {
    page_ = std::move(file);
    recorder_->set_texts(
        std::make_unique<FunctionTexts>(PrintOptions{.inline_constants = compiler_.options().inline_constants}));
  }

  void OnRead(std::string_view subject, const Module& module, const TimeSpent& time) override {
    recorder_->OnRead(subject, module, compiler_.file_nodes().read);
    if (text_) text_->Read(recorder_->modules().back(), time);
  }
  void OnStep(RunStep step, const Stopwatch& /*watch*/, const TimeSpent& time) override {
    recorder_->OnStep(step, time);
    if (step == RunStep::Write) recorder_->OnWritten(compiler_.file_nodes().written);
    const bool has_line = step == RunStep::Check || step == RunStep::Write;
    if (text_ && has_line) text_->Step(RunStepName(step), time);
  }
  std::string Text(const RunEnd& end) override { return prints_json_ ? RenderJson(end) : std::string(); }
  Status Write(const RunEnd& end) override {
    if (!end.has_read) return {};
    if (json_) {
      json_->stream().Append(RenderJson(end));
      IROPT_RETURN_IF_ERROR(OfFlag("-report", json_->Commit()));
    }
    return page_ ? OfFlag("-report", WriteReportPage(*recorder_, SummaryOf(end), *page_)) : Status();
  }

 private:
  RunSummary SummaryOf(const RunEnd& end) const {
    RunSummary summary{.pipeline = pipeline_,
                       .exit_code = end.code,
                       .diagnostics = diagnostics_.diagnostics(),
                       .command = compiler_.options().command};
    const auto& known = compiler_.registry().passes();
    for (const PassRecord& pass : recorder_->passes()) {
      if (const auto entry = known.find(pass.name); entry != known.end())
        summary.summaries.try_emplace(pass.name, entry->second.summary);
    }
    return summary;
  }
  std::string RenderJson(const RunEnd& end) const { return RenderReportJson(*recorder_, SummaryOf(end)); }

  CompilerInstance& compiler_;
  std::string pipeline_;
  RunDiagnostics diagnostics_;
  std::shared_ptr<RunRecorder> recorder_ = std::make_shared<RunRecorder>(nullptr);
  std::optional<TextReport> text_;
  bool prints_json_ = false;
  std::unique_ptr<AtomicFile> json_;  // null: none
  std::unique_ptr<AtomicFile> page_;
};

ReportListener& ReportOf(InstrumentSetup& setup) {
  if (!setup.report) {
    const auto report = std::make_shared<ReportListener>(setup.compiler(), setup.pipeline().settings().PrintedPasses());
    setup.Add(report->recorder());
    setup.Listen(report);
    setup.report = report;
  }
  return static_cast<ReportListener&>(*setup.report);
}

}  // namespace

Status MakeReport(const CheckedOptions& options, InstrumentSetup& setup) {
  using Options = instrument_options::Report;
  ReportListener& report = ReportOf(setup);
  if (*Options(options).format == Options::Format::kJson) {
    report.PrintJson();
  } else {
    report.PrintText();
  }
  return {};
}

Status MakeReportFile(const CheckedOptions& options, InstrumentSetup& setup) {
  IROPT_ASSIGN_OR_RETURN(std::unique_ptr<AtomicFile> file,
                         setup.Open("-report", *instrument_options::ReportFile(options).file, kReportFile));
  ReportOf(setup).WriteJson(std::move(file));
  return {};
}

Status MakeReportPage(const CheckedOptions& options, InstrumentSetup& setup) {
  IROPT_ASSIGN_OR_RETURN(std::unique_ptr<AtomicFile> file,
                         setup.Open("-report", *instrument_options::ReportPage(options).file, kReportPage));
  ReportOf(setup).WritePage(std::move(file));
  return {};
}

}  // namespace iropt
