// An instrument that logs its calls, and fails on request.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "helpers.h"
#include "iropt/pass/context.h"
#include "iropt/pass/instrument.h"

namespace iropt {

// Writes each call into the log as "name.hook" or "name.hook(pass)". `fails_in` is a hook that returns an error, or
// throws.
class Recorder : public PassInstrument {
 public:
  Recorder(std::string name, Log& log, std::string fails_in = "", bool throws = false)
      : PassInstrument(std::move(name)), log_(log), fails_in_(std::move(fails_in)), throws_(throws) {}

  Status EnterPassContext() override { return Record("enter", ""); }
  Status ExitPassContext() override { return Record("exit", ""); }
  bool ShouldRun(const Module&, const PassInfo& info) override {
    static_cast<void>(Record("should", info.name));
    return info.name != vetoed;
  }
  Status RunBeforePass(const Module&, const PassInfo& info) override { return Record("before", info.name); }
  Status RunAfterPass(const Module&, const PassInfo& info, PassOutcome outcome) override {
    outcomes.push_back(outcome);
    return Record("after", info.name);
  }

  std::string vetoed;
  std::vector<PassOutcome> outcomes;

 private:
  Status Record(const std::string& hook, const std::string& pass) {
    log_.push_back(name() + "." + hook + (pass.empty() ? "" : "(" + pass + ")"));
    if (hook != fails_in_) return {};
    if (throws_) throw std::runtime_error("broken");
    return Error{ErrorCode::PassFailed, "broken"};
  }

  Log& log_;
  std::string fails_in_;
  bool throws_;
};

struct Watched {
  std::shared_ptr<Recorder> Add(const std::string& name, const std::string& fails_in = "", bool throws = false) {
    auto recorder = std::make_shared<Recorder>(name, log, fails_in, throws);
    context.instruments.push_back(recorder);
    return recorder;
  }

  Log log;
  PassContext context;
};

}  // namespace iropt
