// The output of -track-memory: the memory of the module and of the process after each pass.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/ir/module.h"
#include "iropt/observe/options.h"
#include "iropt/pass/instrument.h"

namespace iropt {

// O(nodes) after each pass.
class MemoryReport : public PassInstrument {
 public:
  MemoryReport() : PassInstrument("track-memory") {}

  // A module that passes run on next. `subject` names it.
  void AddInput(std::string_view subject, const Module& module);

  Status RunAfterPass(const Module& module, const PassInfo& info, PassOutcome outcome) override;

  // A table, or one line of JSON:
  //   {"track-memory": [{"input": "in.ir", "arena_bytes": 4096, "nodes": 20, "peak_rss_bytes": 9437184},
  //                     {"pass": "FoldConstant", "arena_bytes": 4160, "nodes": 18, "peak_rss_bytes": 9437184}, ...]}
  std::string Render(ShownForm form) const;

 private:
  struct Row {
    std::string name;
    bool is_input = false;
    uint64_t arena_bytes = 0;
    uint64_t nodes = 0;
    int64_t peak_rss_bytes = 0;
  };

  static Row Measure(std::string_view name, const Module& module);

  std::vector<Row> rows_;
};

}  // namespace iropt
