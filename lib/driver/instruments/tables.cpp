// Instruments that print tables at the end of a run.
#include <map>

#include "driver/instruments/setup.h"
#include "instrument_options/Metrics.h"
#include "instrument_options/Stats.h"
#include "instrument_options/Timing.h"
#include "instrument_options/TrackMemory.h"
#include "iropt/observe/memory_report.h"
#include "iropt/observe/module_metrics.h"
#include "iropt/observe/operator_counts.h"
#include "iropt/observe/run_statistics.h"
#include "iropt/observe/time_report.h"

namespace iropt {

namespace {

template <class Options>
ShownForm FormOf(const CheckedOptions& options) {
  return *Options(options).format == Options::Format::kJson ? ShownForm::Json : ShownForm::Text;
}

TimesForm TimesFormOf(instrument_options::Timing::Format format) {
  using Format = instrument_options::Timing::Format;
  if (format == Format::kTree) return TimesForm::Tree;
  return format == Format::kList ? TimesForm::List : TimesForm::Json;
}

class TimeTable : public PassTimingInstrument, public RunListener {
 public:
  explicit TimeTable(TimesForm form) : form_(form) {}

  std::string Text(const RunEnd& end) override { return RenderTimes(*this, end.step_times, form_); }

 private:
  TimesForm form_;
};

class MetricsTable : public RunListener {
 public:
  explicit MetricsTable(ShownForm form) : form_(form) {}

  void BeforePasses(std::string_view /*subject*/, const Module& module) override { before_ = CountOperators(module); }
  void AfterPasses(std::string_view subject, const Module& module) override {
    text_ += RenderMetrics(module, before_, subject, form_);
  }
  std::string Text(const RunEnd& /*end*/) override { return text_; }

 private:
  ShownForm form_;
  std::map<std::string, uint64_t> before_;
  std::string text_;  // of the modules so far
};

}  // namespace

Status MakeTiming(const CheckedOptions& options, InstrumentSetup& setup) {
  setup.AddListener(std::make_shared<TimeTable>(TimesFormOf(*instrument_options::Timing(options).format)));
  return {};
}

Status MakeStats(const CheckedOptions& options, InstrumentSetup& setup) {
  setup.AddListener(std::make_shared<RunStatistics>(FormOf<instrument_options::Stats>(options)));
  return {};
}

Status MakeTrackMemory(const CheckedOptions& options, InstrumentSetup& setup) {
  setup.AddListener(std::make_shared<MemoryReport>(FormOf<instrument_options::TrackMemory>(options)));
  return {};
}

Status MakeMetrics(const CheckedOptions& options, InstrumentSetup& setup) {
  setup.Listen(std::make_shared<MetricsTable>(FormOf<instrument_options::Metrics>(options)));
  return {};
}

}  // namespace iropt
