// The instruments of a run, and those of them that listen to its steps.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "driver/instruments/table.h"
#include "iropt/driver/compiler_instance.h"
#include "iropt/observe/run_listener.h"
#include "iropt/pass/instrument.h"

namespace iropt {

class RunInstruments {
 public:
  // Makes an instrument as at the beginning of a run.
  using Renew = std::function<std::shared_ptr<PassInstrument>()>;

  // Messages go to `compiler`, which must outlive it.
  explicit RunInstruments(CompilerInstance& compiler) : compiler_(compiler) {}

  // The instruments of a phase see a pass in the order in which they were added. Other runs have `renew` of their own
  // if it is not empty.
  void Add(InstrumentPhase phase, InstrumentRuns runs, std::shared_ptr<PassInstrument> instrument, Renew renew = {});
  void Listen(std::shared_ptr<RunListener> listener) { listeners_.push_back(std::move(listener)); }
  // The instruments of a run, in the order of their phases.
  InstrumentList ListFor(InstrumentRuns runs) const;

  // The events of RunListener.
  void BeginInput();
  void BeginOutput();
  void OnRead(std::string_view subject, const Module& module, const Stopwatch& watch);
  void OnStep(RunStep step, const Stopwatch& watch);
  void BeforePasses(const Module& module);
  void AfterPasses(const Module& module);
  void EndPasses();
  Status CheckResult(const Module& module);
  void EndInput();
  // `code` is the exit code of the run; returns it, or that of the first file that cannot be written if it is 0.
  int Finish(int code);

 private:
  struct Entry {
    InstrumentPhase phase;
    InstrumentRuns runs;
    std::shared_ptr<PassInstrument> instrument;
    Renew renew;
  };

  CompilerInstance& compiler_;
  std::vector<Entry> entries_;
  std::vector<std::shared_ptr<RunListener>> listeners_;
  std::string subject_;  // the module that was read last
  RunEnd end_;
};

// Measures a step of the driver from its construction to the end of the scope.
class StepTimer {
 public:
  StepTimer(RunInstruments& instruments, RunStep step) : instruments_(instruments), step_(step) {}
  StepTimer(const StepTimer&) = delete;
  StepTimer& operator=(const StepTimer&) = delete;
  ~StepTimer() { instruments_.OnStep(step_, watch_); }

 private:
  RunInstruments& instruments_;
  const RunStep step_;
  const Stopwatch watch_;
};

}  // namespace iropt
