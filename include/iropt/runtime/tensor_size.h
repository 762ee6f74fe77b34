// The memory of tensors that are to be allocated.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "iropt/ir/dtype.h"
#include "iropt/support/result.h"

namespace iropt {

// (2, 3), or (2,).
std::string ShapeText(std::span<const int64_t> shape);

// The number of bytes of a tensor. Fails if a dimension is negative or the tensor has more bytes than the limit: the
// error says so of the shape.
Result<uint64_t> TensorBytes(DataType dtype, std::span<const int64_t> shape, uint64_t limit);

}  // namespace iropt
