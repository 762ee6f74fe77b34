// The audit of -verify-each that the text of what a pass made reads back as the same.
#pragma once

#include <memory>
#include <utility>

#include "iropt/diag/diagnostic.h"
#include "iropt/pass/instrument.h"
#include "verify_each.h"

namespace iropt {

// After each pass, the functions that are not the nodes of before are printed with those that they refer to, read, and
// compared by structure. The values of big constants are not printed. Functions whose text would be too big are not
// audited. Comes after `audit` and VerifyEach in the context: the module is well-formed.
class RoundTripAudit : public PassInstrument {
 public:
  RoundTripAudit(std::shared_ptr<const ChangeAudit> audit, int threads, DiagnosticEngine& diagnostics)
      : PassInstrument("round-trip-audit"), audit_(std::move(audit)), threads_(threads), diagnostics_(diagnostics) {}

  Status RunAfterPass(const Module& module, const PassInfo& info, PassOutcome outcome) override;

 private:
  const std::shared_ptr<const ChangeAudit> audit_;
  const int threads_;
  DiagnosticEngine& diagnostics_;
};

}  // namespace iropt
