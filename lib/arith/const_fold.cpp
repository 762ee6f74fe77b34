#include "iropt/arith/const_fold.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "iropt/arith/prim_builder.h"
#include "iropt/ir/element.h"
#include "iropt/op/large_uint.h"

namespace iropt::arith {
namespace {

bool IsFloat8(DataType t) { return t.code == TypeCode::kFloat8E4M3 || t.code == TypeCode::kFloat8E5M2; }

// For equal lanes; void if the types do not match.
DataType PromoteElements(DataType a, DataType b) {
  if (a == b) return a;
  if (a.is_handle() || b.is_handle() || a.is_void() || b.is_void()) return DataType::Void();
  const auto is_float = [](DataType t) { return t.code == TypeCode::kFloat; };
  const auto is_bfloat = [](DataType t) { return t.code == TypeCode::kBFloat; };
  const auto wider = [&] { return a.bits < b.bits ? b : a; };
  if (is_float(a) && is_float(b)) return wider();
  if (is_float(a) || is_float(b)) return is_float(a) ? a : b;
  if (is_bfloat(a) != is_bfloat(b)) return is_bfloat(a) ? a : b;
  if (IsFloat8(a) != IsFloat8(b)) return IsFloat8(a) ? a : b;
  if (a.is_floating() != b.is_floating()) return a.is_floating() ? a : b;
  if (a.is_floating()) return DataType::Void();
  if (a.bits != b.bits) return wider();
  return a.is_uint() ? a : b;
}

// In the precision of the dtype; nothing for dtypes whose constants do not fold, and if the result is not finite (TVM
// folds those as well, and warns).
std::optional<double> FoldFloats(NodeKind kind, double a, double b, DataType dtype) {
  if (kind == NodeKind::kMin) return MinOf(a, b);
  if (kind == NodeKind::kMax) return MaxOf(a, b);
  if (dtype.bits != 32 && dtype.bits != 64) return std::nullopt;
  const bool single = dtype.bits == 32;
  if (single) a = static_cast<double>(static_cast<float>(a));
  if (single) b = static_cast<double>(static_cast<float>(b));
  double r;
  switch (kind) {
    case NodeKind::kAdd: r = a + b; break;
    case NodeKind::kSub: r = a - b; break;
    case NodeKind::kMul: r = a * b; break;
    case NodeKind::kDiv:
      if (b == 0) return std::nullopt;
      r = a / b;
      break;
    default: return std::nullopt;
  }
  // One rounding from the double result equals the float operation, because a double holds more than twice the digits.
  if (single) r = static_cast<double>(static_cast<float>(r));
  return std::isfinite(r) ? std::optional(r) : std::nullopt;
}

std::optional<bool> CompareFloats(NodeKind kind, double a, double b) {
  switch (kind) {
    case NodeKind::kEQ: return a == b;
    case NodeKind::kNE: return a != b;
    case NodeKind::kLT: return a < b;
    case NodeKind::kLE: return a <= b;
    case NodeKind::kGT: return a > b;
    case NodeKind::kGE: return a >= b;
    default: return std::nullopt;
  }
}

// x + 0, x * 1, 0 // x and so on. A product with 0 and a quotient of 0 are NaN for some floats.
const PrimExpr* DropNeutral(NodeKind kind, const PrimExpr* a, const PrimExpr* b, const PrimBuilder& make) {
  const auto is = [](const PrimExpr* e, double value) {
    if (const int64_t* i = AsInt(e)) return static_cast<double>(*i) == value;
    const auto* f = As<tir::FloatImm>(e);
    return f && f->value == value;
  };
  const auto absorbs = [&](const PrimExpr* e, const PrimExpr* other) {
    const auto* number = As<tir::FloatImm>(other);
    return is(e, 0) && (!e->dtype.is_floating() || (number && std::isfinite(RoundedValue(*number))));
  };
  switch (kind) {
    case NodeKind::kAdd: return is(a, 0) ? b : is(b, 0) ? a : nullptr;
    case NodeKind::kSub: return is(b, 0) ? a : nullptr;
    case NodeKind::kMul: return is(a, 1) ? b : absorbs(a, b) ? a : is(b, 1) ? a : absorbs(b, a) ? b : nullptr;
    case NodeKind::kDiv:
    case NodeKind::kFloorDiv: return is(b, 1) || (absorbs(a, b) && !is(b, 0)) ? a : nullptr;
    case NodeKind::kMod:
    case NodeKind::kFloorMod:
      if (!IsIndexType(a->dtype)) return nullptr;
      return is(b, 1) ? make.Const(0, a->dtype) : is(a, 0) && !is(b, 0) ? a : nullptr;
    case NodeKind::kMin:
    case NodeKind::kMax: return a == b ? a : nullptr;
    default: return nullptr;
  }
}

const PrimExpr* FoldLogic(NodeKind kind, const PrimExpr* a, const PrimExpr* b) {
  const bool is_and = kind == NodeKind::kAnd;
  if (const int64_t* va = AsInt(a)) return (*va != 0) == is_and ? b : a;
  if (const int64_t* vb = AsInt(b)) return (*vb != 0) == is_and ? a : b;
  return nullptr;
}

const PrimExpr* FoldIntegerNodes(NodeKind kind, int64_t a, int64_t b, DataType dtype, const PrimBuilder& make) {
  if (kind >= NodeKind::kEQ) return make.Bool(*FoldIntegers(kind, a, b) != 0);
  if ((kind == NodeKind::kMod || kind == NodeKind::kFloorMod) && !IsIndexType(dtype)) return nullptr;
  if (make.wraps()) {
    const std::optional<int64_t> r = FoldIntegersWrapping(kind, a, b);
    return r ? make.Int(WrapInteger(*r, dtype), dtype) : nullptr;
  }
  const std::optional<int64_t> r = FoldIntegers(kind, a, b);
  return r && FitsIn(*r, dtype) ? make.Int(*r, dtype) : nullptr;
}

// For uint64, of which int64 holds only a half.
std::optional<uint64_t> FoldUInt64(NodeKind kind, uint64_t a, uint64_t b, bool wraps) {
  uint64_t r = 0;
  switch (kind) {
    case NodeKind::kAdd: return !__builtin_add_overflow(a, b, &r) || wraps ? std::optional(r) : std::nullopt;
    case NodeKind::kSub: return !__builtin_sub_overflow(a, b, &r) || wraps ? std::optional(r) : std::nullopt;
    case NodeKind::kMul: return !__builtin_mul_overflow(a, b, &r) || wraps ? std::optional(r) : std::nullopt;
    case NodeKind::kDiv:
    case NodeKind::kFloorDiv: return b != 0 ? std::optional(a / b) : std::nullopt;
    case NodeKind::kMin: return std::min(a, b);
    case NodeKind::kMax: return std::max(a, b);
    case NodeKind::kEQ: return a == b;
    case NodeKind::kNE: return a != b;
    case NodeKind::kLT: return a < b;
    case NodeKind::kLE: return a <= b;
    case NodeKind::kGT: return a > b;
    case NodeKind::kGE: return a >= b;
    default: return std::nullopt;
  }
}

const PrimExpr* FoldUInt64Nodes(NodeKind kind, const PrimExpr* a, const PrimExpr* b, const PrimBuilder& make) {
  const auto x = AsUInt64(a);
  const auto y = x ? AsUInt64(b) : std::nullopt;
  const auto r = y ? FoldUInt64(kind, *x, *y, make.wraps()) : std::nullopt;
  if (!r) return nullptr;
  return kind >= NodeKind::kEQ ? make.Bool(*r != 0) : make.Int(static_cast<int64_t>(*r), a->dtype);
}

}  // namespace

std::optional<DataType> PromoteDTypes(DataType a, DataType b) {
  if (a == b) return a;
  if (a.lanes != b.lanes && !a.is_scalar() && !b.is_scalar()) return std::nullopt;
  const DataType element = PromoteElements(a.with_lanes(1), b.with_lanes(1));
  if (element.is_void()) return std::nullopt;
  return element.with_lanes(a.is_scalar() ? b.lanes : a.lanes);
}

int64_t WrapInteger(int64_t value, DataType dtype) {
  if (dtype.bits >= 64) return value;
  const auto bits = static_cast<uint64_t>(value) & ((uint64_t{1} << dtype.bits) - 1);
  if (!dtype.is_int()) return static_cast<int64_t>(bits);
  const uint64_t sign = uint64_t{1} << (dtype.bits - 1);
  return static_cast<int64_t>((bits ^ sign) - sign);
}

double RoundFloat(double value, DataType dtype) {
  double rounded = value;
  DispatchElement(dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_floating_point_v<MathOf<T>>) rounded = static_cast<double>(Element<T>::Load(T(value)));
  });
  return rounded;
}

