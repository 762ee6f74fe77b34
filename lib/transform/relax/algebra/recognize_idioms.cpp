// RecognizeIdioms: replaces the arithmetic that layer_norm, rms_norm and gelu are written in by these operators.
//
//   mean = R.mean(x, axis=[-1], keepdims=True)
//   d = R.subtract(x, mean)
//   v = R.mean(R.power(d, R.const(2.0)), axis=[-1], keepdims=True)
//   n = R.divide(d, R.sqrt(R.add(v, R.const(1e-5))))
//   y = R.add(R.multiply(n, gamma), beta)                --> y = R.nn.layer_norm(x, gamma, beta, axes=[-1])
//
// Without the mean and beta it is R.nn.rms_norm. Squares may be products, the root may be R.rsqrt or a power; the axes
// are the last ones, and gamma and beta have their shape. x * (1 + erf(x / sqrt(2))) * 0.5 is R.nn.gelu, and with
// tanh(sqrt(2 / pi) * (x + 0.044715 * x ** 3)) it is R.nn.gelu_tanh, in any order of the factors. This comes
// before FoldScaleAxis, which moves gamma and 0.5 into the weights after them and so leaves arithmetic that runtimes
// have no kernel for. The logarithm of a softmax is left alone: where the softmax is 0 it is -inf, which log_softmax is
// not. Changed functions are cleaned up. O(nodes).
//
// Source: the idea is that of the fusions of ONNX Runtime; the forms are those that exporters write.
#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <optional>
#include <vector>

#include "decompose.h"
#include "iropt/infer/op_builder.h"
#include "iropt/infer/ops/normalization.h"
#include "iropt/ir/ndarray.h"
#include "iropt/op/ops/activation.h"
#include "iropt/op/ops/arithmetic.h"
#include "iropt/op/ops/binary.h"
#include "iropt/op/ops/exponential.h"
#include "iropt/op/ops/reduction.h"
#include "iropt/op/ops/roots.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/runtime/value.h"
#include "transform/relax/util/apply_rules.h"
#include "transform/relax/util/tensor_axes.h"

namespace iropt {

namespace {

std::optional<double> NumberOf(const Expr* expr) {
  const auto* constant = As<Constant>(expr);
  if (constant == nullptr || constant->data->num_elements() != 1) return std::nullopt;
  const std::optional<Scalar> scalar = ScalarOf(*constant->data);
  return scalar ? std::optional(scalar->ToDouble()) : std::nullopt;
}

Pattern Number() {
  return IsConstant().Where([](const Expr* e) { return NumberOf(e).has_value(); });
}
Pattern Number(double value) {
  return IsConstant().Where([=](const Expr* e) { return NumberOf(e) == value; });
}

// A number that has been rounded to the digits of float32 or fewer.
Pattern NumberNear(double value) {
  return IsConstant().Where([=](const Expr* e) {
    const std::optional<double> number = NumberOf(e);
    return number && std::abs(*number - value) <= 1e-4 * value;
  });
}

Pattern Op2(OpId op, const Pattern& a, const Pattern& b) { return IsCall(GetOp(op), {a, b}); }

// x / sqrt(mean(x * x) + epsilon), as it is written.
struct RootMeanSquareNorm {
  explicit RootMeanSquareNorm(const Pattern& x)
      : mean(IsCall(GetOp(op::kMean), {Op2(op::kPower, x, Number(2)) | Op2(op::kMultiply, x, x)}).UsedOnce()),
        epsilon(Number()) {
    const Pattern sum = Op2(op::kAdd, mean, epsilon).Commutative().UsedOnce();
    const Pattern root = IsCall(GetOp(op::kSqrt), {sum}) | Op2(op::kPower, sum, Number(0.5));
    const Pattern inverse =
        IsCall(GetOp(op::kRsqrt), {sum}) | Op2(op::kPower, sum, Number(-0.5)) | Op2(op::kDivide, Number(1), root);
    result = Op2(op::kDivide, x, root) | Op2(op::kMultiply, x, inverse).Commutative();
  }

