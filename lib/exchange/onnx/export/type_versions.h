// The versions of the operator set from which on an operator takes elements of a type.
#pragma once

#include <string_view>

#include "exchange/onnx/model.h"

namespace iropt::onnx {

// The first version in which the operator takes values of the type; 1 if it always did, or nothing is known.
int FirstVersionWith(std::string_view op, const ValueType& type);
// Returns whether FirstVersionWith says something of the first input only: others have types of their own.
bool FirstInputDecides(std::string_view op);

}  // namespace iropt::onnx
