// Finding the pass that breaks a module by running only a part of the passes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "iropt/pass/instrument.h"

namespace iropt {

// A numbered step: a pass on a module, or a pass over functions on one of them.
struct BisectStep {
  int64_t number = 0;
  std::string pass = {};
  std::string function = {};  // empty for a module pass

  friend bool operator==(const BisectStep&, const BisectStep&) = default;
};

// "pass 'FoldConstant' on function 'main'", or "... on the module".
std::string ToString(const BisectStep& step);
// A line about it, as OptBisect shows them.
std::string BisectLine(const BisectStep& step, bool runs);

// Numbers the steps in the order in which they are about to run, vetoes those with a number above the limit, and tells
// for each whether it runs:
//
//   BISECT: running pass (1) FoldConstant on function main
//   BISECT: NOT running pass (2) DeadCodeElimination on module
//
// The functions of a pass are numbered in the order of the module, whatever the number of threads is. Composite passes
// have no number; nor have those that the context requires, and mandatory ones, which are not vetoed. A negative limit
// vetoes nothing.
class OptBisect : public PassInstrument {
 public:
  using OnStep = std::function<void(const BisectStep& step, bool runs)>;

  OptBisect(int64_t limit, OnStep on_step)
      : PassInstrument("opt-bisect"), limit_(limit), on_step_(std::move(on_step)) {}

  // From now on mandatory passes have numbers, too.
  void CountMandatory() { counts_mandatory_ = true; }
  int64_t num_steps() const { return num_steps_; }

  Status EnterPassContext() override;
  bool ShouldRun(const Module& module, const PassInfo& info) override;
  bool ShouldRunOnFunction(const GlobalVar& name, const BaseFunc& function, const PassInfo& info) override;
  std::string VetoReason() const override;

 private:
  bool Count(const PassInfo& info, std::string_view function);

  const int64_t limit_;
  const OnStep on_step_;
  bool counts_mandatory_ = false;
  int64_t num_steps_ = 0;
};

}  // namespace iropt
