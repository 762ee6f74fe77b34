// Growth of images, for operators of several families.
#pragma once

#include <string_view>

#include "dims.h"

namespace iropt::relay {

// The operand of an operator that upsamples, resized to the sizes of its two or three axes with the operator's method.
const Expr* UpsampleTo(OpCall& call, const DimList& size, std::string_view transformation);

}  // namespace iropt::relay
