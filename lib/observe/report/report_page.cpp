#include "iropt/observe/report/report_page.h"

#include <string>
#include <string_view>

#include "page_sources.h"

namespace iropt {

namespace {

// A '<' in JSON is in a string, and could begin the end of the script or a comment.
void AppendEscaped(std::string_view json, OutputStream& out) {
  while (!json.empty()) {
    const size_t end = json.find('<');
    out.Append(json.substr(0, end));
    if (end == std::string_view::npos) return;
    out.Append("\\u003c");
    json.remove_prefix(end + 1);
  }
}

}  // namespace

void AppendReportPage(const RunRecorder& run, const RunSummary& summary, OutputStream& out) {
  constexpr std::string_view kMark = "@@";  // on both sides of the name of what takes its place
  const PageSources sources = ReportPageSources();
  std::string_view rest = sources.page;
  while (!rest.empty()) {
    const size_t begin = rest.find(kMark);
    out.Append(rest.substr(0, begin));
    if (begin == std::string_view::npos) break;
    rest.remove_prefix(begin + kMark.size());
    const std::string_view name = rest.substr(0, rest.find(kMark));
    rest.remove_prefix(name.size() + kMark.size());
    if (name == "style") out.Append(sources.style);
    if (name == "script") out.Append(sources.script);
    if (name == "data") AppendEscaped(RenderPageData(run, summary), out);
  }
}

Status WriteReportPage(const RunRecorder& run, const RunSummary& summary, AtomicFile& file) {
  AppendReportPage(run, summary, file.stream());
  return file.Commit();
}

}  // namespace iropt
