// The output of -stats: the counters of the passes, and the operators of the module before and after them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "iropt/ir/module.h"
#include "iropt/observe/options.h"
#include "iropt/pass/instrument.h"
#include "iropt/pass/statistic.h"

namespace iropt {

// Collects counters while passes run; runs under other contexts, such as checks, do not count.
class RunStatistics : public PassInstrument {
 public:
  RunStatistics() : PassInstrument("stats") {}
  ~RunStatistics() override { LeaveAll(); }

  // The module before the passes, and after them if they have not failed. The chunks of an input add up.
  void Before(const Module& module);
  void After(const Module& module);

  Status EnterPassContext() override;
  Status RunBeforePass(const Module& module, const PassInfo& info) override;
  Status RunAfterPass(const Module& module, const PassInfo& info, PassOutcome outcome) override;

  // Two tables, or one line of JSON:
  //   {"stats": {"operators": [{"name": "R.add", "before": 3, "after": 2}, ...],
  //              "counters": [{"pass": "FoldConstant", "name": "folded-calls", "value": 2, "description": "..."},
  //              ...]}}
  std::string Render(ShownForm form) const;

 private:
  struct BeforeAndAfter {
    uint64_t before = 0;
    uint64_t after = 0;
  };

  void LeaveAll();
  std::string RenderText() const;

  StatisticCounts counts_;
  std::vector<std::unique_ptr<StatisticScope>> running_;
  std::map<std::string, uint64_t> pending_;  // of the module whose passes run
  std::map<std::string, BeforeAndAfter> operators_;
};

}  // namespace iropt
