#include "iropt/arith/prim_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "iropt/ir/context.h"
#include "iropt/ir/element.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/large_uint.h"
#include "iropt/op/op.h"
#include "iropt/support/stack.h"

namespace iropt::arith {
namespace {

// By BitOp.
constexpr OpId kBitOps[] = {op::kTirShiftLeft, op::kTirShiftRight, op::kTirBitwiseAnd, op::kTirBitwiseOr,
                            op::kTirBitwiseXor};

bool IsShift(BitOp op) { return op == BitOp::kShiftLeft || op == BitOp::kShiftRight; }

// A shift is by less than all bits.
int64_t FoldBits(BitOp op, int64_t a, int64_t b) {
  switch (op) {
    case BitOp::kShiftLeft: return static_cast<int64_t>(static_cast<uint64_t>(a) << b);
    case BitOp::kShiftRight: return a >> b;
    case BitOp::kAnd: return a & b;
    case BitOp::kOr: return a | b;
    case BitOp::kXor: return a ^ b;
  }
  return 0;
}

// The integer as the constant of a float dtype. It is rounded once.
template <class T>
double ToFloat(T value, DataType dtype) {
  const auto real = static_cast<double>(value);
  return dtype.bits == 64 || std::fabs(real) < 0x1p53 ? real : RoundFloat(WidenForRounding(value), dtype);
}

OperandError Mismatch(const PrimExpr* a, const PrimExpr* b) {
  return {fmt::format("mismatched operand types '{}' and '{}'", a->dtype.ToString(), b->dtype.ToString())};
}

bool IsFloorOp(NodeKind kind) { return kind == NodeKind::kFloorDiv || kind == NodeKind::kFloorMod; }
bool IsDivision(NodeKind kind) { return kind >= NodeKind::kDiv && kind <= NodeKind::kFloorMod; }

// Whether the lanes of a ramp, converted to integers of the element's dtype, are a ramp of the converted base and
// stride. Narrow and unsigned dtypes wrap around as the conversion does. A ramp of indices must not overflow, where the
// conversion of a wider one wraps.
bool CastsLanesAlike(const tir::Ramp& ramp, DataType element) {
  const DataType from = ramp.base->dtype;
  if (!element.is_integer() || element.is_bool() || !from.is_integer() || from.is_bool()) return false;
  if (element.bits > from.bits) return IsIndexType(from);
  if (!IsIndexType(element)) return true;
  if (IsIndexType(from) && element.bits == from.bits) return true;
  const int64_t* base = AsInt(ramp.base);
  const int64_t* stride = AsInt(ramp.stride);
  int64_t last = 0;
  return base && stride && !ramp.dtype.is_scalable() && FitsIn(*base, element) && FitsIn(*stride, element) &&
         !__builtin_mul_overflow(*stride, int64_t{ramp.dtype.lanes} - 1, &last) &&
         !__builtin_add_overflow(*base, last, &last) && FitsIn(last, element);
}

}  // namespace

const PrimExpr* PrimBuilder::Canonical(const PrimExpr* node) { return IRContext::Current().Intern(node); }

PrimBuilder PrimBuilder::Exact() const {
  PrimBuilder exact = *this;
  exact.wraps_ = false;
  return exact;
}

PrimBuilder PrimBuilder::At(Span span) const {
  PrimBuilder at = *this;
  at.span_ = span;
  return at;
}

const PrimExpr* PrimBuilder::WrappedUInt(int64_t value, DataType dtype) const {
  if (dtype.is_bool()) return Bool(value != 0);
  if (dtype.bits < 64) return Keep(tir::IntImm(dtype, WrapInteger(value, dtype)));
  Arena scratch;
  return Keep(*MakeLargeUInt(static_cast<uint64_t>(value), arena_ ? *arena_ : scratch));
}

const PrimExpr* PrimBuilder::Int(int64_t value, DataType dtype) const {
  if (dtype.is_uint() && !FitsIn(value, dtype)) [[unlikely]]
    return WrappedUInt(value, dtype);
  if (arena_) return Keep(tir::IntImm(dtype, value));
  return IRContext::Current().Int(value, dtype);
}

const PrimExpr* PrimBuilder::Float(double value, DataType dtype) const { return Keep(tir::FloatImm(dtype, value)); }

const PrimExpr* PrimBuilder::Lanes(DataType dtype) const {
  if (!dtype.is_scalable()) return Int(dtype.lanes, DataType::Int(32));
  const PrimExpr* vscale = Keep(tir::Call(DataType::Int(32), GetOp(op::kTirVscale), List<const PrimExpr*>()));
  return Node(NodeKind::kMul, vscale, Int(-dtype.lanes, DataType::Int(32)));
}

const PrimExpr* PrimBuilder::Const(int64_t value, DataType dtype) const {
  const DataType element = dtype.with_lanes(1);
  const PrimExpr* scalar = dtype.is_floating() ? Float(static_cast<double>(value), element) : Int(value, element);
  return dtype.is_scalar() ? scalar : Keep(tir::Broadcast(dtype, scalar, Lanes(dtype)));
}

const PrimExpr* PrimBuilder::Node(NodeKind kind, const PrimExpr* a, const PrimExpr* b) const {
  return Keep(tir::BinaryExpr(kind, a, b));
}

void PrimBuilder::Match(const PrimExpr*& a, const PrimExpr*& b) const {
  if (a->dtype == b->dtype) return;
  const std::optional<DataType> common = PromoteDTypes(a->dtype, b->dtype);
  IROPT_CHECK(common, "operands of '{}' and '{}'", a->dtype.ToString(), b->dtype.ToString());
  a = At(a->span()).Cast(*common, a);
  b = At(b->span()).Cast(*common, b);
}

const PrimExpr* PrimBuilder::Binary(NodeKind kind, const PrimExpr* a, const PrimExpr* b) const {
  if (a->dtype != b->dtype) Match(a, b);
  if (const PrimExpr* folded = TryFold(kind, a, b, *this)) return folded;
  return Node(kind, a, b);
}

const PrimExpr* PrimBuilder::Not(const PrimExpr* a) const {
  if (const int64_t* value = AsInt(a)) return Bool(*value == 0);
  return Keep(tir::Not(a));
}

const PrimExpr* PrimBuilder::Select(const PrimExpr* cond, const PrimExpr* a, const PrimExpr* b) const {
  if (const int64_t* value = AsInt(cond)) return *value ? a : b;
  return Keep(tir::Select(cond, a, b));
}

const PrimExpr* PrimBuilder::CastVector(DataType dtype, const PrimExpr* value) const {
  const DataType element = dtype.with_lanes(1);
  if (value->dtype.is_scalar()) return Keep(tir::Broadcast(dtype, Cast(element, value), Lanes(dtype)));
  if (const auto* broadcast = As<tir::Broadcast>(value))
    return Keep(tir::Broadcast(dtype, Cast(element, broadcast->value), broadcast->lanes));
  const auto* ramp = As<tir::Ramp>(value);
  if (ramp && CastsLanesAlike(*ramp, element))
    return Keep(tir::Ramp(dtype, Cast(element, ramp->base), Cast(element, ramp->stride), ramp->lanes));
  return Keep(tir::Cast(dtype, value));
}

const PrimExpr* PrimBuilder::Cast(DataType dtype, const PrimExpr* value) const {
  if (value->dtype == dtype) return value;
  if (!dtype.is_scalar()) return CastVector(dtype, value);
  // A constant keeps its source span.
  const PrimBuilder constant = At(value->span());
  if (const int64_t* i = AsInt(value); i && !dtype.is_handle()) {
    if (dtype.is_floating()) return constant.Float(ToFloat(*i, dtype), dtype);
    if (FitsIn(*i, dtype)) return constant.Int(*i, dtype);
  } else if (const auto large = dtype.is_floating() ? AsLargeUInt(value) : std::nullopt) {
    return constant.Float(ToFloat(*large, dtype), dtype);
  } else if (const auto* f = As<tir::FloatImm>(value)) {
    const double real = RoundedValue(*f);
    if (dtype.is_floating()) {
      // The literal stays as it was written if that is the same number.
      const bool is_same = RoundFloat(real, dtype) == RoundFloat(f->value, dtype) || std::isnan(real);
      return constant.Float(is_same ? f->value : real, dtype);
    }
    if (dtype.is_bool()) return constant.Bool(real != 0);
    if (dtype.is_integer() && std::fabs(real) < 0x1p62) {
      const auto truncated = static_cast<int64_t>(real);
      if (wraps_ || FitsIn(truncated, dtype)) return constant.Int(WrapInteger(truncated, dtype), dtype);
    }
  }
  return Keep(tir::Cast(dtype, value));
}

const PrimExpr* PrimBuilder::Broadcast(const PrimExpr* value, const PrimExpr* lanes) const {
  const DataType dtype = VectorDType(value->dtype, lanes);
  return Keep(tir::Broadcast(dtype, value, At(lanes->span()).Lanes(dtype)));
}

const PrimExpr* PrimBuilder::Ramp(const PrimExpr* base, const PrimExpr* stride, const PrimExpr* lanes) const {
  const DataType dtype = VectorDType(base->dtype, lanes);
  return Keep(tir::Ramp(dtype, base, Cast(base->dtype, stride), At(lanes->span()).Lanes(dtype)));
}

const PrimExpr* PrimBuilder::Bitwise(BitOp op, const PrimExpr* a, const PrimExpr* b) const {
  Match(a, b);
  const DataType dtype = a->dtype;
  const int64_t* x = AsInt(a);
  const int64_t* y = AsInt(b);
  if (IsIndexType(dtype) && y && (!IsShift(op) || (*y >= 0 && *y < dtype.bits))) {
    if (x) {
      const int64_t r = WrapInteger(FoldBits(op, *x, *y), dtype);
      if (wraps_ || op != BitOp::kShiftLeft || r >> *y == *x) return Int(r, dtype);
    } else if (IsShift(op) && *y == 0) {
      return a;
    }
  }
  const PrimExpr* args[] = {a, b};
  return Keep(tir::Call(dtype, GetOp(kBitOps[static_cast<size_t>(op)]), Operands(args)));
}

// ---- Errors in operands

std::optional<OperandError> CheckMatch(const PrimExpr* a, const PrimExpr* b) {
  if (a->dtype == b->dtype) return std::nullopt;
  return PromoteDTypes(a->dtype, b->dtype) ? std::nullopt : std::optional(Mismatch(a, b));
}

std::optional<OperandError> CheckBinary(NodeKind kind, const PrimExpr* a, const PrimExpr* b) {
  if (auto error = CheckMatch(a, b)) return error;
  if (IsFloorOp(kind) && !(a->dtype.is_integer() && b->dtype.is_integer())) {
    const DataType found = a->dtype.is_integer() ? b->dtype : a->dtype;
    return OperandError{fmt::format("'//' and '%' apply to integers, found '{}'", found.ToString())};
  }
  if (IsDivision(kind) && IsInt(b, 0)) return OperandError{"division by zero", b};
  return std::nullopt;
}

std::optional<OperandError> CheckCast(DataType dtype, const PrimExpr* value) {
  if (value->dtype == dtype) return std::nullopt;
  const DataType element = dtype.with_lanes(1);
  if (dtype.lanes != value->dtype.lanes && !value->dtype.is_scalar())
    return OperandError{fmt::format("'{}' can't be converted to '{}'", value->dtype.ToString(), dtype.ToString()),
                        value};
  if (const auto* broadcast = As<tir::Broadcast>(value)) return CheckCast(element, broadcast->value);
  if (const auto* ramp = As<tir::Ramp>(value); ramp && CastsLanesAlike(*ramp, element)) {
    if (auto error = CheckCast(element, ramp->base)) return error;
    return CheckCast(element, ramp->stride);
  }
  if (const int64_t* i = AsInt(value); i && dtype.is_integer() && !FitsIn(*i, element))
    return OperandError{fmt::format("{} does not fit in '{}'", *i, element.ToString()), value};
  if (value->dtype.is_handle())
    return OperandError{fmt::format("a handle can't be converted to '{}'", dtype.ToString())};
  return std::nullopt;
}

std::optional<OperandError> CheckBroadcast(const PrimExpr* value, const PrimExpr* lanes) {
  if (value->dtype.is_scalar() && !VectorDType(value->dtype, lanes).is_void()) return std::nullopt;
  return OperandError{"a vector needs a scalar value and a constant number of lanes"};
}

std::optional<OperandError> CheckRamp(const PrimExpr* base, const PrimExpr* stride, const PrimExpr* lanes) {
  if (!base->dtype.is_scalar() || !stride->dtype.is_scalar() || VectorDType(base->dtype, lanes).is_void())
    return OperandError{"a ramp needs a scalar base and stride, and a constant number of lanes"};
  return CheckCast(base->dtype, stride);
}

std::optional<OperandError> CheckBitwise(BitOp op, const PrimExpr* a, const PrimExpr* b) {
  if (!a->dtype.is_integer() || !b->dtype.is_integer())
    return OperandError{
        fmt::format("bits and shifts need integers, found '{}' and '{}'", a->dtype.ToString(), b->dtype.ToString())};
  if (auto error = CheckMatch(a, b)) return error;
  const DataType dtype = *PromoteDTypes(a->dtype, b->dtype);
  const int64_t* by = AsInt(b);
  if (IsShift(op) && IsIndexType(dtype) && by && (*by < 0 || *by >= dtype.bits))
    return OperandError{fmt::format("a shift of '{}' by {}", dtype.ToString(), *by), b};
  return std::nullopt;
}

DataType VectorDType(DataType element, const PrimExpr* lanes) {
  if (const int64_t* n = AsInt(lanes))
    return *n > 1 && *n <= INT16_MAX ? element.with_lanes(static_cast<int>(*n)) : DataType::Void();
  const auto* product = As<tir::Mul>(lanes);
  if (!product) return DataType::Void();
  const auto factor = [](const PrimExpr* call, const PrimExpr* number) -> int64_t {
    const int64_t* n = AsInt(number);
    return n && CallOf(call, op::kTirVscale) ? *n : 0;
  };
  const int64_t n = std::max(factor(product->a, product->b), factor(product->b, product->a));
  return n > 0 && n <= INT16_MAX ? element.with_lanes(-static_cast<int>(n)) : DataType::Void();
}

}  // namespace iropt::arith
