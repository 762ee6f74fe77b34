// Literal arrays in PrimFuncs: the data of T.allocate_const.
#pragma once

#include <memory>
#include <vector>

#include "iropt/infer/py_value.h"
#include "iropt/ir/ndarray.h"
#include "iropt/support/file.h"

namespace iropt::text {

// The numbers of a list of lists, in order. Other values count as numbers, so that the conversion fails.
void FlattenNumbers(const PyValue& value, std::vector<PyValue>& out);
// Null if a value is not a constant of the dtype.
std::shared_ptr<const NDArray> ArrayOf(const std::vector<PyValue>& numbers, DataType dtype, std::vector<int64_t> shape);
// All elements as a list.
void PrintArray(const NDArray& array, OutputStream& out);

}  // namespace iropt::text
