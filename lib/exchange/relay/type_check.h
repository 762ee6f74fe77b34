// Comparison of the annotations of a text with the types that Relax infers.
#pragma once

#include "iropt/ir/type.h"

namespace iropt::relay {

// Returns whether a value of the inferred type can have the annotated type. Dimensions that are not constants on both
// sides agree with any.
bool Agrees(const Type* annotated, const Type* inferred);

}  // namespace iropt::relay
