#include "iropt/observe/report/run_diagnostics.h"

#include <utility>

#include "iropt/diag/consumers.h"
#include "iropt/support/file.h"

namespace iropt {

void RunDiagnostics::Consume(const Diagnostic& diagnostic) {
  constexpr size_t kMost = 100;
  if (diagnostics_.size() == kMost) return;
  std::string text;
  OutputStream out(&text);
  TextConsumer(&out, &sources_, /*colour=*/false).Consume(diagnostic);
  static_cast<void>(out.Flush());
  while (text.ends_with('\n')) text.pop_back();
  diagnostics_.push_back({diagnostic.severity, std::move(text), running_pass_()});
}

}  // namespace iropt
