// The target that a PrimFunc states.
#pragma once

#include <string_view>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/attr.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/ir/tir/target_of.h"

namespace iropt {

// The attribute 'target'; null and an error if the function does not have one.
const DictAttr* RequireTarget(const PrimFunc& func, DiagnosticEngine& diagnostics);

// An entry of a target that is a string, such as "kind"; empty if the target does not have it.
std::string_view TargetString(const DictAttr& target, std::string_view key);

}  // namespace iropt
