// Functions as arithmetic on tensors, less exact and faster than the operators: what Relay's fast_exp, fast_erf,
// fast_tanh and nn.fast_softmax compute.
#pragma once

#include <cstdint>

#include "iropt/ir/relax/builder.h"

namespace iropt {

// Each emits bindings to the builder's block, whose inferrer gives types, and returns the last operation. Only float32
// is approximated, by the formulas of TVM's topi; other dtypes give the operator itself.
const Expr* ApproximateExp(const Expr* x, BlockBuilder& builder);
const Expr* ApproximateErf(const Expr* x, BlockBuilder& builder);
const Expr* ApproximateTanh(const Expr* x, BlockBuilder& builder);
const Expr* ApproximateSoftmax(const Expr* x, int64_t axis, BlockBuilder& builder);

}  // namespace iropt
