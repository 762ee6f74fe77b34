// -report=FILE.html: the record of a run as a page that needs nothing else.
#pragma once

#include <memory>

#include "iropt/support/file.h"
#include "report_json.h"
#include "run_record.h"

namespace iropt {

// The page with its style and its program inside; the record must have texts. The file appears only if that succeeds.
Status WriteReportPage(const RunRecorder& run, const RunSummary& summary, AtomicFile& file);

}  // namespace iropt
