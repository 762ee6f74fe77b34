// Options of a pass by wrong names, as other types, and of another pass.
#include "iropt/transform/options/EliminateCommonSubexpr.h"
#include "iropt/transform/options/FP8ComputeLegalize.h"
#include "iropt/transform/options/TopologicalSort.h"
#include "iropt/transform/passes.h"

namespace iropt {

bool CallOnly(const pass_options::EliminateCommonSubexpr& given) { return *given.call_only; }

bool IsDepthFirst(const pass_options::TopologicalSort& given) {
  return *given.order == pass_options::TopologicalSort::Order::kDepthFirst;
}
DataType Wide(const pass_options::FP8ComputeLegalize& given) {
  return given.promote_dtype->value_or(*given.promote_dtype_str);
}

Pass Sort() { return transform::TopologicalSort({.order = pass_options::TopologicalSort::Order::kDepthFirst}); }

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

#if CASE == 4  // 'kDeepFirst' is not a member|no member named 'kDeepFirst'
bool MisspeltChoice(const pass_options::TopologicalSort& given) {
  return *given.order == pass_options::TopologicalSort::Order::kDeepFirst;
}
#endif

#if CASE == 5  // no match for .operator==|invalid operands
bool ChoiceOfOther(const pass_options::TopologicalSort& given) {
  return *given.order == pass_options::TopologicalSort::Direction::kFromInputs;
}
#endif

#if CASE == 6  // no match for .operator==|invalid operands
bool ChoiceAsText(const pass_options::TopologicalSort& given) { return *given.order == "depth-first"; }
#endif

#if CASE == 7  // no match for .operator==|invalid operands
bool DTypeAsText(const pass_options::FP8ComputeLegalize& given) { return *given.promote_dtype_str == "float32"; }
#endif

#if CASE == 8  // invalid initialization|could not convert|cannot convert|does not refer to any field
Pass MisspeltCall() { return transform::TopologicalSort({.ordr = pass_options::TopologicalSort::Order::kDepthFirst}); }
#endif

#if CASE == 9  // invalid initialization|could not convert|cannot convert|no viable conversion
Pass ChoiceAsTextCall() { return transform::TopologicalSort({.order = "depth-first"}); }
#endif

#if CASE == 10  // too many arguments|invalid initialization|no matching function
Pass OptionOfPassWithout() { return transform::AdjustMatmulOrder({.call_only = true}); }
#endif

}  // namespace iropt
