// Shapes that are computed: tensors of integers as dimensions, and dimensions as tensors.
#pragma once

#include <optional>

#include "dims.h"

namespace iropt::relay {

// The elements of a vector of integers, or of a scalar, as dimensions: those of a constant; those of the tensor whose
// shape it is; else new symbolic variables that are bound here. There are as many as the type says, or as expected.
// Nothing after an error.
std::optional<DimList> DimsFrom(OpCall& call, const Expr* numbers, size_t expected = 0);

// The first of these dimensions; null after an error, which it is if there are none.
const PrimExpr* DimFrom(OpCall& call, const Expr* number);

// The dimensions of the tensor whose shape the vector is; nothing if it is not the shape of a tensor.
std::optional<DimList> DimsOfShape(OpCall& call, const Expr* vector);

// The shape of a tensor as an int64 vector; a constant if all dimensions are known.
const Expr* ShapeVector(OpCall& call, const Expr* tensor);
// One dimension as a scalar.
const Expr* SizeOfAxis(OpCall& call, const Expr* tensor, int64_t axis, DataType dtype);
// The weights of coordinates in a flat index of a tensor of the shape, which is a vector: for each, the product of the
// dimensions after it.
const Expr* WeightsOf(OpCall& call, const Expr* shape);

// The tensor with a symbolic variable for each dimension that its type does not have.
const Expr* WithNamedDims(OpCall& call, const Expr* tensor);

// The tensor with these dimensions, which it is known to have although its type may not say so.
const Expr* WithDims(OpCall& call, const Expr* tensor, const DimList& dims);

}  // namespace iropt::relay
