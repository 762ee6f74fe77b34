// The audit of -verify-each that the text of what a pass made reads back as the same.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "driver/check/verify_each.h"
#include "iropt/diag/diagnostic.h"
#include "iropt/pass/instrument.h"

namespace iropt {

// After each pass, the functions that are not the nodes of before are printed with those that they refer to, read, and
// compared by structure. The values of big constants are not printed. Functions whose text would be too big are not
// audited. A pass is not blamed for a function whose text was wrong before; one warning tells. Comes after `audit` and
// VerifyEach in the context: the module is well-formed.
class RoundTripAudit : public PassInstrument {
 public:
  RoundTripAudit(std::shared_ptr<const ChangeAudit> audit, int threads, DiagnosticEngine& diagnostics)
      : PassInstrument("round-trip-audit"), audit_(std::move(audit)), threads_(threads), diagnostics_(diagnostics) {}

  Status RunAfterPass(const Module& module, const PassInfo& info, PassOutcome outcome) override;

 private:
  // A function of the input of a pass whose text does not read back as the function, and how.
  struct OldFailure {
    const GlobalVar* function;
    std::string text;
  };
  // Nothing if a function has a failure that it did not have before. O(nodes of the functions that changed).
  std::optional<OldFailure> FindOldFailure(const Module& module, const std::vector<const GlobalVar*>& changed) const;

  const std::shared_ptr<const ChangeAudit> audit_;
  const int threads_;
  DiagnosticEngine& diagnostics_;
  bool is_warned_ = false;
};

}  // namespace iropt
