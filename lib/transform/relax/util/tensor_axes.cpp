#include "tensor_axes.h"

#include "iropt/op/ops/axes.h"

namespace iropt {

std::vector<int64_t> PermutationOf(const Call& permute_dims) {
  const TensorType* tensor = TensorTypeOf(permute_dims.args[0]);
  if (!tensor || tensor->ndim == kUnknownDim) return {};
  std::vector<int64_t> axes;
  if (const auto given = PermuteDimsAttrs(permute_dims).axes()) {
    for (const int64_t axis : *given) axes.push_back(axis < 0 ? axis + tensor->ndim : axis);
  } else {
    for (int64_t axis = tensor->ndim - 1; axis >= 0; --axis) axes.push_back(axis);
  }
  return axes;
}

}  // namespace iropt
