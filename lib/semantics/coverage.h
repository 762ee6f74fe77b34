// What the runs of a function have tried, and what they have not.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "function_runner.h"
#include "iropt/eval/taken_branches.h"
#include "iropt/ir/module.h"

namespace iropt {

class Coverage {
 public:
  // Receives the ways that conditions go in the runs of the function as it was at first.
  TakenBranches& branches() { return branches_; }
  // Adds a run that counts. Of runs on infinities and NaNs, `is_finite` is false: these show in all outputs.
  // O(elements).
  void AddRun(std::span<const HostValue> inputs, const RunOutcome& outcome, bool is_finite);

  // A condition that went one way only, or was not reached.
  struct Untaken {
    SourceSpan place;
    bool was_true;
    bool was_false;
  };
  struct Report {
    std::string text;  // "reached both ends of int8; 3 of 4 branches; the same in all runs: out1"
    std::vector<Untaken> untaken = {};
  };
  // What was covered of the function in the module of its first runs. O(nodes).
  Report Describe(const Module& module, const GlobalVar& function) const;

 private:
  struct Ends {
    bool least = false;
    bool greatest = false;
  };
  struct Output {
    std::string name;
    std::optional<uint64_t> hash = {};  // of the first run with elements
    bool differs = false;               // between runs
  };

  std::string DescribeEnds() const;
  std::string DescribeOutputs() const;

  TakenBranches branches_ = {};
  std::map<std::string, Ends> ends_ = {};  // by dtype
  std::vector<Output> outputs_ = {};
  bool has_inputs_ = false;
  size_t num_finite_runs_ = 0;
};

}  // namespace iropt
