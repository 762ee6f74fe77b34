// Normalizations.
#include <fmt/format.h>

#include "dims.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/infer/ops/arithmetic.h"
#include "iropt/infer/ops/binary.h"
#include "iropt/infer/ops/create.h"
#include "iropt/infer/ops/nn.h"
#include "iropt/infer/ops/normalization.h"
#include "iropt/infer/ops/reduction.h"
#include "iropt/infer/ops/roots.h"
#include "op_table.h"

namespace iropt::relay {

namespace {

// Relay has no training: the moving averages stay as they are.
const Expr* BuildBatchNorm(OpCall& call) {
  const auto axis = call.Axis(call.Int("axis"), RankOf(call.arg(0)));
  if (!axis) return nullptr;
  return op::NnBatchNorm(call, call.arg(0), call.arg(1), call.arg(2), call.arg(3), call.arg(4),
                         {.axis = *axis,
                          .epsilon = call.Float("epsilon"),
                          .center = call.Bool("center"),
                          .scale = call.Bool("scale"),
                          .training = false});
}

// Relax's kernels use gamma and beta whatever `scale` and `center` say.
const Expr* Gamma(OpCall& call) { return call.Bool("scale") ? call.arg(1) : op::OnesLike(call, call.arg(1)); }
const Expr* Beta(OpCall& call) { return call.Bool("center") ? call.arg(2) : op::ZerosLike(call, call.arg(2)); }

const Expr* BuildLayerNorm(OpCall& call) {
  return op::NnLayerNorm(call, call.arg(0), Gamma(call), Beta(call),
                         {.axes = Ints{call.Int("axis")}, .epsilon = call.Float("epsilon")});
}

// All axes but the first and that of channels.
std::vector<int64_t> OtherAxes(int rank, int64_t channel) {
  std::vector<int64_t> axes;
  for (int64_t i = 1; i < rank; ++i) {
    if (i != channel) axes.push_back(i);
  }
  return axes;
}

const Expr* BuildGroupNorm(OpCall& call) {
  const int rank = RankOf(call.arg(0));
  const auto axis = call.Axis(call.Int("axis"), rank);
  if (!axis) return nullptr;
  return op::NnGroupNorm(call, call.arg(0), Gamma(call), Beta(call),
                         {.num_groups = call.Int("num_groups"),
                          .channel_axis = *axis,
                          .axes = OtherAxes(rank, *axis),
                          .epsilon = call.Float("epsilon")});
}

const Expr* BuildInstanceNorm(OpCall& call) {
  const int rank = RankOf(call.arg(0));
  const auto axis = call.Axis(call.Int("axis"), rank);
  if (!axis) return nullptr;
  return op::NnInstanceNorm(call, call.arg(0), Gamma(call), Beta(call),
                            {.channel_axis = *axis, .axes = OtherAxes(rank, *axis), .epsilon = call.Float("epsilon")});
}

// x / sqrt(max(sum(x * x), eps))
const Expr* BuildL2Normalize(OpCall& call) {
  const Expr* x = call.arg(0);
  const std::vector<int64_t> axes = call.Ints("axis");
  const Expr* squares =
      op::Sum(call, op::Multiply(call, x, x), {.axis = axes.empty() ? OptInts() : OptInts(axes), .keepdims = true});
  const Expr* bounded = op::Maximum(call, squares, call.Scalar(call.Float("eps"), DTypeOf(x)));
  return op::Divide(call, x, op::Sqrt(call, bounded));
}

// x / (bias + alpha / size * sum of squares of `size` neighbours) ^ beta
const Expr* BuildLrn(OpCall& call) {
  const Expr* x = call.arg(0);
  const auto dims = DimsOf(x);
  if (!dims) return call.Error("type-inference", "the shape of the operand is unknown");
  const auto axis = call.Axis(call.Int("axis"), static_cast<int>(dims->size()));
  if (!axis) return nullptr;
  const DataType dtype = DTypeOf(x);
  const int64_t size = call.Int("size");
  if (size < 1) return call.Error("bad-argument", fmt::format("size is {}: expected at least 1", size));
  if (!call.MayRepeat({size})) return nullptr;
  const int64_t half = size / 2;
  std::vector<int64_t> pad(2 * dims->size());
  pad[2 * static_cast<size_t>(*axis)] = half;
  pad[2 * static_cast<size_t>(*axis) + 1] = size - 1 - half;
  const Expr* squares = op::NnPad(call, op::Multiply(call, x, x), call.Scalar(0.0, dtype), {.pad_width = pad});
  const Expr* sum = nullptr;
  const arith::PrimBuilder make;
  for (int64_t i = 0; i < size; ++i) {
    const PrimExpr* begin = make.Int(i);
    const PrimExpr* end = make.Add((*dims)[static_cast<size_t>(*axis)], begin);
    const Expr* part = call.Slice(squares, {*axis}, {begin}, {end});
    sum = sum ? op::Add(call, sum, part) : part;
  }
  const Expr* scaled = op::Multiply(call, sum, call.Scalar(call.Float("alpha") / static_cast<double>(size), dtype));
  const Expr* base = op::Add(call, scaled, call.Scalar(call.Float("bias"), dtype));
  return op::Divide(call, x, op::Power(call, base, call.Scalar(call.Float("beta"), dtype)));
}

constexpr OperatorRow kNorm[] = {
    {"nn.batch_norm", "data, gamma, beta, moving_mean, moving_var", "axis=1, epsilon=1e-05, center=True, scale=True",
     BuildBatchNorm},
    {"nn.group_norm", "data, gamma, beta", "num_groups=0, axis=1, epsilon=1e-05, center=True, scale=True",
     BuildGroupNorm},
    {"nn.instance_norm", "data, gamma, beta", "axis=1, epsilon=1e-05, center=True, scale=True", BuildInstanceNorm},
    {"nn.l2_normalize", "data", "eps, axis=None", BuildL2Normalize},
    {"nn.layer_norm", "data, gamma, beta", "axis=-1, epsilon=1e-05, center=True, scale=True", BuildLayerNorm},
    {"nn.lrn", "data", "size=5, axis=1, bias=2, alpha=0.0001, beta=0.75", BuildLrn},
};

}  // namespace

std::span<const OperatorRow> NormOperators() { return kNorm; }

}  // namespace iropt::relay
