// -check-semantics: runs the public functions of a module before and after passes, and compares what they compute. If
// no function is public, those that no other one calls.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "iropt/analysis/relax/inference_calls.h"
#include "iropt/diag/diagnostic.h"
#include "iropt/pass/instrument.h"
#include "iropt/semantics/options.h"
#include "iropt/semantics/proof_record.h"
#include "iropt/support/file.h"

namespace iropt {

class FunctionRunner;
class FunctionVersions;
struct CheckResult;

// Watches the passes, whose changes of interfaces it follows. If the options say so, it compares around every pass
// that changes a function or one that it calls; otherwise once, in Finish.
class SemanticCheck : public PassInstrument {
 public:
  // Fails if PrimFuncs are to be compiled and the compiler is missing. Messages go to `diagnostics` and the table to
  // `out`, which must outlive it; `mode` is that of batch norms and dropouts.
  static Result<std::shared_ptr<SemanticCheck>> Make(DiagnosticEngine& diagnostics, OutputStream& out,
                                                     const SemanticCheckOptions& options, NetworkMode mode);
  SemanticCheck(DiagnosticEngine& diagnostics, OutputStream& out, const SemanticCheckOptions& options,
                NetworkMode mode);
  ~SemanticCheck() override;

  const SemanticCheckOptions& options() const { return options_; }
  // A run of the passes begins at this module.
  void Begin(const Module& module);
  // It has ended at this module. Compares if that was not done, and prints what was found.
  Status Finish(const Module& module);
  // Ends the run at this module as Finish does, but functions that were not compared are not an error.
  Status FinishComparing(const Module& module);

  // With ProofOptions::is_wanted: what is known about the functions around the passes that changed them, in all runs.
  const std::vector<ProofRecord>& proofs() const { return proofs_; }
  // Why a function was not compared in all runs, of the first one; empty if all were.
  const std::string& first_not_compared() const { return first_not_compared_; }

  Status RunAfterPass(const Module& module, const PassInfo& info, PassOutcome outcome) override;

 private:
  struct Checked;

  void Add(const ModuleEntry& entry);
  void AddNewFunctions();  // those that are public
  void AddRoots();         // of private functions
  // False if the pass has changed what the function is called with, and may not.
  bool Follow(Checked& checked, const PassInfo& info, const std::shared_ptr<const Module>& after);
  // False after a difference.
  bool Compare(Checked& checked, const std::shared_ptr<const Module>& after, const std::string& culprit);
  // The function is compared with this version of it from here on.
  void Advance(Checked& checked, std::shared_ptr<const Module> after, uint64_t fingerprint);
  // Tries to prove that the function computes the same; true if it does.
  bool Prove(Checked& checked, const Module& after, const std::string& culprit);
  // Adds what the runs have found to the last proof.
  void FinishProof(const Checked& checked, const Module& after, const CheckResult& result);
  void TellNotCompared(Checked& checked, const std::string& reason, const std::string& culprit);
  void Restart(Checked& checked, std::shared_ptr<const Module> module);
  std::string RenderTable() const;
  // Describes what the runs have tried; conditions that went one way only become remarks, a few of each function.
  std::string RenderCoverage();

  DiagnosticEngine& diagnostics_;
  OutputStream& out_;
  SemanticCheckOptions options_;
  std::unique_ptr<FunctionRunner> runner_;
  std::unique_ptr<FunctionVersions> versions_;
  std::shared_ptr<const Module> current_;  // shared by the checks: a copy for each function would be quadratic
  std::vector<Checked> functions_;
  size_t num_not_compared_ = 0;
  size_t num_not_proved_ = 0;       // if warnings are errors
  std::string first_not_compared_;  // the message about it
  const NetworkMode mode_;
  std::vector<ProofRecord> proofs_;
  size_t first_proof_ = 0;  // of this run
};

}  // namespace iropt
