// The diagnostics of a run, for the reports.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "iropt/diag/diagnostic.h"
#include "iropt/diag/source.h"

namespace iropt {

// A diagnostic as text: location, message, source line and notes.
struct RunDiagnostic {
  Severity severity = Severity::Error;
  std::string text;
  std::optional<size_t> pass = {};  // the index of the pass that reported it
};

// Keeps the first ones of a run.
class RunDiagnostics : public DiagnosticConsumer {
 public:
  // The sources must outlive it. `running_pass` tells which pass runs.
  RunDiagnostics(const SourceManager& sources, std::function<std::optional<size_t>()> running_pass)
      : sources_(sources), running_pass_(std::move(running_pass)) {}

  void Consume(const Diagnostic& diagnostic) override;
  const std::vector<RunDiagnostic>& diagnostics() const { return diagnostics_; }

 private:
  const SourceManager& sources_;
  std::function<std::optional<size_t>()> running_pass_;
  std::vector<RunDiagnostic> diagnostics_;
};

}  // namespace iropt
