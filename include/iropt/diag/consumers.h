// Consumers that print diagnostics as text or as JSON lines.
#pragma once

#include "iropt/diag/diagnostic.h"
#include "iropt/support/file.h"

namespace iropt {

// `file:line:col: error: message`, the source line, a caret range, fix-it hints, then the notes in the same form.
// Each diagnostic is flushed, so that it keeps its place among what others write.
class TextConsumer : public DiagnosticConsumer {
 public:
  TextConsumer(OutputStream* out, const SourceManager* sources, bool colour)
      : out_(out), sources_(sources), colour_(colour) {}
  void Consume(const Diagnostic& diagnostic) override;

 private:
  OutputStream* out_;
  const SourceManager* sources_;
  bool colour_;
};

// One JSON object per line: severity, kind, message, and if known file, line, column, end_line, end_column; notes and
// fixits are arrays of such objects.
class JsonConsumer : public DiagnosticConsumer {
 public:
  JsonConsumer(OutputStream* out, const SourceManager* sources) : out_(out), sources_(sources) {}
  void Consume(const Diagnostic& diagnostic) override;

 private:
  OutputStream* out_;
  const SourceManager* sources_;
};

}  // namespace iropt
