// Limits of a run: time, memory and the size of the module.
#pragma once

#include <cstdint>
#include <string_view>

#include "iropt/support/result.h"

namespace iropt {

// 0: without a limit.
struct RunLimits {
  double pass_seconds = 0;  // of one run of one pass
  int64_t rss_bytes = 0;    // resident memory of the process
  double ir_growth = 0;     // the nodes after a pass, as a multiple of those of the input

  bool any() const { return pass_seconds > 0 || rss_bytes > 0 || ir_growth > 0; }
};

// "500ms", "1.5s", "2m" or "1h", as seconds. The errors of all three say what is expected.
Result<double> ParseDuration(std::string_view text);
// "100K", "512M" or "2G", as bytes; "B" or "iB" may follow the letter, and a number alone is bytes.
Result<int64_t> ParseSize(std::string_view text);
// "2.5" or "250%", as a factor.
Result<double> ParseGrowth(std::string_view text);

}  // namespace iropt
