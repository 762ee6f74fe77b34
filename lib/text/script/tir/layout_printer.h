// The arguments `layout` and `allocated_addr` of declarations of buffers, and views by methods.
#pragma once

#include "iropt/infer/print/prim_printer.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/support/text_version.h"

namespace iropt::text {

// Returns whether a declaration of the buffer in the function states the layout in the text of the version: if a
// declaration without it means another one.
bool StatesLayout(const PrimFunc& func, const tir::Buffer& buffer, TextVersion version);
// Prints them, with a comma before each.
void PrintLayoutArguments(const PrimFunc& func, const tir::Buffer& buffer, TextVersion version, PrimPrinter& prim,
                          OutputStream& out);

// Views that TVM 0.25 prints as methods other than A.view(...). Both buffers have the same memory, offset, alignment
// and strides. Each prints nothing and returns false if the child is something else.
// ".local(4, 8)" for what a thread has of a buffer that lies with several threads:
bool PrintLocalView(const tir::Buffer& child, const tir::Buffer& parent, PrimPrinter& prim, OutputStream& out);
// ".permute(1, 0)" for the dimensions in another order:
bool PrintPermutedView(const tir::Buffer& child, const tir::Buffer& parent, OutputStream& out);

}  // namespace iropt::text
