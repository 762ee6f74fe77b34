// Activations and reductions that are several operators in Relax.

#include <cmath>

#include "exchange/onnx/export/attributes.h"
#include "exchange/onnx/export/fusion_rows.h"
#include "iropt/ir/dtype.h"
#include "iropt/op/ops/activation.h"
#include "iropt/op/ops/arithmetic.h"
#include "iropt/op/ops/binary.h"
#include "iropt/op/ops/exponential.h"
#include "iropt/op/ops/reduction.h"
#include "iropt/op/ops/roots.h"
#include "iropt/op/ops/unary.h"
#include "iropt/runtime/value.h"

namespace iropt::onnx {

namespace {

using Match = std::optional<FusedNode>;

bool IsFloating(const Expr* expr) {
  const auto* type = As<TensorType>(expr->type);
  return type != nullptr && type->dtype.is_floating();
}

// A number that was rounded to a dtype.
bool IsNear(std::optional<double> number, double wanted) {
  return number && std::abs(*number - wanted) <= 1e-6 * std::max(1.0, std::abs(wanted));
}

// The other operand of an operation with a number.
const Expr* OtherThan(Matcher& matcher, const Call* call, double number) {
  if (call == nullptr) return nullptr;
  if (IsNear(matcher.Number(call->args[1]), number)) return call->args[0];
  if (IsNear(matcher.Number(call->args[0]), number)) return call->args[1];
  return nullptr;
}

// ---- Quotients

Match MatchReciprocal(Matcher& matcher, const Call& root) {
  if (matcher.Number(root.args[0]) != 1.0 || !IsFloating(root.args[1])) return std::nullopt;
  return FusedNode{.op = "Reciprocal", .inputs = {root.args[1]}};
}

// x / (1 + |x|)
Match MatchSoftsign(Matcher& matcher, const Call& root) {
  const Expr* abs_operand = OtherThan(matcher, matcher.Inner(root.args[1], op::kAdd), 1);
  const Call* abs = abs_operand ? matcher.Inner(abs_operand, op::kAbs) : nullptr;
  const Expr* x = abs ? matcher.Spread(abs->args[0], root.args[0]) : nullptr;
  return x ? Match(FusedNode{.op = "Softsign", .inputs = {x}}) : std::nullopt;
}

// (a - a mod b) / b, for a remainder with the sign of a: division towards zero.
Match MatchIntegerDiv(Matcher& matcher, const Call& root) {
  const Call* difference = matcher.Inner(root.args[0], op::kSubtract);
  const Call* remainder = difference ? matcher.Inner(difference->args[1], op::kMod) : nullptr;
  if (remainder == nullptr || !matcher.IsSame(remainder->args[0], difference->args[0]) ||
      !matcher.IsSame(remainder->args[1], root.args[1]))
    return std::nullopt;
  return FusedNode{.op = "Div", .inputs = {difference->args[0], root.args[1]}};
}

// ---- Comparisons

// x != 0 is the cast to booleans.
Match MatchCastToBool(Matcher& matcher, const Call& root) {
  if (matcher.Number(root.args[1]) != 0.0) return std::nullopt;
  return FusedNode{.op = "Cast", .inputs = {root.args[0]}, .attributes = {IntAttribute("to", 9)}};
}

// x == inf
Match MatchIsInf(Matcher& matcher, const Call& root) {
  const auto number = matcher.Number(root.args[1]);
  if (!number || !std::isinf(*number) || !IsFloating(root.args[0])) return std::nullopt;
  return FusedNode{.op = "IsInf",
                   .inputs = {root.args[0]},
                   .attributes = {IntAttribute(*number > 0 ? "detect_negative" : "detect_positive", 0)}};
}

// ---- Activations

// The number that limits a clip.
std::optional<double> LimitOf(const Expr* operand) {
  const auto* value = As<PrimValue>(operand);
  const auto* integer = value ? As<tir::IntImm>(value->value) : nullptr;
  if (integer != nullptr) return static_cast<double>(integer->value);
  const auto* number = value ? As<tir::FloatImm>(value->value) : nullptr;
  return number ? std::optional(number->value) : std::nullopt;
}

// clip(alpha * x + beta, 0, 1)
Match MatchHardSigmoid(Matcher& matcher, const Expr* clip_operand, const Call* clip) {
  if (clip == nullptr || !IsFloating(clip_operand)) return std::nullopt;
  if (LimitOf(clip->args[1]) != 0.0 || LimitOf(clip->args[2]) != 1.0) return std::nullopt;
  const Call* sum = matcher.Inner(clip->args[0], op::kAdd);
  const auto beta = sum ? matcher.Number(sum->args[1]) : std::nullopt;
  const Call* product = beta ? matcher.Inner(sum->args[0], op::kMultiply) : nullptr;
  const auto alpha = product ? matcher.Number(product->args[1]) : std::nullopt;
  if (!alpha) return std::nullopt;
  return FusedNode{.op = "HardSigmoid",
                   .inputs = {product->args[0]},
                   .attributes = {FloatAttribute("alpha", *alpha), FloatAttribute("beta", *beta)}};
}

Match MatchHardSigmoidAlone(Matcher& matcher, const Call& root) {
  return MatchHardSigmoid(matcher, root.args[0], &root);
}

// minimum(maximum(x, low), high), of limits of rank 0
template <int kOperand>
Match MatchClip(Matcher& matcher, const Call& root) {
  const auto is_scalar = [](const Expr* limit) {
    const auto* type = As<TensorType>(limit->type);
    return type != nullptr && type->ndim == 0;
  };
  const Call* maximum = matcher.Inner(root.args[kOperand], op::kMaximum);
  const Expr* high = root.args[1 - kOperand];
  if (maximum == nullptr || !is_scalar(high)) return std::nullopt;
  const uint32_t low = is_scalar(maximum->args[1]) ? 1 : 0;
  if (!is_scalar(maximum->args[low])) return std::nullopt;
  return FusedNode{.op = "Clip", .inputs = {maximum->args[1 - low], maximum->args[low], high}};
}

// clip(relu(x), low, high), where the upper limit is not below that of relu. For NaN, Relax has another result, and
// ONNX says nothing.
Match MatchClippedRelu(Matcher& matcher, const Call& root) {
  const Call* relu = matcher.Inner(root.args[0], op::kNnRelu);
  const auto low = LimitOf(root.args[1]);
  const auto high = LimitOf(root.args[2]);
  if (relu == nullptr || !IsFloating(root.args[0]) || !low || !high) return std::nullopt;
  const double least = std::max(*low, 0.0);
  if (!(least <= *high)) return std::nullopt;
  const std::pair<const char*, double> limits[] = {{"min", least}, {"max", *high}};
  FusedNode node{.op = "Clip", .inputs = {relu->args[0]}};
  for (const auto& [name, limit] : limits) {
    if (matcher.opset() < 11) {
      node.attributes.push_back(FloatAttribute(name, limit));
    } else {
      const DataType dtype = As<TensorType>(root.args[0]->type)->dtype;
      node.inputs.emplace_back(MadeTensor{MakeScalarTensor(iropt::Scalar::Float(limit, dtype))});
    }
  }
  return node;
}

template <int kOperand>
Match MatchHardSwish(Matcher& matcher, const Call& root) {
  const Expr* gate = root.args[kOperand];
  const Match sigmoid = MatchHardSigmoid(matcher, gate, matcher.Inner(gate, op::kClip));
  const Expr* x =
      sigmoid ? matcher.Spread(std::get<const Expr*>(sigmoid->inputs[0]), root.args[1 - kOperand]) : nullptr;
  if (x == nullptr) return std::nullopt;
  if (!IsNear(static_cast<double>(sigmoid->attributes[0].f), 1.0 / 6) || sigmoid->attributes[1].f != 0.5F)
    return std::nullopt;
  return FusedNode{.op = "HardSwish", .inputs = {x}};
}

// x * tanh(softplus(x))
template <int kOperand>
Match MatchMish(Matcher& matcher, const Call& root) {
  const Call* tanh = matcher.Inner(root.args[kOperand], op::kTanh);
  const Call* softplus = tanh ? matcher.Inner(tanh->args[0], op::kNnSoftplus) : nullptr;
  if (softplus == nullptr || SoftplusAttrs(*softplus).beta() != 1) return std::nullopt;
  const Expr* x = matcher.Spread(softplus->args[0], root.args[1 - kOperand]);
  if (x == nullptr) return std::nullopt;
  return FusedNode{.op = "Mish", .inputs = {x}};
}

// alpha * (exp(x / divisor) - 1)
struct Exponential {
  const Expr* x;
  double alpha;
  double divisor;
};

std::optional<Exponential> MatchExponential(Matcher& matcher, const Expr* operand, const Expr* x) {
  Exponential result{nullptr, 1, 1};
  if (const Call* scaled = matcher.Inner(operand, op::kMultiply)) {
    const auto alpha = matcher.Number(scaled->args[0]);
    if (!alpha) return std::nullopt;
    result.alpha = *alpha;
    operand = scaled->args[1];
  }
  const Call* grown = matcher.Inner(operand, op::kSubtract);
  const Call* exp = grown && matcher.Number(grown->args[1]) == 1.0 ? matcher.Inner(grown->args[0], op::kExp) : nullptr;
  if (exp == nullptr) return std::nullopt;
  result.x = exp->args[0];
  if (matcher.IsSame(result.x, x)) return result;
  const Call* quotient = matcher.Inner(result.x, op::kDivide);
  const auto divisor = quotient ? matcher.Number(quotient->args[1]) : std::nullopt;
  if (!divisor) return std::nullopt;
  result.divisor = *divisor;
  result.x = quotient->args[0];
  return result;
}

// where(x > 0, x, alpha * (exp(x / divisor) - 1))
std::optional<Exponential> MatchExponentialUnit(Matcher& matcher, const Call& where) {
  const Call* greater = matcher.Inner(where.args[0], op::kGreater);
  if (greater == nullptr || matcher.Number(greater->args[1]) != 0.0) return std::nullopt;
  const auto negative = MatchExponential(matcher, where.args[2], where.args[1]);
  if (!negative || !matcher.IsSame(greater->args[0], where.args[1]) || !matcher.IsSame(negative->x, where.args[1]))
    return std::nullopt;
  return negative;
}

Match MatchElu(Matcher& matcher, const Call& root) {
  const auto unit = MatchExponentialUnit(matcher, root);
  if (!unit || !IsFloating(root.args[1])) return std::nullopt;
  const bool is_celu = unit->divisor != 1;
  if (is_celu && (unit->divisor != unit->alpha || matcher.opset() < 12)) return std::nullopt;
  return FusedNode{
      .op = is_celu ? "Celu" : "Elu", .inputs = {root.args[1]}, .attributes = {FloatAttribute("alpha", unit->alpha)}};
}

Match MatchSelu(Matcher& matcher, const Call& root) {
  const auto gamma = matcher.Number(root.args[0]);
  const Call* where = gamma ? matcher.Inner(root.args[1], op::kWhere) : nullptr;
  const auto unit = where ? MatchExponentialUnit(matcher, *where) : std::nullopt;
  if (!unit || unit->divisor != 1 || !IsFloating(where->args[1])) return std::nullopt;
  return FusedNode{.op = "Selu",
                   .inputs = {where->args[1]},
                   .attributes = {FloatAttribute("alpha", unit->alpha), FloatAttribute("gamma", *gamma)}};
}

// where(x > alpha, x, 0)
Match MatchThresholdedRelu(Matcher& matcher, const Call& root) {
  const Call* greater = matcher.Inner(root.args[0], op::kGreater);
  const auto alpha = greater ? matcher.Number(greater->args[1]) : std::nullopt;
  if (!alpha || matcher.Number(root.args[2]) != 0.0 || !matcher.IsSame(greater->args[0], root.args[1]) ||
      !IsFloating(root.args[1]))
    return std::nullopt;
  return FusedNode{.op = "ThresholdedRelu", .inputs = {root.args[1]}, .attributes = {FloatAttribute("alpha", *alpha)}};
}

// where(x < 0, x * slope, x)
Match MatchPRelu(Matcher& matcher, const Call& root) {
  const Call* less = matcher.Inner(root.args[0], op::kLess);
  const Call* product = matcher.Inner(root.args[1], op::kMultiply);
  const Expr* x = root.args[2];
  if (less == nullptr || product == nullptr || matcher.Number(less->args[1]) != 0.0 ||
      !matcher.IsSame(less->args[0], x) || !matcher.IsSame(product->args[0], x) || !IsFloating(x))
    return std::nullopt;
  // The slope must not make the result larger.
  const auto* data = As<TensorType>(x->type);
  const auto* result = As<TensorType>(root.type);
  if (data == nullptr || result == nullptr || data->dims.size() != result->dims.size() || !data->known ||
      !result->known)
    return std::nullopt;
  for (uint32_t i = 0; i < data->dims.size(); ++i) {
    if (data->dims[i] != result->dims[i]) return std::nullopt;
  }
  if (matcher.opset() >= 7) return FusedNode{.op = "PRelu", .inputs = {x, product->args[1]}};
  // Before version 7, the slope has one number for each channel, or one for all.
  const iropt::Constant* slope = matcher.ConstantOf(product->args[1]);
  const auto* channels = data->ndim > 1 ? As<tir::IntImm>(data->dims[1]) : nullptr;
  if (slope == nullptr || slope->data->shape().size() <= 1 || channels == nullptr)
    return FusedNode{.op = "PRelu", .inputs = {x, product->args[1]}};
  const int64_t count = slope->data->num_elements() == 1 ? 1 : channels->value;
  auto vector = PerChannel(*slope->data, data->ndim, count);
  if (vector == nullptr) return std::nullopt;
  return FusedNode{.op = "PRelu", .inputs = {x, MadeTensor{std::move(vector), slope}}};
}

// ---- Reductions

// A reduction as a node, if ONNX takes its axes as attributes or they are all of them.
Match ReductionNode(Matcher& matcher, const Call& reduction, std::string_view op, const Expr* x) {
  const StatisticalAttrs attrs(reduction);
  FusedNode node{.op = op, .inputs = {x}, .attributes = {IntAttribute("keepdims", attrs.keepdims() ? 1 : 0)}};
  if (!attrs.axis()) return node;
  std::vector<int64_t> axes = attrs.axis()->vector();
  if (axes.empty()) return std::nullopt;
  if (matcher.opset() < 18) {
    node.attributes.push_back(IntsAttribute("axes", std::move(axes)));
  } else {
    auto array = NDArray::Make(DataType::Int(64), {static_cast<int64_t>(axes.size())});
    std::ranges::copy(axes, array->MutableAs<int64_t>().begin());
    node.inputs.emplace_back(MadeTensor{std::move(array)});
  }
  return node;
}

// The operand of a sum of squares.
const Expr* SquaredOperand(Matcher& matcher, const Call& sum) {
  const Call* product = matcher.Inner(sum.args[0], op::kMultiply);
  return product && matcher.IsSame(product->args[0], product->args[1]) ? product->args[0] : nullptr;
}

Match MatchReduceSum(Matcher& matcher, const Call& root) {
  if (const Call* abs = matcher.Inner(root.args[0], op::kAbs))
    return ReductionNode(matcher, root, "ReduceL1", abs->args[0]);
  const Expr* x = SquaredOperand(matcher, root);
  return x ? ReductionNode(matcher, root, "ReduceSumSquare", x) : std::nullopt;
}

Match MatchReduceL2(Matcher& matcher, const Call& root) {
  const Call* sum = matcher.Inner(root.args[0], op::kSum);
  const Expr* x = sum ? SquaredOperand(matcher, *sum) : nullptr;
  return x && IsFloating(x) ? ReductionNode(matcher, *sum, "ReduceL2", x) : std::nullopt;
}

Match MatchReduceLogSum(Matcher& matcher, const Call& root) {
  const Call* sum = matcher.Inner(root.args[0], op::kSum);
  return sum ? ReductionNode(matcher, *sum, "ReduceLogSum", sum->args[0]) : std::nullopt;
}

constexpr FusionRow kElementwiseFusions[] = {
    {op::kDivide, "Reciprocal", 6, MatchReciprocal},
    {op::kDivide, "Softsign", 1, MatchSoftsign},
    {op::kEqual, "IsInf", 10, MatchIsInf},
    {op::kFloorDivide, "Div", 7, MatchIntegerDiv},
    {op::kNotEqual, "Cast", 9, MatchCastToBool},
    {op::kMinimum, "Clip", 12, MatchClip<0>},
    {op::kMinimum, "Clip", 12, MatchClip<1>},
    {op::kClip, "HardSigmoid", 6, MatchHardSigmoidAlone},
    {op::kClip, "Clip", 6, MatchClippedRelu},
    {op::kMultiply, "HardSwish", 14, MatchHardSwish<0>},
    {op::kMultiply, "HardSwish", 14, MatchHardSwish<1>},
    {op::kMultiply, "Mish", 18, MatchMish<0>},
    {op::kMultiply, "Mish", 18, MatchMish<1>},
    {op::kMultiply, "Selu", 6, MatchSelu},
    {op::kWhere, "Elu", 6, MatchElu},
    {op::kWhere, "ThresholdedRelu", 10, MatchThresholdedRelu},
    {op::kWhere, "PRelu", 6, MatchPRelu},
    {op::kSum, "ReduceL1, ReduceSumSquare", 1, MatchReduceSum},
    {op::kSqrt, "ReduceL2", 1, MatchReduceL2},
    {op::kLog, "ReduceLogSum", 1, MatchReduceLogSum},
};

}  // namespace

std::span<const FusionRow> ElementwiseFusions() { return kElementwiseFusions; }

// All of them in one table, which is searched for each call.
std::span<const FusionRow> FusionRows() {
  static const std::vector<FusionRow> rows = [] {
    std::vector<FusionRow> all;
    for (const std::span<const FusionRow> family :
         {AttentionFusions(), BlockFusions(), LinearFusions(), ElementwiseFusions()})
      all.insert(all.end(), family.begin(), family.end());
    return all;
  }();
  return rows;
}

}  // namespace iropt::onnx
