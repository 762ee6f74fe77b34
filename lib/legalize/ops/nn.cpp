// Legalization of operators of neural networks; activations are in unary.cpp.
#include "iropt/op/ops/nn.h"

#include <optional>
#include <string_view>
#include <vector>

#include "iropt/legalize/legalize.h"
#include "iropt/legalize/topi.h"
#include "iropt/op/ops/activation.h"
#include "iropt/op/ops/attention.h"
#include "iropt/op/ops/loss.h"
#include "iropt/op/ops/normalization.h"
#include "iropt/op/ops/softmax.h"

namespace iropt::legalize {

using te::Tensor;
using te::Value;

const Expr* LegalizeNnSoftmax(LegalizeCall& call) {
  TeCall te(call, "softmax");
  return te.Finish({topi::Softmax(te.Arg(0), SoftmaxAttrs(call.call()).axis())});
}

const Expr* LegalizeNnLogSoftmax(LegalizeCall& call) {
  TeCall te(call, "log_softmax");
  return te.Finish({topi::LogSoftmax(te.Arg(0), SoftmaxAttrs(call.call()).axis())});
}

const Expr* LegalizeNnCrossEntropyWithLogits(LegalizeCall& call) {
  TeCall te(call, "cross_entropy_with_logits");
  const std::vector<Tensor> inputs = te.Inputs(call.call().args.span());
  const Tensor sum = topi::Sum(topi::Multiply(inputs[0], inputs[1]), std::nullopt);
  const Tensor negated = topi::Multiply(sum, te.Const(-1, sum.dtype()));
  return te.Finish({inputs[0].ndim() > 1 ? topi::Divide(negated, inputs[0].dim(0)) : negated});
}

const Expr* LegalizeNnBatchNorm(LegalizeCall& call) {
  const BatchNormAttrs attrs(call.call());
  TeCall te(call, "batch_norm");
  const std::vector<Tensor> in = te.Inputs(call.call().args.span());
  const topi::BatchNormOptions options = {attrs.axis(),  attrs.epsilon(),  attrs.center(),
                                          attrs.scale(), attrs.momentum(), attrs.training() && !call.is_inference()};
  return te.Finish(topi::BatchNorm(in[0], in[1], in[2], in[3], in[4], options));
}

namespace {

// TVM's layer_norm and group_norm take these dtypes.
bool IsNormalizable(const LegalizeCall& call) {
  const DataType dtype = call.TensorArg(0)->dtype;
  return dtype == DataType::Float(32) || dtype == DataType::Float(16);
}

template <class Attrs>
topi::NormOptions OptionsOf(const Attrs& attrs) {
  return {attrs.epsilon(), attrs.center(), attrs.scale()};
}

}  // namespace

const Expr* LegalizeNnLayerNorm(LegalizeCall& call) {
  const LayerNormAttrs attrs(call.call());
  if (!IsNormalizable(call)) return call.Unchanged("only float32 and float16 are supported");
  TeCall te(call, "layer_norm");
  const std::vector<Tensor> in = te.Inputs(call.call().args.span());
  return te.Finish({topi::LayerNorm(in[0], in[1], in[2], attrs.axes().vector(), OptionsOf(attrs))});
}

const Expr* LegalizeNnInstanceNorm(LegalizeCall& call) {
  const InstanceNormAttrs attrs(call.call());
  if (!IsNormalizable(call)) return call.Unchanged("only float32 and float16 are supported");
  TeCall te(call, "instance_norm");
  const std::vector<Tensor> in = te.Inputs(call.call().args.span());
  return te.Finish(
      {topi::InstanceNorm(in[0], in[1], in[2], attrs.channel_axis(), attrs.axes().vector(), OptionsOf(attrs))});
}

const Expr* LegalizeNnPixelShuffle(LegalizeCall& call) {
  const int64_t factor = PixelShuffleAttrs(call.call()).upscale_factor();
  TeCall te(call, "pixel_shuffle");
  const Tensor x = te.Arg(0);
  const size_t channel = x.ndim() - 3;
  te::Shape shape = x.shape();
  shape[channel] = te.Simplify(te::FloorDiv(shape[channel], factor * factor));
  for (size_t k = 1; k < 3; ++k) shape[channel + k] = shape[channel + k] * factor;
  return te.Finish({te.Compute(
      "PixelShuffle", shape,
      [&](te::Values i) {
        std::vector<te::Value> at(i.begin(), i.end());
        at[channel] = i[channel] * factor * factor + te::FloorMod(i[channel + 1], factor) * factor +
                      te::FloorMod(i[channel + 2], factor);
        for (size_t k = 1; k < 3; ++k) at[channel + k] = te::FloorDiv(i[channel + k], factor);
        return x(te::Values(at));
      },
      te::PythonAxes())});
}

const Expr* LegalizeNnPrelu(LegalizeCall& call) {
  TeCall te(call, "prelu");
  const Tensor x = te.Arg(0);
  Tensor slopes = te.Arg(1);
  const size_t axis = topi::RealAxis(x.ndim(), PReluAttrs(call.call()).axis());
  if (slopes.ndim() != 1) return call.Unchanged("its slopes are not a vector");
  if (slopes.dim(0).Is(1)) {
    const te::Value length[] = {x.dim(axis)};
    const Tensor single = slopes;
    slopes = te.Compute(
        "slope_broadcasted", length, [&](te::Values) { return single(te::Value(0)); }, te::PythonAxes({"c"}));
  }
  const auto value = [&](te::Values i) {
    return te::Select(x(i) > te.Const(0, x.dtype()), x(i), x(i) * slopes(i[axis]));
  };
  return te.Finish({te.Compute("compute", x.shape(), value, te::PythonAxes())});
}

const Expr* LegalizeNnSoftplus(LegalizeCall& call) {
  const SoftplusAttrs attrs(call.call());
  TeCall te(call, "softplus");
  const Tensor x = te.Arg(0);
  const auto number = [&](double value) { return te.Const(value, x.dtype()); };
  const te::Value beta = number(attrs.beta());
  return te.Finish({topi::Map(x, [&](te::Value v) {
    const te::Value smooth = te::Div(number(1), beta) * topi::Log(number(1) + topi::Exp(beta * v));
    return te::Select(beta * v > number(attrs.threshold()), v, smooth);
  })});
}

const Expr* LegalizeNnGroupNorm(LegalizeCall& call) {
  const GroupNormAttrs attrs(call.call());
  if (!IsNormalizable(call)) return call.Unchanged("only float32 and float16 are supported");
  TeCall te(call, "group_norm");
  const std::vector<Tensor> in = te.Inputs(call.call().args.span());
  return te.Finish({topi::GroupNorm(in[0], in[1], in[2], attrs.num_groups(), attrs.channel_axis(),
                                    attrs.axes().vector(), OptionsOf(attrs))});
}

const Expr* LegalizeNnRmsNorm(LegalizeCall& call) {
  const RMSNormAttrs attrs(call.call());
  TeCall te(call, "rms_norm");
  const std::vector<Tensor> in = te.Inputs(call.call().args.span());
  return te.Finish({topi::RmsNorm(in[0], in[1], attrs.axes().vector(), attrs.epsilon())});
}

// Since TVM 0.26 it is that of inference: the operand, and a mask that keeps all elements.
const Expr* LegalizeNnDropout(LegalizeCall& call) {
  if (call.version() < TextVersion::kV0_26) return call.Unchanged("a frontend or DecomposeOps replaces it");
  TeCall te(call, "dropout");
  const Tensor x = te.Arg(0);
  const auto one = [&](te::Values) { return te.Const(1, x.dtype()); };
  return te.Finish({topi::Map(x, [](Value v) { return v; }), te.Compute("T_full_like", x.shape(), one)});
}

const Expr* LegalizeNnPad(LegalizeCall& call) {
  const PadAttrs attrs(call.call());
  if (attrs.pad_mode() != "constant") return call.Unchanged("its pad mode is not 'constant'");
  const std::vector<int64_t> widths = attrs.pad_width().vector();
  TeCall te(call, "pad");
  const PrimExpr* pad_value = AsScalarConstant(call.arg(1), te.make());
  if (!pad_value) return call.Unchanged("its value is not a constant number");
  const Tensor x = te.Arg(0);
  std::vector<Value> before, after;
  for (size_t i = 0; i + 1 < widths.size(); i += 2) {
    before.emplace_back(widths[i]);
    after.emplace_back(widths[i + 1]);
  }
  const Value value = te::Cast(x.dtype(), Value(pad_value, te));
  return te.Finish({topi::Pad(x, before, after, value)});
}

const Expr* LegalizeNnNllLoss(LegalizeCall& call) {
  const NLLLossAttrs attrs(call.call());
  const bool has_weights = call.num_args() == 3;
  TeCall te(call, has_weights ? "nll_loss" : "nll_loss_without_weight");
  const std::vector<Tensor> in = te.Inputs(call.call().args.span());
  const Value classes = in[0].dim(in[0].ndim() > 1 ? 1 : 0);
  const Tensor weights =
      has_weights ? in[2] : topi::Full(te, te::Values(&classes, 1), in[0].dtype(), te.Const(1, in[0].dtype()));
  return te.Finish({topi::NllLoss(in[0], in[1], weights, attrs.reduction(), attrs.ignore_index())});
}

// ---- Attention

namespace {

// The weights of a causal softmax: exponentials of the scores up to the diagonal, normalized. The other scores do not
// count for the maximum: next to one of 0, the exponentials of scores like -200 would all be 0.
Tensor CausalSoftmax(const Tensor& scores, Value offset) {
  const Tensor masked = topi::Trilu(scores, offset, false, scores.te().MinValue(scores.dtype()));
  const Tensor max = topi::Reduce(masked, std::vector<int64_t>{-1}, true, te::Reducer::kFiniteMax);
  const Tensor exp = topi::Trilu(topi::Map(topi::Subtract(masked, max), topi::Exp), offset, false);
  return topi::Divide(exp, topi::Sum(exp, std::vector<int64_t>{-1}, true));
}

// q, k and v are (batch, sequence, head, element).
Tensor Attention(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& bias, const AttentionAttrs& attrs) {
  te::Builder& te = q.te();
  const Value heads = q.dim(0) * q.dim(2);
  const auto by_head = [&](const Tensor& x) {
    const int64_t order[] = {0, 2, 1, 3};
    return topi::Transpose(x, order);
  };
  const auto flatten = [&](const Tensor& x, Value length, Value size) {
    const Value shape[] = {heads, length, size};
    return topi::Reshape(x, shape);
  };
  const Tensor query_by_head = by_head(q);
  const Tensor key_by_head = by_head(k);
  const Tensor value_by_head = by_head(v);
  const Tensor query = flatten(query_by_head, q.dim(1), q.dim(3));
  const Tensor key = flatten(key_by_head, v.dim(1), q.dim(3));
  const Tensor value = flatten(value_by_head, v.dim(1), v.dim(3));
  Tensor scores = topi::BatchMatmul(query, key, true);
  if (attrs.scale()) {
    scores = topi::Multiply(scores, te.Const(*attrs.scale(), scores.dtype()));
  } else {
    scores = topi::Divide(scores, topi::Sqrt(te::Cast(scores.dtype(), q.dim(3))));
  }
  if (bias) {
    const Value shape[] = {q.dim(0), q.dim(2), q.dim(1), v.dim(1)};
    scores = flatten(topi::Add(topi::Reshape(scores, shape), bias), q.dim(1), v.dim(1));
  }
  Tensor weights;
  if (!attrs.causal_mask()) {
    weights = topi::Softmax(scores, -1);
  } else {
    const bool from_end = *attrs.causal_mask() == "BottomRight";
    weights = CausalSoftmax(scores, from_end ? topi::Abs(q.dim(1) - v.dim(1)) : te.Int(0));
  }
  const Value shape[] = {q.dim(0), q.dim(2), q.dim(1), v.dim(3)};
  return by_head(topi::Reshape(topi::BatchMatmul(weights, value, false), shape));
}

const Expr* LegalizeAttention(LegalizeCall& call, std::string_view name) {
  const AttentionAttrs attrs(call.call());
  if (attrs.window_size()) return call.Unchanged("attention with a sliding window is not supported");
  TeCall te(call, name);
  const std::vector<Tensor> in = te.Inputs(call.call().args.span());
  return te.Finish({Attention(in[0], in[1], in[2], in.size() > 3 ? in[3] : Tensor(), attrs)});
}

}  // namespace

const Expr* LegalizeNnAttention(LegalizeCall& call) { return LegalizeAttention(call, "attention"); }
const Expr* LegalizeNnAttentionBias(LegalizeCall& call) { return LegalizeAttention(call, "attention_bias"); }

}  // namespace iropt::legalize
