// Functions as text in which parts are underlined, for messages about parts that have no place in a source.
#pragma once

#include <span>
#include <string>

#include "iropt/ir/module.h"

namespace iropt {

// The PrimFunc of the module as it is printed, with a line of carets under the head of each marked loop and block:
//
//   @T.prim_func
//   def main(A: T.Buffer((8,), "float32")):
//       for i in range(8):
//           with T.block("A"):
//                ^~~~~~~~~~~~
//               vi = T.axis.spatial(8, i)
//
// Of a function of more than 24 lines, only those near the marks and the heads of the statements around these are
// shown, and "..." stands for others. Marks that the function does not contain do not count. O(nodes).
std::string MarkedFunctionToString(const Module& module, const GlobalVar* var, std::span<const Node* const> marks);

}  // namespace iropt
