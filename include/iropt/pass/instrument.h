// Instruments watch the passes that run under a PassContext, and may veto them. Their hooks receive the events of the
// pass manager; timing, reports, traces and checks after each pass use them.
//
// Within one context the calls of an instrument are
//   EnterPassContext
//     ShouldRun(A) RunBeforePass(A) ... RunAfterPass(A)     also nested, if a pass runs other passes
//     ShouldRun(B) OnSkippedPass(B)                         if an instrument vetoed the pass
//   ExitPassContext
// and between RunBeforePass and RunAfterPass
//   of a pass that runs others:   OnRound                         once in a Sequential, once per round of a loop
//                                 OnSkippedPass(A)                because of a setting of the context
//                                 OnRequiredPass(B, C)            before the calls for C, which runs because B requires
//                                 it
//   of a pass over functions:     ShouldRunOnFunction(f)          for every function that no attribute excludes
//                                 OnSkippedFunction(f)
//                                 RunBeforeFunction(g) RunAfterFunction(g)
//
// Several instruments are called in the order in which the context has them. A hook fails by returning an error or by
// throwing; both are equivalent. See PassContext for the consequences.
//
// Calls come from the thread that runs the passes, those around functions also from its worker threads: one at a time,
// and in any order of the functions if the context has several threads.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "iropt/ir/module.h"
#include "iropt/pass/pass_info.h"
#include "iropt/support/result.h"

namespace iropt {

class PassInstrument;

enum class PassOutcome : uint8_t { Failed, Unchanged, Changed };

// The reason for skipping a pass.
struct PassSkip {
  enum class Reason : uint8_t { Disabled, Level, Veto };

  Reason reason;
  int level = 0;                         // of the enclosing passes
  const PassInstrument* veto = nullptr;  // the instrument that vetoed it
};

class PassInstrument {
 public:
  explicit PassInstrument(std::string name) : name_(std::move(name)) {}
  PassInstrument(const PassInstrument&) = delete;
  PassInstrument& operator=(const PassInstrument&) = delete;
  virtual ~PassInstrument() = default;

  const std::string& name() const { return name_; }

  virtual Status EnterPassContext() { return {}; }
  virtual Status ExitPassContext() { return {}; }

  // Returns whether the pass may run. Not called for passes that the context requires.
  virtual bool ShouldRun(const Module& module, const PassInfo& info);
  // The reason of the last veto, for messages; empty if the name of the instrument suffices.
  virtual std::string VetoReason() const { return {}; }
  virtual Status RunBeforePass(const Module& module, const PassInfo& info);
  // Called for every pass that RunBeforePass of this instrument saw, also if the pass failed; `module` is then the
  // input of the pass.
  virtual Status RunAfterPass(const Module& module, const PassInfo& info, PassOutcome outcome);
  virtual Status OnSkippedPass(const PassInfo& info, const PassSkip& skip);
  // Returns whether a pass over functions may rewrite this one. Called in the order of the module, whatever the number
  // of threads is, and before the pass rewrites any function; not for passes that the context requires.
  virtual bool ShouldRunOnFunction(const GlobalVar& name, const BaseFunc& function, const PassInfo& info);

  // The pass, which runs others, begins to run them, or begins to run them again.
  virtual Status OnRound(const PassInfo& info);
  virtual Status OnRequiredPass(const PassInfo& requiring, const PassInfo& required);

  // A pass over functions rewrites one of them. RunAfterFunction is called for every function that RunBeforeFunction of
  // this instrument saw; `function` is then the result, or the old function if the pass failed.
  virtual Status RunBeforeFunction(const GlobalVar& name, const BaseFunc& function, const PassInfo& info);
  virtual Status RunAfterFunction(const GlobalVar& name, const BaseFunc& function, const PassInfo& info,
                                  PassOutcome outcome);
  // The pass skips a function because of an attribute, which is the reason, or because an instrument vetoed it.
  virtual Status OnSkippedFunction(const GlobalVar& name, std::string_view reason, const PassInfo& info);

 private:
  std::string name_;
};

using InstrumentList = std::vector<std::shared_ptr<PassInstrument>>;

// Code to run before and after every pass.
using TraceFunction = std::function<void(const Module& module, const PassInfo& info, bool is_before)>;

// Calls a function before and after every pass that is not composite. There is no call after a pass that failed.
class TraceInstrument : public PassInstrument {
 public:
  explicit TraceInstrument(TraceFunction trace) : PassInstrument("trace"), trace_(std::move(trace)) {}

  Status RunBeforePass(const Module& module, const PassInfo& info) override;
  Status RunAfterPass(const Module& module, const PassInfo& info, PassOutcome outcome) override;

 private:
  TraceFunction trace_;
};

}  // namespace iropt
