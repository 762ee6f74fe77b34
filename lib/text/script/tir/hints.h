// Recovers the hints of names from text.
//
// TVM gives every buffer a hint for its name, and prints it with _1, _2, ... where the hint is taken. A buffer that
// lowering makes has the hint of its data variable, so that `x_1 = T.Buffer((4,), data=x)` says that its hint is `x`:
// after a pass has moved it to another scope, it gets the first name that is free there.
#pragma once

#include <span>
#include <string_view>

#include "iropt/ir/tir/stmt.h"

namespace iropt::text {

// The positive number k of a buffer x_k whose data variable is x; 0 for other names. O(length of the name).
uint32_t NumberAfterData(const tir::Buffer* buffer);

// Gives `buffers` of the function, which have a NumberAfterData, the names of their data variables as hints if printing
// the function then gives them the names again that they have. So the text of the function does not change. Parameters
// keep their names, and so do buffers that are not used. Nothing but the function refers to the buffers yet.
// `module_name` is the name of the class around the function. Takes as long as printing.
void RecoverHints(const PrimFunc* func, std::span<const tir::Buffer* const> buffers, std::string_view module_name);

}  // namespace iropt::text
