#include "scalar_reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op_id.h"
#include "iropt/support/check.h"

namespace iropt::generate {

void Assignment::Set(const tir::Var* var, Exact value) {
  for (auto& entry : entries_) {
    if (entry.first == var) return void(entry.second = value);
  }
  entries_.emplace_back(var, value);
}

std::optional<Exact> Assignment::Find(const tir::Var* var) const {
  for (const auto& [known, value] : entries_) {
    if (known == var) return value;
  }
  return std::nullopt;
}

std::string Assignment::ToString() const {
  std::string text;
  for (const auto& [var, value] : entries_)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", var->name, generate::ToString(value));
  return text;
}

std::string ToString(Exact value) {
  if (value < 0) return "-" + ToString(-value);
  const auto digit = static_cast<char>('0' + static_cast<int>(value % 10));
  return value < 10 ? std::string(1, digit) : ToString(value / 10) + digit;
}

Exact LeastOf(DataType dtype) { return dtype.is_int() ? -(Exact{1} << (dtype.bits - 1)) : 0; }
Exact GreatestOf(DataType dtype) { return (Exact{1} << (dtype.bits - (dtype.is_int() ? 1 : 0))) - 1; }

Exact WrapTo(Exact value, DataType dtype) {
  const Exact size = Exact{1} << dtype.bits;
  Exact rest = value % size;
  if (rest < 0) rest += size;
  return rest > GreatestOf(dtype) ? rest - size : rest;
}

namespace {

Exact FloorQuotient(Exact a, Exact b) {
  const Exact quotient = a / b;
  return quotient * b != a && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

// Products of 64 bits may need all 128.
Exact ProductModulo(Exact a, Exact b, DataType dtype) {
  __extension__ using Bits = unsigned __int128;
  return WrapTo(static_cast<Exact>(static_cast<Bits>(a) * static_cast<Bits>(b)), dtype);
}

class ReferenceEvaluator {
 public:
  ReferenceEvaluator(const Assignment& values, Overflow overflow) : values_(values), overflow_(overflow) {}

  std::optional<Exact> Value(const PrimExpr* e, int lane) {
    const auto value = Eval(e, lane);
    return is_too_big_ ? kTooBig : value;
  }

 private:
  std::optional<Exact> Eval(const PrimExpr* e, int lane) {
    switch (e->kind) {
      case NodeKind::kIntImm: {
        const Exact value = static_cast<const tir::IntImm*>(e)->value;
        return value == WrapTo(value, e->dtype) ? std::optional(value) : std::nullopt;
      }
      case NodeKind::kPrimVar:
      case NodeKind::kSizeVar: return values_.Find(static_cast<const tir::Var*>(e));
      case NodeKind::kBroadcast: return Eval(static_cast<const tir::Broadcast*>(e)->value, 0);
      case NodeKind::kCast: return Convert(*static_cast<const tir::Cast*>(e), lane);
      case NodeKind::kPrimCall: return CallValue(*static_cast<const tir::Call*>(e), lane);
      case NodeKind::kNot: {
        const auto a = Eval(static_cast<const tir::Not*>(e)->a, lane);
        return a ? std::optional<Exact>(*a == 0) : std::nullopt;
      }
      case NodeKind::kSelect: {
        const auto* select = static_cast<const tir::Select*>(e);
        return Choose(select->condition, select->true_value, select->false_value, lane);
      }
      case NodeKind::kLet: {
        const auto* let = static_cast<const tir::Let*>(e);
        const auto value = Eval(let->value, 0);
        if (!value) return std::nullopt;
        values_.Set(let->var, *value);
        return Eval(let->body, lane);
      }
      case NodeKind::kRamp: {
        const auto* ramp = static_cast<const tir::Ramp*>(e);
        const auto base = Eval(ramp->base, 0);
        const auto stride = Eval(ramp->stride, 0);
        return base && stride ? Settle(*base + *stride * lane, ramp->base->dtype) : std::nullopt;
      }
      default: return BinaryValue(*To<tir::BinaryExpr>(e), lane);
    }
  }

  bool IsIndex(DataType dtype) const { return dtype.is_int() && dtype.bits >= 32; }
  std::optional<Exact> Settle(Exact value, DataType dtype) {
    const Exact wrapped = WrapTo(value, dtype);
    if (wrapped == value || !IsIndex(dtype) || overflow_ == Overflow::kWrapping) return wrapped;
    if (overflow_ == Overflow::kExact) return std::nullopt;
    is_too_big_ |= value > kTooBig || value < -kTooBig;
    return value;
  }
  std::optional<Exact> Product(Exact a, Exact b, DataType dtype) {
    if (!IsIndex(dtype)) return ProductModulo(a, b, dtype);
    Exact product;
    if (__builtin_mul_overflow(a, b, &product)) product = 2 * kTooBig;
    return Settle(product, dtype);
  }

  std::optional<Exact> Choose(const PrimExpr* condition, const PrimExpr* yes, const PrimExpr* no, int lane) {
    const auto holds = Eval(condition, condition->dtype.lanes == 1 ? 0 : lane);
    return holds ? Eval(*holds != 0 ? yes : no, lane) : std::nullopt;
  }

  // To an integer or a boolean; from an integer, or from one that was converted to a float.
  std::optional<Exact> Convert(const tir::Cast& cast, int lane) {
    const DataType to = cast.dtype.with_lanes(1);
    if (cast.value->dtype.is_integer()) {
      const auto value = Eval(cast.value, lane);
      if (!value) return std::nullopt;
      return to.is_bool() ? *value != 0 : WrapTo(*value, to);
    }
    const auto real = RealValue(cast.value, lane);
    if (!real || to.is_bool()) return real ? std::optional<Exact>(*real != 0) : std::nullopt;
    const auto whole = static_cast<Exact>(*real);
    return whole == WrapTo(whole, to) ? std::optional(whole) : std::nullopt;
  }

  // An integer that was converted to a float, or a float constant that was one.
  std::optional<double> RealValue(const PrimExpr* e, int lane) {
    const bool is_double = e->dtype.bits == 64;
    if (const auto* constant = As<tir::FloatImm>(e))
      return is_double ? constant->value : static_cast<double>(static_cast<float>(constant->value));
    const auto value = Eval(To<tir::Cast>(e)->value, lane);
    if (!value) return std::nullopt;
    // No integer of 64 bits exceeds the range of float32.
    return is_double ? static_cast<double>(*value) : static_cast<double>(static_cast<float>(*value));
  }

  std::optional<Exact> BinaryValue(const tir::BinaryExpr& e, int lane) {
    const auto a = Eval(e.a, lane);
    if (!a) return std::nullopt;
    if (e.kind == NodeKind::kAnd && *a == 0) return Exact{0};
    if (e.kind == NodeKind::kOr && *a != 0) return Exact{1};
    const auto b = Eval(e.b, lane);
    if (!b) return std::nullopt;
    const DataType dtype = e.a->dtype.with_lanes(1);
    const bool divides = e.kind >= NodeKind::kDiv && e.kind <= NodeKind::kFloorMod;
    if (divides && *b == 0) return std::nullopt;
    switch (e.kind) {
      case NodeKind::kAdd: return Settle(*a + *b, dtype);
      case NodeKind::kSub: return Settle(*a - *b, dtype);
      case NodeKind::kMul: return Product(*a, *b, dtype);
      case NodeKind::kDiv: return Settle(*a / *b, dtype);
      case NodeKind::kMod: return *a % *b;
      case NodeKind::kFloorDiv: return Settle(FloorQuotient(*a, *b), dtype);
      case NodeKind::kFloorMod: return *a - FloorQuotient(*a, *b) * *b;
      case NodeKind::kMin: return std::min(*a, *b);
      case NodeKind::kMax: return std::max(*a, *b);
      case NodeKind::kEQ: return *a == *b;
      case NodeKind::kNE: return *a != *b;
      case NodeKind::kLT: return *a < *b;
      case NodeKind::kLE: return *a <= *b;
      case NodeKind::kGT: return *a > *b;
      case NodeKind::kGE: return *a >= *b;
      case NodeKind::kAnd:
      case NodeKind::kOr: return *b != 0;
      default: IROPT_UNREACHABLE("the generator has no {}", NodeKindName(e.kind));
    }
  }

  std::optional<Exact> CallValue(const tir::Call& call, int lane) {
    const OpId id = To<Op>(call.op)->id;
    const DataType dtype = call.dtype.with_lanes(1);
    if (id == op::kTirIfThenElse) return Choose(call.args[0], call.args[1], call.args[2], lane);
    const auto a = Eval(call.args[0], lane);
    if (!a) return std::nullopt;
    if (id == op::kTirBitwiseNot) return dtype.is_bool() ? Exact{*a == 0} : WrapTo(-*a - 1, dtype);
    const auto b = Eval(call.args[1], lane);
    if (!b) return std::nullopt;
    const bool shifts = id == op::kTirShiftLeft || id == op::kTirShiftRight;
    if (shifts && (*b < 0 || *b >= dtype.bits)) return std::nullopt;
    switch (id) {
      case op::kTirLargeUintImm: return (*b << 32) + *a;
      case op::kTirShiftLeft: return ProductModulo(*a, Exact{1} << static_cast<int>(*b), dtype);
      case op::kTirShiftRight: return FloorQuotient(*a, Exact{1} << static_cast<int>(*b));
      case op::kTirBitwiseAnd: return *a & *b;
      case op::kTirBitwiseOr: return *a | *b;
      case op::kTirBitwiseXor: return *a ^ *b;
      default: IROPT_UNREACHABLE("the generator has no {}", To<Op>(call.op)->name);
    }
  }

  Assignment values_;
  Overflow overflow_;
  bool is_too_big_ = false;
};

}  // namespace

std::optional<Exact> ValueOf(const PrimExpr* e, const Assignment& values, Overflow overflow, int lane) {
  return ReferenceEvaluator(values, overflow).Value(e, lane);
}

}  // namespace iropt::generate
