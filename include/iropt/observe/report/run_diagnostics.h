// The diagnostics of a run, for the reports.
#pragma once

#include <string>
#include <vector>

#include "iropt/diag/diagnostic.h"
#include "iropt/diag/source.h"

namespace iropt {

// A diagnostic as text: location, message, source line and notes.
struct RunDiagnostic {
  Severity severity = Severity::Error;
  std::string text;
};

// Keeps the first ones of a run.
class RunDiagnostics : public DiagnosticConsumer {
 public:
  // The sources must outlive it.
  explicit RunDiagnostics(const SourceManager& sources) : sources_(sources) {}

  void Consume(const Diagnostic& diagnostic) override;
  const std::vector<RunDiagnostic>& diagnostics() const { return diagnostics_; }

 private:
  const SourceManager& sources_;
  std::vector<RunDiagnostic> diagnostics_;
};

}  // namespace iropt
