// Declarations of buffers. The text of TVM 0.24 and newer has them where that of older versions leaves them out.
#pragma once

#include "iropt/ir/module.h"

namespace iropt::text {

// Declares what only older text leaves undeclared, as TVM does: the buffer of an allocation with it, and flat views of
// parameters at the top of the function. Other buffers are declared by the printer, where they are accessed first.
const PrimFunc* WithDeclarations(const PrimFunc* func, Workspace& workspace);
// Declares what a function in the form of the newer text still leaves undeclared: an allocation whose buffer is
// declared right after it stays as it is.
const PrimFunc* WithMissingDeclarations(const PrimFunc* func, Workspace& workspace);

// Removes the declarations that FlattenBuffer and the schedules of TE left out before TVM 0.24.
const PrimFunc* WithoutDeclarations(const PrimFunc* func, Workspace& workspace);

}  // namespace iropt::text
