// Loops over the threads of one axis in each other.
#pragma once

#include <string_view>

#include "iropt/schedule/state.h"

namespace iropt::schedule {

// Refuses if the loop cannot be bound to the axis since a loop around or in it is. A thread has one place on the axis:
// of the inner loop it runs one iteration. So the inner loop divides among the threads what all of them would do, and
// must not depend on which of them does it.
Status CheckAxisIsFree(State& state, const Ref* loop, std::string_view tag);

}  // namespace iropt::schedule
