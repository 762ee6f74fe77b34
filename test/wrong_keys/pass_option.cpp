// Options of a pass by wrong names, as other types, and of another pass.
#include "pass_options/EliminateCommonSubexpr.h"
#include "pass_options/TopologicalSort.h"

namespace iropt {

bool CallOnly(const pass_options::EliminateCommonSubexpr& given) { return *given.call_only; }

#if CASE == 1  // no member named 'call_onyl'
bool Misspelt(const pass_options::EliminateCommonSubexpr& given) { return *given.call_onyl; }
#endif

#if CASE == 2  // cannot convert|no viable conversion
int64_t OtherType(const pass_options::TopologicalSort& given) { return *given.order; }
#endif

#if CASE == 3  // no member named 'order'
void Refuse(const PassOptions& options) {
  options.Refuse(pass_options::EliminateCommonSubexpr(options).order, "must be another one");
}
#endif

}  // namespace iropt
