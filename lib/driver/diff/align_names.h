// Names that two versions of a function share, so that their texts can be compared.
#pragma once

#include "iropt/ir/module.h"

namespace iropt {

// Returns `after` in which the variables and buffers of each function that differs in structure from the one of that
// name in `before` have the names of the variables there that they correspond to. Others keep their names, unless
// `before` has such a name. The module has the name of `before`. Functions that only one of the modules has stay as
// they are.
//
// Definitions correspond if the same code computes them from corresponding operands; between those, if they are in the
// same order and their operators, attributes and types are the same; and then if corresponding code uses them. So the
// result does not depend on the names in `after`. O(text of the functions * log), plus the square of what differs
// between two definitions that correspond.
Module AlignNames(const Module& before, const Module& after);

}  // namespace iropt
