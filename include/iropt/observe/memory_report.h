// The output of -track-memory: the memory of the module and of the process after each pass.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/ir/module.h"
#include "iropt/observe/options.h"
#include "iropt/observe/run_listener.h"
#include "iropt/pass/instrument.h"

namespace iropt {

// O(nodes) after each pass.
class MemoryReport : public PassInstrument, public RunListener {
 public:
  explicit MemoryReport(ShownForm form) : PassInstrument("track-memory"), form_(form) {}

  void BeforePasses(std::string_view subject, const Module& module) override;

  Status RunAfterPass(const Module& module, const PassInfo& info, PassOutcome outcome) override;

  // A table, or one line of JSON:
  //   {"track-memory": [{"input": "in.ir", "arena_bytes": 4096, "nodes": 20, "peak_rss_bytes": 9437184},
  //                     {"pass": "FoldConstant", "arena_bytes": 4160, "nodes": 18, "peak_rss_bytes": 9437184}, ...]}
  std::string Text(const RunEnd& end) override;

 private:
  struct Row {
    std::string name;
    bool is_input = false;
    uint64_t arena_bytes = 0;
    uint64_t nodes = 0;
    int64_t peak_rss_bytes = 0;
  };

  static Row Measure(std::string_view name, const Module& module);

  ShownForm form_;
  std::vector<Row> rows_;
};

}  // namespace iropt
