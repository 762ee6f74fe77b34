// PassRegistry::Global() is complete when it is first used.
#include "catch.h"
#include "iropt/diag/diagnostic.h"
#include "iropt/pass/context.h"
#include "iropt/pass/registry.h"

using namespace iropt;

namespace {

bool SetUnrollLimit(PassContext& context) {
  DiagnosticBuffer reports;
  DiagnosticEngine diagnostics(&reports);
  return context.SetConfig("tir.UnrollLoop.auto_max_step", OptionValue(16), diagnostics);
}

// Before main, so before any test has made a pass.
// NOLINTNEXTLINE(cert-err58-cpp): a failure ends the test program, as it should
const bool kKnowsConfigAtStart = [] {
  PassContext context;
  return SetUnrollLimit(context);
}();

}  // namespace

TEST_CASE("a context knows all configuration options before a pass is made") { CHECK(kKnowsConfigAtStart); }

TEST_CASE("a context knows all passes before a pass is made") {
  CHECK(PassContext().Registry().Find("DeadCodeElimination") != nullptr);
}