double RoundedValue(const tir::FloatImm& literal) { return RoundFloat(literal.value, literal.dtype.with_lanes(1)); }

bool FitsIn(int64_t value, DataType dtype) {
  if (dtype.bits == 1) return value == 0 || value == 1;  // int1 holds 1, too, as in TVM
  return WrapInteger(value, dtype) == value && (dtype.is_int() || value >= 0);
}

std::optional<int64_t> FoldIntegers(NodeKind kind, int64_t a, int64_t b) {
  const bool divides = b != 0 && !(b == -1 && a == std::numeric_limits<int64_t>::min());
  switch (kind) {
    case NodeKind::kAdd: return CheckedAdd(a, b);
    case NodeKind::kSub: return CheckedSub(a, b);
    case NodeKind::kMul: return CheckedMul(a, b);
    case NodeKind::kDiv: return divides ? std::optional(a / b) : std::nullopt;
    case NodeKind::kMod: return divides ? std::optional(a % b) : std::nullopt;
    case NodeKind::kFloorDiv: return divides ? std::optional(FloorDivInt(a, b)) : std::nullopt;
    case NodeKind::kFloorMod: return divides ? std::optional(FloorModInt(a, b)) : std::nullopt;
    case NodeKind::kMin: return std::min(a, b);
    case NodeKind::kMax: return std::max(a, b);
    case NodeKind::kEQ: return a == b;
    case NodeKind::kNE: return a != b;
    case NodeKind::kLT: return a < b;
    case NodeKind::kLE: return a <= b;
    case NodeKind::kGT: return a > b;
    case NodeKind::kGE: return a >= b;
    default: return std::nullopt;
  }
}

