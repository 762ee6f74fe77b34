// Activations, losses and other operators of neural networks.
#include "iropt/infer/ops/nn.h"

#include <fmt/format.h>

#include "dims.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/infer/ops/activation.h"
#include "iropt/infer/ops/arithmetic.h"
#include "iropt/infer/ops/create.h"
#include "iropt/infer/ops/exponential.h"
#include "iropt/infer/ops/loss.h"
#include "iropt/infer/ops/reduction.h"
#include "iropt/infer/ops/reorder.h"
#include "iropt/infer/ops/repeat.h"
#include "iropt/infer/ops/shape.h"
#include "iropt/infer/ops/slice.h"
#include "iropt/infer/ops/softmax.h"
#include "iropt/infer/ops/unary.h"
#include "op_table.h"

namespace iropt::relay {

namespace {

const Expr* BuildRelu(OpCall& call) { return op::NnRelu(call, call.arg(0)); }

template <auto kOp>
const Expr* BuildSoftmax(OpCall& call) {
  return kOp(call, call.arg(0), {.axis = call.Int("axis")});
}

const Expr* BuildLeakyRelu(OpCall& call) { return op::NnLeakyrelu(call, call.arg(0), {.alpha = call.Float("alpha")}); }

const Expr* BuildPrelu(OpCall& call) { return op::NnPrelu(call, call.arg(0), call.arg(1), {.axis = call.Int("axis")}); }

const Expr* BuildHardSwish(OpCall& call) {
  const Expr* x = call.arg(0);
  const DataType dtype = DTypeOf(x);
  const Expr* shifted = op::Add(call, x, call.Scalar(3.0, dtype));
  const Expr* gate = op::Clip(call, shifted, call.PrimFloat(0), call.PrimFloat(6));
  return op::Divide(call, op::Multiply(call, x, gate), call.Scalar(6.0, dtype));
}

const Expr* BuildBiasAdd(OpCall& call) {
  const int rank = RankOf(call.arg(0));
  const auto axis = call.Axis(call.Int("axis"), rank);
  if (!axis) return nullptr;
  return op::Add(call, call.arg(0), AlongAxis(call, call.arg(1), *axis, rank));
}

const Expr* BuildBatchFlatten(OpCall& call) {
  const auto dims = DimsOf(call.arg(0));
  if (!dims || dims->empty()) return call.Error("type-inference", "the shape of the operand is unknown");
  const DimList shape{dims->front(), Product(std::span(*dims).subspan(1))};
  return call.Reshape(call.arg(0), shape);
}

// Relay runs programs in inference only: a tuple of the tensor and a mask that keeps all elements.
const Expr* BuildDropout(OpCall& call) {
  const Expr* const fields[] = {call.arg(0), op::OnesLike(call, call.arg(0))};
  return call.MakeTuple(fields);
}

// The tensor with `before` and `after` elements around the axis: copies of what `edge` gives for each end.
template <class F>
const Expr* PadAxis(OpCall& call, const Expr* data, int64_t axis, int64_t before, int64_t after, F&& edge) {
  std::vector<const Expr*> parts;
  if (before > 0) parts.push_back(edge(before, true));
  parts.push_back(data);
  if (after > 0) parts.push_back(edge(after, false));
  return parts.size() > 1 ? call.Concat(parts, axis) : data;
}

const Expr* SliceAxis(OpCall& call, const Expr* data, int64_t axis, const PrimExpr* begin, const PrimExpr* end) {
  return call.Slice(data, {axis}, {begin}, {end});
}

// One axis at a time. Mirrored, the elements next to an end follow it in reverse order; from the one after the end if
// `skip` is 1. Otherwise, the last element is repeated.
enum class EdgeMode : uint8_t { kMirror, kMirrorWithoutEnd, kRepeat };
const Expr* PadEdges(OpCall& call, EdgeMode mode) {
  const Expr* data = call.arg(0);
  const arith::PrimBuilder make;
  const int64_t skip = mode == EdgeMode::kMirrorWithoutEnd ? 1 : 0;
  const std::vector<int64_t> widths = call.NestedInts("pad_width");
  for (size_t i = 0; i < widths.size(); i += 2) {
    const auto dims = DimsOf(data);
    if (!dims || i + 1 == widths.size() || i / 2 >= dims->size())
      return call.Error("bad-argument", "pad_width does not fit the operand");
    const auto axis = static_cast<int64_t>(i / 2);
    const PrimExpr* size = (*dims)[i / 2];
    data = PadAxis(call, data, axis, widths[i], widths[i + 1], [&](int64_t count, bool front) {
      const int64_t used = mode == EdgeMode::kRepeat ? 1 : count;
      const Expr* edge =
          front ? SliceAxis(call, data, axis, make.Int(skip), make.Int(used + skip))
                : SliceAxis(call, data, axis, make.Sub(size, make.Int(used + skip)), make.Sub(size, make.Int(skip)));
      if (mode == EdgeMode::kRepeat) return op::Repeat(call, edge, {.repeats = count, .axis = axis});
      return op::Flip(call, edge, {.axis = axis});
    });
    if (data == nullptr) return nullptr;
  }
  return data;
}

const Expr* BuildMirrorPad(OpCall& call) {
  return PadEdges(call, call.String("mode") == "REFLECT" ? EdgeMode::kMirrorWithoutEnd : EdgeMode::kMirror);
}

// Up to TVM 0.7, the value is an attribute.
const Expr* BuildPad(OpCall& call) {
  if (call.String("pad_mode") == "reflect") return PadEdges(call, EdgeMode::kMirrorWithoutEnd);
  if (call.String("pad_mode") == "edge") return PadEdges(call, EdgeMode::kRepeat);
  const DataType dtype = DTypeOf(call.arg(0));
  const Expr* number = call.num_args() > 1 ? call.arg(1) : call.Scalar(call.Float("pad_value"), kFloat32);
  const Expr* value = call.Cast(number, dtype);
  return op::NnPad(call, call.arg(0), value,
                   {.pad_width = call.NestedInts("pad_width"), .pad_mode = call.String("pad_mode")});
}

// The mean over the batch of -sum(y * log(x)).
const Expr* MeanLoss(OpCall& call, const Expr* log, const Expr* y) {
  const auto dims = DimsOf(call.arg(0));
  if (!dims || dims->empty()) return call.Error("type-inference", "the shape of the operand is unknown");
  const DataType dtype = DTypeOf(call.arg(0));
  const Expr* loss = op::Negative(call, op::Sum(call, op::Multiply(call, log, y)));
  const int64_t* batch = arith::AsInt(dims->front());
  if (batch != nullptr) return op::Divide(call, loss, call.Scalar(static_cast<double>(*batch), dtype));
  const Expr* sizes = op::ShapeToTensor(call, op::ShapeOf(call, call.arg(0)));
  const Expr* first = op::Take(call, sizes, call.Scalar(int64_t{0}, DataType::Int(64)), {.axis = 0});
  return op::Divide(call, loss, call.Cast(first, dtype));
}

const Expr* BuildCrossEntropy(OpCall& call) { return MeanLoss(call, op::Log(call, call.arg(0)), call.arg(1)); }
const Expr* BuildCrossEntropyWithLogits(OpCall& call) { return MeanLoss(call, call.arg(0), call.arg(1)); }

const Expr* BuildNllLoss(OpCall& call) {
  return op::NnNllLoss(call, call.arg(0), call.arg(1), call.arg(2),
                       {.reduction = call.String("reduction"), .ignore_index = call.Int("ignore_index")});
}

constexpr OperatorRow kNn[] = {
    {"hardswish", "data", "", BuildHardSwish},
    {"nn.batch_flatten", "data", "", BuildBatchFlatten},
    {"nn.bias_add", "data, bias", "axis=1", BuildBiasAdd},
    {"nn.cross_entropy", "x, y", "", BuildCrossEntropy},
    {"nn.cross_entropy_with_logits", "x, y", "", BuildCrossEntropyWithLogits},
    {"nn.dropout", "data", "rate=0.5", BuildDropout},
    {"nn.leaky_relu", "data", "alpha=0.25", BuildLeakyRelu},
    {"nn.log_softmax", "data", "axis=-1", BuildSoftmax<op::NnLogSoftmax>},
    {"nn.mirror_pad", "data", "mode=\"SYMMETRIC\", pad_width", BuildMirrorPad},
    {"nn.nll_loss", "predictions, targets, weights", "reduction=\"mean\", ignore_index=-100", BuildNllLoss},
    {"nn.pad", "data, pad_val?", "pad_width, pad_mode=\"constant\", pad_value=0", BuildPad},
    {"nn.prelu", "data, alpha", "axis=1", BuildPrelu},
    {"nn.relu", "data", "", BuildRelu},
    {"nn.softmax", "data", "axis=-1", BuildSoftmax<op::NnSoftmax>},
};

}  // namespace

std::span<const OperatorRow> NnOperators() { return kNn; }

}  // namespace iropt::relay
