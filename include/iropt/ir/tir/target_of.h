// The target that a PrimFunc states.
#pragma once

#include "iropt/ir/attr.h"
#include "iropt/ir/tir/stmt.h"

namespace iropt {

// The entries of a target; null if the attribute is not a target.
const DictAttr* TargetConfig(const Attr* attr);
// The attribute 'target'; null if the function does not have one.
const DictAttr* TargetOf(const PrimFunc& func);

}  // namespace iropt
