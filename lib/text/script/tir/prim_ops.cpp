#include "prim_ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "iropt/arith/prim_builder.h"
#include "iropt/ir/location.h"
#include "iropt/op/op.h"
#include "text/script/operator_tokens.h"

namespace iropt::text {
namespace {

using Kind = PyValue::Kind;

std::optional<arith::BitOp> BitwiseOp(TokenKind op) {
  switch (op) {
    case TokenKind::kShiftLeft: return arith::BitOp::kShiftLeft;
    case TokenKind::kShiftRight: return arith::BitOp::kShiftRight;
    case TokenKind::kAmpersand: return arith::BitOp::kAnd;
    case TokenKind::kPipe: return arith::BitOp::kOr;
    case TokenKind::kCaret: return arith::BitOp::kXor;
    default: return std::nullopt;
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

double AsDouble(const PyValue& v) {
  return v.is(Kind::kFloat)  ? v.real
         : v.is(Kind::kBool) ? static_cast<double>(v.boolean)
                             : static_cast<double>(v.integer);
}

int64_t AsInteger(const PyValue& v) { return v.is(Kind::kBool) ? v.boolean : v.integer; }

}  // namespace

bool PrimOps::Error(Span span, std::string message) {
  diag_.Error(Location(span), "type-mismatch", std::move(message));
  return false;
}

const PrimExpr* PrimOps::ToPrim(const PyValue& v) {
  switch (v.kind) {
    case Kind::kBool: return Int(v.boolean, DataType::Bool(), v.span);
    case Kind::kInt:
      return Int(v.integer, DataType::Int(arith::FitsIn(v.integer, DataType::Int(int_bits_)) ? int_bits_ : 64), v.span);
    case Kind::kFloat: return Float(v.real, DataType::Float(32), v.span);
    case Kind::kPrim: return v.prim;
    default: IROPT_UNREACHABLE("the value is not a number");
  }
}

// ---- Nodes

const PrimExpr* PrimOps::MakeNode(NodeKind kind, const PrimExpr* a, const PrimExpr* b, Span span) {
  if (a->dtype != b->dtype) {
    Error(span, fmt::format("the operands have different types: '{}' and '{}'; convert one by T.Cast(...)",
                            a->dtype.ToString(), b->dtype.ToString()));
    return nullptr;
  }
  return At(span).Node(kind, a, b);
}

bool PrimOps::Accept(const std::optional<arith::OperandError>& error, Span span) {
  if (!error) return true;
  return Error(error->operand && error->operand->span().known() ? error->operand->span() : span, error->message);
}

const PrimExpr* PrimOps::MakeBroadcast(const PrimExpr* value, const PrimExpr* lanes, Span span) {
  return Accept(arith::CheckBroadcast(value, lanes), span) ? At(span).Broadcast(value, lanes) : nullptr;
}

const PrimExpr* PrimOps::MakeRamp(const PrimExpr* base, const PrimExpr* stride, const PrimExpr* lanes, Span span) {
  return Accept(arith::CheckRamp(base, stride, lanes), span) ? At(span).Ramp(base, stride, lanes) : nullptr;
}

bool PrimOps::MatchDtypes(const PrimExpr*& a, const PrimExpr*& b, Span span) {
  if (!Accept(arith::CheckMatch(a, b), span)) return false;
  At(span).Match(a, b);
  return true;
}

const PrimExpr* PrimOps::Make(NodeKind kind, const PrimExpr* a, const PrimExpr* b, Span span) {
  return Accept(arith::CheckBinary(kind, a, b), span) ? At(span).Binary(kind, a, b) : nullptr;
}

const PrimExpr* PrimOps::MakeCast(DataType dtype, const PrimExpr* value, Span span) {
  return Accept(arith::CheckCast(dtype, value), span) ? At(span).Cast(dtype, value) : nullptr;
}

const PrimExpr* PrimOps::MakeBitwise(arith::BitOp op, const PrimExpr* a, const PrimExpr* b, Span span) {
  return Accept(arith::CheckBitwise(op, a, b), span) ? At(span).Bitwise(op, a, b) : nullptr;
}

// ---- Python's operators

bool PrimOps::Integers(TokenKind op, int64_t a, int64_t b, Span span, PyValue& out) {
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
  out = PyValue::Int(r, span);
  return true;
}

bool PrimOps::Numbers(TokenKind op, const PyValue& a, const PyValue& b, Span span, PyValue& out) {
  const bool integers = !a.is(Kind::kFloat) && !b.is(Kind::kFloat);
  if (const auto comparison = OperatorOf(op).node; comparison && IsComparison(*comparison)) {
    const NodeKind kind = *comparison;
    const bool r =
        integers ? CompareNumbers(kind, AsInteger(a), AsInteger(b)) : CompareNumbers(kind, AsDouble(a), AsDouble(b));
    out = PyValue::Bool(r, span);
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
    case TokenKind::kPlus: out = PyValue::Float(x + y, span); return true;
    case TokenKind::kMinus: out = PyValue::Float(x - y, span); return true;
    case TokenKind::kStar: out = PyValue::Float(x * y, span); return true;
    case TokenKind::kSlash: out = PyValue::Float(x / y, span); return true;
    case TokenKind::kDoubleSlash: out = PyValue::Float(std::floor(x / y), span); return true;
    case TokenKind::kPercent: out = PyValue::Float(x - y * std::floor(x / y), span); return true;
    case TokenKind::kDoubleStar: out = PyValue::Float(std::pow(x, y), span); return true;
    default: return Error(span, fmt::format("{} does not apply to floats", TokenKindName(op)));
  }
}

// A number next to an expression in a comparison takes the element type of the expression.
const PrimExpr* PrimOps::Adapt(const PyValue& v, DataType other) {
  const DataType element = other.with_lanes(1);
  if (v.is(Kind::kPrim)) return v.prim;
  if (other.is_handle() || other.is_void()) return ToPrim(v);
  if (!v.is(Kind::kFloat) && element.is_integer()) {
    const int64_t value = AsInteger(v);
    if (!arith::FitsIn(value, element)) {
      Error(v.span, fmt::format("{} does not fit in '{}'", value, element.ToString()));
      return nullptr;
    }
    return Int(value, element, v.span);
  }
  if (element.is_floating()) return Float(AsDouble(v), element, v.span);
  return Float(v.real, DataType::Float(32), v.span);
}

bool PrimOps::Compare(NodeKind kind, PyValue a, PyValue b, Span span, PyValue& out) {
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
  if (node) out = PyValue(node);
  return node != nullptr;
}

// Constants that were computed wrap around, but a number that does not fit is a mistake.
bool PrimOps::LiteralFits(const PyValue& number, const PrimExpr* value, const PrimExpr* other) {
  if (!number.is(Kind::kInt)) return true;
  const std::optional<DataType> common = arith::PromoteDTypes(value->dtype, other->dtype);
  const DataType element = common ? common->with_lanes(1) : DataType::Void();
  return !element.is_integer() || arith::FitsIn(number.integer, element) ||
         Error(number.span, fmt::format("{} does not fit in '{}'", number.integer, element.ToString()));
}

bool PrimOps::Binary(TokenKind op, const PyValue& a, const PyValue& b, Span span, PyValue& out) {
  if (a.is_number() && b.is_number()) return Numbers(op, a, b, span, out);
  const std::optional<NodeKind> kind = OperatorOf(op).node;
  if (kind && IsComparison(*kind)) return Compare(*kind, a, b, span, out);
  const PrimExpr* x = ToPrim(a);
  const PrimExpr* y = ToPrim(b);
  if (!LiteralFits(a, x, y) || !LiteralFits(b, y, x)) return false;
  const PrimExpr* result = nullptr;
  if (const std::optional<arith::BitOp> bits = BitwiseOp(op)) {
    result = MakeBitwise(*bits, x, y, span);
  } else if (!kind) {
    return Error(span, "'**' does not apply to expressions; use T.pow");
  } else if (kind == NodeKind::kDiv && x->dtype.is_integer() && y->dtype.is_integer()) {
    return Error(span, "'/' does not apply to integers; use '//', T.truncdiv or T.Div");
  } else {
    result = Make(*kind, x, y, span);
  }
  if (result) out = PyValue(result);
  return result != nullptr;
}

bool PrimOps::Logic(NodeKind kind, const PyValue& a, const PyValue& b, Span span, PyValue& out) {
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
  // TVM prints And and Or of vectors like this. It reads '&' and '|' of them, which compute the same.
  const PrimExpr* result = MatchDtypes(x, y, span) ? MakeNode(kind, x, y, span) : nullptr;
  if (result) out = PyValue(result);
  return result != nullptr;
}

bool PrimOps::Unary(TokenKind op, const PyValue& a, Span span, PyValue& out) {
  if (a.is(Kind::kPrim)) {
    if (op == TokenKind::kPlus) return Error(span, "'+' before an expression has no meaning");
    if (op == TokenKind::kMinus) {
      if (!a.prim->dtype.is_int() && !a.prim->dtype.is_floating()) return Error(span, "'-' applies to signed numbers");
      const DataType element = a.prim->dtype.with_lanes(1);
      const PrimExpr* minus_one = element.is_floating() ? Float(-1, element, span) : Int(-1, element, span);
      const PrimExpr* result = Make(NodeKind::kMul, a.prim, minus_one, span);
      if (result) out = PyValue(result);
      return result != nullptr;
    }
    if (!a.prim->dtype.is_integer()) return Error(span, "'~' applies to integers");
    auto* call = ws_.New<tir::Call>(a.prim->dtype, GetOp("tir.bitwise_not"),
                                    ws_.Copy(std::span<const PrimExpr* const>(&a.prim, 1)));
    call->set_span(span);
    out = PyValue(static_cast<const PrimExpr*>(call));
    return true;
  }
  if (a.is(Kind::kFloat)) {
    if (op == TokenKind::kTilde) return Error(span, "'~' applies to integers");
    out = PyValue::Float(op == TokenKind::kMinus ? -a.real : a.real, span);
    return true;
  }
  const int64_t i = AsInteger(a);
  out = PyValue::Int(op == TokenKind::kMinus   ? static_cast<int64_t>(0 - static_cast<uint64_t>(i))
                     : op == TokenKind::kTilde ? ~i
                                               : i,
                     span);
  return true;
}

bool PrimOps::Not(const PyValue& a, Span span, PyValue& out) {
  if (a.is_number()) {
    out = PyValue::Bool(AsDouble(a) == 0, span);
    return true;
  }
  if (!a.prim->dtype.is_bool())
    return Error(span, fmt::format("'not' applies to truth values, found '{}'", a.prim->dtype.ToString()));
  auto* node = ws_.New<tir::Not>(a.prim);
  node->set_span(span);
  out = PyValue(static_cast<const PrimExpr*>(node));
  return true;
}

}  // namespace iropt::text
