// Checks of the module that a run made: -verify-roundtrip and -verify-idempotent.
#pragma once

#include "iropt/driver/compiler_instance.h"
#include "iropt/ir/module.h"
#include "iropt/pass/context.h"
#include "iropt/pass/pass.h"
#include "iropt/support/result.h"

namespace iropt {

// Both checks work on the text of the module, as the next tool would. A check that fails reports why, and has the code
// Rejected.
class ResultVerifier {
 public:
  explicit ResultVerifier(CompilerInstance& compiler) : compiler_(compiler) {}

  // The text reads back as a structurally equal module, which prints as the same text.
  Status CheckRoundTrip(const Module& module);
  // Running `pass` on what the text reads back as changes nothing. The instruments of the context see this run, too.
  Status CheckIdempotent(const Module& module, const Pass& pass, PassContext context);

 private:
  Result<Module> ReadBack(const std::string& text);
  Status ExpectSameText(std::string_view kind, std::string_view message, std::string_view expected,
                        std::string_view found);

  CompilerInstance& compiler_;
};

}  // namespace iropt
