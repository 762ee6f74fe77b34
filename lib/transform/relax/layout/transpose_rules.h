// Layout rules of OptimizeTransposes: those of infer/layout_rules.h, and those of operators that ConvertLayout leaves
// in the layout of the program, as TVM does.
#pragma once

#include "iropt/infer/layout_rules.h"

namespace iropt {

// All rules apply, whichever version of TVM has them.
inline constexpr TextVersion kTransposeRulesVersion = TextVersion::kV0_27;

// Null if the operator knows only the layouts of the program. O(1).
LayoutRule TransposeRuleOf(const OpInfo& op);

}  // namespace iropt
