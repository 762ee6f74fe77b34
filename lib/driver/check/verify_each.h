// The verifier as an instrument.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "iropt/analysis/well_formed.h"
#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"
#include "iropt/pass/instrument.h"

namespace iropt {

// Records the input of each pass. A separate instrument, so that timing can come between it and the check.
class ChangeAudit : public PassInstrument {
 public:
  ChangeAudit() : PassInstrument("change-audit") {}

  Status EnterPassContext() override;
  Status RunBeforePass(const Module& module, const PassInfo& info) override;
  Status RunAfterPass(const Module& module, const PassInfo& info, PassOutcome outcome) override;

  // The input of the pass that ended last, and its structural hash.
  const Module& before() const { return before_; }
  uint64_t hash_before() const { return hash_before_; }

 private:
  struct Input {
    Module module;
    uint64_t hash = 0;
  };

  std::vector<Input> running_;
  Module before_;
  uint64_t hash_before_ = 0;
};

// Returns whether the module that passes made of another one is well-formed; otherwise at least one error was reported.
// If the PrimFuncs define all variables that they use, so must what is made of them.
bool VerifyMade(const Module& before, const Module& after, VerifyOptions options, DiagnosticEngine& diagnostics);

// Checks the module after every pass, and that a pass that reports no change has changed nothing. Comes after `audit`
// in the context.
class VerifyEach : public PassInstrument {
 public:
  VerifyEach(VerifyOptions options, std::shared_ptr<const ChangeAudit> audit, DiagnosticEngine& diagnostics)
      : PassInstrument("verify-each"), options_(options), audit_(std::move(audit)), diagnostics_(diagnostics) {}

  Status RunAfterPass(const Module& module, const PassInfo& info, PassOutcome outcome) override;

 private:
  VerifyOptions options_;
  std::shared_ptr<const ChangeAudit> audit_;
  DiagnosticEngine& diagnostics_;
};

}  // namespace iropt
