// TIR intrinsics that compute a scalar from scalars.
#pragma once

#include <array>
#include <cstddef>

#include "iropt/eval/tir/scalar_eval.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "scalar_ops.h"

namespace iropt {

inline constexpr size_t kMaxIntrinsicArity = 7;

struct ScalarIntrinsic {
  OpId id;
  size_t arity = 1;
  // Exactly one of the three is set.
  const eval::UnaryOp* unary = nullptr;
  const eval::BinaryOp* binary = nullptr;
  bool (*special)(const Scalar* args, DataType dtype, Scalar* result) = nullptr;

  // False if the result is undefined.
  bool Apply(const Scalar* args, DataType dtype, Scalar* result) const;
};

// Null if the operator is not such an intrinsic. O(1).
const ScalarIntrinsic* FindScalarIntrinsic(const OpInfo& op);

// The rows of a table by the ids of their intrinsics; null for those without a row.
template <class Row>
using IntrinsicRows = std::array<const Row*, kNumIntrinsics>;
template <class Row, size_t kCount>
constexpr IntrinsicRows<Row> RowsById(const Row (&rows)[kCount]) {
  IntrinsicRows<Row> table{};
  for (const Row& row : rows) table[IntrinsicRowOf(row.id)] = &row;
  return table;
}
template <class Row>
const Row* RowOf(const IntrinsicRows<Row>& table, const OpInfo& op) {
  const size_t row = IntrinsicRowOf(op.id);
  return row < kNumIntrinsics ? table[row] : nullptr;
}

// Operations on scalars; false if the result is undefined.
bool ApplyScalar(const eval::UnaryOp& op, const Scalar& x, Scalar* result);
bool ApplyScalar(const eval::BinaryOp& op, const Scalar& a, const Scalar& b, Scalar* result);

}  // namespace iropt
