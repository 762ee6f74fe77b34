// Operators that compute each element by itself.

#include <cmath>
#include <limits>

#include "exchange/onnx/import/function_importer.h"
#include "exchange/onnx/ops/common.h"
#include "exchange/onnx/ops/scalar_elements.h"
#include "iropt/ir/element.h"
#include "iropt/op/ops/activation.h"
#include "iropt/op/ops/arithmetic.h"
#include "iropt/op/ops/binary.h"
#include "iropt/op/ops/create.h"
#include "iropt/op/ops/exponential.h"
#include "iropt/op/ops/roots.h"
#include "iropt/op/ops/trigonometric.h"
#include "iropt/op/ops/unary.h"

namespace iropt::onnx {

namespace {

// ---- Two operands

// Before version 7, the second operand broadcast only if `broadcast` was set, from dimension `axis` on.
template <OpId kOp>
Value ImportOldBinary(OpImport& op) {
  const Expr* a = op.In(0);
  const Expr* b = op.In(1);
  const int rank_a = op.Rank(0);
  const int rank_b = op.Rank(1);
  if (op.Int("broadcast") != 0 && op.FindAttr("axis") && rank_a > 0 && rank_b >= 0) {
    const int64_t axis = op.Axis(op.Int("axis"), rank_a);
    if (axis + rank_b < rank_a) b = ExpandDims(op, b, Iota(rank_b, rank_a - axis));
  }
  return op.Call(kOp, {a, b});
}

Value ImportDiv(OpImport& op) {
  if (!op.Dtype(0).is_integer()) return op.Call(op::kDivide, {op.In(0), op.In(1)});
  // Integers are divided towards zero.
  if (op.Dtype(0).is_uint()) return op.Call(op::kFloorDivide, {op.In(0), op.In(1)});
  const Expr* remainder = op.Call(op::kMod, {op.In(0), op.In(1)});
  return op.Call(op::kFloorDivide, {Subtract(op, op.In(0), remainder), op.In(1)});
}

Value ImportMod(OpImport& op) { return op.Call(op.Int("fmod") != 0 ? op::kMod : op::kFloorMod, {op.In(0), op.In(1)}); }

Value ImportPow(OpImport& op) {
  const DataType base = op.Dtype(0);
  const DataType exponent = op.Dtype(1);
  if (base == exponent) return op.Call(op::kPower, {op.In(0), op.In(1)});
  if (base.is_floating()) return op.Call(op::kPower, {op.In(0), op.Cast(op.In(1), base)});
  if (!exponent.is_floating()) return op.Call(op::kPower, {op.In(0), op.Cast(op.In(1), base)});
  return op.Cast(op.Call(op::kPower, {op.Cast(op.In(0), exponent), op.In(1)}), base);
}

Value ImportBitShift(OpImport& op) {
  return op.Call(op.String("direction") == "LEFT" ? op::kLeftShift : op::kRightShift, {op.In(0), op.In(1)});
}

// ---- Any number of operands

template <OpId kOp>
Value ImportVariadic(OpImport& op) {
  const Expr* result = op.In(0);
  for (size_t i = 1; i < op.num_inputs(); ++i) result = op.Call(kOp, {result, op.In(i)});
  return result;
}

Value ImportMean(OpImport& op) {
  Value sum = ImportVariadic<op::kAdd>(op);
  if (op.num_inputs() == 1) return sum;
  return Divide(op, sum.expr, ScalarLike(op, sum.expr, static_cast<double>(op.num_inputs())));
}

Value ImportWhere(OpImport& op) { return Where(op, op.In(0), op.In(1), op.In(2)); }

// ---- One operand

Value ImportReciprocal(OpImport& op) { return Divide(op, ScalarLike(op, op.In(0), 1), op.In(0)); }

Value ImportSoftsign(OpImport& op) {
  const Expr* x = op.In(0);
  return Divide(op, x, Add(op, ScalarLike(op, x, 1), op.Call(op::kAbs, {x})));
}

Value ImportIsInf(OpImport& op) {
  const bool negative = op.Int("detect_negative", 1) != 0;
  const bool positive = op.Int("detect_positive", 1) != 0;
  const Expr* x = op.In(0);
  if (negative && positive) return op.Call(op::kIsInf, {x});
  const double infinity = std::numeric_limits<double>::infinity() * (negative ? -1 : 1);
  const Expr* equal = op.Call(op::kEqual, {x, ScalarLike(op, x, infinity)});
  if (negative || positive) return equal;
  return op.Call(op::kLogicalAnd, {equal, op.Scalar(0, DataType::Bool())});
}

// where(x > 0, x, alpha * (exp(x / divisor) - 1))
const Expr* ExponentialBranch(OpImport& op, const Expr* x, double alpha, double divisor) {
  const Expr* scaled = divisor == 1 ? x : Divide(op, x, ScalarLike(op, x, divisor));
  const Expr* grown = Subtract(op, op.Call(op::kExp, {scaled}), ScalarLike(op, x, 1));
  const Expr* negative = alpha == 1 ? grown : Multiply(op, ScalarLike(op, x, alpha), grown);
  return Where(op, op.Call(op::kGreater, {x, ScalarLike(op, x, 0)}), x, negative);
}

Value ImportElu(OpImport& op) { return ExponentialBranch(op, op.In(0), op.Float("alpha", 1), 1); }

Value ImportCelu(OpImport& op) {
  const double alpha = op.Float("alpha", 1);
  return ExponentialBranch(op, op.In(0), alpha, alpha);
}

Value ImportSelu(OpImport& op) {
  const double alpha = op.Float("alpha", 1.67326319217681884765625);
  const double gamma = op.Float("gamma", 1.05070102214813232421875);
  const Expr* x = op.In(0);
  return Multiply(op, ScalarLike(op, x, gamma), ExponentialBranch(op, x, alpha, 1));
}

const Expr* Clamp(OpImport& op, const Expr* x, double low, double high) {
  return op.Call(op::kClip, {x, op.PrimFloat(low, DataType::Float(64)), op.PrimFloat(high, DataType::Float(64))});
}

const Expr* HardSigmoid(OpImport& op, const Expr* x, double alpha, double beta) {
  return Clamp(op, Add(op, Multiply(op, x, ScalarLike(op, x, alpha)), ScalarLike(op, x, beta)), 0, 1);
}

Value ImportHardSigmoid(OpImport& op) {
  return HardSigmoid(op, op.In(0), op.Float("alpha", static_cast<double>(0.2F)), op.Float("beta", 0.5));
}

Value ImportHardSwish(OpImport& op) { return Multiply(op, op.In(0), HardSigmoid(op, op.In(0), 1.0 / 6, 0.5)); }

Value ImportMish(OpImport& op) {
  const Expr* softplus = op.Call(op::kNnSoftplus, {op.In(0)});
  return Multiply(op, op.In(0), op.Call(op::kTanh, {softplus}));
}

Value ImportLeakyRelu(OpImport& op) {
  const double alpha = op.Float("alpha", static_cast<double>(0.01F));
  return op.Call(op::kNnLeakyrelu, {op.In(0)}, op.Attrs<LeakyReluAttrs>(op::kNnLeakyrelu, {.alpha = alpha}));
}

Value ImportThresholdedRelu(OpImport& op) {
  const Expr* x = op.In(0);
  return Where(op, op.Call(op::kGreater, {x, ScalarLike(op, x, op.Float("alpha", 1))}), x, ScalarLike(op, x, 0));
}

Value ImportGelu(OpImport& op) {
  return op.Call(op.String("approximate", "none") == "tanh" ? op::kNnGeluTanh : op::kNnGelu, {op.In(0)});
}

Value ImportSwish(OpImport& op) {
  const double alpha = op.Float("alpha", 1);
  const Expr* x = op.In(0);
  if (alpha == 1) return op.Call(op::kNnSilu, {x});
  return Multiply(op, x, op.Call(op::kSigmoid, {Multiply(op, x, ScalarLike(op, x, alpha))}));
}

// A gate and a value.
Value ImportSwiGlu(OpImport& op) {
  const Value gate = ImportSwish(op);
  return Multiply(op, gate.expr, op.In(1));
}

// The slope broadcasts against the data from its last dimension on or, before version 7, has one number per channel.
Value ImportPRelu(OpImport& op) {
  // A comparison that is folded would leave two nodes.
  if (op.importer().context().count_nodes && op.ConstantOf(0) && !op.ConstantOf(1)) return {};
  const Expr* x = op.In(0);
  const bool per_channel = op.version() < 7 && op.Rank(0) > 1 && op.Rank(1) == 1;
  const Expr* negative = Multiply(op, x, per_channel ? AlongAxis(op, op.In(1), 1, op.Rank(0)) : op.In(1));
  return Where(op, op.Call(op::kLess, {x, ScalarLike(op, x, 0)}), negative, x);
}

Value ImportShrink(OpImport& op) {
  const Expr* x = op.In(0);
  const double lambd = op.Float("lambd", 0.5);
  const double bias = op.Float("bias", 0);
  const Expr* below = op.Call(op::kLess, {x, ScalarLike(op, x, -lambd)});
  const Expr* above = op.Call(op::kGreater, {x, ScalarLike(op, x, lambd)});
  return Where(op, below, Add(op, x, ScalarLike(op, x, bias)),
               Where(op, above, Subtract(op, x, ScalarLike(op, x, bias)), ScalarLike(op, x, 0)));
}

// ---- Limits and types

// A limit is the attribute or, from version 11 on, an input.
Value ImportClip(OpImport& op) {
  const Expr* x = op.In(0);
  const auto number = [&](std::string_view name, size_t input) -> std::optional<double> {
    if (op.Has(input)) return op.NumberOf(input);
    if (op.FindAttr(name)) return op.Float(name);
    return std::nullopt;
  };
  const std::optional<double> low = number("min", 1);
  const std::optional<double> high = number("max", 2);
  // Where the limits cross, the upper one holds in ONNX, and the lower one in R.clip.
  if (low && high && *low <= *high && op.Dtype(0).is_floating()) return Clamp(op, x, *low, *high);
  const auto limit = [&](OpId with, size_t input, std::optional<double> value) {
    // A limit that nothing exceeds is not one.
    if (value && std::isinf(*value) && std::signbit(*value) == (with == op::kMaximum)) return;
    if (op.Has(input))
      x = op.Call(with, {x, op.In(input)});
    else if (value)
      x = op.Call(with, {x, ScalarLike(op, x, *value)});
  };
  limit(op::kMaximum, 1, low);
  limit(op::kMinimum, 2, high);
  return x;
}

const Expr* CastTo(OpImport& op, const Expr* x, DataType to) {
  const TensorType* type = OpImport::TensorOf(x);
  // Any number but zero is true.
  if (to.is_bool() && type && !type->dtype.is_bool() && !type->dtype.is_void())
    return op.Call(op::kNotEqual, {x, ScalarLike(op, x, 0)});
  return op.Cast(x, to);
}

bool HasEightBits(DataType dtype) { return dtype.is_floating() && dtype.bits == 8; }

// Numbers that are too large for a format of 8 bits become its greatest one or, without `saturate`, what they become in
// Relax. The former, and types that Relax computes nothing with, are left to the run.
Value ImportCastTo(OpImport& op, DataType to) {
  const TensorType* type = op.TypeOf(0);
  if (type == nullptr) return {};
  const DataType from = type->dtype;
  if (from == to && !IsElementType(to)) return op.In(0);
  if (!IsElementType(to) || (!from.is_void() && !IsElementType(from))) return {};
  if (HasEightBits(to) && from != to && op.Int("saturate", 1) != 0) return {};
  return CastTo(op, op.In(0), to);
}

Value ImportCast(OpImport& op) {
  const std::optional<DataType> to = DataTypeOf(static_cast<ElementType>(op.Int("to")));
  return to ? ImportCastTo(op, *to) : Value();
}

Value ImportCastLike(OpImport& op) {
  return op.TypeOf(1) && !op.Dtype(1).is_void() ? ImportCastTo(op, op.Dtype(1)) : Value();
}

// The mask has only ones where nothing is dropped.
Value ImportDropout(OpImport& op) {
  const bool drops = !op.Has(1) || op.NumberOf(1) != 0;
  const bool may_train = op.Has(2) && op.NumberOf(2) != 0 && drops;
  if (may_train) return {};
  if (!op.HasOutput(1)) return op.In(0);
  const DataType mask = op.version() < 10 ? op.Dtype(0) : DataType::Bool();
  const Expr* fields[] = {op.In(0),
                          op.Call(op::kOnesLike, {op.In(0)}, op.Attrs<InitAttrs>(op::kOnesLike, {.dtype = mask}))};
  return op.Tuple(fields);
}

constexpr OpRow kElementwiseRows[] = {
    {"Abs", 1, 1, 1, ImportUnary<op::kAbs>, "R.abs"},
    {"Acos", 7, 1, 1, ImportUnary<op::kAcos>, "R.acos"},
    {"Acosh", 9, 1, 1, ImportUnary<op::kAcosh>, "R.acosh"},
    {"Add", 1, 2, 2, ImportOldBinary<op::kAdd>, "R.add", EvaluateAdd},
    {"Add", 7, 2, 2, ImportBinary<op::kAdd>, "R.add", EvaluateAdd},
    {"And", 1, 2, 2, ImportOldBinary<op::kLogicalAnd>, "R.logical_and", EvaluateAnd},
    {"And", 7, 2, 2, ImportBinary<op::kLogicalAnd>, "R.logical_and", EvaluateAnd},
    {"Asin", 7, 1, 1, ImportUnary<op::kAsin>, "R.asin"},
    {"Asinh", 9, 1, 1, ImportUnary<op::kAsinh>, "R.asinh"},
    {"Atan", 7, 1, 1, ImportUnary<op::kAtan>, "R.atan"},
    {"Atanh", 9, 1, 1, ImportUnary<op::kAtanh>, "R.atanh"},
    {"BitShift", 11, 2, 2, ImportBitShift, "R.left_shift, R.right_shift"},
    {"BitwiseAnd", 18, 2, 2, ImportBinary<op::kBitwiseAnd>, "R.bitwise_and"},
    {"BitwiseNot", 18, 1, 1, ImportUnary<op::kBitwiseNot>, "R.bitwise_not"},
    {"BitwiseOr", 18, 2, 2, ImportBinary<op::kBitwiseOr>, "R.bitwise_or"},
    {"BitwiseXor", 18, 2, 2, ImportBinary<op::kBitwiseXor>, "R.bitwise_xor"},
    {"Cast", 6, 1, 1, ImportCast, "R.astype, R.not_equal", EvaluateCast},
    {"CastLike", 15, 2, 2, ImportCastLike, "R.astype, R.not_equal"},
    {"Ceil", 1, 1, 1, ImportUnary<op::kCeil>, "R.ceil"},
    {"Celu", 12, 1, 1, ImportCelu, "composition"},
    {"Clip", 6, 1, 1, ImportClip, "R.clip, R.maximum, R.minimum"},
    {"Clip", 11, 1, 3, ImportClip, "R.clip, R.maximum, R.minimum"},
    {"Cos", 7, 1, 1, ImportUnary<op::kCos>, "R.cos"},
    {"Cosh", 9, 1, 1, ImportUnary<op::kCosh>, "R.cosh"},
    {"Div", 1, 2, 2, ImportOldBinary<op::kDivide>, "R.divide", EvaluateDiv},
    {"Div", 7, 2, 2, ImportDiv, "R.divide; integers: R.mod, R.floor_divide", EvaluateDiv},
    {"Dropout", 1, 1, 3, ImportDropout, "its operand"},
    {"Elu", 1, 1, 1, ImportElu, "composition"},
    {"Equal", 1, 2, 2, ImportOldBinary<op::kEqual>, "R.equal", EvaluateEqual},
    {"Equal", 7, 2, 2, ImportBinary<op::kEqual>, "R.equal", EvaluateEqual},
    {"Erf", 9, 1, 1, ImportUnary<op::kErf>, "R.erf"},
    {"Exp", 1, 1, 1, ImportUnary<op::kExp>, "R.exp"},
    {"Floor", 1, 1, 1, ImportUnary<op::kFloor>, "R.floor"},
    {"Gelu", 20, 1, 1, ImportGelu, "R.nn.gelu, R.nn.gelu_tanh"},
    {"Greater", 1, 2, 2, ImportOldBinary<op::kGreater>, "R.greater", EvaluateGreater},
    {"Greater", 7, 2, 2, ImportBinary<op::kGreater>, "R.greater", EvaluateGreater},
    {"GreaterOrEqual", 12, 2, 2, ImportBinary<op::kGreaterEqual>, "R.greater_equal", EvaluateGreaterOrEqual},
    {"HardSigmoid", 1, 1, 1, ImportHardSigmoid, "composition"},
    {"HardSwish", 14, 1, 1, ImportHardSwish, "composition"},
    {"Identity", 1, 1, 1, ImportIdentity, "its operand"},
    {"IsInf", 10, 1, 1, ImportIsInf, "R.isinf, R.equal"},
    {"IsNaN", 9, 1, 1, ImportUnary<op::kIsNan>, "R.isnan"},
    {"LeakyRelu", 1, 1, 1, ImportLeakyRelu, "R.nn.leakyrelu"},
    {"Less", 1, 2, 2, ImportOldBinary<op::kLess>, "R.less", EvaluateLess},
    {"Less", 7, 2, 2, ImportBinary<op::kLess>, "R.less", EvaluateLess},
    {"LessOrEqual", 12, 2, 2, ImportBinary<op::kLessEqual>, "R.less_equal", EvaluateLessOrEqual},
    {"Log", 1, 1, 1, ImportUnary<op::kLog>, "R.log"},
    {"Max", 1, 1, kAny, ImportVariadic<op::kMaximum>, "R.maximum", EvaluateMax},
    {"Mean", 1, 1, kAny, ImportMean, "R.add, R.divide"},
    {"Min", 1, 1, kAny, ImportVariadic<op::kMinimum>, "R.minimum", EvaluateMin},
    {"Mish", 18, 1, 1, ImportMish, "composition"},
    {"Mod", 10, 2, 2, ImportMod, "R.floor_mod; fmod: R.mod", EvaluateMod},
    {"Mul", 1, 2, 2, ImportOldBinary<op::kMultiply>, "R.multiply", EvaluateMul},
    {"Mul", 7, 2, 2, ImportBinary<op::kMultiply>, "R.multiply", EvaluateMul},
    {"Neg", 1, 1, 1, ImportUnary<op::kNegative>, "R.negative", EvaluateNeg},
    {"Not", 1, 1, 1, ImportUnary<op::kLogicalNot>, "R.logical_not", EvaluateNot},
    {"Or", 1, 2, 2, ImportOldBinary<op::kLogicalOr>, "R.logical_or", EvaluateOr},
    {"Or", 7, 2, 2, ImportBinary<op::kLogicalOr>, "R.logical_or", EvaluateOr},
    {"PRelu", 1, 2, 2, ImportPRelu, "R.multiply, R.where"},
    {"Pow", 1, 2, 2, ImportOldBinary<op::kPower>, "R.power"},
    {"Pow", 7, 2, 2, ImportPow, "R.power"},
    {"Reciprocal", 1, 1, 1, ImportReciprocal, "R.divide"},
    {"Relu", 1, 1, 1, ImportUnary<op::kNnRelu>, "R.nn.relu"},
    {"Selu", 1, 1, 1, ImportSelu, "composition"},
    {"Shrink", 9, 1, 1, ImportShrink, "composition"},
    {"Sigmoid", 1, 1, 1, ImportUnary<op::kSigmoid>, "R.sigmoid"},
    {"Sign", 9, 1, 1, ImportUnary<op::kSign>, "R.sign"},
    {"Sin", 7, 1, 1, ImportUnary<op::kSin>, "R.sin"},
    {"Sinh", 9, 1, 1, ImportUnary<op::kSinh>, "R.sinh"},
    {"Softplus", 1, 1, 1, ImportUnary<op::kNnSoftplus>, "R.nn.softplus"},
    {"Softsign", 1, 1, 1, ImportSoftsign, "composition"},
    {"Sqrt", 1, 1, 1, ImportUnary<op::kSqrt>, "R.sqrt"},
    {"Sub", 1, 2, 2, ImportOldBinary<op::kSubtract>, "R.subtract", EvaluateSub},
    {"Sub", 7, 2, 2, ImportBinary<op::kSubtract>, "R.subtract", EvaluateSub},
    {"Sum", 1, 1, kAny, ImportVariadic<op::kAdd>, "R.add"},
    {"SwiGLU", 28, 2, 2, ImportSwiGlu, "R.nn.silu, R.multiply"},
    {"Swish", 24, 1, 1, ImportSwish, "R.nn.silu"},
    {"Tan", 7, 1, 1, ImportUnary<op::kTan>, "R.tan"},
    {"Tanh", 1, 1, 1, ImportUnary<op::kTanh>, "R.tanh"},
    {"ThresholdedRelu", 10, 1, 1, ImportThresholdedRelu, "R.where"},
    {"Where", 9, 3, 3, ImportWhere, "R.where", EvaluateWhere},
    {"Xor", 1, 2, 2, ImportOldBinary<op::kLogicalXor>, "R.logical_xor"},
    {"Xor", 7, 2, 2, ImportBinary<op::kLogicalXor>, "R.logical_xor"},
};

}  // namespace

std::span<const OpRow> ElementwiseRows() { return kElementwiseRows; }

}  // namespace iropt::onnx
