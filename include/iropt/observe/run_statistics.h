// The output of -stats: the counters of the passes, and the operators of the module before and after them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "iropt/ir/module.h"
#include "iropt/observe/options.h"
#include "iropt/observe/run_listener.h"
#include "iropt/pass/instrument.h"
#include "iropt/pass/statistic.h"

namespace iropt {

// Collects counters while passes run; runs under other contexts, such as checks, do not count.
class RunStatistics : public PassInstrument, public RunListener {
 public:
  explicit RunStatistics(ShownForm form) : PassInstrument("stats"), form_(form) {}
  ~RunStatistics() override { LeaveAll(); }

  // The chunks of an input add up.
  void BeforePasses(std::string_view subject, const Module& module) override;
  void AfterPasses(std::string_view subject, const Module& module) override;

  Status EnterPassContext() override;
  Status RunBeforePass(const Module& module, const PassInfo& info) override;
  Status RunAfterPass(const Module& module, const PassInfo& info, PassOutcome outcome) override;

  // Two tables, or one line of JSON:
  //   {"stats": {"operators": [{"name": "R.add", "before": 3, "after": 2}, ...],
  //              "counters": [{"pass": "FoldConstant", "name": "folded-calls", "value": 2, "description": "..."},
  //              ...]}}
  std::string Text(const RunEnd& end) override;

 private:
  struct BeforeAndAfter {
    uint64_t before = 0;
    uint64_t after = 0;
  };

  void LeaveAll();
  std::string RenderText() const;

  ShownForm form_;
  StatisticCounts counts_;
  std::vector<std::unique_ptr<StatisticScope>> running_;
  std::map<std::string, uint64_t> pending_;  // of the module whose passes run
  std::map<std::string, BeforeAndAfter> operators_;
};

}  // namespace iropt
