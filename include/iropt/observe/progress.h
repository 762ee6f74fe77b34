// The lines of -progress: how far a run is.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "iropt/observe/options.h"
#include "iropt/observe/run_listener.h"
#include "iropt/pass/instrument.h"
#include "iropt/pass/pipeline.h"

namespace iropt {

// Passes of a pipeline that are not composite; those in a fixpoint count once. O(passes).
size_t CountPasses(const Pipeline& pipeline);

// A line on the standard error output, in a run of more than two seconds. A thread shows it. What derives from it stops
// it before it is destroyed.
class ProgressLine {
 public:
  virtual ~ProgressLine() = default;

  // Returns whether the option asks for the line on this standard error output.
  static bool IsWanted(ProgressShown shown);

  void Start();
  // Erases the line.
  void Stop();

 protected:
  // Called with the mutex locked.
  virtual std::string Line() const = 0;
  double SecondsSinceStart() const;

  std::mutex mutex_;  // of what Line reads

 private:
  void Watch();

  std::chrono::steady_clock::time_point begin_;
  std::thread thread_;
  std::condition_variable wake_;
  bool stopped_ = false;
};

// The line of a program that takes one step after another: the step, the elapsed time, and what is left as far as it is
// known.
class StepProgress : public ProgressLine {
 public:
  // `tool` is at the beginning of the line. Starts if the line is wanted.
  StepProgress(std::string_view tool, ProgressShown shown);
  ~StepProgress() override { Stop(); }

  // Begins a step; of several ones of the same kind, the one after `done` ones of `total`.
  void SetStep(std::string step, size_t done = 0, size_t total = 0);
  // Begins a step that is over after so many seconds.
  void SetStepOf(std::string step, double seconds);

 protected:
  std::string Line() const override;

 private:
  std::string tool_;
  std::string step_;
  size_t done_ = 0;
  size_t total_ = 0;
  double kind_begin_ = 0;  // when the first step of the kind began, and how long all of them take
  std::optional<double> kind_seconds_;
};

// Shows the pass that runs, the functions that it has done and the elapsed time.
class Progress : public PassInstrument, public RunListener, public ProgressLine {
 public:
  Progress() : PassInstrument("progress") {}
  ~Progress() override { Stop(); }

  void set_total(size_t passes) { total_ = passes; }
  void BeginInput() override { Start(); }
  void BeginOutput() override { Stop(); }

  Status RunBeforePass(const Module& module, const PassInfo& info) override;
  Status RunAfterFunction(const GlobalVar& name, const BaseFunc& function, const PassInfo& info,
                          PassOutcome outcome) override;

 protected:
  std::string Line() const override;

 private:
  size_t total_ = 0;
  std::string pass_;
  size_t passes_ = 0;
  size_t functions_ = 0;
};

}  // namespace iropt