std::optional<int64_t> FoldIntegersWrapping(NodeKind kind, int64_t a, int64_t b) {
  const auto ua = static_cast<uint64_t>(a);
  const auto ub = static_cast<uint64_t>(b);
  switch (kind) {
    case NodeKind::kAdd: return static_cast<int64_t>(ua + ub);
    case NodeKind::kSub: return static_cast<int64_t>(ua - ub);
    case NodeKind::kMul: return static_cast<int64_t>(ua * ub);
    // Only the least integer over -1 exceeds 64 bits.
    case NodeKind::kDiv:
    case NodeKind::kFloorDiv: return b == -1 ? static_cast<int64_t>(0 - ua) : FoldIntegers(kind, a, b);
    case NodeKind::kMod:
    case NodeKind::kFloorMod: return b == -1 ? 0 : FoldIntegers(kind, a, b);
    default: return FoldIntegers(kind, a, b);
  }
}

int64_t ZeroAwareGcd(int64_t a, int64_t b) {
  const auto magnitude = [](int64_t v) { return v < 0 ? 0 - static_cast<uint64_t>(v) : static_cast<uint64_t>(v); };
  const uint64_t gcd = std::gcd(magnitude(a), magnitude(b));
  return static_cast<int64_t>(gcd >> 63 == 0 ? gcd : uint64_t{1} << 62);
}

const PrimExpr* TryFold(NodeKind kind, const PrimExpr* a, const PrimExpr* b, const PrimBuilder& make) {
  if (kind == NodeKind::kAnd || kind == NodeKind::kOr) return FoldLogic(kind, a, b);
  if (a->dtype == DataType::UInt(64)) {
    if (const PrimExpr* folded = FoldUInt64Nodes(kind, a, b, make)) return folded;
    return DropNeutral(kind, a, b, make);
  }
  const int64_t* ia = AsInt(a);
  const int64_t* ib = AsInt(b);
  if (ia && ib) return FoldIntegerNodes(kind, *ia, *ib, a->dtype, make);
  const auto* fa = As<tir::FloatImm>(a);
  const auto* fb = As<tir::FloatImm>(b);
  if (fa && fb) {
    if (kind >= NodeKind::kEQ) return make.Bool(*CompareFloats(kind, RoundedValue(*fa), RoundedValue(*fb)));
    if (const auto r = FoldFloats(kind, fa->value, fb->value, a->dtype)) return make.Float(*r, a->dtype);
  }
  return DropNeutral(kind, a, b, make);
}

}  // namespace iropt::arith
