#include "prim_ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "iropt/arith/prim_builder.h"
#include "iropt/ir/location.h"
#include "iropt/op/op.h"

namespace iropt::text {
namespace {

using Kind = Value::Kind;

NodeKind ArithmeticKind(TokenKind op) {
  switch (op) {
    case TokenKind::kPlus: return NodeKind::kAdd;
    case TokenKind::kMinus: return NodeKind::kSub;
    case TokenKind::kStar: return NodeKind::kMul;
    case TokenKind::kSlash: return NodeKind::kDiv;
    case TokenKind::kDoubleSlash: return NodeKind::kFloorDiv;
    case TokenKind::kPercent: return NodeKind::kFloorMod;
    case TokenKind::kLess: return NodeKind::kLT;
    case TokenKind::kLessEqual: return NodeKind::kLE;
    case TokenKind::kGreater: return NodeKind::kGT;
    case TokenKind::kGreaterEqual: return NodeKind::kGE;
    case TokenKind::kEqual: return NodeKind::kEQ;
    case TokenKind::kNotEqual: return NodeKind::kNE;
    default: return NodeKind::kLet;  // none
  }
}

std::string_view BitwiseName(TokenKind op) {
  switch (op) {
    case TokenKind::kShiftLeft: return "tir.shift_left";
    case TokenKind::kShiftRight: return "tir.shift_right";
    case TokenKind::kAmpersand: return "tir.bitwise_and";
    case TokenKind::kPipe: return "tir.bitwise_or";
    case TokenKind::kCaret: return "tir.bitwise_xor";
    default: return {};
  }
}

bool IsComparison(NodeKind kind) { return kind >= NodeKind::kEQ && kind <= NodeKind::kGE; }

template <class T>
bool CompareNumbers(NodeKind kind, T a, T b) {
  switch (kind) {
    case NodeKind::kLT: return a < b;
    case NodeKind::kLE: return a <= b;
    case NodeKind::kGT: return a > b;
    case NodeKind::kGE: return a >= b;
    case NodeKind::kEQ: return a == b;
    default: return a != b;
  }
}

double AsDouble(const Value& v) {
  return v.is(Kind::kFloat)  ? v.real
         : v.is(Kind::kBool) ? static_cast<double>(v.boolean)
                             : static_cast<double>(v.integer);
}

int64_t AsInteger(const Value& v) { return v.is(Kind::kBool) ? v.boolean : v.integer; }

// The value as an integer of the dtype has it: two's complement of that width.
int64_t Wrap(int64_t value, DataType dtype) {
  if (dtype.bits >= 64) return value;
  const auto bits = static_cast<uint64_t>(value) & ((uint64_t{1} << dtype.bits) - 1);
  if (!dtype.is_int()) return static_cast<int64_t>(bits);
  const uint64_t sign = uint64_t{1} << (dtype.bits - 1);
  return static_cast<int64_t>((bits ^ sign) - sign);
}

bool FitsIn(int64_t value, DataType dtype) { return Wrap(value, dtype) == value && (dtype.is_int() || value >= 0); }

bool IsFloat(DataType t) { return t.code == TypeCode::kFloat; }

// The dtype that both operands of an operation are brought to, for equal lanes; void where there is none. The order of
// the tests is TVM's: float wins over everything, then bfloat16, then the narrow floats, then the wider integer; of two
// integers of one width the unsigned one.
DataType CommonDType(DataType a, DataType b) {
  if (a == b) return a;
  if (a.is_handle() || b.is_handle() || a.is_void() || b.is_void()) return DataType::Void();
  if (IsFloat(a) != IsFloat(b)) return IsFloat(a) ? a : b;
  if (IsFloat(a)) return a.bits < b.bits ? b : a;
  const auto is_bfloat = [](DataType t) { return t.code == TypeCode::kBFloat; };
  if (is_bfloat(a) != is_bfloat(b)) return is_bfloat(a) ? a : b;
  if (a.is_floating() != b.is_floating()) return a.is_floating() ? a : b;
  if (a.is_floating()) return DataType::Void();
  if (a.bits != b.bits) return a.bits < b.bits ? b : a;
  return a.is_uint() ? a : b;
}

}  // namespace

bool PrimOps::Error(Span span, std::string message) {
  diag_.Error(Location(span), "type-mismatch", std::move(message));
  return false;
}

const PrimExpr* PrimOps::Int(int64_t value, DataType dtype, Span span) {
  auto* node = ws_.New<tir::IntImm>(dtype, value);
  node->set_span(span);
  return node;
}

const PrimExpr* PrimOps::Float(double value, DataType dtype, Span span) {
  auto* node = ws_.New<tir::FloatImm>(dtype, value);
  node->set_span(span);
  return node;
}

const PrimExpr* PrimOps::ToPrim(const Value& v) {
  switch (v.kind) {
    case Kind::kBool: return Int(v.boolean, DataType::Bool(), v.span);
    case Kind::kInt:
      return Int(v.integer, DataType::Int(FitsIn(v.integer, DataType::Int(int_bits_)) ? int_bits_ : 64), v.span);
    case Kind::kFloat: return Float(v.real, DataType::Float(32), v.span);
    case Kind::kPrim: return v.prim;
    default: IROPT_UNREACHABLE("the value is no number");
  }
}

// ---- Nodes

const PrimExpr* PrimOps::MakeNode(NodeKind kind, const PrimExpr* a, const PrimExpr* b, Span span) {
  if (a->dtype != b->dtype) {
    Error(span, fmt::format("the operands have different types: '{}' and '{}'; convert one by T.Cast(...)",
                            a->dtype.ToString(), b->dtype.ToString()));
    return nullptr;
  }
  auto* node = ws_.New<tir::BinaryExpr>(kind, a, b);
  node->set_span(span);
  return node;
}

const PrimExpr* PrimOps::Lanes(DataType dtype, Span span) {
  if (!dtype.is_scalable()) return Int(dtype.lanes, DataType::Int(32), span);
  auto* vscale = ws_.New<tir::Call>(DataType::Int(32), GetOp("tir.vscale"), List<const PrimExpr*>());
  vscale->set_span(span);
  return MakeNode(NodeKind::kMul, vscale, Int(-dtype.lanes, DataType::Int(32), span), span);
}

const PrimExpr* PrimOps::MakeBroadcast(const PrimExpr* value, const PrimExpr* lanes, Span span) {
  const DataType dtype = value->dtype.is_scalar() ? VectorDType(value->dtype, lanes) : DataType::Void();
  if (dtype.is_void()) {
    Error(span, "a vector needs a scalar value and a constant number of lanes");
    return nullptr;
  }
  auto* node = ws_.New<tir::Broadcast>(dtype, value, Lanes(dtype, lanes->span()));
  node->set_span(span);
  return node;
}

const PrimExpr* PrimOps::MakeRamp(const PrimExpr* base, const PrimExpr* stride, const PrimExpr* lanes, Span span) {
  const bool scalars = base->dtype.is_scalar() && stride->dtype.is_scalar();
  const DataType dtype = scalars ? VectorDType(base->dtype, lanes) : DataType::Void();
  if (dtype.is_void()) {
    Error(span, "a ramp needs a scalar base and stride, and a constant number of lanes");
    return nullptr;
  }
  stride = MakeCast(base->dtype, stride, span);
  if (!stride) return nullptr;
  auto* node = ws_.New<tir::Ramp>(dtype, base, stride, Lanes(dtype, lanes->span()));
  node->set_span(span);
  return node;
}

bool PrimOps::MatchDtypes(const PrimExpr*& a, const PrimExpr*& b, Span span) {
  if (a->dtype == b->dtype) return true;
  const auto common = [&] {
    const DataType x = a->dtype;
    const DataType y = b->dtype;
    if (x.lanes != y.lanes && !x.is_scalar() && !y.is_scalar()) return DataType::Void();
    const DataType element = CommonDType(x.with_lanes(1), y.with_lanes(1));
    return element.is_void() ? element : element.with_lanes(x.is_scalar() ? y.lanes : x.lanes);
  }();
  if (common.is_void()) {
    return Error(
        span, fmt::format("the operands don't go together: '{}' and '{}'", a->dtype.ToString(), b->dtype.ToString()));
  }
  // A scalar is spread before it is converted.
  const auto match = [&](const PrimExpr* e) {
    if (e->dtype.is_scalar() && !common.is_scalar()) e = MakeCast(e->dtype.with_lanes(common.lanes), e, e->span());
    return MakeCast(common, e, e->span());
  };
  a = match(a);
  b = match(b);
  return a && b;
}

// Constants compute as their type does, beyond its limits, too.
const PrimExpr* PrimOps::Wrapped(NodeKind kind, const PrimExpr* a, const PrimExpr* b, Span span) {
  const int64_t* x = arith::AsInt(a);
  const int64_t* y = arith::AsInt(b);
  if (!x || !y) return nullptr;
  const auto ux = static_cast<uint64_t>(*x);
  const auto uy = static_cast<uint64_t>(*y);
  const auto give = [&](uint64_t r) { return Int(Wrap(static_cast<int64_t>(r), a->dtype), a->dtype, span); };
  switch (kind) {
    case NodeKind::kAdd: return give(ux + uy);
    case NodeKind::kSub: return give(ux - uy);
    case NodeKind::kMul: return give(ux * uy);
    // Only the least integer over -1 exceeds the type.
    case NodeKind::kDiv:
    case NodeKind::kFloorDiv: return give(0 - ux);
    default: return nullptr;
  }
}

const PrimExpr* PrimOps::Make(NodeKind kind, const PrimExpr* a, const PrimExpr* b, Span span) {
  if (!MatchDtypes(a, b, span)) return nullptr;
  if ((kind == NodeKind::kFloorDiv || kind == NodeKind::kFloorMod) &&
      !(a->dtype.is_integer() && b->dtype.is_integer())) {
    Error(span, fmt::format("'//' and '%' apply to integers, found '{}'", a->dtype.ToString()));
    return nullptr;
  }
  if (kind >= NodeKind::kDiv && kind <= NodeKind::kFloorMod && arith::IsInt(b, 0)) {
    Error(b->span().known() ? b->span() : span, "division by zero");
    return nullptr;
  }
  const PrimExpr* folded = arith::TryFold(kind, a, b, arith::PrimBuilder(ws_.arena()));
  if (!folded) folded = Wrapped(kind, a, b, span);
  if (!folded) return MakeNode(kind, a, b, span);
  // A new constant: nobody else knows it yet, so that it can still get its place in the source.
  if (folded != a && folded != b) const_cast<PrimExpr*>(folded)->set_span(span);
  return folded;
}

const PrimExpr* PrimOps::MakeCast(DataType dtype, const PrimExpr* value, Span span) {
  if (value->dtype == dtype) return value;
  if (!dtype.is_scalar() && value->dtype.is_scalar()) {
    const PrimExpr* element = MakeCast(dtype.with_lanes(1), value, span);
    if (!element) return nullptr;
    auto* node = ws_.New<tir::Broadcast>(dtype, element, Lanes(dtype, span));
    node->set_span(span);
    return node;
  }
  if (!dtype.is_scalar()) {
    if (const auto* b = As<tir::Broadcast>(value))
      return MakeBroadcast(MakeCast(dtype.with_lanes(1), b->value, span), b->lanes, span);
    const auto* ramp = As<tir::Ramp>(value);
    if (ramp && dtype.is_integer()) {
      const DataType element = dtype.with_lanes(1);
      auto* node = ws_.New<tir::Ramp>(dtype, MakeCast(element, ramp->base, span), MakeCast(element, ramp->stride, span),
                                      ramp->lanes);
      node->set_span(span);
      return node;
    }
  } else if (const auto* i = As<tir::IntImm>(value); i && !dtype.is_handle()) {
    if (dtype.is_floating()) return Float(static_cast<double>(i->value), dtype, i->span());
    if (!FitsIn(i->value, dtype)) {
      Error(i->span().known() ? i->span() : span, fmt::format("{} does not fit in '{}'", i->value, dtype.ToString()));
      return nullptr;
    }
    return Int(i->value, dtype, i->span());
  } else if (const auto* f = As<tir::FloatImm>(value)) {
    if (dtype.is_floating()) return Float(f->value, dtype, f->span());
    if (dtype.is_integer() && std::fabs(f->value) < 0x1p62)
      return Int(Wrap(static_cast<int64_t>(f->value), dtype), dtype, f->span());
  }
  if (value->dtype.is_handle()) {
    Error(span, fmt::format("a handle can't be converted to '{}'", dtype.ToString()));
    return nullptr;
  }
  auto* node = ws_.New<tir::Cast>(dtype, value);
  node->set_span(span);
  return node;
}

const PrimExpr* PrimOps::MakeBitwise(std::string_view name, const PrimExpr* a, const PrimExpr* b, Span span) {
  if (!a->dtype.is_integer() || !b->dtype.is_integer()) {
    Error(span,
          fmt::format("bits and shifts need integers, found '{}' and '{}'", a->dtype.ToString(), b->dtype.ToString()));
    return nullptr;
  }
  if (!MatchDtypes(a, b, span)) return nullptr;
  const bool shift = name == "tir.shift_left" || name == "tir.shift_right";
  const int64_t* x = arith::AsInt(a);
  const int64_t* y = arith::AsInt(b);
  if (arith::IsIndexType(a->dtype)) {
    if (shift && y && (*y < 0 || *y >= a->dtype.bits)) {
      Error(b->span(), fmt::format("a shift of '{}' by {}", a->dtype.ToString(), *y));
      return nullptr;
    }
    if (shift && y && *y == 0 && !x) return a;
    if (x && y) {
      Value folded;
      const TokenKind op = name == "tir.shift_left"    ? TokenKind::kShiftLeft
                           : name == "tir.shift_right" ? TokenKind::kShiftRight
                           : name == "tir.bitwise_and" ? TokenKind::kAmpersand
                           : name == "tir.bitwise_or"  ? TokenKind::kPipe
                                                       : TokenKind::kCaret;
      if (!Integers(op, *x, *y, span, folded)) return nullptr;
      return Int(Wrap(folded.integer, a->dtype), a->dtype, span);
    }
  }
  const PrimExpr* args[] = {a, b};
  auto* call = ws_.New<tir::Call>(a->dtype, GetOp(name), ws_.Copy(std::span<const PrimExpr* const>(args)));
  call->set_span(span);
  return call;
}

// ---- Python's operators

bool PrimOps::Integers(TokenKind op, int64_t a, int64_t b, Span span, Value& out) {
  int64_t r = 0;
  bool overflow = false;
  const bool divides = op == TokenKind::kDoubleSlash || op == TokenKind::kPercent;
  if (divides && b == 0) return Error(span, "division by zero");
  switch (op) {
    case TokenKind::kPlus: overflow = __builtin_add_overflow(a, b, &r); break;
    case TokenKind::kMinus: overflow = __builtin_sub_overflow(a, b, &r); break;
    case TokenKind::kStar: overflow = __builtin_mul_overflow(a, b, &r); break;
    case TokenKind::kDoubleSlash:
      overflow = a == INT64_MIN && b == -1;
      if (!overflow) r = arith::FloorDivInt(a, b);
      break;
    case TokenKind::kPercent: r = b == -1 ? 0 : arith::FloorModInt(a, b); break;
    case TokenKind::kAmpersand: r = a & b; break;
    case TokenKind::kPipe: r = a | b; break;
    case TokenKind::kCaret: r = a ^ b; break;
    case TokenKind::kShiftRight:
      if (b < 0) return Error(span, "a shift by a negative number");
      r = a >> std::min<int64_t>(b, 63);
      break;
    case TokenKind::kShiftLeft:
      if (b < 0) return Error(span, "a shift by a negative number");
      overflow = a != 0 && (b > 62 || __builtin_mul_overflow(a, int64_t{1} << b, &r));
      break;
    case TokenKind::kDoubleStar:
      r = 1;
      for (int64_t n = a == 0 || a == 1 ? std::min<int64_t>(b, 1) : a == -1 ? b % 2 : b; n > 0 && !overflow; --n) {
        overflow = __builtin_mul_overflow(r, a, &r);
      }
      break;
    default: return Error(span, fmt::format("{} does not apply to integers", TokenKindName(op)));
  }
  if (overflow) return Error(span, "the result exceeds 64 bits");
  out = Value::Int(r, span);
  return true;
}

bool PrimOps::Numbers(TokenKind op, const Value& a, const Value& b, Span span, Value& out) {
  const bool integers = !a.is(Kind::kFloat) && !b.is(Kind::kFloat);
  if (const NodeKind kind = ArithmeticKind(op); IsComparison(kind)) {
    const bool r =
        integers ? CompareNumbers(kind, AsInteger(a), AsInteger(b)) : CompareNumbers(kind, AsDouble(a), AsDouble(b));
    out = Value::Bool(r, span);
    return true;
  }
  const bool negative_power = op == TokenKind::kDoubleStar && integers && AsInteger(b) < 0;
  if (integers && op != TokenKind::kSlash && !negative_power)
    return Integers(op, AsInteger(a), AsInteger(b), span, out);
  const double x = AsDouble(a);
  const double y = AsDouble(b);
  if (op == TokenKind::kSlash || op == TokenKind::kDoubleSlash || op == TokenKind::kPercent) {
    if (y == 0) return Error(span, "division by zero");
  }
  switch (op) {
    case TokenKind::kPlus: out = Value::Float(x + y, span); return true;
    case TokenKind::kMinus: out = Value::Float(x - y, span); return true;
    case TokenKind::kStar: out = Value::Float(x * y, span); return true;
    case TokenKind::kSlash: out = Value::Float(x / y, span); return true;
    case TokenKind::kDoubleSlash: out = Value::Float(std::floor(x / y), span); return true;
    case TokenKind::kPercent: out = Value::Float(x - y * std::floor(x / y), span); return true;
    case TokenKind::kDoubleStar: out = Value::Float(std::pow(x, y), span); return true;
    default: return Error(span, fmt::format("{} does not apply to floats", TokenKindName(op)));
  }
}

// A number beside an expression in a comparison takes the element type of the expression.
const PrimExpr* PrimOps::Adapt(const Value& v, DataType other) {
  const DataType element = other.with_lanes(1);
  if (v.is(Kind::kPrim)) return v.prim;
  if (other.is_handle() || other.is_void()) return ToPrim(v);
  if (!v.is(Kind::kFloat) && element.is_integer()) {
    const int64_t value = AsInteger(v);
    if (!FitsIn(value, element)) {
      Error(v.span, fmt::format("{} does not fit in '{}'{}", value, element.ToString(),
                                element.is_bool() ? "; a < b < c is written a < b and b < c" : ""));
      return nullptr;
    }
    return Int(value, element, v.span);
  }
  if (element.is_floating()) return Float(AsDouble(v), element, v.span);
  return Float(v.real, DataType::Float(32), v.span);
}

bool PrimOps::Compare(NodeKind kind, Value a, Value b, Span span, Value& out) {
  const PrimExpr* x = Adapt(a, b.is(Kind::kPrim) ? b.prim->dtype : DataType::Void());
  const PrimExpr* y = x ? Adapt(b, x->dtype) : nullptr;
  if (!y) return false;
  if (x->dtype.lanes != y->dtype.lanes) {
    const auto spread = [&](const PrimExpr*& e, const PrimExpr* like) {
      if (e->dtype.is_scalar()) e = MakeCast(e->dtype.with_lanes(like->dtype.lanes), e, e->span());
    };
    spread(x, y);
    spread(y, x);
  }
  const PrimExpr* node = MakeNode(kind, x, y, span);
  if (node) out = Value(node);
  return node != nullptr;
}

bool PrimOps::Binary(TokenKind op, const Value& a, const Value& b, Span span, Value& out) {
  if (a.is_number() && b.is_number()) return Numbers(op, a, b, span, out);
  const NodeKind kind = ArithmeticKind(op);
  if (IsComparison(kind)) return Compare(kind, a, b, span, out);
  const PrimExpr* x = ToPrim(a);
  const PrimExpr* y = ToPrim(b);
  const PrimExpr* result = nullptr;
  if (const std::string_view name = BitwiseName(op); !name.empty()) {
    result = MakeBitwise(name, x, y, span);
  } else if (kind == NodeKind::kLet) {
    return Error(span, "'**' does not apply to expressions; use T.pow");
  } else if (kind == NodeKind::kDiv && x->dtype.is_integer() && y->dtype.is_integer()) {
    return Error(span, "'/' does not apply to integers; use '//', T.truncdiv or T.Div");
  } else {
    result = Make(kind, x, y, span);
  }
  if (result) out = Value(result);
  return result != nullptr;
}

bool PrimOps::Logic(NodeKind kind, const Value& a, const Value& b, Span span, Value& out) {
  if (a.is_number() && b.is_number()) {
    const bool truth = AsDouble(a) != 0;
    out = truth == (kind == NodeKind::kAnd) ? b : a;
    out.span = span;
    return true;
  }
  const PrimExpr* x = ToPrim(a);
  const PrimExpr* y = ToPrim(b);
  if (!x->dtype.is_bool() || !y->dtype.is_bool()) {
    return Error(span, fmt::format("'and' and 'or' apply to truth values, found '{}' and '{}'", x->dtype.ToString(),
                                   y->dtype.ToString()));
  }
  const bool vectors = !x->dtype.is_scalar() || !y->dtype.is_scalar();
  const PrimExpr* result = vectors
                               ? MakeBitwise(kind == NodeKind::kAnd ? "tir.bitwise_and" : "tir.bitwise_or", x, y, span)
                               : MakeNode(kind, x, y, span);
  if (result) out = Value(result);
  return result != nullptr;
}

bool PrimOps::Unary(TokenKind op, const Value& a, Span span, Value& out) {
  if (a.is(Kind::kPrim)) {
    if (op == TokenKind::kPlus) return Error(span, "'+' before an expression has no meaning");
    if (op == TokenKind::kMinus) {
      if (!a.prim->dtype.is_int() && !a.prim->dtype.is_floating()) return Error(span, "'-' applies to signed numbers");
      const DataType element = a.prim->dtype.with_lanes(1);
      const PrimExpr* minus_one = element.is_floating() ? Float(-1, element, span) : Int(-1, element, span);
      const PrimExpr* result = Make(NodeKind::kMul, a.prim, minus_one, span);
      if (result) out = Value(result);
      return result != nullptr;
    }
    if (!a.prim->dtype.is_integer()) return Error(span, "'~' applies to integers");
    auto* call = ws_.New<tir::Call>(a.prim->dtype, GetOp("tir.bitwise_not"),
                                    ws_.Copy(std::span<const PrimExpr* const>(&a.prim, 1)));
    call->set_span(span);
    out = Value(static_cast<const PrimExpr*>(call));
    return true;
  }
  if (a.is(Kind::kFloat)) {
    if (op == TokenKind::kTilde) return Error(span, "'~' applies to integers");
    out = Value::Float(op == TokenKind::kMinus ? -a.real : a.real, span);
    return true;
  }
  const int64_t i = AsInteger(a);
  out = Value::Int(op == TokenKind::kMinus   ? static_cast<int64_t>(0 - static_cast<uint64_t>(i))
                   : op == TokenKind::kTilde ? ~i
                                             : i,
                   span);
  return true;
}

bool PrimOps::Not(const Value& a, Span span, Value& out) {
  if (a.is_number()) {
    out = Value::Bool(AsDouble(a) == 0, span);
    return true;
  }
  if (!a.prim->dtype.is_bool())
    return Error(span, fmt::format("'not' applies to truth values, found '{}'", a.prim->dtype.ToString()));
  auto* node = ws_.New<tir::Not>(a.prim);
  node->set_span(span);
  out = Value(static_cast<const PrimExpr*>(node));
  return true;
}

DataType VectorDType(DataType element, const PrimExpr* lanes) {
  if (const int64_t* n = arith::AsInt(lanes))
    return *n > 1 && *n <= INT16_MAX ? element.with_lanes(static_cast<int>(*n)) : DataType::Void();
  const auto* product = As<tir::Mul>(lanes);
  if (!product) return DataType::Void();
  const auto factor = [](const PrimExpr* call, const PrimExpr* number) -> int64_t {
    const auto* c = As<tir::Call>(call);
    const auto* op = c ? As<Op>(c->op) : nullptr;
    const int64_t* n = arith::AsInt(number);
    return op && op->name == "tir.vscale" && n ? *n : 0;
  };
  const int64_t n = std::max(factor(product->a, product->b), factor(product->b, product->a));
  return n > 0 && n <= INT16_MAX ? element.with_lanes(-static_cast<int>(n)) : DataType::Void();
}

}  // namespace iropt::text
