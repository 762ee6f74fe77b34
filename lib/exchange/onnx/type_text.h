// Types of values that are not tensors of numbers, as text: "seq(tensor(float)[2,N,?])". Modules keep them so, for such
// values are objects in Relax.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "exchange/onnx/model.h"

namespace iropt::onnx {

std::string ToText(const ValueType& type);
// Nullopt if the text is not such a type. Names of dimensions are views of the text.
std::optional<ValueType> TypeFromText(std::string_view text);

}  // namespace iropt::onnx
