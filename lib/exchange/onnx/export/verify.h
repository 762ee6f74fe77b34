// What must hold of a graph that is written.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "exchange/onnx/model.h"
#include "iropt/support/lookup.h"

namespace iropt::onnx {

// What is wrong with a model that was made, or nothing: each value is defined once and before its uses, an output has
// the name of another only if `outputs`, which the module states for the model, has it as often, types and dimensions
// are known where they must be and not negative, and the operator set has the operators for these types, as far as they
// are not in `known`. ONNX's checker and runtimes refuse other models. O(size of the model without tensors).
std::optional<std::string> FindMistake(const Model& model, std::span<const std::string_view> outputs,
                                       const LookupSet<std::string_view>& known);

}  // namespace iropt::onnx
