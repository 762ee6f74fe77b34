// Finding the pass that breaks a module by running only the first N.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "iropt/pass/instrument.h"

namespace iropt {

// Numbers the passes in the order in which they are about to run, vetoes those with a number above the limit, and
// prints for each whether it runs:
//
//   BISECT: running pass (1) FoldConstant on module
//   BISECT: NOT running pass (2) EliminateCommonSubexpr on module
//
// Composite passes have no number; nor have those that the context requires, which cannot be vetoed. A negative limit
// vetoes nothing.
class OptBisect : public PassInstrument {
 public:
  // `say` gets whole lines.
  OptBisect(int64_t limit, std::function<void(std::string_view line)> say)
      : PassInstrument("opt-bisect"), limit_(limit), say_(std::move(say)) {}

  Status EnterPassContext() override;
  bool ShouldRun(const Module& module, const PassInfo& info) override;
  std::string VetoReason() const override;

 private:
  int64_t limit_;
  int64_t passes_ = 0;  // that have a number
  std::function<void(std::string_view line)> say_;
};

}  // namespace iropt
