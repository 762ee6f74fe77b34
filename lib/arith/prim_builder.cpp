#include "iropt/arith/prim_builder.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "iropt/ir/context.h"
#include "iropt/support/stack.h"

namespace iropt::arith {
namespace {

bool FitsIn(int64_t value, DataType dtype) {
  if (dtype.bits >= 64) return dtype.is_int() || value >= 0;
  if (dtype.is_uint()) return value >= 0 && value >> dtype.bits == 0;
  const int64_t limit = int64_t{1} << (dtype.bits - 1);
  return value >= -limit && value < limit;
}

// In the precision of the dtype; nothing where the result would not be a plain number.
std::optional<double> FoldFloats(NodeKind kind, double a, double b, DataType dtype) {
  double r;
  switch (kind) {
    case NodeKind::kAdd: r = a + b; break;
    case NodeKind::kSub: r = a - b; break;
    case NodeKind::kMul: r = a * b; break;
    case NodeKind::kDiv:
      if (b == 0) return std::nullopt;
      r = a / b;
      break;
    case NodeKind::kMin: return std::min(a, b);
    case NodeKind::kMax: return std::max(a, b);
    default: return std::nullopt;
  }
  // One rounding from the double result equals the float operation, because a double holds more than twice the digits.
  if (dtype == DataType::Float(32)) r = static_cast<double>(static_cast<float>(r));
  if (!std::isfinite(r) || (dtype != DataType::Float(32) && dtype != DataType::Float(64))) return std::nullopt;
  return r;
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

// x + 0, x * 1, 0 // x and the like.
const PrimExpr* DropNeutral(NodeKind kind, const PrimExpr* a, const PrimExpr* b, const PrimBuilder& make) {
  const auto is = [](const PrimExpr* e, double value) {
    if (const int64_t* i = AsInt(e)) return static_cast<double>(*i) == value;
    const auto* f = As<tir::FloatImm>(e);
    return f && f->value == value;
  };
  switch (kind) {
    case NodeKind::kAdd: return is(a, 0) ? b : is(b, 0) ? a : nullptr;
    case NodeKind::kSub: return is(b, 0) ? a : nullptr;
    case NodeKind::kMul: return is(a, 1) ? b : is(a, 0) ? a : is(b, 1) ? a : is(b, 0) ? b : nullptr;
    case NodeKind::kDiv:
    case NodeKind::kFloorDiv: return is(b, 1) || (is(a, 0) && !is(b, 0)) ? a : nullptr;
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

DataType CommonDType(DataType a, DataType b) {
  if (a.is_floating() != b.is_floating()) return a.is_floating() ? a : b;
  if (a.is_integer() && b.is_integer() && a.code != b.code) return DataType::Int(std::max(a.bits, b.bits));
  return a.bits >= b.bits ? a : b;
}

}  // namespace

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

int64_t ZeroAwareGcd(int64_t a, int64_t b) { return std::gcd(a, b); }

const PrimExpr* PrimBuilder::Canonical(const PrimExpr* node) { return IRContext::Current().Intern(node); }

const PrimExpr* PrimBuilder::Int(int64_t value, DataType dtype) const {
  if (arena_) return arena_->New<tir::IntImm>(dtype, value);
  return IRContext::Current().Int(value, dtype);
}

const PrimExpr* PrimBuilder::Float(double value, DataType dtype) const { return Keep(tir::FloatImm(dtype, value)); }

const PrimExpr* PrimBuilder::Const(int64_t value, DataType dtype) const {
  const DataType element = dtype.with_lanes(1);
  const PrimExpr* scalar = dtype.is_floating() ? Float(static_cast<double>(value), element) : Int(value, element);
  if (dtype.is_scalar()) return scalar;
  return Keep(tir::Broadcast(dtype, scalar, Int(dtype.lanes, DataType::Int(32))));
}

const PrimExpr* PrimBuilder::Node(NodeKind kind, const PrimExpr* a, const PrimExpr* b) const {
  return Keep(tir::BinaryExpr(kind, a, b));
}

const PrimExpr* PrimBuilder::Binary(NodeKind kind, const PrimExpr* a, const PrimExpr* b) const {
  if (a->dtype != b->dtype && a->dtype.lanes == b->dtype.lanes) {
    const DataType common = CommonDType(a->dtype, b->dtype);
    a = Cast(common, a);
    b = Cast(common, b);
  } else if (a->dtype.is_scalar() && !b->dtype.is_scalar()) {
    a = Cast(b->dtype, a);
  } else if (b->dtype.is_scalar() && !a->dtype.is_scalar()) {
    b = Cast(a->dtype, b);
  }
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

const PrimExpr* PrimBuilder::Cast(DataType dtype, const PrimExpr* value) const {
  if (value->dtype == dtype) return value;
  if (!dtype.is_scalar() && value->dtype.is_scalar()) {
    const PrimExpr* scalar = Cast(dtype.with_lanes(1), value);
    return Keep(tir::Broadcast(dtype, scalar, Int(dtype.lanes, DataType::Int(32))));
  }
  if (dtype.is_scalar()) {
    const int64_t* i = AsInt(value);
    if (i && dtype.is_integer() && FitsIn(*i, dtype)) return Int(*i, dtype);
    if (i && (dtype == DataType::Float(32) || dtype == DataType::Float(64))) {
      const double d = static_cast<double>(*i);
      return Float(dtype.bits == 32 ? static_cast<double>(static_cast<float>(d)) : d, dtype);
    }
  }
  return Keep(tir::Cast(dtype, value));
}

const PrimExpr* TryFold(NodeKind kind, const PrimExpr* a, const PrimExpr* b, const PrimBuilder& make) {
  if (kind == NodeKind::kAnd || kind == NodeKind::kOr) return FoldLogic(kind, a, b);
  const bool compares = kind >= NodeKind::kEQ;
  const int64_t* ia = AsInt(a);
  const int64_t* ib = AsInt(b);
  if (ia && ib) {
    const std::optional<int64_t> r = FoldIntegers(kind, *ia, *ib);
    const DataType dtype = compares ? DataType::Bool() : a->dtype;
    if (r && FitsIn(*r, dtype)) return make.Int(*r, dtype);
    return nullptr;
  }
  const auto* fa = As<tir::FloatImm>(a);
  const auto* fb = As<tir::FloatImm>(b);
  if (fa && fb) {
    if (compares) return make.Bool(*CompareFloats(kind, fa->value, fb->value));
    if (const auto r = FoldFloats(kind, fa->value, fb->value, a->dtype)) return make.Float(*r, a->dtype);
    return nullptr;
  }
  return DropNeutral(kind, a, b, make);
}

namespace {

bool FieldEqual(const PrimExpr* a, const PrimExpr* b) { return DeepEqual(a, b); }
bool FieldEqual(List<const PrimExpr*> a, List<const PrimExpr*> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), DeepEqual);
}
// Everything else is a value, or a node with identity.
template <class T>
bool FieldEqual(const T& a, const T& b) {
  return a == b;
}

template <class X>
bool FieldsEqual(const PrimExpr* a, const PrimExpr* b) {
  const auto* x = static_cast<const X*>(a);
  const auto* y = static_cast<const X*>(b);
  return X::Fields()([&](auto... field) { return (FieldEqual(x->*(field.member), y->*(field.member)) && ...); });
}

}  // namespace

bool DeepEqual(const PrimExpr* a, const PrimExpr* b) {
  if (a == b) return true;
  if (a->kind != b->kind || a->dtype != b->dtype) return false;
  return WithStack([&] {
    switch (a->kind) {
      // Variables by identity; binders would need a renaming, and an expression that binds is never canonicalized.
      case NodeKind::kPrimVar:
      case NodeKind::kSizeVar:
      case NodeKind::kLet:
      case NodeKind::kReduce: return false;
      case NodeKind::kIntImm: return FieldsEqual<tir::IntImm>(a, b);
      case NodeKind::kFloatImm: return FieldsEqual<tir::FloatImm>(a, b);
      case NodeKind::kPrimStringImm: return FieldsEqual<tir::StringImm>(a, b);
      case NodeKind::kCast: return FieldsEqual<tir::Cast>(a, b);
      case NodeKind::kNot: return FieldsEqual<tir::Not>(a, b);
      case NodeKind::kSelect: return FieldsEqual<tir::Select>(a, b);
      case NodeKind::kPrimCall: return FieldsEqual<tir::Call>(a, b);
      case NodeKind::kBufferLoad: return FieldsEqual<tir::BufferLoad>(a, b);
      case NodeKind::kProducerLoad: return FieldsEqual<tir::ProducerLoad>(a, b);
      case NodeKind::kRamp: return FieldsEqual<tir::Ramp>(a, b);
      case NodeKind::kBroadcast: return FieldsEqual<tir::Broadcast>(a, b);
      case NodeKind::kShuffle: return FieldsEqual<tir::Shuffle>(a, b);
      default: IROPT_CHECK(tir::BinaryExpr::ClassOf(a->kind)); return FieldsEqual<tir::BinaryExpr>(a, b);
    }
  });
}

}  // namespace iropt::arith
