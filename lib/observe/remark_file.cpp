#include "iropt/observe/remark_file.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "iropt/support/check.h"

namespace iropt {

namespace {

// A scalar of YAML in double quotes: any text. Control characters and bytes that are not UTF-8 are escaped.
std::string Quote(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    bool valid = false;
    const size_t length = CodePointLength(text, &valid);
    const char c = text.front();
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (!valid || static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\x{:02X}", static_cast<unsigned char>(c));
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return out + '"';
}

}  // namespace

RemarkFile::~RemarkFile() { LeaveAll(); }

Status RemarkFile::EnterPassContext() {
  LeaveAll();
  return {};
}

// A run that is out of memory does not end its passes. The innermost scope ends first.
void RemarkFile::LeaveAll() {
  while (!running_.empty()) running_.pop_back();
}

Status RemarkFile::RunBeforePass(const Module&, const PassInfo& info) {
  Running& running = *running_.emplace_back(std::make_unique<Running>(Running{info.name, remarks_.size(), nullptr}));
  running.scope = std::make_unique<RemarkScope>(remarks_, running.pass);
  return {};
}

Status RemarkFile::RunAfterPass(const Module&, const PassInfo& info, PassOutcome) {
  IROPT_CHECK(!running_.empty(), "pass '{}' ends, but none has begun", info.name);
  // The remarks of the passes of a composite are in the order of the passes.
  if (!info.is_composite()) remarks_.SortFrom(running_.back()->begin);
  running_.pop_back();
  return {};
}

Status RemarkFile::Write(const RunEnd& end) {
  if (!end.has_read) return {};
  for (const OptRemark& remark : remarks_.Take()) WriteRemark(remark);
  return OfFlag("-remarks", file_->Commit());
}

void RemarkFile::WriteRemark(const OptRemark& remark) {
  OutputStream& out = file_->stream();
  out.Append(fmt::format("--- !{}\nPass:            {}\nName:            {}\n", remark.passed ? "Passed" : "Missed",
                         Quote(remark.pass), remark.name));
  if (remark.span.known()) {
    const SourceLocation at = sources_.Locate(remark.span.begin);
    out.Append(
        fmt::format("DebugLoc:        {{ File: {}, Line: {}, Column: {} }}\n", Quote(at.name), at.line, at.column));
  }
  out.Append(fmt::format("Function:        {}\nArgs:\n  - String:          {}\n", Quote(remark.function),
                         Quote(remark.message)));
  for (const SourceSpan span : remark.more_spans) {
    const SourceLocation at = sources_.Locate(span.begin);
    out.Append(fmt::format("  - From:            {}\n    DebugLoc:        {{ File: {}, Line: {}, Column: {} }}\n",
                           Quote(sources_.Text(span)), Quote(at.name), at.line, at.column));
  }
  out.Append("...\n");
}

}  // namespace iropt
