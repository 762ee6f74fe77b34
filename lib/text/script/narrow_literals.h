// Literals of elements that are stored but not computed with (IsNarrow).
#pragma once

#include <cstddef>
#include <cstdint>

#include "iropt/ir/dtype.h"
#include "iropt/ir/ndarray.h"
#include "iropt/support/file.h"

namespace iropt::text {

// Rounds a literal to an element of the dtype; false if it is not a number of it.
bool StoreLiteral(double number, DataType dtype, std::byte& element);
void PrintNarrow(const NDArray& array, int64_t index, OutputStream& out);

}  // namespace iropt::text
