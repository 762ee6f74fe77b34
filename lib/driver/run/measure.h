// Measures how long calls of a program take.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "iropt/observe/sample.h"
#include "observers.h"
#include "program.h"

namespace iropt {

// Calls the entry of a program, in several threads at the same time if the options say so.
class ProgramTimer {
 public:
  // The first two must outlive it. The program has its inputs. `name_node` may be null.
  ProgramTimer(const Program& program, const ProgramOptions& options, RunReporter::NodeNamer name_node)
      : program_(program), options_(options), name_node_(std::move(name_node)) {}

  // Fails if the loop compiler is missing.
  Status Prepare();
  // Each thread calls the entry once. Counts if `is_measured`. The time of compiling PrimFuncs is not a part of that of
  // a call. The error of a call that fails has a message.
  Status RunRound(bool is_measured);

  SampleSummary summary() const { return Summarize(seconds_); }
  // Calls for each second of the measured rounds.
  double throughput() const { return round_seconds_ > 0 ? static_cast<double>(seconds_.size()) / round_seconds_ : 0; }
  double compile_seconds() const;
  // The times in the fastest call by callee, if the options ask for them.
  const std::string& fastest_times() const { return fastest_.times; }

 private:
  struct Call {
    std::vector<HostValue> inputs = {};
    double seconds = 0;
    std::string times = {};
    Status status = {};
  };
  void RunCall(PrimFuncExecutor& executor, Call& call) const;

  const Program& program_;
  const ProgramOptions& options_;
  RunReporter::NodeNamer name_node_;
  Call fastest_ = {};
  std::vector<std::unique_ptr<PrimFuncExecutor>> executors_ = {};  // by thread
  std::vector<double> seconds_ = {};
  double round_seconds_ = 0;
};

// The times of a program. `pipeline` is empty if there is one program only.
struct ProgramTimes {
  std::string pipeline;
  Program::Times steps;
  double compile_seconds = 0;
  SampleSummary calls;
  double throughput = 0;
};

// A table of the steps and the calls of one program, or a row for each of several.
std::string RenderProgramTimes(std::span<const ProgramTimes> programs, const ProgramOptions& options);
// Renders the times as a line of JSON, in milliseconds.
std::string RenderProgramTimesJson(std::span<const ProgramTimes> programs, const ProgramOptions& options);

}  // namespace iropt
