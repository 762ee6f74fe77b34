// The expansions of composite operators into elementwise operators and reductions.
#pragma once

#include <span>

#include "iropt/diag/diagnostic.h"
#include "iropt/infer/op_builder.h"
#include "iropt/support/result.h"

namespace iropt {

// The data of a normalization; null if its rank is not known, or the operands are not of one floating dtype.
const TensorType* DataOfNormalization(const Call& call);

// The vector with a dimension of 1 for every axis of a tensor of this rank but `axis`.
const Expr* ExpandToRank(const Expr* vector, int64_t rank, int64_t axis, OpBuilder calls);

// A batch_norm in inference as x * scale + shift, of vectors with an element for each channel.
struct ScaleAndShift {
  const Expr* scale = nullptr;
  const Expr* shift = nullptr;
  int64_t rank = 0;
  int64_t axis = 0;

  const Expr* Of(const Expr* x, OpBuilder calls) const;

 private:
  // The vector with a dimension of 1 for every axis after that of the channels.
  const Expr* AlongAxis(const Expr* vector, OpBuilder calls) const;
};
// Nothing if the rank or the dtype of the data is not known.
std::optional<ScaleAndShift> ScaleAndShiftOf(const Call& batch_norm, OpBuilder calls);

// Returns whether the axes are the last ones of a tensor of the rank, in their order: vectors of their lengths are
// broadcast along them without being reshaped.
bool AreLastAxes(std::span<const int64_t> axes, int64_t rank);

// The tuple that a batch_norm in inference returns: (x - mean) / sqrt(var + epsilon) * gamma + beta, and the moving
// mean and variance unchanged. Null if the rank or the dtype of the data is not known.
const Expr* DecomposeBatchNorm(const Call& call, OpBuilder calls);
// (x - mean) / sqrt(var + epsilon) * gamma + beta, of the mean and variance over the axes; null as before, and
// unless these are the last axes.
const Expr* DecomposeLayerNorm(const Call& call, OpBuilder calls);
// (x - mean) / sqrt(var + epsilon) * gamma + beta, of the mean and variance over the axes and the channels of a group;
// null as before, and unless the shape is known and its number of channels is a number. Null also without scale or
// center, which TVM's kernels apply nevertheless.
const Expr* DecomposeGroupNorm(const Call& call, OpBuilder calls);
// x / sqrt(mean of squares + epsilon) * weight, in float32 at least; null as for layer_norm.
const Expr* DecomposeRmsNorm(const Call& call, OpBuilder calls);

// The function with every batch_norm, and every tensor_to_shape, in simpler operators.
Result<const Function*> DecomposeOps(const Function* function, const Module& module, Workspace& workspace,
                                     DiagnosticEngine& diagnostics);

}  // namespace iropt
