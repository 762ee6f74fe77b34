// Functions of T that make expressions: constructors, which make a node as it stands, and functions that fold
// constants.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "iropt/arith/prim_builder.h"
#include "functions.h"

namespace iropt::text {

using Kind = Value::Kind;

// Two operands; a number beside an expression takes its dtype.
bool TirFunctions::Operands(TirParser& p, TirArgs& args, std::string_view what, const PrimExpr*& a,
                            const PrimExpr*& b) {
  const Value* v[2];
  if (!p.Bind(args, what, {"a", "b"}, 2, v)) return false;
  a = p.ToPrim(*v[0]);
  b = p.ToPrim(*v[1]);
  if (!a || !b) return false;
  if (v[0]->is_number() && !v[1]->is_number() && a->dtype != b->dtype) a = p.ToPrimOf(*v[0], b->dtype);
  if (v[1]->is_number() && !v[0]->is_number() && a && a->dtype != b->dtype) b = p.ToPrimOf(*v[1], a->dtype);
  return a && b;
}

bool TirFunctions::Unary(TirParser& p, TirArgs& args, std::string_view what, const PrimExpr*& x) {
  const Value* v[1];
  if (!p.Bind(args, what, {"x"}, 1, v)) return false;
  x = p.ToPrim(*v[0]);
  return x != nullptr;
}

template <NodeKind K>
bool TirFunctions::Node(TirParser& p, TirArgs& args, Value& out) {
  const PrimExpr *a, *b;
  return Operands(p, args, fmt::format("T.{}", NodeKindName(K)), a, b) &&
         Give(p.ops_.MakeNode(K, a, b, args.span), out);
}

template <NodeKind K>
bool TirFunctions::Folding(TirParser& p, TirArgs& args, Value& out) {
  const PrimExpr *a, *b;
  const Value* v[2];
  if (!p.Bind(args, p.CalledName(args), {"a", "b"}, 2, v)) return false;
  a = p.ToPrim(*v[0]);
  b = a ? p.ToPrim(*v[1]) : nullptr;
  return b && Give(p.ops_.Make(K, a, b, args.span), out);
}

template <TokenKind Op>
bool TirFunctions::Bitwise(TirParser& p, TirArgs& args, Value& out) {
  const Value* v[2];
  if (!p.Bind(args, p.CalledName(args), {"x", "y"}, 2, v)) return false;
  const PrimExpr* a = p.ToPrim(*v[0]);
  const PrimExpr* b = a ? p.ToPrim(*v[1]) : nullptr;
  return b && p.ops_.Binary(Op, Value(a), Value(b), args.span, out);
}

// Which: 'f'loor, 'c'eil, 'r'ound, 'n'earbyint, 't'runc. Integers are round already.
template <char Which>
bool TirFunctions::Rounding(TirParser& p, TirArgs& args, Value& out) {
  constexpr std::string_view kOp = Which == 'f'   ? "tir.floor"
                                   : Which == 'c' ? "tir.ceil"
                                   : Which == 'r' ? "tir.round"
                                   : Which == 'n' ? "tir.nearbyint"
                                                  : "tir.trunc";
  const PrimExpr* x = nullptr;
  if (!Unary(p, args, kOp, x)) return false;
  if (x->dtype.is_integer()) return Give(x, out);
  if (const auto* f = As<tir::FloatImm>(x)) {
    const double r = Which == 'f'   ? std::floor(f->value)
                     : Which == 'c' ? std::ceil(f->value)
                     : Which == 't' ? std::trunc(f->value)
                                    : std::nearbyint(f->value);
    return Give(p.ops_.Float(r, x->dtype, args.span), out);
  }
  return Give(p.MakeCall(kOp, x->dtype, {x}, args.span), out);
}

const PrimExpr* TirFunctions::AbsOf(TirParser& p, const PrimExpr* x, Span span) {
  if (const auto* f = As<tir::FloatImm>(x)) return p.ops_.Float(std::fabs(f->value), x->dtype, span);
  if (const auto* i = As<tir::IntImm>(x); i && i->value != INT64_MIN)
    return p.ops_.Int(std::abs(i->value), x->dtype, span);
  if (x->dtype.is_uint()) return x;
  if (x->dtype.is_floating()) return p.MakeCall("tir.fabs", x->dtype, {x}, span);
  const PrimExpr* zero = p.ops_.MakeCast(x->dtype, p.ops_.Int(0, DataType::Int(32), span), span);
  const PrimExpr* positive = zero ? p.ops_.Make(NodeKind::kGE, x, zero, span) : nullptr;
  const PrimExpr* negated = positive ? p.ops_.Make(NodeKind::kSub, zero, x, span) : nullptr;
  return negated ? Spanned(p.ws_.New<tir::Select>(positive, x, negated), span) : nullptr;
}

bool TirFunctions::Abs(TirParser& p, TirArgs& args, Value& out) {
  const PrimExpr* x = nullptr;
  return Unary(p, args, "T.abs", x) && Give(AbsOf(p, x, args.span), out);
}

const PrimExpr* TirFunctions::IsNanOf(TirParser& p, const PrimExpr* x, Span span) {
  const DataType result = DataType::Bool().with_lanes(x->dtype.lanes);
  if (x->dtype.is_integer()) return p.ops_.MakeCast(result, p.ops_.Int(0, DataType::Bool(), span), span);
  if (const auto* f = As<tir::FloatImm>(x)) return p.ops_.Int(std::isnan(f->value), DataType::Bool(), span);
  if (x->dtype.bits == 16) x = p.ops_.MakeCast(DataType::Float(32, x->dtype.lanes), x, span);
  return p.MakeCall("tir.isnan", result, {x}, span);
}

const PrimExpr* TirFunctions::IsInfOf(TirParser& p, const PrimExpr* x, Span span) {
  if (x->dtype.is_integer())
    return p.ops_.MakeCast(DataType::Bool().with_lanes(x->dtype.lanes), p.ops_.Int(0, DataType::Bool(), span), span);
  const PrimExpr* infinity = p.ops_.Float(std::numeric_limits<double>::infinity(), x->dtype.with_lanes(1), span);
  const PrimExpr* is_infinite = p.ops_.Make(NodeKind::kEQ, AbsOf(p, x, span), infinity, span);
  const PrimExpr* nan = IsNanOf(p, x, span);
  const PrimExpr* number = arith::AsInt(nan) ? p.ops_.Int(!*arith::AsInt(nan), DataType::Bool(), span)
                                             : Spanned(p.ws_.New<tir::Not>(nan), span);
  return is_infinite ? p.ops_.Make(NodeKind::kAnd, is_infinite, number, span) : nullptr;
}

bool TirFunctions::IsNan(TirParser& p, TirArgs& args, Value& out) {
  const PrimExpr* x = nullptr;
  return Unary(p, args, "T.isnan", x) && Give(IsNanOf(p, x, args.span), out);
}

bool TirFunctions::IsInf(TirParser& p, TirArgs& args, Value& out) {
  const PrimExpr* x = nullptr;
  return Unary(p, args, "T.isinf", x) && Give(IsInfOf(p, x, args.span), out);
}

bool TirFunctions::IsFinite(TirParser& p, TirArgs& args, Value& out) {
  const PrimExpr* x = nullptr;
  if (!Unary(p, args, "T.isfinite", x)) return false;
  const PrimExpr* inf = IsInfOf(p, x, args.span);
  const PrimExpr* nan = IsNanOf(p, x, args.span);
  if (!inf || !nan) return false;
  const arith::PrimBuilder make(p.ws_.arena());
  return Give(p.ops_.Make(NodeKind::kAnd, make.Not(inf), make.Not(nan), args.span), out);
}

bool TirFunctions::Likely(TirParser& p, TirArgs& args, Value& out) {
  const PrimExpr* x = nullptr;
  if (!Unary(p, args, "T.likely", x)) return false;
  return Give(Is<tir::IntImm>(x) ? x : p.MakeCall("tir.likely", x->dtype, {x}, args.span), out);
}

bool TirFunctions::Not(TirParser& p, TirArgs& args, Value& out) {
  const Value* v[1];
  if (!p.Bind(args, "T.Not", {"a"}, 1, v)) return false;
  const PrimExpr* x = p.ToBool(*v[0]);
  return x && Give(Spanned(p.ws_.New<tir::Not>(x), args.span), out);
}

bool TirFunctions::CeilDiv(TirParser& p, TirArgs& args, Value& out) {
  const Value* v[2];
  if (!p.Bind(args, "T.ceildiv", {"lhs", "rhs"}, 2, v)) return false;
  const PrimExpr* a = p.ToPrim(*v[0]);
  const PrimExpr* b = a ? p.ToPrim(*v[1]) : nullptr;
  if (!b || !p.ops_.MatchDtypes(a, b, args.span)) return false;
  const PrimExpr* one = p.ops_.Int(1, DataType::Int(32), args.span);
  const PrimExpr* sum = p.ops_.Make(NodeKind::kAdd, a, b, args.span);
  const PrimExpr* dividend = sum ? p.ops_.Make(NodeKind::kSub, sum, one, args.span) : nullptr;
  return dividend && Give(p.ops_.Make(NodeKind::kFloorDiv, dividend, b, args.span), out);
}

// ---- Conversions

// T.Cast("float32", x): the node.
bool TirFunctions::Cast(TirParser& p, TirArgs& args, Value& out) {
  const Value* v[2];
  DataType dtype;
  if (!p.Bind(args, "T.Cast", {"dtype", "value"}, 2, v) || !p.ToDType(*v[0], dtype)) return false;
  const PrimExpr* x = p.ToPrim(*v[1]);
  if (!x) return false;
  if (x->dtype.lanes != dtype.lanes) {
    return p.Error(args.span, "type-mismatch",
                   fmt::format("'{}' can't be converted to '{}'", x->dtype.ToString(), dtype.ToString()));
  }
  return Give(Spanned(p.ws_.New<tir::Cast>(dtype, x), args.span), out);
}

// T.cast(x, "float32"): folded.
bool TirFunctions::Convert(TirParser& p, TirArgs& args, Value& out) {
  const Value* v[2];
  DataType dtype;
  if (!p.Bind(args, "T.cast", {"value", "dtype"}, 2, v) || !p.ToDType(*v[1], dtype)) return false;
  const PrimExpr* x = p.ToPrim(*v[0]);
  return x && Give(p.ops_.MakeCast(dtype, x, args.span), out);
}

bool TirFunctions::Reinterpret(TirParser& p, TirArgs& args, Value& out) {
  const Value* v[2];
  DataType dtype;
  // T.reinterpret(x, dtype="float32") is allowed, too.
  if (args.positional.size() == 1 && args.keywords.size() == 1 && args.keywords[0].name == "dtype") {
    args.positional.insert(args.positional.begin(), args.keywords[0].value);
    args.keywords.clear();
  }
  if (!p.Bind(args, "T.reinterpret", {"dtype", "value"}, 2, v) || !p.ToDType(*v[0], dtype)) return false;
  const PrimExpr* x = p.ToPrim(*v[1]);
  if (!x) return false;
  if (x->dtype == dtype) return Give(x, out);
  const bool scalable = x->dtype.is_scalable() || dtype.is_scalable();
  if (!scalable && x->dtype.bits * x->dtype.lanes != dtype.bits * dtype.lanes) {
    return p.Error(args.span, "type-mismatch",
                   fmt::format("'{}' and '{}' differ in size", x->dtype.ToString(), dtype.ToString()));
  }
  return Give(p.MakeCall("tir.reinterpret", dtype, {x}, args.span), out);
}

template <bool Max>
bool TirFunctions::Limit(TirParser& p, TirArgs& args, Value& out) {
  const Value* v[1];
  DataType t;
  if (!p.Bind(args, Max ? "T.max_value" : "T.min_value", {"dtype"}, 1, v) || !p.ToDType(*v[0], t)) return false;
  if (!t.is_scalar() || t.is_handle()) return p.WrongValue(*v[0], "a scalar data type");
  if (t.is_integer()) {
    const int bits = t.is_uint() ? t.bits : t.bits - 1;
    if (bits > 63) return p.Error(args.span, "bad-number", "the value exceeds 64 bits");
    const int64_t most = bits == 63 ? INT64_MAX : (int64_t{1} << bits) - 1;
    return Give(p.ops_.Int(Max ? most : t.is_uint() ? 0 : -most - 1, t, args.span), out);
  }
  const double most = t.code == TypeCode::kFloat8E4M3                           ? 448.0
                      : t.code == TypeCode::kFloat8E5M2                         ? 57344.0
                      : t == DataType::Float(16)                                ? 65504.0
                      : t == DataType::Float(64)                                ? std::numeric_limits<double>::max()
                      : t == DataType::Float(32) || t.code == TypeCode::kBFloat ? std::numeric_limits<float>::max()
                                                                                : 0;
  if (most == 0) return p.WrongValue(*v[0], "a data type with known limits");
  return Give(p.ops_.Float(Max ? most : -most, t, args.span), out);
}

bool TirFunctions::Infinity(TirParser& p, TirArgs& args, Value& out) {
  const Value* v[1];
  DataType t;
  if (!p.Bind(args, "T.infinity", {"dtype"}, 1, v) || !p.ToDType(*v[0], t)) return false;
  if (!t.is_scalar() || t.code != TypeCode::kFloat) return p.WrongValue(*v[0], "a floating point data type");
  return Give(p.ops_.Float(std::numeric_limits<double>::infinity(), t, args.span), out);
}

bool TirFunctions::IntImm(TirParser& p, TirArgs& args, Value& out) {
  const Value* v[2];
  DataType t;
  if (!p.Bind(args, "T.IntImm", {"dtype", "value"}, 2, v) || !p.ToDType(*v[0], t)) return false;
  int64_t i = v[1]->is(Kind::kBool) ? v[1]->boolean : 0;
  if (!v[1]->is(Kind::kBool) && !p.ToInteger(*v[1], i)) return false;
  return Give(p.ops_.MakeCast(t, p.ops_.ToPrim(Value::Int(i, v[1]->span)), args.span), out);
}

bool TirFunctions::FloatImm(TirParser& p, TirArgs& args, Value& out) {
  const Value* v[2];
  DataType t;
  if (!p.Bind(args, "T.FloatImm", {"dtype", "value"}, 2, v) || !p.ToDType(*v[0], t)) return false;
  if (!v[1]->is(Kind::kFloat) && !v[1]->is(Kind::kInt)) return p.WrongValue(*v[1], "a number");
  return Give(p.ops_.Float(v[1]->is(Kind::kInt) ? static_cast<double>(v[1]->integer) : v[1]->real, t, args.span), out);
}

bool TirFunctions::StringImm(TirParser& p, TirArgs& args, Value& out) {
  const Value* v[1];
  std::string_view text;
  return p.Bind(args, "T.StringImm", {"value"}, 1, v) && p.ToString(*v[0], text) && Give(p.ToPrim(*v[0]), out);
}

// T.Var("x", "int32"), T.SizeVar("n", "int64"), and T.var("int32", "x") of old.
template <bool Size>
bool TirFunctions::Var(TirParser& p, TirArgs& args, Value& out) {
  const Value* v[2];
  DataType t;
  std::string_view name;
  // TVM 0.26 calls the data type `ty`.
  for (TirArgs::Keyword& k : args.keywords) {
    if (k.name == "ty") k.name = "dtype";
  }
  if (!p.Bind(args, Size ? "T.SizeVar" : "T.Var", {"name", "dtype"}, 1, v)) return false;
  const bool old = !v[1] || (v[0]->is(Kind::kString) && DataType::Parse(v[0]->string()) && !v[0]->string().empty());
  if (old) std::swap(v[0], v[1]);
  if (!p.ToDType(*v[1], t) || (v[0] && !p.ToString(*v[0], name))) return false;
  if (name.empty()) name = p.pending_name_;
  tir::Var* var =
      Size ? p.ws_.New<tir::SizeVar>(p.ws_.arena().CopyString(name), t, p.ws_.NextVarId()) : p.ws_.NewPrimVar(name, t);
  return Give(Spanned(var, args.span), out);
}

// ---- Choices and vectors

bool TirFunctions::Select(TirParser& p, TirArgs& args, Value& out) {
  const Value* v[3];
  if (!p.Bind(args, "T.Select", {"condition", "true_value", "false_value"}, 3, v)) return false;
  const PrimExpr* condition = p.ToBool(*v[0]);
  const PrimExpr* a = condition ? p.ToPrim(*v[1]) : nullptr;
  const PrimExpr* b = a ? p.ToPrim(*v[2]) : nullptr;
  if (b && a->dtype != b->dtype && v[1]->is_number()) a = p.ToPrimOf(*v[1], b->dtype);
  if (a && b && a->dtype != b->dtype) b = p.ToPrimOf(*v[2], a->dtype);
  return a && b && Give(Spanned(p.ws_.New<tir::Select>(condition, a, b), args.span), out);
}

bool TirFunctions::IfThenElse(TirParser& p, TirArgs& args, Value& out) {
  const Value* v[3];
  if (!p.Bind(args, "T.if_then_else", {"cond", "t", "f"}, 3, v)) return false;
  const PrimExpr* condition = p.ToBool(*v[0]);
  const PrimExpr* a = condition ? p.ToPrim(*v[1]) : nullptr;
  const PrimExpr* b = a ? p.ToPrim(*v[2]) : nullptr;
  if (!b || !p.ops_.MatchDtypes(a, b, args.span)) return false;
  if (const int64_t* known = arith::AsInt(condition)) return Give(*known ? a : b, out);
  return Give(p.MakeCall("tir.if_then_else", a->dtype, {condition, a, b}, args.span), out);
}

bool TirFunctions::Ramp(TirParser& p, TirArgs& args, Value& out) {
  const Value* v[3];
  if (!p.Bind(args, "T.Ramp", {"base", "stride", "lanes"}, 3, v)) return false;
  const PrimExpr* base = p.ToPrim(*v[0]);
  const PrimExpr* stride = base ? p.ToPrim(*v[1]) : nullptr;
  const PrimExpr* lanes = stride ? p.ToPrim(*v[2]) : nullptr;
  return lanes && Give(p.ops_.MakeRamp(base, stride, lanes, args.span), out);
}

bool TirFunctions::Broadcast(TirParser& p, TirArgs& args, Value& out) {
  const Value* v[2];
  if (!p.Bind(args, "T.Broadcast", {"value", "lanes"}, 2, v)) return false;
  const PrimExpr* value = p.ToPrim(*v[0]);
  const PrimExpr* lanes = value ? p.ToPrim(*v[1]) : nullptr;
  return lanes && Give(p.ops_.MakeBroadcast(value, lanes, args.span), out);
}

bool TirFunctions::Shuffle(TirParser& p, TirArgs& args, Value& out) {
  const Value* v[2];
  std::vector<const PrimExpr*> vectors, indices;
  if (!p.Bind(args, "T.Shuffle", {"vectors", "indices"}, 2, v) || !p.ToPrims(*v[0], vectors) ||
      !p.ToPrims(*v[1], indices))
    return false;
  if (vectors.empty() || indices.empty())
    return p.Error(args.span, "bad-expression", "T.Shuffle needs vectors and indices");
  size_t lanes = 0;
  for (const PrimExpr* e : vectors) {
    if (e->dtype.is_scalable() || e->dtype.with_lanes(1) != vectors[0]->dtype.with_lanes(1)) {
      return p.Error(e->span(), "type-mismatch", "the vectors of T.Shuffle have one element type and known lengths");
    }
    lanes += static_cast<size_t>(e->dtype.lanes);
  }
  if (indices.size() > lanes || indices.size() > INT16_MAX)
    return p.Error(args.span, "bad-expression", "T.Shuffle has more indices than elements");
  const DataType dtype = vectors[0]->dtype.with_lanes(static_cast<int>(indices.size()));
  return Give(Spanned(p.ws_.New<tir::Shuffle>(dtype, p.CopyPrims(vectors), p.CopyPrims(indices)), args.span), out);
}

// ---- The table, in the order of the names' bytes

// Scripts of old repeat the data type of what has no choice.
constexpr bool kIgnoresDType = true;

std::span<const TirFunctions::Entry> TirFunctions::Table() {
  static constexpr Entry kTable[] = {
      {"Add", Node<NodeKind::kAdd>},
      {"And", Node<NodeKind::kAnd>},
      {"Broadcast", Broadcast},
      {"Buffer", Buffer},
      {"BufferLoad", BufferLoad},
      {"Call", Call},
      {"Cast", Cast},
      {"Div", Node<NodeKind::kDiv>},
      {"EQ", Node<NodeKind::kEQ>},
      {"FloatImm", FloatImm},
      {"FloorDiv", Node<NodeKind::kFloorDiv>},
      {"FloorMod", Node<NodeKind::kFloorMod>},
      {"GE", Node<NodeKind::kGE>},
      {"GT", Node<NodeKind::kGT>},
      {"IntImm", IntImm},
      {"LE", Node<NodeKind::kLE>},
      {"LT", Node<NodeKind::kLT>},
      {"Max", Node<NodeKind::kMax>},
      {"Min", Node<NodeKind::kMin>},
      {"Mod", Node<NodeKind::kMod>},
      {"Mul", Node<NodeKind::kMul>},
      {"NE", Node<NodeKind::kNE>},
      {"Not", Not},
      {"Or", Node<NodeKind::kOr>},
      {"Ramp", Ramp},
      {"Range", Range},
      {"Reduce", Reduce},
      {"Select", Select},
      {"Shuffle", Shuffle},
      {"SizeVar", Var<true>},
      {"StringImm", StringImm},
      {"Sub", Node<NodeKind::kSub>},
      {"Var", Var<false>},
      {"abs", Abs, kIgnoresDType},
      {"bitwise_and", Bitwise<TokenKind::kAmpersand>, kIgnoresDType},
      {"bitwise_or", Bitwise<TokenKind::kPipe>, kIgnoresDType},
      {"bitwise_xor", Bitwise<TokenKind::kCaret>, kIgnoresDType},
      {"broadcast", Broadcast},
      {"buffer", Buffer},
      {"buffer_decl", Buffer},
      {"call_intrin", CallIntrin},
      {"cast", Convert},
      {"ceil", Rounding<'c'>, kIgnoresDType},
      {"ceildiv", CeilDiv, kIgnoresDType},
      {"div", Folding<NodeKind::kDiv>},
      {"fabs", Abs, kIgnoresDType},
      {"floor", Rounding<'f'>, kIgnoresDType},
      {"floordiv", Folding<NodeKind::kFloorDiv>, kIgnoresDType},
      {"floormod", Folding<NodeKind::kFloorMod>, kIgnoresDType},
      {"if_then_else", IfThenElse, kIgnoresDType},
      {"infinity", Infinity, kIgnoresDType},
      {"isfinite", IsFinite, kIgnoresDType},
      {"isinf", IsInf, kIgnoresDType},
      {"isnan", IsNan, kIgnoresDType},
      {"iter_var", IterVar},
      {"let", Let},
      {"likely", Likely, kIgnoresDType},
      {"max", Folding<NodeKind::kMax>},
      {"max_value", Limit<true>, kIgnoresDType},
      {"min", Folding<NodeKind::kMin>},
      {"min_value", Limit<false>, kIgnoresDType},
      {"nearbyint", Rounding<'n'>, kIgnoresDType},
      {"ramp", Ramp},
      {"reduce", Reduce},
      {"reinterpret", Reinterpret},
      {"round", Rounding<'r'>, kIgnoresDType},
      {"shift_left", Bitwise<TokenKind::kShiftLeft>, kIgnoresDType},
      {"shift_right", Bitwise<TokenKind::kShiftRight>, kIgnoresDType},
      {"trunc", Rounding<'t'>, kIgnoresDType},
      {"truncdiv", Folding<NodeKind::kDiv>, kIgnoresDType},
      {"truncmod", Folding<NodeKind::kMod>, kIgnoresDType},
      {"var", Var<false>},
  };
  static_assert(std::is_sorted(std::begin(kTable), std::end(kTable),
                               [](const Entry& a, const Entry& b) { return a.name < b.name; }));
  return kTable;
}

const TirFunctions::Entry* TirFunctions::Find(std::string_view name) {
  const std::span<const Entry> table = Table();
  const auto it =
      std::lower_bound(table.begin(), table.end(), name, [](const Entry& e, std::string_view n) { return e.name < n; });
  return it != table.end() && it->name == name ? &*it : nullptr;
}

void TirFunctions::Names(std::vector<std::string_view>& names) {
  for (const Entry& e : Table()) names.push_back(e.name);
}

std::optional<DataType> TirDTypeName(std::string_view name) {
  if (name == "int64") return DataType::Int(64);
  if (name == "float32") return DataType::Float(32);
  if (name == "boolean" || name == "bool") return DataType::Bool();
  if (name == "void") return DataType::Void();
  // Every other spelling has a digit; most names of functions do not.
  if (name.find_first_of("0123456789") == std::string_view::npos) return std::nullopt;
  return DataType::Parse(name);
}

}  // namespace iropt::text
