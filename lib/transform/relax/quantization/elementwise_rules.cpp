// Operators of each element of one or two tensors.
#include <algorithm>
#include <cmath>

#include "iropt/op/ops/activation.h"
#include "iropt/op/ops/arithmetic.h"
#include "iropt/op/ops/binary.h"
#include "iropt/op/ops/softmax.h"
#include "rules.h"
#include "transform/relax/util/tensor_axes.h"

namespace iropt {

namespace {

bool IsRank0(const Expr* param) {
  const TensorType* type = TensorTypeOf(param);
  return type && type->ndim == 0;
}

// A constant of the dtype of a tensor that broadcasts along its channels; null after a report.
const Expr* PerChannel(RuleCall& in, const std::vector<double>& values, const AffineType& type) {
  if (values.size() == 1) return MakeNumber(values.front(), type.dtype, in.workspace());
  const TensorType* tensor = TensorTypeOf(in.expr(0));
  const bool fits = tensor && type.axis >= 0 && type.axis < tensor->ndim &&
                    SizeOf(in.expr(0), static_cast<size_t>(type.axis)) == static_cast<int64_t>(values.size());
  if (!fits) {
    in.Fail("the channels are not an axis of the tensor");
    return nullptr;
  }
  std::vector<int64_t> shape(static_cast<size_t>(tensor->ndim), 1);
  shape[static_cast<size_t>(type.axis)] = static_cast<int64_t>(values.size());
  return MakeTensor(values, shape, type.dtype, in.workspace());
}

// As qnn.quantize computes it.
double Quantized(double value, double scale, double zero_point, DataType dtype) {
  const float scaled = static_cast<float>(value) / static_cast<float>(scale);
  const auto [least, most] = RangeOf(dtype);
  return std::clamp(std::nearbyint(static_cast<double>(scaled)) + zero_point, least, most);
}

Applied ApplyUnary(RuleCall& in, std::string_view name) {
  const AffineType* type = TypeOfTensor(in, 0);
  const AffineType* out = in.out_type();
  if (!type || !out) return std::nullopt;
  const Expr* value = in.Relay(name, {in.expr(0), type->scale, type->zero_point, out->scale, out->zero_point});
  return ValueOfType(value, *out, type->dtype);
}
// Both operands as quantized tensors, and the type of the result. One of them may be a constant, which is quantized as
// the other one is.
struct QuantizedOperands {
  IntegerValue lhs, rhs;
  AffineType out;

