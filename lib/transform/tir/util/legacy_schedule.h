// Functions of the older scheduler.
#pragma once

#include "iropt/ir/tir/stmt.h"

namespace iropt {

// Whether the function is marked as made by the older scheduler (the attribute from_legacy_te_schedule), whose code has
// other conventions.
bool IsFromLegacySchedule(const PrimFunc& func);

}  // namespace iropt
