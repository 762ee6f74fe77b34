#include <utility>

#include "iropt/support/check.h"
#include "iropt/transform/passes.h"

namespace iropt {

namespace transform {

namespace {

// The reference makes the linker take the table of passes, which PassRegistry::Global() is filled with, into programs
// that make passes by these functions only.
[[gnu::used]] constexpr Status (*kRegister)(PassRegistry&) = &RegisterAllPasses;

Pass Make(std::string_view name, OptionValue::Dict options) {
  DiagnosticBuffer reports;
  DiagnosticEngine diagnostics(&reports);
  Result<Pass> pass = PassRegistry::Global().Create(name, std::move(options), diagnostics);
  IROPT_CHECK(pass.ok(), "{}", reports.diagnostics().empty() ? name : reports.diagnostics().front().message);
  return *std::move(pass);
}

}  // namespace

#define IROPT_PASS(Kind, Id, Name, ...)                                                                                \
  Pass Id(OptionValue::Dict options) { return Make(Name, std::move(options)); }
#include "passes.def"

}  // namespace transform

}  // namespace iropt
