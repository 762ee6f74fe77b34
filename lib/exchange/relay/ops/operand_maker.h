// Operands that are not calls: shapes, numbers, tuples and constants.
#pragma once

#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

#include "call_arguments.h"
#include "expr_facts.h"

namespace iropt::relay {

using DimList = std::vector<const PrimExpr*>;

// Numbers or scalar expressions: the dimensions of a shape, the bounds of slices.
class Scalars {
 public:
  Scalars(std::initializer_list<int64_t> values) : Scalars(std::span(values.begin(), values.size())) {}  // NOLINT
  Scalars(const Ints& values) : Scalars(std::span(values)) {}                                            // NOLINT
  Scalars(std::span<const int64_t> values);                                                              // NOLINT
  Scalars(DimList values) : values_(std::move(values)) {}                                                // NOLINT
  Scalars(const PrimExpr* value) : values_{value} {}                                                     // NOLINT

  const DimList& values() const { return values_; }

 private:
  DimList values_;
};

class OperandMaker {
 public:
  explicit OperandMaker(Workspace& workspace) : workspace_(workspace) {}

  Workspace& workspace() { return workspace_; }
  const Expr* MakeTuple(std::span<const Expr* const> fields);
  const Expr* Shape(const Scalars& dims);
  const Expr* Prims(const Scalars& values);  // a tuple
  const Expr* Prim(const PrimExpr* value);
  const Expr* Prim(int64_t value);
  const Expr* PrimFloat(double value);
  const Expr* Item(const Expr* tuple, int index);
  // A constant of rank 0.
  const Expr* Scalar(double value, DataType dtype);
  const Expr* Scalar(int64_t value, DataType dtype);
  const Expr* IntTensor(std::span<const int64_t> values, DataType dtype);
  PyValue ListOf(std::span<const int64_t> values);
  PyValue ListOf(std::initializer_list<int64_t> values) { return ListOf(std::span(values.begin(), values.size())); }
  PyValue ListOf(std::span<const PyValue> values);
  PyValue DTypeValue(DataType dtype);  // "float32"
  // The fields of a tuple: of a literal, or projections.
  std::vector<const Expr*> Fields(const Expr* tuple);

 private:
  Workspace& workspace_;
};

}  // namespace iropt::relay
