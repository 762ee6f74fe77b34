// The arguments `layout` and `allocated_addr` of declarations of buffers.
#pragma once

#include "iropt/infer/print/prim_printer.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/support/text_version.h"

namespace iropt::text {

// Whether a declaration of the buffer in the function has such arguments in the text of the version: where they are not
// what a declaration without them means.
bool StatesLayout(const PrimFunc& func, const tir::Buffer& buffer, TextVersion version);
// Prints them, with a comma before each.
void PrintLayoutArguments(const PrimFunc& func, const tir::Buffer& buffer, TextVersion version, PrimPrinter& prim,
                          OutputStream& out);

}  // namespace iropt::text
