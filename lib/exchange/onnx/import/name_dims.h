// Symbolic variables for dimensions that are known at run time only.
#pragma once

#include <string_view>
#include <vector>

#include "iropt/ir/relax/expr.h"

namespace iropt::onnx {

// The type of a tensor of known rank and dtype whose shape is not known, with a new variable for each dimension: the
// value is cast to it by R.match_cast, so that later operators have a shape to work with. Those that are `known`, where
// others are null, are what they are. Null for other values.
const TensorType* NameDims(const Expr* value, std::string_view name, const std::vector<const PrimExpr*>* known);

}  // namespace iropt::onnx
