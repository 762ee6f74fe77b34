// Shardings: the division of distributed tensors among the devices of a mesh, and the rules of operators to propagate
// it.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "iropt/infer/infer.h"

namespace iropt {

// For each dimension of the mesh, the axis of the tensor that is split over it; -1 if every device has all of it.
using Placement = std::vector<int>;

// Reads "S[0], R", as the types of distributed tensors have it.
Placement ParsePlacement(std::string_view text);
// The reason why tensors of this type cannot lie so on the mesh, after "placement 'TEXT' "; empty if they can.
std::string PlacementProblem(std::string_view text, const TensorType& tensor, const DeviceMeshAttr& mesh);
const DTensorType* MakeDTensor(const TensorType* tensor, const DeviceMeshAttr* mesh, const Placement& placement);
inline Placement PlacementOf(const DTensorType& type) { return ParsePlacement(type.placement); }

// The axis of the result for each axis of each operand; -1 for none.
using AxisFlow = std::vector<std::vector<int>>;

// Of the call of an operator on these tensors, all of which have known shapes. Reports an error and gives nothing if
// the operator does not support distributed tensors.
std::optional<AxisFlow> AxisFlowOf(const Call& call, std::span<const TensorType* const> operands,
                                   const TensorType* result, InferContext& ctx);

}  // namespace iropt
