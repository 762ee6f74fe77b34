// What must hold of a graph that is written.
#pragma once

#include <optional>
#include <string>

#include "exchange/onnx/model.h"

namespace iropt::onnx {

// What is wrong with a model that was made, or nothing: each value is defined once and before its uses, types and
// dimensions are known where they must be and not negative, and the operator set has the operators for these types.
// ONNX's checker and runtimes refuse other models. O(size of the model without tensors).
std::optional<std::string> FindMistake(const Model& model);

}  // namespace iropt::onnx
