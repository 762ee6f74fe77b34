// Checks of the result of a run: that it is well-formed, and -verify-roundtrip, -verify-idempotent and
// -verify-determinism.
#pragma once

#include "iropt/driver/compiler_instance.h"
#include "iropt/ir/module.h"
#include "iropt/pass/context.h"
#include "iropt/pass/pass.h"
#include "iropt/support/result.h"

namespace iropt {

// A check that fails reports an error, and has the code Rejected. The checks of round trip and idempotence work on the
// text of the module, as the next tool would.
class ResultVerifier {
 public:
  explicit ResultVerifier(CompilerInstance& compiler) : compiler_(compiler) {}

  // Checks that the result of running `pass` on `source` is well-formed. If not, the source is read again, because
  // keeping its module would cost memory in every run, and a second run in `context`, which checks after every pass,
  // finds the wrong pass. O(nodes).
  Status CheckWellFormed(const ModuleSource& source, const Module& result, const Pass& pass, PassContext context);
  // Checks that the text reads back as a structurally equal module, which is well-formed and prints as the same text.
  Status CheckRoundTrip(const Module& module);
  // Checks that running `pass` on the module read back from the text changes nothing. The instruments of the context
  // see this run, too.
  Status CheckIdempotent(const Module& module, const Pass& pass, PassContext context);
  // Checks that running `pass` on the source again, with another number of threads, gives the text of `result`.
  Status CheckDeterministic(const ModuleSource& source, const Module& result, const Pass& pass, PassContext context);

 private:
  Status ExpectWellFormed(const Module& module, const Module& again);
  Result<Module> ReadBack(const std::string& text, std::optional<TextVersion> version);
  Status ExpectSameText(DiagId kind, std::string_view message, std::string_view expected, std::string_view found);

  CompilerInstance& compiler_;
};

}  // namespace iropt
