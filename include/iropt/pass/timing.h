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
  TimeSpent& operator-=(TimeSpent other) {
    wall_seconds -= other.wall_seconds;
    cpu_seconds -= other.cpu_seconds;
    return *this;
  }
};

// Starts at its construction.
class Stopwatch {
 public:
  Stopwatch();
  TimeSpent Read() const;
  std::chrono::steady_clock::time_point begin() const { return wall_; }

 private:
  std::chrono::steady_clock::time_point wall_;
  double cpu_;
};

// One pass at one position of the pipeline; sums up its runs there, on all threads.
struct PassProfile {
  std::string name;
  std::string title = {};  // with its options
  int runs = 0;            // 0 if the pass was always skipped
  int changed = 0;
  int failed = 0;
  TimeSpent time = {};                     // with the children
  std::vector<PassProfile> children = {};  // in the order of the pipeline

  // The time without the children.
  TimeSpent Self() const;
};

// All positions of one pass.
struct PassTotal {
  std::string name;
  int runs = 0;
  int changed = 0;
  int failed = 0;
  TimeSpent time;  // with nested passes, but once where a pass is nested in one of the same name
  TimeSpent self;  // without nested passes
};

// The passes that ran, each once; the one with the longest time of its own comes first. O(n * log(n)).
std::vector<PassTotal> TotalsByName(const std::vector<PassProfile>& profiles);

class PassTimingInstrument : public PassInstrument {
 public:
  PassTimingInstrument() : PassInstrument("timing") {}

  Status EnterPassContext() override;
  Status RunBeforePass(const Module& module, const PassInfo& info) override;
  Status RunAfterPass(const Module& module, const PassInfo& info, PassOutcome outcome) override;
  Status OnSkippedPass(const PassInfo& info, const PassSkip& skip) override;
  Status OnRound(const PassInfo& info) override;

  // The passes that ran since the context was entered. The runs of one pipeline after another add up.
  const std::vector<PassProfile>& profiles() const { return root_.children; }
  // A table of the profiles, nested as the pipeline is: the time with and without nested passes, the processor time of
  // all threads, the share of the total time, runs, and runs that changed the module.
  std::string Render() const;
  // A table by pass, longest time without nested passes first; the share is that of this time.
  std::string RenderList() const;

 private:
  struct Running {
    size_t child;  // of the enclosing profile
    Stopwatch watch;
    size_t next = 0;  // the position of the child that comes next in this round
  };

  PassProfile& Innermost();
  size_t NextChild(const PassInfo& info);

  PassProfile root_;
  std::vector<Running> running_;
};

}  // namespace iropt
