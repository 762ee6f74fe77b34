// Type rules of neural-network operators without a window: normalization, attention, losses, gradients.
#include "iropt/op/ops/nn.h"

#include <fmt/format.h>

#include <algorithm>

#include "infer/type_util.h"
#include "iropt/op/ops/activation.h"
#include "iropt/op/ops/loss.h"
#include "iropt/op/ops/normalization.h"
#include "iropt/op/ops/softmax.h"

namespace iropt {

using namespace rules;

namespace {

bool CheckFloat(const Call& call, size_t i, const TensorType* t, InferContext& ctx) {
  if (t->dtype.is_void() || t->dtype.is_floating()) return true;
  ctx.Error(call, i,
            fmt::format("{} must have a floating-point dtype, but has {}", OperandName(call, i), t->dtype.ToString()));
  return false;
}

bool CheckSameDim(const Call& call, size_t i, Dim found, Dim expected, std::string_view what, InferContext& ctx) {
  if (!arith::ProveNotEqual(found, expected)) return true;
  ctx.Error(call, i,
            fmt::format("{} has {} {}, but {} is needed", OperandName(call, i), what, DimToString(found),
                        DimToString(expected)));
  return false;
}

}  // namespace

IROPT_TYPE_RULE(InferNnSoftmax, "that of `data`, which has a floating-point dtype") {
  const TensorType* x = UnaryArg(call, ctx);
  if (!x || !HasRank(x)) return x;
  if (!CheckFloat(call, 0, x, ctx)) return nullptr;
  return NormalizeAxis(call, x->ndim, SoftmaxAttrs(call).axis(), ctx) ? x : nullptr;
}

IROPT_TYPE_RULE(InferNnPad, "each length plus the `pad_width` before and after") {
  const TensorType* x[2];
  if (!TensorArgs(call, ctx, x)) return nullptr;
  const std::vector<int64_t> widths = PadAttrs(call).pad_width().vector();
  if (!HasRank(x[0]) || widths.size() != 2 * static_cast<size_t>(x[0]->ndim)) {
    return ctx.Error(call, fmt::format("needs two pad widths for each axis, but has {} for data of type {}",
                                       widths.size(), TypeToString(x[0])));
  }
  if (!x[0]->known) return TensorType::Get(x[0]->ndim, x[0]->dtype);
  DimList dims;
  for (size_t i = 0; i < x[0]->dims.size(); ++i) {
    const Dim added = kDims.Add(kDims.Int(widths[2 * i]), kDims.Int(widths[2 * i + 1]));
    dims.push_back(kDims.Add(x[0]->dims[i], added));
  }
  return TensorType::Get(dims, x[0]->dtype);
}

IROPT_TYPE_RULE(InferNnPrelu, "that of `data`, which has a floating-point dtype") {
  const TensorType* x[2];
  if (!TensorArgs(call, ctx, x)) return nullptr;
  if (!HasRank(x[0])) return x[0];
  if (!CheckFloat(call, 0, x[0], ctx)) return nullptr;
  return NormalizeAxis(call, x[0]->ndim, PReluAttrs(call).axis(), ctx) ? x[0] : nullptr;
}

IROPT_TYPE_RULE(InferNnBatchFlatten, "the first axis, and one of all other elements") {
  const TensorType* x = UnaryArg(call, ctx);
  if (!x || x->ndim == 2) return x;
  if (HasRank(x) && x->ndim < 2)
    return ctx.Error(call, 0, fmt::format("{} must have rank 2 or more, but has {}", OperandName(call, 0), x->ndim));
  if (!x->known) return WithRank(x, 2);
  const Dim dims[] = {x->dims[0], Product(x->dims.span().subspan(1))};
  return TensorType::Get(dims, x->dtype, x->vdevice);
}

IROPT_TYPE_RULE(InferNnPixelShuffle,
                "the two last axes times `upscale_factor`, by whose square the one before is divided") {
  const TensorType* x = UnaryArg(call, ctx);
  if (!x) return nullptr;
  const int64_t factor = PixelShuffleAttrs(call).upscale_factor();
  constexpr int64_t kMaxFactor = 1 << 30;
  if (factor <= 0 || factor > kMaxFactor)
    return ctx.Error(call, fmt::format("has upscale factor {}, which must be positive", factor));
  if (x->ndim < 3) {
    return ctx.Error(
        call, 0, fmt::format("{} must have rank 3 or more, but is of type {}", OperandName(call, 0), TypeToString(x)));
  }
  if (!x->known) return TensorType::Get(x->ndim, x->dtype);
  DimList dims(x->dims);
  const auto channel = static_cast<size_t>(x->ndim - 3);
  const Dim square = kDims.Int(factor * factor);
  if (arith::ProveNotEqual(kDims.FloorMod(dims[channel], square), kDims.Int(0))) {
    return ctx.Error(call, 0,
                     fmt::format("{} has {} channels, which {} does not divide", OperandName(call, 0),
                                 DimToString(dims[channel]), factor * factor));
  }
  dims[channel] = arith::Simplify(kDims.FloorDiv(dims[channel], square));
  for (const size_t i : {channel + 1, channel + 2}) dims[i] = kDims.Mul(dims[i], kDims.Int(factor));
  return TensorType::Get(dims, x->dtype);
}

// ---- Normalization

namespace {

// Checks that the parameters from the second operand on fit the data on the axes. kNo: they may or may not.
Known CheckNorm(const Call& call, std::span<const TensorType* const> x, std::span<const int64_t> given,
                InferContext& ctx) {
  const TensorType* data = x[0];
  std::vector<int> axes;
  if (HasRank(data) && !NormalizeAxes(call, data->ndim, given, ctx, axes)) return Known::kError;
  if (!CheckFloat(call, 0, data, ctx)) return Known::kError;
  DimList expected;
  for (const int axis : axes) {
    if (data->known) expected.push_back(data->dims[axis]);
  }
  const std::string rank = fmt::format("{} ({})", given.size(), given.size() == 1 ? "axis" : "axes");
  for (size_t i = 1; i < x.size(); ++i) {
    if (x[i]->dtype != data->dtype) {
      ctx.Error(call, i,
                fmt::format("{} must have dtype {} as the data, but has {}", OperandName(call, i),
                            data->dtype.ToString(), x[i]->dtype.ToString()));
      return Known::kError;
    }
    if (x[i]->ndim == static_cast<int>(given.size())) continue;
    ctx.Error(call, i,
              fmt::format("{} must have rank {}, but is of type {}", OperandName(call, i), rank, TypeToString(x[i])));
    return Known::kError;
  }
  // Without the data's shape the parameters are compared with each other.
  bool have_expected = data->known;
  for (size_t i = 1; i < x.size(); ++i) {
    if (!x[i]->known) continue;
    if (!have_expected) {
      expected = DimList(x[i]->dims);
      have_expected = true;
    }
    for (size_t d = 0; d < given.size(); ++d) {
      if (arith::ProveEqual(expected[d], x[i]->dims[d])) continue;
      return CheckSameDim(call, i, x[i]->dims[d], expected[d], "length", ctx) ? Known::kNo : Known::kError;
    }
  }
  return Known::kYes;
}

const Type* NormResult(const TensorType* data, Known known) {
  if (known == Known::kError) return nullptr;
  return known == Known::kYes ? data : WithRank(data, data->ndim);
}

}  // namespace

IROPT_TYPE_RULE(InferNnBatchNorm, "a tuple of the types of `data`, `moving_mean` and `moving_var`") {
  const TensorType* x[5];
  if (!TensorArgs(call, ctx, x)) return nullptr;
  const int64_t axis[] = {BatchNormAttrs(call).axis()};
  const Known known = CheckNorm(call, x, axis, ctx);
  if (known == Known::kError) return nullptr;
  const Type* moments = TensorType::Get(1, x[0]->dtype, x[0]->vdevice);
  const Type* unknown[] = {WithRank(x[0], x[0]->ndim), moments, moments};
  const Type* exact[] = {x[0], x[3], x[4]};
  return TupleType::Get(ctx.arena(), known == Known::kYes ? exact : unknown);
}

IROPT_TYPE_RULE(InferNnLayerNorm, "that of `data`; the parameters have the lengths of `axes`") {
  const TensorType* x[3];
  if (!TensorArgs(call, ctx, x)) return nullptr;
  return NormResult(x[0], CheckNorm(call, x, LayerNormAttrs(call).axes().vector(), ctx));
}

IROPT_TYPE_RULE(InferNnRmsNorm, "that of `data`; `weight` has the lengths of `axes`") {
  const TensorType* x[2];
  if (!TensorArgs(call, ctx, x)) return nullptr;
  return NormResult(x[0], CheckNorm(call, x, RMSNormAttrs(call).axes().vector(), ctx));
}

namespace {

// The axis of the channels, which is not one of the others; -1 if the rank is not known, nothing after an error.
std::optional<int> ChannelAxis(const Call& call, const TensorType* data, int64_t given, const IntList& others,
                               InferContext& ctx) {
  if (!HasRank(data)) return -1;
  const auto channel = NormalizeAxis(call, data->ndim, given, ctx);
  std::vector<int> axes;
  if (!channel || !NormalizeAxes(call, data->ndim, others.vector(), ctx, axes)) return std::nullopt;
  if (std::find(axes.begin(), axes.end(), *channel) == axes.end()) return channel;
  ctx.Error(call, fmt::format("the channel axis {} must not be one of the axes", *channel));
  return std::nullopt;
}

// The parameters after the data have its dtype and an element for each channel; `channels` is null if not known.
bool CheckChannelParams(const Call& call, std::span<const TensorType* const> x, Dim channels, InferContext& ctx) {
  for (size_t i = 1; i < x.size(); ++i) {
    if (x[i]->dtype != x[0]->dtype || x[i]->ndim != 1) {
      ctx.Error(call, i,
                fmt::format("{} must have dtype {} and rank 1, but is of type {}", OperandName(call, i),
                            x[0]->dtype.ToString(), TypeToString(x[i])));
      return false;
    }
    if (channels && x[i]->known && !CheckSameDim(call, i, x[i]->dims[0], channels, "length", ctx)) return false;
  }
  return true;
}

}  // namespace

IROPT_TYPE_RULE(InferNnGroupNorm,
                "that of `data`; the parameters have the length of `channel_axis`, which `num_groups` divides") {
  const TensorType* x[3];
  if (!TensorArgs(call, ctx, x)) return nullptr;
  const TensorType* data = x[0];
  const GroupNormAttrs attrs(call);
  const auto channel = ChannelAxis(call, data, attrs.channel_axis(), attrs.axes(), ctx);
  if (!channel || !CheckFloat(call, 0, data, ctx)) return nullptr;
  const Dim channels = data->known ? data->dims[*channel] : nullptr;
  const int64_t groups = attrs.num_groups();
  if (groups <= 0 || (channels && arith::ProveNotEqual(kDims.FloorMod(channels, kDims.Int(groups)), kDims.Int(0)))) {
    return ctx.Error(call, 0,
                     fmt::format("{} groups do not divide the {} channels of the data", groups,
                                 channels ? DimToString(channels) : "unknown"));
  }
  return CheckChannelParams(call, x, channels, ctx) ? data : nullptr;
}

IROPT_TYPE_RULE(InferNnInstanceNorm, "that of `data`; the parameters have the length of `channel_axis`") {
  const TensorType* x[3];
  if (!TensorArgs(call, ctx, x)) return nullptr;
  const InstanceNormAttrs attrs(call);
  const auto channel = ChannelAxis(call, x[0], attrs.channel_axis(), attrs.axes(), ctx);
  if (!channel) return nullptr;
  const Dim channels = x[0]->known ? x[0]->dims[*channel] : nullptr;
  return CheckChannelParams(call, x, channels, ctx) ? x[0] : nullptr;
}

IROPT_TYPE_RULE(InferNnDropout, "a tuple of the result and the mask, both of the type of `data`") {
  const TensorType* x = UnaryArg(call, ctx);
  if (!x) return nullptr;
  const Type* fields[] = {x, x};
  return TupleType::Get(ctx.arena(), fields);
}

// ---- Attention

IROPT_TYPE_RULE(InferNnAttention, "batch, sequence and heads of the first operand, the last length of the third") {
  if (!CheckArity(call, 3, 7, ctx)) return nullptr;
  std::vector<const TensorType*> x;
  for (size_t i = 0; i < call.args.size(); ++i) {
    x.push_back(TensorArg(call, i, ctx));
    if (!x.back()) return nullptr;
  }
  const bool has_bias = x.size() == 4;
  for (size_t i = 0; i < (has_bias ? 4u : 3u); ++i) {
    if (x[i]->ndim != 4)
      return ctx.Error(call, i,
                       fmt::format("{} must have rank 4, but is of type {}", OperandName(call, i), TypeToString(x[i])));
  }
  const TensorType* query = x[0];
  if (!query->known || !x[1]->known || !x[2]->known) return WithRank(query, 4);
  const List<Dim>& q = query->dims;
  const List<Dim>& k = x[1]->dims;
  const List<Dim>& v = x[2]->dims;
  const auto multiple = [&](size_t i, Dim heads) {
    if (!arith::ProveNotEqual(kDims.FloorMod(q[2], heads), kDims.Int(0))) return true;
    ctx.Error(call, i,
              fmt::format("{} has {} heads, which do not divide the {} heads of the query", OperandName(call, i),
                          DimToString(heads), DimToString(q[2])));
    return false;
  };
  if (!CheckSameDim(call, 1, k[0], q[0], "batch size", ctx) || !CheckSameDim(call, 2, v[0], q[0], "batch size", ctx))
    return nullptr;
  if (!multiple(1, k[2]) || !multiple(2, v[2])) return nullptr;
  if (!CheckSameDim(call, 2, v[1], k[1], "sequence length", ctx) ||
      !CheckSameDim(call, 1, k[3], q[3], "head dimension", ctx))
    return nullptr;
  if (has_bias && x[3]->known) {
    const List<Dim>& b = x[3]->dims;
    const auto broadcasts = [&](Dim bias, Dim expected, std::string_view what) {
      return IsOne(bias) || CheckSameDim(call, 3, bias, expected, what, ctx);
    };
    if (!broadcasts(b[0], q[0], "batch size") || !broadcasts(b[1], q[2], "heads") ||
        !broadcasts(b[2], q[1], "sequence length"))
      return nullptr;
    if (!CheckSameDim(call, 3, b[3], k[1], "sequence length", ctx)) return nullptr;
  }
  const Dim dims[] = {q[0], q[1], q[2], v[3]};
  return TensorType::Get(dims, query->dtype, query->vdevice);
}

// ---- Losses

IROPT_TYPE_RULE(InferNnCrossEntropyWithLogits, "rank 0, the dtype of both") {
  const TensorType* x[2];
  if (!TensorArgs(call, ctx, x)) return nullptr;
  const auto dtype = CommonDType(call, 0, x[0]->dtype, 1, x[1]->dtype, ctx);
  const auto vdevice = dtype ? CommonVDevice(call, x[0], x[1], ctx) : std::nullopt;
  if (!vdevice) return nullptr;
  if (HasRank(x[0]) && HasRank(x[1]) && x[0]->ndim != x[1]->ndim) {
    return ctx.Error(call, 1,
                     fmt::format("{} must have rank {} as the predictions, but has {}", OperandName(call, 1),
                                 x[0]->ndim, x[1]->ndim));
  }
  const List<Dim>* predictions = ShapeValues(x[0]);
  const List<Dim>* labels = ShapeValues(x[1]);
  for (uint32_t i = 0; predictions && labels && i < predictions->size(); ++i) {
    if (!CheckSameDim(call, 1, (*labels)[i], (*predictions)[i], fmt::format("on axis {} length", i), ctx))
      return nullptr;
  }
  return TensorType::Get(std::span<const Dim>(), *dtype, *vdevice);
}

namespace {

// Operands of nll_loss: predictions (C,) or (N, C, d1...), targets () or (N, d1...), weights (C,).
struct NllOperands {
  const TensorType* predictions;
  const TensorType* targets;
  const TensorType* weights;  // null if there are none
};

bool CheckNllRanks(const Call& call, const NllOperands& x, InferContext& ctx) {
  if (!x.targets->dtype.is_void() && !x.targets->dtype.is_integer()) {
    ctx.Error(
        call, 1,
        fmt::format("{} must have an integer dtype, but has {}", OperandName(call, 1), x.targets->dtype.ToString()));
    return false;
  }
  if (x.predictions->ndim == 0) {
    ctx.Error(call, 0, fmt::format("{} must not be a scalar", OperandName(call, 0)));
    return false;
  }
  if (HasRank(x.predictions) && HasRank(x.targets)) {
    const int k_predictions = std::max(x.predictions->ndim - 2, 0);
    const int k_targets = std::max(x.targets->ndim - 1, 0);
    if (k_predictions != k_targets) {
      ctx.Error(call, 1,
                fmt::format("{} has rank {}, which does not fit predictions of rank {}", OperandName(call, 1),
                            x.targets->ndim, x.predictions->ndim));
      return false;
    }
  }
  if (x.weights && HasRank(x.weights) && x.weights->ndim != 1) {
    ctx.Error(call, 2, fmt::format("{} must have rank 1, but has {}", OperandName(call, 2), x.weights->ndim));
    return false;
  }
  return true;
}

// Fills in the shape of the unreduced loss.
bool CheckNllShapes(const Call& call, const NllOperands& x, DimList& output, InferContext& ctx) {
  const List<Dim>* predictions = ShapeValues(x.predictions);
  const List<Dim>* targets = ShapeValues(x.targets);
  const List<Dim>* weights = x.weights ? ShapeValues(x.weights) : nullptr;
  if (!predictions) return true;
  const bool batched = predictions->size() > 1;
  if (batched) output.push_back((*predictions)[0]);
  for (uint32_t i = 2; i < predictions->size(); ++i) output.push_back((*predictions)[i]);
  if (targets && targets->empty() == batched) {
    ctx.Error(call, 1,
              fmt::format("targets of shape {} do not fit predictions of shape {}", DimsToString(*targets),
                          DimsToString(*predictions)));
    return false;
  }
  for (uint32_t i = 0; targets && i < targets->size(); ++i) {
    if (!CheckSameDim(call, 1, (*targets)[i], output[i], fmt::format("on axis {} length", i), ctx)) return false;
  }
  const Dim classes = (*predictions)[batched ? 1 : 0];
  return !weights || CheckSameDim(call, 2, (*weights)[0], classes, "length", ctx);
}

}  // namespace

IROPT_TYPE_RULE(InferNnNllLoss, "rank 0, or the shape of `targets` without reduction") {
  const std::string_view reduction = NLLLossAttrs(call).reduction();
  if (!CheckArity(call, 2, 3, ctx) || !CheckChoice(call, "reduction", reduction, "none mean sum", ctx)) return nullptr;
  NllOperands x{TensorArg(call, 0, ctx), nullptr, nullptr};
  if (x.predictions) x.targets = TensorArg(call, 1, ctx);
  if (!x.targets) return nullptr;
  DataType dtype = x.predictions->dtype;
  const VDeviceAttr* vdevice = x.predictions->vdevice;
  if (call.args.size() == 3) {
    x.weights = TensorArg(call, 2, ctx);
    const auto common = x.weights ? CommonDType(call, 0, dtype, 2, x.weights->dtype, ctx) : std::nullopt;
    const auto device = common ? CommonVDevice(call, x.predictions, x.weights, ctx) : std::nullopt;
    if (!device) return nullptr;
    dtype = *common;
    vdevice = *device;
  }
  DimList output;
  if (!CheckNllRanks(call, x, ctx) || !CheckNllShapes(call, x, output, ctx)) return nullptr;
  if (reduction != "none") return TensorType::Get(std::span<const Dim>(), dtype, vdevice);
  if (x.predictions->known) return TensorType::Get(output, dtype, vdevice);
  return TensorType::Get(HasRank(x.predictions) ? x.predictions->ndim - 1 : kUnknownDim, dtype, vdevice);
}

// ---- Gradients

IROPT_TYPE_RULE(InferGradIdentity, "that of the operand") {
  return CheckArity(call, 1, 1, ctx) ? call.args[0]->type : nullptr;
}

IROPT_TYPE_RULE(InferGradCheckpoint, "that of the operand, a variable") {
  if (!CheckArity(call, 1, 1, ctx)) return nullptr;
  if (Var::ClassOf(call.args[0]->kind)) return call.args[0]->type;
  return ctx.Error(call, 0, fmt::format("{} must be a variable", OperandName(call, 0)));
}

// The gradient of an input has the type of the input, which is the second operand.
IROPT_TYPE_RULE(InferGradNllLossBackward, "that of `predictions`") {
  return CheckArity(call, 3, 4, ctx) ? TensorArg(call, 1, ctx) : nullptr;
}
IROPT_TYPE_RULE(InferGradPool2dBackward, "that of `data`") {
  return CheckArity(call, 2, 2, ctx) ? TensorArg(call, 1, ctx) : nullptr;
}
IROPT_TYPE_RULE(InferGradTakeBackward, "that of `x`") {
  return CheckArity(call, 3, 3, ctx) ? TensorArg(call, 1, ctx) : nullptr;
}

}  // namespace iropt
