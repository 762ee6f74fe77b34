// Instruments that write files for other tools.
#include "driver/instruments/setup.h"
#include "instrument_options/Remarks.h"
#include "instrument_options/TimeTrace.h"
#include "iropt/observe/remark_file.h"
#include "iropt/observe/time_trace.h"

namespace iropt {

Status MakeTimeTrace(const CheckedOptions& options, InstrumentSetup& setup) {
  constexpr FileKind kTraceFile = {"a trace of ir-opt", R"({"displayTimeUnit": "ms", "traceEvents": [)", {}};
  IROPT_ASSIGN_OR_RETURN(std::unique_ptr<AtomicFile> file,
                         setup.Open("-time-trace", *instrument_options::TimeTrace(options).file, kTraceFile));
  setup.AddListener(std::make_shared<TimeTrace>(std::move(file)));
  return {};
}

Status MakeRemarks(const CheckedOptions& options, InstrumentSetup& setup) {
  constexpr FileKind kRemarkFile = {"a file of remarks", "--- !", {}};
  IROPT_ASSIGN_OR_RETURN(std::unique_ptr<AtomicFile> file,
                         setup.Open("-remarks", *instrument_options::Remarks(options).file, kRemarkFile));
  setup.AddListener(std::make_shared<RemarkFile>(std::move(file), setup.compiler().sources()));
  return {};
}

}  // namespace iropt
