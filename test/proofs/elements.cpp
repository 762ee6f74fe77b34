#include "elements.h"

#include <cmath>
#include <string>

#include "iropt/ir/element.h"
#include "iropt/ir/ndarray.h"
#include "iropt/ir/tir/expr.h"
#include "iropt/ir/type.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/activation.h"
#include "iropt/op/ops/arithmetic.h"
#include "iropt/op/ops/binary.h"
#include "iropt/op/ops/call_tir.h"
#include "iropt/op/ops/create.h"
#include "iropt/op/ops/datatype.h"
#include "iropt/op/ops/unary.h"

namespace iropt::proofs {

namespace {

constexpr unsigned kWide = 80;  // bits: more than any dtype has, with a sign

DataType DTypeOf(const Expr* expr) {
  const auto* tensor = As<TensorType>(expr->type);
  return tensor ? tensor->dtype : DataType::Void();
}

OpId OpOf(const Call& call) {
  const auto* op = As<Op>(call.op);
  return op ? op->info->id : op::kCallTir;
}

unsigned Bits(DataType dtype) { return dtype.is_bool() ? 1U : static_cast<unsigned>(dtype.bits); }

z3::expr Widen(const z3::expr& x, DataType dtype, unsigned bits) {
  return dtype.is_int() ? z3::sext(x, bits) : z3::zext(x, bits);
}

}  // namespace

z3::sort Elements::SortOf(DataType dtype) {
  if (dtype == DataType::Float(16)) return context_.fpa_sort<16>();
  if (dtype == DataType::Float(32)) return context_.fpa_sort<32>();
  if (dtype == DataType::Float(64)) return context_.fpa_sort<64>();
  return context_.bv_sort(Bits(dtype));
}

std::optional<z3::expr> Elements::ResultOf(const Function& function) {
  values_.clear();
  defined_.resize(0);
  for (const Var* param : function.params)
    values_.emplace(param, context_.constant(std::string(param->name()).c_str(), SortOf(DTypeOf(param))));
  const auto* body = As<SeqExpr>(function.body);
  if (!body) return ValueOf(function.body);
  for (const BindingBlock* block : body->blocks) {
    for (const Binding* binding : block->bindings) {
      if (binding->kind != NodeKind::kVarBinding) return std::nullopt;
      if (const auto value = ValueOf(iropt::ValueOf(binding))) values_.emplace(binding->var, *value);
    }
  }
  return ValueOf(body->body);
}

std::optional<z3::expr> Elements::ValueOf(const Expr* expr) {
  if (const auto* var = As<Var>(expr)) {
    const auto found = values_.find(var);
    return found == values_.end() ? std::nullopt : std::optional(found->second);
  }
  if (const auto* constant = As<Constant>(expr)) return Literal(*constant->data);
  if (const auto* call = As<Call>(expr)) return CallValue(*call);
  return std::nullopt;
}

// The element that all of an array's elements are.
std::optional<z3::expr> Elements::Literal(const NDArray& array) {
  if (array.num_elements() == 0 || !(array.dtype().is_integer() || array.dtype().is_bool())) return std::nullopt;
  std::optional<z3::expr> value;
  DispatchElement(array.dtype(), [&]<class T>(std::type_identity<T>) {
    const auto elements = array.As<T>();
    for (const T& element : elements) {
      if (Element<T>::Load(element) != Element<T>::Load(elements[0])) return;
    }
    value = context_.bv_val(static_cast<int64_t>(Element<T>::Load(elements[0])), Bits(array.dtype()));
  });
  return value;
}

std::optional<z3::expr> Elements::CallValue(const Call& call) {
  const OpId op = OpOf(call);
  const DataType dtype = DTypeOf(&call);
  const auto number = [&](int value) { return context_.bv_val(value, Bits(dtype)); };
  if (op == op::kZeros || op == op::kZerosLike) return number(0);
  if (op == op::kOnes || op == op::kOnesLike) return number(1);
  if (op == op::kFull || op == op::kFullLike) return ValueOf(call.args[1]);
  if (op == op::kClip) return Clip(call);
  if (call.args.empty()) return std::nullopt;
  const auto first = ValueOf(call.args[0]);
  if (!first) return std::nullopt;
  if (op == op::kAstype) return Convert(*first, DTypeOf(call.args[0]), dtype);
  if (!DTypeOf(call.args[0]).is_integer()) return std::nullopt;
  if (call.args.size() == 1) return Unary(call, *first);
  const auto second = call.args.size() == 2 ? ValueOf(call.args[1]) : std::nullopt;
  return second ? Binary(call, *first, *second) : std::nullopt;
}

std::optional<z3::expr> Elements::Unary(const Call& call, const z3::expr& x) {
  const bool has_sign = DTypeOf(&call).is_int();
  const z3::expr zero = context_.bv_val(0, x.get_sort().bv_size());
  switch (OpOf(call)) {
    case op::kNegative: return -x;
    case op::kBitwiseNot: return ~x;
    case op::kAbs: return has_sign ? z3::ite(x < zero, -x, x) : x;
    case op::kNnRelu: return has_sign ? z3::ite(x < zero, zero, x) : x;
    case op::kSign: {
      const z3::expr one = context_.bv_val(1, x.get_sort().bv_size());
      return has_sign ? z3::ite(x < zero, -one, z3::ite(x == zero, zero, one)) : z3::ite(x == zero, zero, one);
    }
    case op::kCeil:
    case op::kFloor:
    case op::kRound: return x;
    default: return std::nullopt;
  }
}

std::optional<z3::expr> Elements::Binary(const Call& call, const z3::expr& a, const z3::expr& b) {
  const bool has_sign = DTypeOf(call.args[0]).is_int();
  switch (OpOf(call)) {
    case op::kAdd: return a + b;
    case op::kSubtract: return a - b;
    case op::kMultiply: return a * b;
    case op::kMaximum: return z3::ite(has_sign ? a > b : z3::ugt(a, b), a, b);
    case op::kMinimum: return z3::ite(has_sign ? a < b : z3::ult(a, b), a, b);
    case op::kBitwiseAnd: return a & b;
    case op::kBitwiseOr: return a | b;
    case op::kBitwiseXor: return a ^ b;
    default: return std::nullopt;
  }
}

std::optional<z3::expr> Elements::Limit(const Expr* operand) {
  const auto* scalar = As<PrimValue>(operand);
  if (!scalar) return std::nullopt;
  if (const auto* integer = As<tir::IntImm>(scalar->value)) return context_.bv_val(integer->value, kWide);
  const auto* real = As<tir::FloatImm>(scalar->value);
  if (!real || std::abs(real->value) > 0x1p62 || real->value != std::floor(real->value)) return std::nullopt;
  return context_.bv_val(static_cast<int64_t>(real->value), kWide);
}

std::optional<z3::expr> Elements::Clip(const Call& call) {
  const DataType dtype = DTypeOf(call.args[0]);
  const auto x = ValueOf(call.args[0]);
  const auto least = Limit(call.args[1]);
  const auto greatest = Limit(call.args[2]);
  if (!x || !least || !greatest || !dtype.is_integer()) return std::nullopt;
  const z3::expr wide = Widen(*x, dtype, kWide - Bits(dtype));
  const z3::expr above = z3::ite(wide < *least, *least, wide);
  return z3::ite(above > *greatest, *greatest, above).extract(Bits(dtype) - 1, 0);
}

// The integer that is nearest in the direction of 0.
z3::expr Elements::ToInteger(const z3::expr& x, DataType to) {
  const z3::expr toward_zero = z3::expr(context_, Z3_mk_fpa_rtz(context_));
  const z3::expr whole = z3::expr(context_, Z3_mk_fpa_round_to_integral(context_, toward_zero, x));
  // Powers of two are exact, or infinite.
  const int bits = to.is_int() ? to.bits - 1 : to.bits;
  const z3::sort sort = x.get_sort();
  const z3::expr end = z3::expr(context_, Z3_mk_fpa_numeral_double(context_, std::ldexp(1.0, bits), sort));
  const z3::expr least =
      z3::expr(context_, Z3_mk_fpa_numeral_double(context_, to.is_int() ? -std::ldexp(1.0, bits) : 0.0, sort));
  const z3::expr infinite = z3::expr(context_, Z3_mk_fpa_is_infinite(context_, x));
  defined_.push_back(!infinite && z3::expr(context_, Z3_mk_fpa_lt(context_, whole, end)) &&
                     z3::expr(context_, Z3_mk_fpa_geq(context_, whole, least)));
  return {context_, to.is_int() ? Z3_mk_fpa_to_sbv(context_, toward_zero, x, Bits(to))
                                : Z3_mk_fpa_to_ubv(context_, toward_zero, x, Bits(to))};
}

z3::expr Elements::Convert(const z3::expr& x, DataType from, DataType to) {
  if (from == to) return x;
  const z3::expr nearest = z3::expr(context_, Z3_mk_fpa_rne(context_));
  const z3::sort sort = SortOf(to);
  if (from.is_floating()) {
    if (to.is_floating()) return {context_, Z3_mk_fpa_to_fp_float(context_, nearest, x, sort)};
    if (to.is_bool())
      return z3::ite(z3::expr(context_, Z3_mk_fpa_is_zero(context_, x)), context_.bv_val(0, 1), context_.bv_val(1, 1));
    return ToInteger(x, to);
  }
  if (to.is_floating())
    return {context_, from.is_int() ? Z3_mk_fpa_to_fp_signed(context_, nearest, x, sort)
                                    : Z3_mk_fpa_to_fp_unsigned(context_, nearest, x, sort)};
  if (to.is_bool()) return z3::ite(x == context_.bv_val(0, Bits(from)), context_.bv_val(0, 1), context_.bv_val(1, 1));
  if (Bits(to) <= Bits(from)) return x.extract(Bits(to) - 1, 0);
  return Widen(x, from, Bits(to) - Bits(from));
}

}  // namespace iropt::proofs
