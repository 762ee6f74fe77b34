// One array in numpy's format (.npy).
#pragma once

#include <string>

#include "bytes.h"

namespace iropt::data {

Result<std::shared_ptr<const NDArray>> ReadNpy(const Bytes& file);

// The size of the file in bytes, which its header states; nothing if `first`, its first bytes, end before that.
Result<std::optional<uint64_t>> NpySize(std::string_view first);

// The preamble and header before the elements; fails for dtypes that numpy does not have.
Result<std::string> NpyHeader(const NDArray& array);

}  // namespace iropt::data