  Pattern mean;
  Pattern epsilon;
  Pattern result = Wildcard();
};

// The axes of a mean that keeps them as 1, if they are the last ones of floats.
std::optional<std::vector<int64_t>> LastAxesOf(const Call& mean) {
  const StatisticalAttrs attrs(mean);
  const TensorType* data = TensorTypeOf(mean.args[0]);
  const auto axes = attrs.axis();
  if (!axes || !attrs.keepdims() || data == nullptr || data->ndim < 1) return std::nullopt;
  if (data->dtype != DataType::Float(32) && data->dtype != DataType::Float(64)) return std::nullopt;
  std::vector<int64_t> sorted;
  for (const int64_t axis : *axes) sorted.push_back(axis < 0 ? axis : axis - data->ndim);
  std::ranges::sort(sorted);
  return AreLastAxes(sorted, data->ndim) ? std::optional(sorted) : std::nullopt;
}

// Returns whether the parameter has one element for each place along the axes.
bool FitsAxes(const Expr* parameter, const TensorType& data, size_t num_axes) {
  const TensorType* type = TensorTypeOf(parameter);
  if (type == nullptr || !type->known || !data.known || type->dtype != data.dtype) return false;
  if (type->dims.size() != num_axes || data.dims.size() < num_axes) return false;
  return std::equal(type->dims.begin(), type->dims.end(), data.dims.end() - num_axes);
}

void AddLayerNorm(RuleSet& rules) {
  const Pattern x = Wildcard();
  const Pattern mean = IsCall(GetOp(op::kMean), {x}).UsedOnce();
  const RootMeanSquareNorm norm(Op2(op::kSubtract, x, mean));
  const Pattern gamma = Wildcard();
  const Pattern beta = Wildcard();
  const Pattern scaled = Op2(op::kMultiply, norm.result.UsedOnce(), gamma).Commutative().UsedOnce();
  rules.Add({"layer-norm", Op2(op::kAdd, scaled, beta).Commutative(),
             [=](const Match& match, BlockBuilder& builder) -> const Expr* {
               const auto axes = LastAxesOf(*match.CallAt(mean));
               const auto same = LastAxesOf(*match.CallAt(norm.mean));
               const TensorType* data = TensorTypeOf(match[x]);
               if (!axes || axes != same || !FitsAxes(match[gamma], *data, axes->size()) ||
                   !FitsAxes(match[beta], *data, axes->size()))
                 return nullptr;
               return op::NnLayerNorm(OpBuilder(builder), match[x], match[gamma], match[beta],
                                      {.axes = *axes, .epsilon = *NumberOf(match[norm.epsilon])});
             }});
}

void AddRmsNorm(RuleSet& rules) {
  const Pattern x = Wildcard();
  const RootMeanSquareNorm norm(x);
  const Pattern gamma = Wildcard();
  rules.Add({"rms-norm", Op2(op::kMultiply, norm.result.UsedOnce(), gamma).Commutative(),
             [=](const Match& match, BlockBuilder& builder) -> const Expr* {
               const auto axes = LastAxesOf(*match.CallAt(norm.mean));
               const TensorType* data = TensorTypeOf(match[x]);
               // Of what a mean was subtracted from, it is a part of layer normalization.
               const auto* centered = As<Call>(DefinitionOf(match[x], match.definitions()));
               if (!axes || (centered != nullptr && IsOp(centered->op, op::kSubtract)) ||
                   !FitsAxes(match[gamma], *data, axes->size()))
                 return nullptr;
               return op::NnRmsNorm(OpBuilder(builder), match[x], match[gamma],
                                    {.axes = *axes, .epsilon = *NumberOf(match[norm.epsilon])});
             }});
}

// x * (1 + f) * 0.5, in any order.
Pattern HalfOfSum(const Pattern& x, const Pattern& f) {
  const auto product = [](const Pattern& a, const Pattern& b) {
    return Op2(op::kMultiply, a, b).Commutative().UsedOnce();
  };
  const Pattern sum = Op2(op::kAdd, f.UsedOnce(), Number(1)).Commutative().UsedOnce();
  const Pattern half = Number(0.5);
  const auto root = [](const Pattern& a, const Pattern& b) { return Op2(op::kMultiply, a, b).Commutative(); };
  return root(product(x, sum), half) | root(product(x, half), sum) | root(x, product(sum, half));
}

void AddGelu(RuleSet& rules) {
  const auto add = [&](const char* name, const Pattern& x, const Pattern& form, OpId op) {
    rules.Add({name, form, [=](const Match& match, BlockBuilder& builder) -> const Expr* {
                 const TensorType* type = TensorTypeOf(match[x]);
                 // In narrow floats, the operator does not round what is between.
                 if (type == nullptr || !type->dtype.is_floating() || type->dtype.bits < 32) return nullptr;
                 return OpBuilder(builder).Make(op, {match[x]});
               }});
  };
  const Pattern x = Wildcard();
  const Pattern scaled = Op2(op::kDivide, x, NumberNear(std::numbers::sqrt2)) |
                         Op2(op::kMultiply, x, NumberNear(std::numbers::sqrt2 / 2)).Commutative();
  add("gelu", x, HalfOfSum(x, IsCall(GetOp(op::kErf), {scaled})), op::kNnGelu);

  const Pattern y = Wildcard();
  const Pattern square = Op2(op::kMultiply, y, y) | Op2(op::kPower, y, Number(2));
  const Pattern cube = Op2(op::kPower, y, Number(3)) | Op2(op::kMultiply, square, y).Commutative();
  const Pattern inner = Op2(op::kAdd, y, Op2(op::kMultiply, cube, NumberNear(0.044715)).Commutative()).Commutative();
  // sqrt(2 / pi)
  const double factor = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
  const Pattern tanh = IsCall(GetOp(op::kTanh), {Op2(op::kMultiply, inner, NumberNear(factor)).Commutative()});
  add("gelu-tanh", y, HalfOfSum(y, tanh), op::kNnGeluTanh);
}

RuleSet MakeRecognizeIdiomsRules() {
  RuleSet rules;
  AddLayerNorm(rules);
  AddRmsNorm(rules);
  AddGelu(rules);
  return rules;
}

}  // namespace

Pass CreateRecognizeIdioms(const PassOptions& options) {
  return CreateRulePass(options.info(), std::make_shared<const RuleSet>(MakeRecognizeIdiomsRules()));
}

}  // namespace iropt