  const AffineType& lhs_type() const { return lhs.types.front(); }
  const AffineType& rhs_type() const { return rhs.types.front(); }
};
std::optional<QuantizedOperands> OperandsOf(RuleCall& in) {
  const AffineType* end = in.out_type();
  if (!end) return std::nullopt;
  QuantizedOperands operands{in.operand(0), in.operand(1), *end};
  if (!operands.lhs.is_quantized() && !operands.rhs.is_quantized()) return in.Fail("neither operand is quantized");
  const auto quantize = [&](IntegerValue& value, const AffineType& type) {
    value = {in.Quantize(value.expr, type), {type}};
  };
  if (!operands.lhs.is_quantized()) quantize(operands.lhs, operands.rhs_type());
  if (!operands.rhs.is_quantized()) quantize(operands.rhs, operands.lhs_type());
  if (operands.lhs_type().dtype != operands.out.dtype) operands.out = operands.lhs_type();
  if (!operands.lhs.expr || !operands.rhs.expr) return std::nullopt;
  return operands;
}

Applied ApplyBinary(RuleCall& in, const QuantizedOperands& of, std::string_view name) {
  if (!IsPerTensor(of.out)) return in.Fail("the result of an operator of two tensors has one scale and one zero point");
  const AffineType& l = of.lhs_type();
  const AffineType& r = of.rhs_type();
  const Expr* value = in.Relay(
      name, {of.lhs.expr, of.rhs.expr, l.scale, l.zero_point, r.scale, r.zero_point, of.out.scale, of.out.zero_point},
      {RuleCall::Attribute("lhs_axis", PyValue::Int(l.axis, {})),
       RuleCall::Attribute("rhs_axis", PyValue::Int(r.axis, {}))});
  return ValueOfType(value, of.out, l.dtype);
}

}  // namespace

Applied ApplyRelu(RuleCall& in) {
  const AffineType* type = TypeInOrder(in, 0);
  if (!type) return std::nullopt;
  const auto zeros = NumbersOf(type->zero_point);
  if (!zeros || zeros->empty()) return in.Fail("the zero point is not a constant");
  const auto channels = IsRank0(type->scale) ? std::optional<int64_t>(1) : SizeOf(type->scale, 0);
  if (!channels || (zeros->size() != 1 && static_cast<int64_t>(zeros->size()) != *channels))
    return in.Fail("the scale and the zero point do not fit each other");
  std::vector<double> values = *zeros;
  values.resize(static_cast<size_t>(*channels), zeros->front());
  return IntegerValue{in.Make(op::kMaximum, {in.expr(0), PerChannel(in, values, *type)}), {*type}};
}

// The bounds are quantized, toward zero if there is one scale.
Applied ApplyClip(RuleCall& in) {
  const AffineType* type = TypeInOrder(in, 0);
  const auto least = NumberOfScalar(in.call().args[1]);
  const auto most = NumberOfScalar(in.call().args[2]);
  if (!type) return std::nullopt;
  if (!least || !most) return in.Fail("a bound is not a constant");
  const auto scale = NumbersOf(type->scale);
  const auto zero = NumbersOf(type->zero_point);
  if (scale && zero && scale->size() == 1 && zero->size() == 1) {
    const auto quantized = [&](double bound) { return std::trunc(bound / scale->front() + zero->front()); };
    if (!std::isfinite(quantized(*least)) || !std::isfinite(quantized(*most))) return in.Fail("a bound is not finite");
    const auto [lowest, highest] = RangeOf(type->dtype);
    const auto bound = [lowest = lowest, highest = highest](std::string_view name, double value) {
      return RuleCall::Attribute(name, PyValue::Float(std::clamp(value, lowest, highest), {}));
    };
    const Expr* clipped =
        in.Relay("clip", {in.expr(0)}, {bound("a_min", quantized(*least)), bound("a_max", quantized(*most))});
    return IntegerValue{clipped, {*type}};
  }
  if (!scale || !zero || zero->empty()) return in.Fail("the parameters of the tensor are not constants");
  const auto bound = [&](double value) {
    std::vector<double> values;
    for (size_t i = 0; i < scale->size(); ++i)
      values.push_back(Quantized(value, (*scale)[i], (*zero)[zero->size() == 1 ? 0 : i], type->dtype));
    return PerChannel(in, values, *type);
  };
  const Expr* raised = in.Make(op::kMaximum, {in.expr(0), bound(*least)});
  return IntegerValue{in.Make(op::kMinimum, {raised, bound(*most)}), {*type}};
}

// TVM applies the operator to the quantized tensor first, which is wrong below the zero point.
Applied ApplyLeakyRelu(RuleCall& in) {
  const AffineType* type = TypeOfTensor(in, 0);
  const AffineType* out = in.out_type();
  if (!type || !out || !TypeInOrder(in, 0)) return std::nullopt;
  const double alpha = LeakyReluAttrs(in.call()).alpha();
  const Expr* value =
      in.Relay("qnn.leaky_relu", {in.expr(0), type->scale, type->zero_point, out->scale, out->zero_point},
               {RuleCall::Attribute("alpha", PyValue::Float(alpha, {}))});
  return ValueOfType(value, *out, type->dtype);
}

Applied ApplySoftmax(RuleCall& in) {
  const AffineType* type = TypeOfTensor(in, 0);
  const AffineType* out = in.out_type();
  if (!type || !out || !TypeInOrder(in, 0)) return std::nullopt;
  const Expr* value = in.Relay("qnn.softmax", {in.expr(0), type->scale, type->zero_point, out->scale, out->zero_point},
                               {RuleCall::Attribute("axis", PyValue::Int(SoftmaxAttrs(in.call()).axis(), {}))});
  return ValueOfType(value, *out, DataType::Int(8));
}

Applied ApplyAbs(RuleCall& in) { return ApplyUnary(in, "qnn.abs"); }
Applied ApplyErf(RuleCall& in) { return ApplyUnary(in, "qnn.erf"); }
Applied ApplyExp(RuleCall& in) { return ApplyUnary(in, "qnn.exp"); }
Applied ApplyHardswish(RuleCall& in) { return ApplyUnary(in, "qnn.hardswish"); }
Applied ApplyLog(RuleCall& in) { return ApplyUnary(in, "qnn.log"); }
Applied ApplyRsqrt(RuleCall& in) { return ApplyUnary(in, "qnn.rsqrt"); }
Applied ApplySigmoid(RuleCall& in) { return ApplyUnary(in, "qnn.sigmoid"); }
Applied ApplySqrt(RuleCall& in) { return ApplyUnary(in, "qnn.sqrt"); }
Applied ApplyTanh(RuleCall& in) { return ApplyUnary(in, "qnn.tanh"); }

// The sum of two tensors of 32 bits with one scale, as after a product, is that of the integers.
Applied ApplyAdd(RuleCall& in) {
  const std::optional<QuantizedOperands> of = OperandsOf(in);
  if (!of) return std::nullopt;
  const auto zeros = NumbersOf(of->out.zero_point);
  const bool is_plain = of->lhs_type().dtype == DataType::Int(32) && AreClose(of->lhs_type(), of->rhs_type()) &&
                        AreClose(of->lhs_type().scale, of->out.scale) &&
                        AreClose(of->lhs_type().zero_point, of->out.zero_point) && zeros &&
                        std::ranges::all_of(*zeros, [](double zero) { return zero == 0; });
  if (!is_plain) return ApplyBinary(in, *of, "qnn.add");
  return IntegerValue{in.Make(op::kAdd, {of->lhs.expr, of->rhs.expr}), {of->lhs_type()}};
}
Applied ApplySubtract(RuleCall& in) {
  const std::optional<QuantizedOperands> of = OperandsOf(in);
  return of ? ApplyBinary(in, *of, "qnn.subtract") : std::nullopt;
}
Applied ApplyMultiply(RuleCall& in) {
  const std::optional<QuantizedOperands> of = OperandsOf(in);
  return of ? ApplyBinary(in, *of, "qnn.mul") : std::nullopt;
}

// The order of numbers is that of the integers if both have the type of the result.
Applied ApplyExtremum(RuleCall& in) {
  const std::optional<QuantizedOperands> of = OperandsOf(in);
  if (!of) return std::nullopt;
  if (!KeepsOrder(of->out)) return in.Fail("the scale of the result is not a positive constant");
  const auto in_type = [&](const IntegerValue& value) {
    const AffineType& type = value.types.front();
    return AreEqual(type, of->out) ? value.expr : in.Requantize(value.expr, type, of->out);
  };
  const Expr* lhs = in_type(of->lhs);
  return IntegerValue{in.With({lhs, in_type(of->rhs)}), {of->out}};
}

}  // namespace iropt
