// Instruments watch the passes that run under a PassContext, and may veto them.
//
// Within one context the calls of an instrument are
//   EnterPassContext
//     ShouldRun(A) RunBeforePass(A) ... RunAfterPass(A)     also nested, where a pass runs other passes
//   ExitPassContext
// and several instruments are called in the order in which the context has them. A hook fails by returning an error or
// by throwing; both mean the same. See PassContext for what then happens.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "iropt/ir/module.h"
#include "iropt/pass/pass_info.h"
#include "iropt/support/result.h"

namespace iropt {

enum class PassOutcome : uint8_t { Failed, Unchanged, Changed };

class PassInstrument {
 public:
  explicit PassInstrument(std::string name) : name_(std::move(name)) {}
  PassInstrument(const PassInstrument&) = delete;
  PassInstrument& operator=(const PassInstrument&) = delete;
  virtual ~PassInstrument() = default;

  const std::string& name() const { return name_; }

  virtual Status EnterPassContext() { return {}; }
  virtual Status ExitPassContext() { return {}; }
  // Whether the pass may run. Not asked for passes that the context requires.
  virtual bool ShouldRun(const Module& module, const PassInfo& info);
  // Why ShouldRun said no the last time, for messages; empty where the name of the instrument says enough.
  virtual std::string VetoReason() const { return {}; }
  virtual Status RunBeforePass(const Module& module, const PassInfo& info);
  // Called for every pass that RunBeforePass of this instrument saw, also when the pass failed; `module` is then what
  // the pass began with.
  virtual Status RunAfterPass(const Module& module, const PassInfo& info, PassOutcome outcome);

 private:
  std::string name_;
};

using InstrumentList = std::vector<std::shared_ptr<PassInstrument>>;

}  // namespace iropt
