// Ends a run that exceeds its limits.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "iropt/diag/diagnostic.h"
#include "iropt/observe/dump_dir.h"
#include "iropt/observe/pass_counter.h"
#include "iropt/observe/run_limits.h"
#include "iropt/observe/run_listener.h"
#include "iropt/pass/instrument.h"

namespace iropt {

// The limits in the form of a pipeline file.
InstrumentSpec LimitsSpec(const RunLimits& limits);

// A thread watches the time of each pass and the memory of the process. A pass cannot be interrupted, so the thread
// ends the process: it names the pass and the function, writes the module before the pass to the folder of -dump-dir
// and the file of -reproducer, and removes unfinished files. A module that grows too much fails the pass instead.
class Watchdog : public PassInstrument, public RunListener {
 public:
  // Messages go to `diagnostics`, which must outlive it.
  Watchdog(const RunLimits& limits, DiagnosticEngine& diagnostics, std::shared_ptr<const PassCounter> counter)
      : PassInstrument("limits"), limits_(limits), diagnostics_(diagnostics), counter_(std::move(counter)) {}
  ~Watchdog() override { Stop(); }

  // A place for the module before the pass that exceeds a limit.
  void set_dump_dir(std::shared_ptr<const DumpDir> dump_dir) { dump_dir_ = std::move(dump_dir); }

  // Called with the message when a pass exceeds a limit of time or memory, by the thread that watches, instead of
  // ending the process with the message.
  void set_on_exceeded(std::function<void(const std::string&)> action) { on_exceeded_ = std::move(action); }

  // Begins to watch the process.
  void BeginInput() override { Start(); }
  void Start();
  // Ends that. To be called before output is written, which is then never left unfinished.
  void BeginOutput() override { Stop(); }
  void Stop();
  // The module that -max-ir-growth compares with.
  void BeforePasses(std::string_view /*subject*/, const Module& module) override { SetInput(module); }
  void SetInput(const Module& module);

  Status EnterPassContext() override;
  Status RunBeforePass(const Module& module, const PassInfo& info) override;
  Status RunAfterPass(const Module& module, const PassInfo& info, PassOutcome outcome) override;
  Status RunBeforeFunction(const GlobalVar& name, const BaseFunc& function, const PassInfo& info) override;
  Status RunAfterFunction(const GlobalVar& name, const BaseFunc& function, const PassInfo& info,
                          PassOutcome outcome) override;

 private:
  using Clock = std::chrono::steady_clock;

  struct Running {
    std::string pass;
    size_t number = 0;
    Clock::time_point begin;
    std::vector<std::string> functions = {};  // that it works on, the one that began first comes first
    DumpDir::Pending snapshot = {};           // with the module, if there is a folder for it
    Module input = {};
  };

  void Watch();
  void CheckLimits() const;
  std::string Describe(const Running& running) const;
  PipelineFile WithLimits(PipelineFile file) const;
  void EndRun(const std::string& message, const Running* running) const;
  // The path of the snapshot; empty if there is none.
  std::string WriteSnapshot(const Running& running) const;
  Status CheckGrowth(const Module& module, const Running& running);

  const RunLimits limits_;
  DiagnosticEngine& diagnostics_;
  const std::shared_ptr<const PassCounter> counter_;
  std::shared_ptr<const DumpDir> dump_dir_;
  std::function<void(const std::string&)> on_exceeded_;
  uint64_t input_nodes_ = 0;
  uint64_t nodes_ = 0;  // of the current module
  std::thread thread_;
  // Of what the thread reads as well.
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopped_ = true;
  std::vector<Running> running_;
};

}  // namespace iropt
