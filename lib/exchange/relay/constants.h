// Constants of Relax as the reader makes them.
#pragma once

#include <memory>
#include <span>

#include "iropt/ir/module.h"
#include "iropt/ir/ndarray.h"

namespace iropt::relay {

// The array as a constant with its type. The workspace keeps the array alive.
const Constant* MakeConstant(std::shared_ptr<const NDArray> array, Workspace& workspace);
// A constant whose elements are the values, rounded to the dtype.
const Constant* MakeConstant(DataType dtype, std::span<const int64_t> shape, std::span<const double> values,
                             Workspace& workspace);
const Constant* MakeConstant(DataType dtype, std::span<const int64_t> shape, std::span<const int64_t> values,
                             Workspace& workspace);
// The array with its elements converted.
const Constant* Convert(const NDArray& array, DataType dtype, Workspace& workspace);
// Of rank 0.
const Constant* MakeScalar(DataType dtype, double value, Workspace& workspace);
const Constant* MakeScalar(DataType dtype, int64_t value, Workspace& workspace);

}  // namespace iropt::relay
