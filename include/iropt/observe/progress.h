// The line of -progress: how far a run is.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "iropt/observe/options.h"
#include "iropt/observe/run_listener.h"
#include "iropt/pass/instrument.h"
#include "iropt/pass/pipeline.h"

namespace iropt {

// Passes of a pipeline that are not composite; those in a fixpoint count once. O(passes).
size_t CountPasses(const Pipeline& pipeline);

// Shows the pass that runs, the functions that it has done and the elapsed time, in a run of more than two seconds.
class Progress : public PassInstrument, public RunListener {
 public:
  Progress() : PassInstrument("progress") {}
  ~Progress() override { Stop(); }

  // Returns whether the option asks for the line on this standard error output.
  static bool IsWanted(ProgressShown shown);

  void set_total(size_t passes) { total_ = passes; }
  void Start();
  // Erases the line.
  void Stop();
  void BeginInput() override { Start(); }
  void BeginOutput() override { Stop(); }

  Status RunBeforePass(const Module& module, const PassInfo& info) override;
  Status RunAfterFunction(const GlobalVar& name, const BaseFunc& function, const PassInfo& info,
                          PassOutcome outcome) override;

 private:
  void Watch();
  std::string Line() const;

  size_t total_ = 0;
  std::chrono::steady_clock::time_point begin_;
  std::thread thread_;
  // Of what the thread reads as well.
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopped_ = false;
  std::string pass_;
  size_t passes_ = 0;
  size_t functions_ = 0;
};

}  // namespace iropt
