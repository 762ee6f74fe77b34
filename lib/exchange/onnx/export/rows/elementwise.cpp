// Operators that compute each element by itself.

#include <fmt/format.h>

#include <algorithm>

#include "exchange/onnx/export/fusion_rows.h"
#include "exchange/onnx/export/op_rows.h"
#include "iropt/op/ops/activation.h"
#include "iropt/op/ops/arithmetic.h"
#include "iropt/op/ops/binary.h"
#include "iropt/op/ops/datatype.h"
#include "iropt/op/ops/dropout.h"
#include "iropt/op/ops/exponential.h"
#include "iropt/op/ops/roots.h"
#include "iropt/op/ops/softmax.h"
#include "iropt/op/ops/trigonometric.h"
#include "iropt/op/ops/unary.h"

namespace iropt::onnx {

namespace {

// ---- One operand

Names ExportRsqrt(OpExport& op) { return {op.Add("Reciprocal", {op.Add("Sqrt", {op.In(0)})})}; }
Names ExportSquare(OpExport& op) { return {op.Add("Mul", {op.In(0), op.In(0)})}; }

Names ExportIsFinite(OpExport& op) {
  const std::string_view infinite = op.Add("IsInf", {op.In(0)});
  return {op.Add("Not", {op.Add("Or", {infinite, op.Add("IsNaN", {op.In(0)})})})};
}

Names ExportTrunc(OpExport& op) {
  if (!op.Dtype(0).is_floating()) return {op.In(0)};
  return {op.Add("Mul", {op.Add("Sign", {op.In(0)}), op.Add("Floor", {op.Add("Abs", {op.In(0)})})})};
}

// Integers stay as they are.
Names ExportRounding(OpExport& op) {
  if (!op.Dtype(0).is_floating()) return {op.In(0)};
  return {op.Add(op.onnx_op(), {op.In(0)})};
}

Names ExportClip(OpExport& op) {
  const auto low = op.FloatArg(1);
  const auto high = op.FloatArg(2);
  if (!low || !high) return op.Lacks("its limits are not numbers");
  const DataType dtype = op.Dtype(0);
  if (!(*low <= *high)) {
    // Where the limits cross, the lower one holds in R.clip, and the upper one in ONNX.
    if (op.version() < 8) return op.Needs(8);
    return {op.Add("Max", {op.Add("Min", {op.In(0), op.Scalar(*high, dtype)}), op.Scalar(*low, dtype)})};
  }
  if (op.version() >= 11) return {op.Add("Clip", {op.In(0), op.Scalar(*low, dtype), op.Scalar(*high, dtype)})};
  return {op.Add("Clip", {op.In(0)}, {FloatAttribute("min", *low), FloatAttribute("max", *high)})};
}

// ---- Two operands

// Place of the second operand of an old operator in the first one: its dimensions without those of 1 at both ends are
// those from `axis` on.
struct OldBroadcast {
  int64_t axis;
  std::vector<int64_t> ones;  // axes of the second operand to squeeze
};

std::optional<OldBroadcast> OldBroadcastOf(const TensorType* a, const TensorType* b) {
  if (a == nullptr || b == nullptr || !a->known || !b->known || b->ndim > a->ndim) return std::nullopt;
  const auto is_one = [](const PrimExpr* dim) {
    const auto* number = As<tir::IntImm>(dim);
    return number != nullptr && number->value == 1;
  };
  uint32_t begin = 0;
  uint32_t end = b->dims.size();
  const uint32_t first = a->dims.size() - b->dims.size();
  while (begin < end && is_one(b->dims[begin]) && !is_one(a->dims[first + begin])) ++begin;
  while (end > begin && is_one(b->dims[end - 1]) && !is_one(a->dims[first + end - 1])) --end;
  OldBroadcast result{.axis = static_cast<int64_t>(first) + begin, .ones = {}};
  for (uint32_t i = 0; i < b->dims.size(); ++i) {
    if (i < begin || i >= end)
      result.ones.push_back(i);
    else if (a->dims[first + i] != b->dims[i])
      return std::nullopt;
  }
  return result;
}

// An operand without axes of length 1. A constant has none as it is written.
std::string_view WithoutOnes(OpExport& op, size_t operand, const std::vector<int64_t>& ones) {
  const auto* constant = As<iropt::Constant>(op.Resolved(operand));
  if (constant == nullptr || ones.empty()) return ones.empty() ? op.In(operand) : op.Squeeze(op.In(operand), ones);
  std::vector<int64_t> dims;
  const std::span<const int64_t> shape = constant->data->shape();
  for (size_t i = 0; i < shape.size(); ++i) {
    if (!std::ranges::binary_search(ones, static_cast<int64_t>(i))) dims.push_back(shape[i]);
  }
  return op.exporter().context().Initializer(Reshaped(*constant->data, dims), "");
}

// Before version 7, only the second operand broadcasts, from a dimension on that the node names.
Names ExportBroadcasting(OpExport& op) {
  const std::string_view name = op.onnx_op();
  if (op.version() >= 7) return {op.Add(name, {op.In(0), op.In(1)})};
  const bool commutes = name == "Add" || name == "Mul" || name == "Equal";
  std::optional<OldBroadcast> broadcast = OldBroadcastOf(op.TypeOf(0), op.TypeOf(1));
  const size_t a = !broadcast && commutes ? 1 : 0;
  if (a == 1) broadcast = OldBroadcastOf(op.TypeOf(1), op.TypeOf(0));
  if (!broadcast) return op.Needs(7);
  // Sum does not broadcast, and takes the same types.
  if (op.Rank(0) == op.Rank(1) && broadcast->ones.empty())
    return {op.Add(name == "Add" && op.Dtype(0).is_floating() ? "Sum" : name, {op.In(a), op.In(1 - a)})};
  std::vector<AttributeProto> attributes{IntAttribute("broadcast", 1)};
  const bool is_scalar = broadcast->ones.size() == static_cast<size_t>(op.Rank(1 - a));
  const std::string_view b = is_scalar ? op.In(1 - a) : WithoutOnes(op, 1 - a, broadcast->ones);
  if (!is_scalar) attributes.push_back(IntAttribute("axis", broadcast->axis));
  return {op.Add(name, {op.In(a), b}, std::move(attributes))};
}

// Before version 8, the operands have one shape.
Names ExportExtremum(OpExport& op) {
  if (op.version() < 8) {
    const auto a = StaticDimsOf(op.TypeOf(0));
    if (!a || a != StaticDimsOf(op.TypeOf(1))) return op.Needs(8);
  }
  const bool is_small = IsSmallInteger(op.Dtype(0));
  if ((is_small || op.Dtype(0) == DataType::UInt(32)) && op.version() < 12) {
    // As floats, which hold them: runtimes do not choose among such integers.
    const DataType wide = DataType::Float(is_small ? 32 : 64);
    const auto as_float = [&](size_t i) { return op.Cast(op.In(i), op.Dtype(i), wide); };
    return {op.Cast(op.Add(op.onnx_op(), {as_float(0), as_float(1)}), wide, op.Dtype(0))};
  }
  if (op.Dtype(0) == DataType::UInt(64) && op.version() < 12) return op.Needs(12);
  if (!op.Dtype(0).is_floating()) return {op.exporter().IntExtremum(op.onnx_op(), op.In(0), op.In(1))};
  return {op.Add(op.onnx_op(), {op.In(0), op.In(1)})};
}

// ONNX divides integers towards zero.
Names ExportFloorDivide(OpExport& op) {
  if (op.Dtype(0).is_floating()) return {op.Add("Floor", {op.Add("Div", {op.In(0), op.In(1)})})};
  if (op.Dtype(0).is_uint()) return {op.Add("Div", {op.In(0), op.In(1)})};
  const std::string_view remainder = op.Add("Mod", {op.In(0), op.In(1)});
  return {op.Add("Div", {op.Add("Sub", {op.In(0), remainder}), op.In(1)})};
}

Names ExportFloorMod(OpExport& op) {
  if (!op.Dtype(0).is_floating()) return {op.Add("Mod", {op.In(0), op.In(1)})};
  const std::string_view quotient = op.Add("Floor", {op.Add("Div", {op.In(0), op.In(1)})});
  return {op.Add("Sub", {op.In(0), op.Add("Mul", {quotient, op.In(1)})})};
}

Names ExportMod(OpExport& op) { return {op.Add("Mod", {op.In(0), op.In(1)}, {IntAttribute("fmod", 1)})}; }

Names ExportNotEqual(OpExport& op) { return {op.Add("Not", {op.Add("Equal", {op.In(0), op.In(1)})})}; }

// Before version 12, there are only the strict comparisons.
Names ExportOrEqual(OpExport& op, std::string_view opposite) {
  if (op.version() >= 12) return {op.Add(op.onnx_op(), {op.In(0), op.In(1)})};
  return {op.Add("Not", {op.Add(opposite, {op.In(0), op.In(1)})})};
}
Names ExportGreaterEqual(OpExport& op) { return ExportOrEqual(op, "Less"); }
Names ExportLessEqual(OpExport& op) { return ExportOrEqual(op, "Greater"); }

Names ExportShift(OpExport& op, std::string_view direction) {
  return {op.Add(op.onnx_op(), {op.In(0), op.In(1)}, {TextAttribute("direction", direction)})};
}
Names ExportLeftShift(OpExport& op) { return ExportShift(op, "LEFT"); }
Names ExportRightShift(OpExport& op) { return ExportShift(op, "RIGHT"); }

// On booleans these are logical operators in both.
Names ExportBitwise(OpExport& op) {
  Names inputs;
  for (size_t i = 0; i < op.num_args(); ++i) inputs.push_back(op.In(i));
  if (op.Dtype(0).is_bool()) return {op.Add(op.onnx_op().substr(std::string_view("Bitwise").size()), inputs)};
  if (op.version() < 18) return op.Needs(18);
  return {op.Add(op.onnx_op(), inputs)};
}

// log(exp(a) + exp(b))
Names ExportLogAddExp(OpExport& op) {
  const std::string_view max = op.Add("Max", {op.In(0), op.In(1)});
  const auto part = [&](size_t i) { return op.Add("Exp", {op.Add("Sub", {op.In(i), max})}); };
  return {op.Add("Add", {op.Add("Log", {op.Add("Add", {part(0), part(1)})}), max})};
}

Names ExportFma(OpExport& op) { return {op.Add("Add", {op.Add("Mul", {op.In(0), op.In(1)}), op.In(2)})}; }

// ---- Activations

// From version 20 on there is an operator.
Names ExportGelu(OpExport& op) {
  if (op.version() >= 20) return {op.Add("Gelu", {op.In(0)})};
  const DataType dtype = op.Dtype(0);
  const std::string_view erf = op.Add("Erf", {op.Add("Div", {op.In(0), op.Scalar(1.4142135623730951, dtype)})});
  const std::string_view factor = op.Add("Add", {erf, op.Scalar(1, dtype)});
  return {op.Add("Mul", {op.Add("Mul", {op.In(0), factor}), op.Scalar(0.5, dtype)})};
}

Names ExportGeluTanh(OpExport& op) {
  if (op.version() >= 20) return {op.Add("Gelu", {op.In(0)}, {TextAttribute("approximate", "tanh")})};
  const DataType dtype = op.Dtype(0);
  // As most exporters write it: runtimes look for it.
  const std::string_view cube = op.Add("Pow", {op.In(0), op.Scalar(3, dtype)});
  const std::string_view inner = op.Add("Add", {op.In(0), op.Add("Mul", {cube, op.Scalar(0.044715, dtype)})});
  const std::string_view tanh = op.Add("Tanh", {op.Add("Mul", {inner, op.Scalar(0.7978845608028654, dtype)})});
  const std::string_view factor = op.Add("Add", {tanh, op.Scalar(1, dtype)});
  return {op.Add("Mul", {op.Add("Mul", {op.In(0), op.Scalar(0.5, dtype)}), factor})};
}

Names ExportSilu(OpExport& op) {
  if (op.version() >= 24) return {op.Add("Swish", {op.In(0)})};
  return {op.Add("Mul", {op.In(0), op.Add("Sigmoid", {op.In(0)})})};
}

Names ExportLeakyRelu(OpExport& op) {
  return {op.Add("LeakyRelu", {op.In(0)}, {FloatAttribute("alpha", op.Attrs<LeakyReluAttrs>().alpha())})};
}

// The slope has one number for each channel.
Names ExportPrelu(OpExport& op) {
  const int rank = op.Rank(0);
  if (rank < 1) return op.Lacks("the rank of its data is not known");
  const int64_t axis = op.Attrs<PReluAttrs>().axis();
  const int64_t behind = rank - 1 - (axis < 0 ? axis + rank : axis);
  std::string_view slope = op.In(1);
  std::vector<int64_t> axes;
  for (int64_t i = 1; i <= behind; ++i) axes.push_back(i);
  if (!axes.empty() && op.Rank(1) == 1) slope = op.Unsqueeze(slope, axes);
  return {op.Add("PRelu", {op.In(0), slope})};
}

Names ExportSoftplus(OpExport& op) {
  const double beta = op.Attrs<SoftplusAttrs>().beta();
  if (beta == 1) return {op.Add("Softplus", {op.In(0)})};
  const std::string_view scale = op.Scalar(beta, op.Dtype(0));
  return {op.Add("Div", {op.Add("Softplus", {op.Add("Mul", {op.In(0), scale})}), scale})};
}

Names ExportSoftmaxKind(OpExport& op, std::string_view kind) {
  const int rank = op.Rank(0);
  int64_t axis = op.Attrs<SoftmaxAttrs>().axis();
  if (op.version() >= 13) return {op.Add(kind, {op.In(0)}, {IntAttribute("axis", axis)})};
  if (rank < 1) return op.Lacks("the rank of its data is not known");
  if (axis < 0) axis += rank;
  if (axis == rank - 1) return {op.Add(kind, {op.In(0)}, {IntAttribute("axis", axis)})};
  // Before version 13, all dimensions from the axis on are one: the axis is made the last one.
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < rank; ++i) axes.push_back(i);
  std::swap(axes[static_cast<size_t>(axis)], axes.back());
  const std::string_view moved = op.Add(kind, {op.Transpose(op.In(0), axes)}, {IntAttribute("axis", rank - 1)});
  return {op.Transpose(moved, axes)};
}
Names ExportSoftmax(OpExport& op) { return ExportSoftmaxKind(op, "Softmax"); }
Names ExportLogSoftmax(OpExport& op) { return ExportSoftmaxKind(op, "LogSoftmax"); }

// ---- Types

Names ExportAstype(OpExport& op) {
  const DataType to = op.Attrs<AstypeAttrs>().dtype();
  if (ElementTypeOf(to) == ElementType::kUndefined) return op.Lacks(fmt::format("ONNX has no {}", to.ToString()));
  std::vector<AttributeProto> attributes = {IntAttribute("to", static_cast<int64_t>(ElementTypeOf(to)))};
  // What is too large becomes no number in Relax, and the greatest one in ONNX.
  if (to.bits == 8 && to.is_floating()) attributes.push_back(IntAttribute("saturate", 0));
  return {op.Add("Cast", {op.In(0)}, std::move(attributes))};
}

Names ExportDropout(OpExport& op) { return {op.In(0), {}}; }

constexpr ExportRow kElementwiseExports[] = {
    {op::kAbs, "Abs"},
    {op::kAcos, "Acos", 7},
    {op::kAcosh, "Acosh", 9},
    {op::kAdd, "Add", 6, ExportBroadcasting},
    {op::kAsin, "Asin", 7},
    {op::kAsinh, "Asinh", 9},
    {op::kAstype, "Cast", 6, ExportAstype},
    {op::kAtan, "Atan", 7},
    {op::kAtanh, "Atanh", 9},
    {op::kBitwiseAnd, "BitwiseAnd", 7, ExportBitwise},  // also And
    {op::kBitwiseNot, "BitwiseNot", 7, ExportBitwise},  // also Not
    {op::kBitwiseOr, "BitwiseOr", 7, ExportBitwise},    // also Or
    {op::kBitwiseXor, "BitwiseXor", 7, ExportBitwise},  // also Xor
    {op::kCeil, "Ceil", 1, ExportRounding},
    {op::kClip, "Clip", 6, ExportClip},
    {op::kCos, "Cos", 7},
    {op::kCosh, "Cosh", 9},
    {op::kDivide, "Div", 6, ExportBroadcasting},  // also Reciprocal
    {op::kEqual, "Equal", 1, ExportBroadcasting},
    {op::kErf, "Erf", 9},
    {op::kEwiseFma, "", 7, ExportFma},  // Mul, Add
    {op::kExp, "Exp"},
    {op::kFloor, "Floor", 1, ExportRounding},
    {op::kFloorDivide, "", 10, ExportFloorDivide},  // Div, Floor, Mod, Sub
    {op::kFloorMod, "Mod", 10, ExportFloorMod},
    {op::kGreater, "Greater", 1, ExportBroadcasting},
    {op::kGreaterEqual, "GreaterOrEqual", 9, ExportGreaterEqual},
    {op::kIsFinite, "", 10, ExportIsFinite},  // IsInf, IsNaN, Or, Not
    {op::kIsInf, "IsInf", 10},
    {op::kIsNan, "IsNaN", 9},
    {op::kLeftShift, "BitShift", 11, ExportLeftShift},
    {op::kLess, "Less", 1, ExportBroadcasting},
    {op::kLessEqual, "LessOrEqual", 9, ExportLessEqual},
    {op::kLog, "Log"},
    {op::kLogAddExp, "", 8, ExportLogAddExp},
    {op::kLogicalAnd, "And", 1, ExportBroadcasting},
    {op::kLogicalNot, "Not"},
    {op::kLogicalOr, "Or", 1, ExportBroadcasting},
    {op::kLogicalXor, "Xor", 1, ExportBroadcasting},
    {op::kMaximum, "Max", 6, ExportExtremum},
    {op::kMinimum, "Min", 6, ExportExtremum},
    {op::kMod, "Mod", 10, ExportMod},
    {op::kMultiply, "Mul", 6, ExportBroadcasting},
    {op::kNegative, "Neg"},
    {op::kNnDropout, "", 1, ExportDropout},    // its operand
    {op::kNnGelu, "", 9, ExportGelu},          // Gelu; before 20 a composition
    {op::kNnGeluTanh, "", 7, ExportGeluTanh},  // Gelu; before 20 a composition
    {op::kNnLeakyrelu, "LeakyRelu", 6, ExportLeakyRelu},
    {op::kNnLogSoftmax, "LogSoftmax", 1, ExportLogSoftmax},
    {op::kNnPrelu, "PRelu", 7, ExportPrelu},
    {op::kNnRelu, "Relu", 6},
    {op::kNnSelu, "Selu", 6},
    {op::kNnSilu, "", 7, ExportSilu},  // Swish; before 24 Sigmoid, Mul
    {op::kNnSoftmax, "Softmax", 1, ExportSoftmax},
    {op::kNnSoftplus, "Softplus", 1, ExportSoftplus},
    {op::kNotEqual, "", 7, ExportNotEqual},  // Equal, Not; Cast
    {op::kPower, "Pow", 1, ExportBroadcasting},
    {op::kRightShift, "BitShift", 11, ExportRightShift},
    {op::kRound, "Round", 11, ExportRounding},
    {op::kRsqrt, "", 6, ExportRsqrt},  // Sqrt, Reciprocal
    {op::kSigmoid, "Sigmoid", 6},
    {op::kSign, "Sign", 9},
    {op::kSin, "Sin", 7},
    {op::kSinh, "Sinh", 9},
    {op::kSqrt, "Sqrt", 6},
    {op::kSquare, "Mul", 7, ExportSquare},
    {op::kSubtract, "Sub", 6, ExportBroadcasting},
    {op::kTan, "Tan", 7},
    {op::kTanh, "Tanh", 6},
    {op::kTrunc, "", 9, ExportTrunc},  // Sign, Abs, Floor, Mul
    {op::kWhere, "Where", 9},
    {op::kWrapParam, "Cast", 6, ExportAstype},
};

}  // namespace

std::span<const ExportRow> ElementwiseExports() { return kElementwiseExports; }

}  // namespace iropt::onnx
