// -bisect: finds the first step of a run whose result is bad, and writes it as a reproducer of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "driver/pipeline/pipeline_setup.h"
#include "interestingness_test.h"

namespace iropt {

class Bisection {
 public:
  // All must outlive it. `reproducer` is the file to write, if any.
  Bisection(CompilerInstance& compiler, PipelineSetup& setup, BisectRequest request,
            std::optional<std::string> reproducer);

  // Searches for the step and reports it. Fails if the results of no step and of all steps do not differ.
  Status Run(const Module& module);

 private:
  // A step that is bad where the one before it is good.
  struct Culprit {
    Verdict verdict;
    int64_t num_steps = 0;  // of the whole run
  };
  // A rewrite of its pass after which the result is bad, and good before it.
  struct BadRewrite {
    CountedRewrite rewrite;
    std::string reason;
  };

  // Nothing if the result of no step is bad already: mandatory passes run nevertheless.
  Result<std::optional<Culprit>> Search(const Module& module);
  Result<Verdict> Try(const Module& module, int64_t limit);
  // Nothing if the pass does not count its rewrites, or the step is bad without any of them.
  Result<std::optional<BadRewrite>> SearchRewrite(const Module& module, const BisectStep& step);
  Result<Verdict> TryRewrites(const Module& module, int64_t steps, const RewriteLimit& limit);
  Result<FailurePoint> FindPoint(const Module& module, int64_t step);
  Status WriteReproducer(const Module& module, const Culprit& culprit);
  // The check, for a run of the reproducer.
  std::vector<InstrumentSpec> Instruments() const;
  void Report(const Culprit& culprit);
  void Report(const BadRewrite& bad, const std::string& pass);

  CompilerInstance& compiler_;
  PipelineSetup& setup_;
  InterestingnessTest test_;
  const std::optional<std::string> reproducer_;
};

}  // namespace iropt
