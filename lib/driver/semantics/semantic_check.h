// -check-semantics: runs the public functions of a module before and after passes, and compares what they compute.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "function_check.h"
#include "function_versions.h"
#include "iropt/driver/compiler_instance.h"
#include "iropt/driver/driver_options.h"
#include "iropt/pass/instrument.h"

namespace iropt {

// Watches the passes, whose changes of interfaces it follows. With SemanticChecks::Each it compares around every pass
// that changes a function or one that it calls; otherwise once, in Finish.
class SemanticCheck : public PassInstrument {
 public:
  // Fails if PrimFuncs are to be compiled and the compiler is missing.
  // `mode` is that of batch norms and dropouts.
  static Result<std::shared_ptr<SemanticCheck>> Make(CompilerInstance& compiler, const SemanticCheckOptions& options,
                                                     NetworkMode mode);
  SemanticCheck(CompilerInstance& compiler, const SemanticCheckOptions& options, NetworkMode mode);

  const SemanticCheckOptions& options() const { return options_; }
  // A run of the passes begins at this module.
  void Begin(const Module& module);
  // It has ended at this module. Compares if that was not done, and prints what was found.
  Status Finish(const Module& module);
  // The same, but what was not compared is not an error.
  Status FinishComparing(const Module& module);

  // Why a function was not compared in all runs, of the first one; empty if all were.
  const std::string& first_not_compared() const { return first_not_compared_; }

  Status RunAfterPass(const Module& module, const PassInfo& info, PassOutcome outcome) override;

 private:
  // A public function, from the module on in which it is found first.
  struct Checked {
    FunctionCheck check;
    std::shared_ptr<const Module> since;  // with `interface`: what it is compared with
    CallInterface interface;
    uint64_t fingerprint;  // of the function there
    CheckMode mode = {};   // of the passes since then
    std::vector<OutputErrors> outputs = {};
    std::vector<std::string> passes = {};  // by output: that with the greatest error
    size_t num_runs = 0;
    bool is_changed = false;        // by some pass
    bool is_told = false;           // that it is not compared
    std::string not_compared = {};  // around this pass first; empty for all passes together
  };

  void AddNewFunctions();
  // False if the pass has changed what the function is called with, and may not.
  bool Follow(Checked& checked, const PassInfo& info, const std::shared_ptr<const Module>& after);
  // False after a difference.
  bool Compare(Checked& checked, const std::shared_ptr<const Module>& after, const std::string& culprit);
  void TellNotCompared(Checked& checked, const std::string& reason, const std::string& culprit);
  void Restart(Checked& checked, std::shared_ptr<const Module> module);
  std::string RenderTable() const;

  CompilerInstance& compiler_;
  SemanticCheckOptions options_;
  FunctionRunner runner_;
  FunctionVersions versions_;
  std::shared_ptr<const Module> current_;  // shared by the checks: a copy for each function would be quadratic
  std::vector<Checked> functions_;
  size_t num_not_compared_ = 0;
  std::string first_not_compared_;  // the message about it
};

}  // namespace iropt
