// Elements of less than a byte as files have them.
#pragma once

#include <memory>

#include "iropt/ir/dtype.h"
#include "iropt/ir/ndarray.h"
#include "iropt/support/result.h"

namespace iropt::onnx {

// Elements of which host tensors have one in a byte, and files several.
inline bool IsPackedInFiles(DataType dtype) { return dtype.bits < 8 && !dtype.is_bool(); }

// The bytes for two or four elements each, the first one in the lowest bits. Big tensors are in a temporary file, and
// what is read of the elements in a file is given back. O(elements).
Result<std::shared_ptr<const NDArray>> PackElements(const NDArray& array);

}  // namespace iropt::onnx
