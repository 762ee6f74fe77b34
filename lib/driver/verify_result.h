// Checks of the module that a run made: -verify-roundtrip and -verify-idempotent.
#pragma once

#include "iropt/diag/diagnostic.h"
#include "iropt/diag/source.h"
#include "iropt/ir/module.h"
#include "iropt/pass/context.h"
#include "iropt/pass/pass.h"
#include "iropt/support/result.h"
#include "iropt/text/printer.h"

namespace iropt {

// Both checks work on the text of the module, as the next tool would. A check that fails reports why, and has the code
// Rejected.
class ResultVerifier {
 public:
  ResultVerifier(const PrintOptions& print, SourceManager& sources, DiagnosticEngine& diagnostics)
      : print_(print), sources_(sources), diagnostics_(diagnostics) {}

  // The text reads back as a structurally equal module, which prints as the same text.
  Status CheckRoundTrip(const Module& module);
  // Running `pass` on what the text reads back as changes nothing. The instruments of the context see this run, too.
  Status CheckIdempotent(const Module& module, const Pass& pass, const PassContext& context);

 private:
  Result<Module> ReadBack(const std::string& text);
  Status ExpectSameText(std::string_view kind, std::string_view message, std::string_view expected,
                        std::string_view found);

  PrintOptions print_;
  SourceManager& sources_;
  DiagnosticEngine& diagnostics_;
};

}  // namespace iropt
