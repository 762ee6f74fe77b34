// The smallest part of a module on which one pass alone still goes wrong.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "driver/pipeline/pipeline_setup.h"
#include "failure_point.h"
#include "interestingness_test.h"

namespace iropt {

struct LocalReproducer {
  Module module;
  PipelineFile settings;  // with the pass alone, without instruments
};

class Localizer {
 public:
  // All must outlive it.
  Localizer(CompilerInstance& compiler, const PipelineSetup& setup, InterestingnessTest& test)
      : compiler_(compiler), setup_(setup), test_(test) {}

  // Looks for a part that is bad with this exit code: first the function of the point with those that it calls, then
  // halves of the module as long as one of them is bad. Nothing if the pass alone on the whole module is good.
  // O(log functions) runs of the pass.
  Result<std::optional<LocalReproducer>> Find(const FailurePoint& point, int code);

 private:
  using Roots = std::vector<const GlobalVar*>;

  Result<bool> IsBad(const Module& module);
  // Of `roots`, one half after the other.
  Result<std::optional<Roots>> BadHalf(const Module& module, const Roots& roots);

  CompilerInstance& compiler_;
  const PipelineSetup& setup_;
  InterestingnessTest& test_;
  std::optional<Pass> pass_;
  PassContext context_;
  int code_ = 0;
  std::string reason_;  // why the pass alone is bad on the whole module
};

// Writes it, as a run of ir-opt with `instruments` that goes wrong.
Status WriteLocalReproducer(const std::string& path, std::string_view title, LocalReproducer reproducer,
                            std::vector<InstrumentSpec> instruments, const CompilerInstance& compiler);

}  // namespace iropt
