// Printing a stack with names and lines, for the handler of crashes: nothing here allocates memory.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "iropt/support/function_ref.h"

namespace iropt {

// Calls `print` with parts of the text of the frames, innermost first, a line or more for each:
//
//   #0 iropt::Match::Try(iropt::Pattern const&, iropt::Expr const*) at lib/ir/relax/pattern.cpp:150 (ir-opt+0x12ab3)
//   #1 iropt::DefinitionOf(iropt::Expr const*, iropt::Definitions const&) at lib/ir/relax/pattern.cpp:140
//       (inlined by) iropt::Match::Visit(iropt::Pattern const&, iropt::Expr const*) at lib/ir/relax/pattern.cpp:180
//       (ir-opt+0x13000)
//
// The innermost frame is that of an instruction that failed, the others are return addresses. Names and lines are those
// of llvm-symbolizer, else addr2line, of the PATH; the environment variable LLVM_SYMBOLIZER_PATH names another
// llvm-symbolizer, LLVM_DISABLE_SYMBOLIZATION forbids it. Without them, a frame is the name of an exported function, or
// the file and the offset in it. Takes at most some ten seconds.
void PrintStackTrace(std::span<void* const> frames, FunctionRef<void(std::string_view)> print);

}  // namespace iropt
