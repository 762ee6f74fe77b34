// Intrinsics of the loop level that compute a scalar from scalars.
#pragma once

#include <cstddef>
#include <vector>

#include "iropt/eval/tir/scalar_eval.h"
#include "iropt/op/op.h"
#include "scalar_ops.h"

namespace iropt {

inline constexpr size_t kMaxIntrinsicArity = 7;

struct ScalarIntrinsic {
  std::string_view name;
  size_t arity = 1;
  // One of the three computes it.
  const eval::UnaryOp* unary = nullptr;
  const eval::BinaryOp* binary = nullptr;
  bool (*special)(const Scalar* args, DataType dtype, Scalar* result) = nullptr;

  // False where the result is undefined.
  bool Apply(const Scalar* args, DataType dtype, Scalar* result) const;
};

// Null where the operator is no such intrinsic. O(1).
const ScalarIntrinsic* FindScalarIntrinsic(const OpInfo& op);

// The rows of a table of intrinsics, which have names, by the ids of the operators; null where there is none.
template <class Row, size_t kCount>
std::vector<const Row*> RowsByOp(const Row (&rows)[kCount]) {
  std::vector<const Row*> table(AllOps().size(), nullptr);
  for (const Row& row : rows) {
    const OpInfo* info = FindOp(row.name);
    IROPT_CHECK(info, "no operator {} in the table", row.name);
    table[info->id] = &row;
  }
  return table;
}

// Operations on scalars; false where the result is undefined.
bool ApplyScalar(const eval::UnaryOp& op, const Scalar& x, Scalar* result);
bool ApplyScalar(const eval::BinaryOp& op, const Scalar& a, const Scalar& b, Scalar* result);

}  // namespace iropt
