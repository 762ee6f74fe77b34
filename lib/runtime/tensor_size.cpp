#include "iropt/runtime/tensor_size.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "iropt/ir/ndarray.h"

namespace iropt {

std::string ShapeText(std::span<const int64_t> shape) {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

Result<uint64_t> TensorBytes(DataType dtype, std::span<const int64_t> shape, uint64_t limit) {
  if (std::ranges::any_of(shape, [](int64_t dim) { return dim < 0; }))
    return Error{ErrorCode::SemanticCheck, fmt::format("a dimension is negative in the shape {}", ShapeText(shape))};
  const std::optional<uint64_t> bytes = ArrayBytes(dtype, shape);
  if (bytes && *bytes <= limit) return *bytes;
  return Error{ErrorCode::Budget,
               fmt::format("a tensor of shape {} is over the limit of {} bytes", ShapeText(shape), limit)};
}

}  // namespace iropt
