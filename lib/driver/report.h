// The summary of a run: the size of the input, the effect and the time of each pass.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/pass/timing.h"
#include "iropt/support/file.h"

namespace iropt {

// The size of a module.
struct ModuleCounts {
  size_t relax_functions = 0;
  size_t prim_funcs = 0;
  size_t bindings = 0;
  size_t calls = 0;

  friend bool operator==(const ModuleCounts&, const ModuleCounts&) = default;
};

ModuleCounts CountModule(const Module& module);

// Writes one line for each step of the run.
class Report : public PassInstrument {
 public:
  explicit Report(OutputStream& out) : PassInstrument("report"), out_(out) {}

  void Read(std::string_view name, const Module& module, TimeSpent time);
  void Step(std::string_view what, TimeSpent time);

  Status EnterPassContext() override;
  Status RunBeforePass(const Module& module, const PassInfo& info) override;
  Status RunAfterPass(const Module& module, const PassInfo& info, PassOutcome outcome) override;

 private:
  struct Running {
    ModuleCounts before;
    Stopwatch watch;
  };

  void Line(std::string_view what, std::string_view text, TimeSpent time);

  OutputStream& out_;
  std::vector<Running> running_;
};

}  // namespace iropt
