// The lookup of operators that are not in the tables. Private to lib/op.
#pragma once

#include <string_view>

#include "iropt/op/op.h"

namespace iropt::op_detail {

// Null where there is none. O(log operators).
const OpInfo* FindAddedOp(std::string_view name);
const OpInfo* FindAddedOpByScript(std::string_view name);

}  // namespace iropt::op_detail
