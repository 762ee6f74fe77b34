// Measures how long passes take.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/pass/instrument.h"

namespace iropt {

// Elapsed time, and the processor time of all threads of the process.
struct TimeSpent {
  double wall_seconds = 0;
  double cpu_seconds = 0;

  TimeSpent& operator+=(TimeSpent other) {
    wall_seconds += other.wall_seconds;
    cpu_seconds += other.cpu_seconds;
    return *this;
  }
};

// Starts at its construction.
class Stopwatch {
 public:
  Stopwatch();
  TimeSpent Read() const;

 private:
  std::chrono::steady_clock::time_point wall_;
  double cpu_;
};

// One pass at one position of the pipeline; sums up its runs there.
struct PassProfile {
  std::string name;
  int runs = 0;
  int changed = 0;
  int failed = 0;
  TimeSpent time;
  std::vector<PassProfile> children;  // in the order of their first run
};

class PassTimingInstrument : public PassInstrument {
 public:
  PassTimingInstrument() : PassInstrument("timing") {}

  Status EnterPassContext() override;
  Status RunBeforePass(const Module& module, const PassInfo& info) override;
  Status RunAfterPass(const Module& module, const PassInfo& info, PassOutcome outcome) override;

  // The passes that ran since the context was entered. No pass may be running.
  const std::vector<PassProfile>& profiles() const { return root_.children; }
  // A table of the profiles: for each pass the time including nested passes, the share of the total, runs, and runs
  // that changed the module.
  std::string Render() const;

 private:
  struct Running {
    size_t child;  // of the enclosing profile
    Stopwatch watch;
  };

  PassProfile& Innermost();

  PassProfile root_;
  std::vector<Running> running_;
};

}  // namespace iropt
