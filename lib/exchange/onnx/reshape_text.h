// Reshapes as texts, by which the writer knows those that the model had.
#pragma once

#include <span>
#include <string>

#include "iropt/ir/type.h"

namespace iropt::onnx {

// The dimensions before and after.
std::string TextOfReshape(const TensorType& from, std::span<const PrimExpr* const> to);

}  // namespace iropt::onnx
