// Configuration options by wrong names and as other types.
#include "configs/relax.mode.h"
#include "configs/tir.LoopPartition.h"

namespace iropt {

bool SplitsConstantLoops(const PassContext& context) {
  return config::tir::LoopPartition(context).partition_const_loop;
}
const std::string& Mode(const PassContext& context) { return context.Config(config::relax::mode); }

#if CASE == 1  // no member named 'partition_const_loops'
bool Misspelt(const PassContext& context) { return config::tir::LoopPartition(context).partition_const_loops; }
#endif

#if CASE == 2  // is not a member of 'iropt::config::relax'|no member named 'modus'
const std::string& Unknown(const PassContext& context) { return context.Config(config::relax::modus); }
#endif

#if CASE == 3  // cannot convert|no viable conversion
bool OtherType(const PassContext& context) { return context.Config(config::relax::mode); }
#endif

}  // namespace iropt
