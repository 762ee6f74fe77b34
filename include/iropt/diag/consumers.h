// Consumers that print diagnostics as text, as JSON lines or as SARIF.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "iropt/diag/diagnostic.h"
#include "iropt/support/file.h"

namespace iropt {

// The look of diagnostics as text.
struct TextStyle {
  bool colour = false;
  size_t columns = 128;      // of longer source lines, what is around the location
  std::string program = {};  // named before diagnostics that are not about an input; empty: nothing is
};

// `file:line:col: error: message`, the source line, a caret range, fix-it hints, then the notes in the same form.
// Each diagnostic is flushed, so that it keeps its place among what others write.
class TextConsumer : public DiagnosticConsumer {
 public:
  TextConsumer(OutputStream* out, const SourceManager* sources, TextStyle style)
      : out_(out), sources_(sources), style_(std::move(style)) {}
  TextConsumer(OutputStream* out, const SourceManager* sources, bool colour)
      : TextConsumer(out, sources, TextStyle{.colour = colour}) {}
  void Consume(const Diagnostic& diagnostic) override;

 private:
  OutputStream* out_;
  const SourceManager* sources_;
  TextStyle style_;
};

// One JSON object per line: severity, kind, message, and if known file, line, column, end_line, end_column; notes and
// fixits are arrays of such objects. Other output has the kind "output" and a text, which may have several lines.
class JsonConsumer : public DiagnosticConsumer, public OutputSink {
 public:
  JsonConsumer(OutputStream* out, const SourceManager* sources) : out_(out), sources_(sources) {}
  void Consume(const Diagnostic& diagnostic) override;
  void Write(std::string_view text) override { text_ += text; }
  Status Flush() override;

 private:
  OutputStream* out_;
  const SourceManager* sources_;
  std::string text_;
};

// One document of SARIF 2.1.0 (OASIS Standard, 2020), which is written when the consumer is destroyed, unless an
// exception passes. Diagnostics are results, whose rules are the kinds; other output is a list of notifications of the
// execution. Takes memory for all of them.
class SarifConsumer : public DiagnosticConsumer, public OutputSink {
 public:
  SarifConsumer(OutputStream* out, const SourceManager* sources);
  SarifConsumer(const SarifConsumer&) = delete;
  SarifConsumer& operator=(const SarifConsumer&) = delete;
  ~SarifConsumer() override;
  void Consume(const Diagnostic& diagnostic) override;
  void Write(std::string_view text) override { text_ += text; }
  Status Flush() override;

 private:
  class Document;

  OutputStream* out_;
  std::unique_ptr<Document> document_;
  std::string text_;
};

}  // namespace iropt
