// Facts that rules use about targets.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "iropt/ir/attr.h"
#include "iropt/ir/tir/stmt.h"

namespace iropt::schedule {

struct TargetFacts {
  std::string_view kind;
  std::string_view arch;    // sm_80, ...
  bool is_android = false;  // OpenCL on a phone
  bool is_adreno = false, is_mali = false;
  bool is_gpu = false;
  int64_t max_threads_per_block = 256;
  int64_t max_num_threads = 256;  // what the target states, or the same
  int64_t max_shared_memory_per_block = 16384;
};
TargetFacts FactsOf(const TargetAttr* target);
// For each loop the number of threads, a power of two, as far as a block has them.
std::vector<int64_t> SuggestThreadsPerBlock(const TargetFacts& target, const std::vector<const tir::For*>& loops);

}  // namespace iropt::schedule
