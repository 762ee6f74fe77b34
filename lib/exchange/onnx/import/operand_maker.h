// Operands that are not calls: constants, numbers, shapes and tuples.
#pragma once

#include <initializer_list>
#include <memory>
#include <span>

#include "iropt/ir/module.h"
#include "iropt/ir/ndarray.h"

namespace iropt::onnx {

class OperandMaker {
 public:
  explicit OperandMaker(Workspace& workspace) : workspace_(workspace) {}

  Workspace& workspace() { return workspace_; }
  // A constant of rank 0, of float32, which most tensors have, where the dtype is not known.
  const Expr* Scalar(double value, DataType dtype);
  const Expr* Constant(std::shared_ptr<const NDArray> array);
  const Expr* IntTensor(std::span<const int64_t> values, std::initializer_list<int64_t> dims);
  const Expr* Shape(std::span<const PrimExpr* const> dims);
  const Expr* Shape(std::span<const int64_t> dims);
  const Expr* Prim(int64_t value);
  const Expr* Prim(const PrimExpr* value);
  // The number in a tensor of one element.
  const Expr* ScalarPrim(const NDArray& array);
  // A number of a floating dtype.
  const Expr* PrimFloat(double value, DataType dtype);
  const Expr* Tuple(std::span<const Expr* const> fields);
  // A field of an expression that has a tuple type.
  const Expr* Field(const Expr* tuple, int index);

 private:
  Workspace& workspace_;
};

}  // namespace iropt::onnx
