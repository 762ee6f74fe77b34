// -report=FILE.html: the record of a run as a page that needs nothing else.
#pragma once

#include <memory>

#include "iropt/observe/output_files.h"
#include "iropt/observe/report/report_json.h"
#include "iropt/observe/report/run_record.h"
#include "iropt/support/file.h"

namespace iropt {

// The only files that a page replaces.
inline constexpr FileKind kReportPage = {"a report page of ir-opt", "<!DOCTYPE html>", "<title>ir-opt report</title>"};

// Appends the page with its style and its program inside; the record must have texts.
void AppendReportPage(const RunRecorder& run, const RunSummary& summary, OutputStream& out);

// Writes the page to a file, which appears only if that succeeds.
Status WriteReportPage(const RunRecorder& run, const RunSummary& summary, AtomicFile& file);

}  // namespace iropt
