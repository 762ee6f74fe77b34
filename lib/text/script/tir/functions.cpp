// Functions of T that make values of their arguments: constructors, which make a node as it stands, functions that
// fold constants, and calls of intrinsics by name.
#include "functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "iropt/arith/const_fold.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/ir/limits.h"
#include "iropt/op/device_calls.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/intrinsics.h"
#include "iropt/op/op.h"
#include "iropt/support/edit_distance.h"
#include "tile_calls.h"

namespace iropt::text {

using Kind = PyValue::Kind;

const PrimExpr* MakeLet(ScalarParser& p, const PyValue& name, const PyValue& value, const PyValue& body, Span span) {
  const tir::Var* var = p.ToVar(name);
  const PrimExpr* bound = var ? p.ToPrimOf(value, var->dtype) : nullptr;
  const PrimExpr* result = bound ? p.ToPrim(body) : nullptr;
  return result ? Spanned(p.ws_.New<tir::Let>(var, bound, result), span) : nullptr;
}

namespace {

// The node as it stands; a number next to an expression takes its dtype.
template <NodeKind K>
const PrimExpr* Node(ScalarParser& p, PyArgs& args, const PyValue* const* v) {
  const PrimExpr* a = p.ToPrim(*v[0]);
  const PrimExpr* b = p.ToPrim(*v[1]);
  if (!a || !b) return nullptr;
  if (v[0]->is_number() && !v[1]->is_number() && a->dtype != b->dtype) a = p.ToPrimOf(*v[0], b->dtype);
  if (v[1]->is_number() && !v[0]->is_number() && a && a->dtype != b->dtype) b = p.ToPrimOf(*v[1], a->dtype);
  return a && b ? p.ops_.MakeNode(K, a, b, args.span) : nullptr;
}

template <NodeKind K>
const PrimExpr* Folding(ScalarParser& p, PyArgs& args, const PyValue* const* v) {
  const PrimExpr* a = p.ToPrim(*v[0]);
  const PrimExpr* b = a ? p.ToPrim(*v[1]) : nullptr;
  return b ? p.ops_.Make(K, a, b, args.span) : nullptr;
}

template <TokenKind Op>
bool Bitwise(ScalarParser& p, PyArgs& args, const PyValue* const* v, PyValue& out) {
  const PrimExpr* a = p.ToPrim(*v[0]);
  const PrimExpr* b = a ? p.ToPrim(*v[1]) : nullptr;
  return b && p.ops_.Binary(Op, PyValue(a), PyValue(b), args.span, out);
}

// The mode: 'f'loor, 'c'eil, 'r'ound, 'n'earbyint, 't'runc. Integers need no rounding.
template <char Which>
const PrimExpr* Rounding(ScalarParser& p, PyArgs& args, const PyValue* const* v) {
  constexpr std::string_view kOp = Which == 'f'   ? "tir.floor"
                                   : Which == 'c' ? "tir.ceil"
                                   : Which == 'r' ? "tir.round"
                                   : Which == 'n' ? "tir.nearbyint"
                                                  : "tir.trunc";
  const PrimExpr* x = p.ToPrim(*v[0]);
  if (!x) return nullptr;
  if (x->dtype.is_integer()) return x;
  if (const auto* f = As<tir::FloatImm>(x)) {
    const double value = arith::RoundedValue(*f);
    const double r = Which == 'f'   ? std::floor(value)
                     : Which == 'c' ? std::ceil(value)
                     : Which == 't' ? std::trunc(value)
                                    : std::nearbyint(value);
    return p.ops_.Float(r, x->dtype, args.span);
  }
  return p.MakeCall(kOp, x->dtype, {x}, args.span);
}

const PrimExpr* AbsOf(ScalarParser& p, const PrimExpr* x, Span span) {
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

const PrimExpr* Abs(ScalarParser& p, PyArgs& args, const PyValue* const* v) {
  const PrimExpr* x = p.ToPrim(*v[0]);
  return x ? AbsOf(p, x, args.span) : nullptr;
}

const PrimExpr* IsNanOf(ScalarParser& p, const PrimExpr* x, Span span) {
  const DataType result = DataType::Bool().with_lanes(x->dtype.lanes);
  if (x->dtype.is_integer()) return p.ops_.MakeCast(result, p.ops_.Int(0, DataType::Bool(), span), span);
  if (const auto* f = As<tir::FloatImm>(x)) return p.ops_.Int(std::isnan(f->value), DataType::Bool(), span);
  if (x->dtype.bits == 16) x = p.ops_.MakeCast(DataType::Float(32, x->dtype.lanes), x, span);
  return p.MakeCall("tir.isnan", result, {x}, span);
}

const PrimExpr* IsInfOf(ScalarParser& p, const PrimExpr* x, Span span) {
  if (x->dtype.is_integer())
    return p.ops_.MakeCast(DataType::Bool().with_lanes(x->dtype.lanes), p.ops_.Int(0, DataType::Bool(), span), span);
  const PrimExpr* infinity = p.ops_.Float(std::numeric_limits<double>::infinity(), x->dtype.with_lanes(1), span);
  const PrimExpr* is_infinite = p.ops_.Make(NodeKind::kEQ, AbsOf(p, x, span), infinity, span);
  const PrimExpr* nan = IsNanOf(p, x, span);
  const PrimExpr* number = arith::AsInt(nan) ? p.ops_.Int(!*arith::AsInt(nan), DataType::Bool(), span)
                                             : Spanned(p.ws_.New<tir::Not>(nan), span);
  return is_infinite ? p.ops_.Make(NodeKind::kAnd, is_infinite, number, span) : nullptr;
}

const PrimExpr* IsNan(ScalarParser& p, PyArgs& args, const PyValue* const* v) {
  const PrimExpr* x = p.ToPrim(*v[0]);
  return x ? IsNanOf(p, x, args.span) : nullptr;
}

const PrimExpr* IsInf(ScalarParser& p, PyArgs& args, const PyValue* const* v) {
  const PrimExpr* x = p.ToPrim(*v[0]);
  return x ? IsInfOf(p, x, args.span) : nullptr;
}

const PrimExpr* IsFinite(ScalarParser& p, PyArgs& args, const PyValue* const* v) {
  const PrimExpr* x = p.ToPrim(*v[0]);
  if (!x) return nullptr;
  const PrimExpr* inf = IsInfOf(p, x, args.span);
  const PrimExpr* nan = IsNanOf(p, x, args.span);
  if (!inf || !nan) return nullptr;
  const arith::PrimBuilder make(p.ws_);
  return p.ops_.Make(NodeKind::kAnd, make.Not(inf), make.Not(nan), args.span);
}

const PrimExpr* Likely(ScalarParser& p, PyArgs& args, const PyValue* const* v) {
  const PrimExpr* x = p.ToPrim(*v[0]);
  if (!x) return nullptr;
  return Is<tir::IntImm>(x) ? x : p.MakeCall("tir.likely", x->dtype, {x}, args.span);
}

const PrimExpr* Not(ScalarParser& p, PyArgs& args, const PyValue* const* v) {
  const PrimExpr* x = p.ToBool(*v[0]);
  return x ? Spanned(p.ws_.New<tir::Not>(x), args.span) : nullptr;
}

const PrimExpr* CeilDiv(ScalarParser& p, PyArgs& args, const PyValue* const* v) {
  const PrimExpr* a = p.ToPrim(*v[0]);
  const PrimExpr* b = a ? p.ToPrim(*v[1]) : nullptr;
  if (!b || !p.ops_.MatchDtypes(a, b, args.span)) return nullptr;
  const PrimExpr* one = p.ops_.Int(1, DataType::Int(32), args.span);
  const PrimExpr* sum = p.ops_.Make(NodeKind::kAdd, a, b, args.span);
  const PrimExpr* dividend = sum ? p.ops_.Make(NodeKind::kSub, sum, one, args.span) : nullptr;
  return dividend ? p.ops_.Make(NodeKind::kFloorDiv, dividend, b, args.span) : nullptr;
}

// ---- Conversions

// T.Cast("float32", x): the node.
const PrimExpr* Cast(ScalarParser& p, PyArgs& args, const PyValue* const* v) {
  DataType dtype;
  if (!p.ToDType(*v[0], dtype)) return nullptr;
  const PrimExpr* x = p.ToPrim(*v[1]);
  if (!x) return nullptr;
  if (x->dtype.lanes != dtype.lanes) {
    return p.Error(args.span, "type-mismatch",
                   fmt::format("'{}' can't be converted to '{}'", x->dtype.ToString(), dtype.ToString()));
  }
  return Spanned(p.ws_.New<tir::Cast>(dtype, x), args.span);
}

// T.cast(x, "float32"): folded.
const PrimExpr* Convert(ScalarParser& p, PyArgs& args, const PyValue* const* v) {
  DataType dtype;
  if (!p.ToDType(*v[1], dtype)) return nullptr;
  const PrimExpr* x = p.ToPrim(*v[0]);
  return x ? p.ops_.MakeCast(dtype, x, args.span) : nullptr;
}

// Reports a reinterpretation between types of different sizes.
bool CheckReinterpret(ScalarParser& p, DataType from, DataType to, Span span) {
  const bool scalable = from.is_scalable() || to.is_scalable();
  if (scalable || from.bits * from.lanes == to.bits * to.lanes) return true;
  return p.Error(span, "type-mismatch", fmt::format("'{}' and '{}' differ in size", from.ToString(), to.ToString()));
}

const PrimExpr* Reinterpret(ScalarParser& p, PyArgs& args, const PyValue* const*) {
  const PyValue* v[2];
  DataType dtype;
  // T.reinterpret(x, dtype="float32") is allowed, too.
  if (args.positional.size() == 1 && args.keywords.size() == 1 && args.keywords[0].name == "dtype") {
    args.positional.insert(args.positional.begin(), args.keywords[0].value);
    args.keywords.clear();
  }
  if (!p.Bind(args, "T.reinterpret", {"dtype", "value"}, 2, v) || !p.ToDType(*v[0], dtype)) return nullptr;
  const PrimExpr* x = p.ToPrim(*v[1]);
  if (!x) return nullptr;
  // Of pointers only TVM 0.26 has several types.
  if (x->dtype == dtype && !(dtype.is_handle() && p.state_.is_tirx)) return x;
  if (!CheckReinterpret(p, x->dtype, dtype, args.span)) return nullptr;
  auto* call = p.ws_.New<tir::Call>(dtype, GetOp(op::kTirReinterpret), p.CopyPrims(std::vector{x}),
                                    v[0]->is(Kind::kPointerType) ? v[0]->pointer : nullptr);
  return Spanned(call, args.span);
}

template <bool Max>
const PrimExpr* Limit(ScalarParser& p, PyArgs& args, const PyValue* const* v) {
  DataType t;
  if (!p.ToDType(*v[0], t)) return nullptr;
  if (!t.is_scalar() || t.is_handle()) return p.WrongValue(*v[0], "a scalar data type");
  if (t.is_integer()) {
    const auto most = static_cast<int64_t>(~uint64_t{0} >> (64 - t.bits + t.is_int()));
    return p.ops_.Int(Max ? most : t.is_uint() ? 0 : -most - 1, t, args.span);
  }
  const std::optional<double> most = GreatestFinite(t);
  if (!most) return p.WrongValue(*v[0], "a data type with known limits");
  return p.ops_.Float(Max ? *most : -*most, t, args.span);
}

const PrimExpr* Infinity(ScalarParser& p, PyArgs& args, const PyValue* const* v) {
  DataType t;
  if (!p.ToDType(*v[0], t)) return nullptr;
  if (!t.is_scalar() || t.code != TypeCode::kFloat) return p.WrongValue(*v[0], "a floating point data type");
  return p.ops_.Float(std::numeric_limits<double>::infinity(), t, args.span);
}

const PrimExpr* IntImm(ScalarParser& p, PyArgs& args, const PyValue* const* v) {
  DataType t;
  if (!p.ToDType(*v[0], t)) return nullptr;
  int64_t i = v[1]->is(Kind::kBool) ? v[1]->boolean : 0;
  if (!v[1]->is(Kind::kBool) && !p.ToInteger(*v[1], i)) return nullptr;
  return p.ops_.MakeCast(t, p.ops_.ToPrim(PyValue::Int(i, v[1]->span)), args.span);
}

const PrimExpr* FloatImm(ScalarParser& p, PyArgs& args, const PyValue* const* v) {
  DataType t;
  if (!p.ToDType(*v[0], t)) return nullptr;
  if (!v[1]->is(Kind::kFloat) && !v[1]->is(Kind::kInt)) return p.WrongValue(*v[1], "a number");
  return p.ops_.Float(v[1]->is(Kind::kInt) ? static_cast<double>(v[1]->integer) : v[1]->real, t, args.span);
}

const PrimExpr* StringImm(ScalarParser& p, PyArgs&, const PyValue* const* v) {
  std::string_view text;
  return p.ToString(*v[0], text) ? p.ToPrim(*v[0]) : nullptr;
}

// T.Var("x", "int32"), T.SizeVar("n", "int64"), and T.var("int32", "x") in older scripts.
template <bool Size>
const PrimExpr* Var(ScalarParser& p, PyArgs& args, const PyValue* const* v) {
  const auto is_dtype = [](const PyValue& value) {
    return value.is(Kind::kString) && !value.string().empty() && DataType::Parse(value.string());
  };
  const bool dtype_first = !v[1] || is_dtype(*v[0]);
  const PyValue* name_value = v[dtype_first ? 1 : 0];
  DataType t;
  std::string_view name;
  if (!p.ToDType(*v[dtype_first ? 0 : 1], t) || (name_value && !p.ToString(*name_value, name))) return nullptr;
  if (name.empty()) name = p.pending_name();
  tir::Var* var =
      Size ? p.ws_.New<tir::SizeVar>(p.ws_.arena().CopyString(name), t, p.ws_.NextVarId()) : p.ws_.NewPrimVar(name, t);
  return Spanned(var, args.span);
}

// ---- Choices and vectors

const PrimExpr* Select(ScalarParser& p, PyArgs& args, const PyValue* const* v) {
  const PrimExpr* condition = p.ToBool(*v[0]);
  const PrimExpr* a = condition ? p.ToPrim(*v[1]) : nullptr;
  const PrimExpr* b = a ? p.ToPrim(*v[2]) : nullptr;
  if (b && a->dtype != b->dtype && v[1]->is_number()) a = p.ToPrimOf(*v[1], b->dtype);
  if (a && b && a->dtype != b->dtype) b = p.ToPrimOf(*v[2], a->dtype);
  return a && b ? Spanned(p.ws_.New<tir::Select>(condition, a, b), args.span) : nullptr;
}

const PrimExpr* IfThenElse(ScalarParser& p, PyArgs& args, const PyValue* const* v) {
  return p.MakeChoice(*v[0], *v[1], *v[2], args.span);
}

const PrimExpr* Ramp(ScalarParser& p, PyArgs& args, const PyValue* const* v) {
  const PrimExpr* base = p.ToPrim(*v[0]);
  const PrimExpr* stride = base ? p.ToPrim(*v[1]) : nullptr;
  const PrimExpr* lanes = stride ? p.ToPrim(*v[2]) : nullptr;
  return lanes ? p.ops_.MakeRamp(base, stride, lanes, args.span) : nullptr;
}

const PrimExpr* Broadcast(ScalarParser& p, PyArgs& args, const PyValue* const* v) {
  const PrimExpr* value = p.ToPrim(*v[0]);
  const PrimExpr* lanes = value ? p.ToPrim(*v[1]) : nullptr;
  return lanes ? p.ops_.MakeBroadcast(value, lanes, args.span) : nullptr;
}

const PrimExpr* Shuffle(ScalarParser& p, PyArgs& args, const PyValue* const* v) {
  std::vector<const PrimExpr*> vectors, indices;
  if (!p.ToPrims(*v[0], vectors) || !p.ToPrims(*v[1], indices)) return nullptr;
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
  return Spanned(p.ws_.New<tir::Shuffle>(dtype, p.CopyPrims(vectors), p.CopyPrims(indices)), args.span);
}

// T.let(x, value, body), as older scripts write T.Let.
const PrimExpr* Let(ScalarParser& p, PyArgs& args, const PyValue* const* v) {
  return MakeLet(p, *v[0], *v[1], *v[2], args.span);
}

bool Range(ScalarParser& p, PyArgs& args, const PyValue* const* v, PyValue& out) {
  const PyValue ends[] = {*v[0], *v[1]};
  const tir::Range* range = p.ToRange(PyValue(Kind::kTuple, ends, args.span));
  out.kind = Kind::kRange;
  out.range = range;
  out.span = args.span;
  return range != nullptr;
}

bool IterVar(ScalarParser& p, PyArgs& args, const PyValue* const* v, PyValue& out) {
  static constexpr std::string_view kTypes[] = {"DataPar",  "ThreadIndex", "CommReduce",   "Ordered",   "Opaque",
                                                "Unrolled", "Vectorized",  "Parallelized", "Tensorized"};
  std::string_view type, tag;
  if (!p.ToString(*v[2], type) || !p.ToString(*v[3], tag)) return false;
  const auto* found = std::find(std::begin(kTypes), std::end(kTypes), type);
  if (found == std::end(kTypes)) return p.WrongValue(*v[2], "a kind of iteration such as \"DataPar\"");
  const tir::Range* dom = v[1]->is(Kind::kNone) ? nullptr : p.ToRange(*v[1]);
  if (!dom && !v[1]->is(Kind::kNone)) return false;
  const tir::Var* var = nullptr;
  if (v[0]->is(Kind::kString)) {
    var = p.ws_.NewPrimVar(v[0]->string(), dom ? dom->extent->dtype : DataType::Int(32));
  } else {
    var = p.ToVar(*v[0]);
  }
  if (!var) return false;
  auto* node = p.ws_.New<tir::IterVar>(dom, var, static_cast<tir::IterVarType>(found - std::begin(kTypes)),
                                       p.ws_.arena().CopyString(tag));
  node->set_span(args.span);
  out.kind = Kind::kIterVar;
  out.iter_var = node;
  out.span = args.span;
  return true;
}

const PrimExpr* Reduce(ScalarParser& p, PyArgs& args, const PyValue* const* v) {
  if (!v[0]->is(Kind::kReducer)) return p.WrongValue(*v[0], "T.comm_reducer(...)");
  std::vector<const PrimExpr*> source, init;
  std::vector<const tir::IterVar*> axis;
  int64_t index = 0;
  if (!p.ToPrims(*v[1], source) || (v[2] && !p.ToPrims(*v[2], init)) || (v[5] && !p.ToInteger(*v[5], index)))
    return nullptr;
  if (v[3]) {
    if (!v[3]->is_list()) return p.WrongValue(*v[3], "a list of iteration variables");
    for (const PyValue& item : v[3]->items()) {
      if (!item.is(Kind::kIterVar)) return p.WrongValue(item, "T.iter_var(...)");
      axis.push_back(item.iter_var);
    }
  }
  const PrimExpr* condition = v[4] ? p.ToBool(*v[4]) : p.True(args.span);
  if (!condition) return nullptr;
  if (index < 0 || index >= static_cast<int64_t>(source.size()))
    return p.Error(args.span, "index-out-of-range", "value_index is out of range");
  return Spanned(p.ws_.New<tir::Reduce>(source[static_cast<size_t>(index)]->dtype, v[0]->reducer, p.CopyPrims(source),
                                        p.CopyPrims(init), p.ws_.Copy(axis), condition, static_cast<int32_t>(index)),
                 args.span);
}

bool Buffer(ScalarParser& p, PyArgs& args, const PyValue* const*, PyValue& out) {
  tir::BufferSpec spec;
  if (!p.ReadBufferSpec(args, "T.Buffer", nullptr, spec)) return false;
  out = PyValue(tir::MakeBuffer(p.ws_, spec, p.pending_name(), args.span), args.span);
  if (spec.data) p.NoteView(out.buffer);
  return true;
}

const PrimExpr* BufferLoad(ScalarParser& p, PyArgs& args, const PyValue* const* v) {
  std::vector<const PrimExpr*> indices;
  if (!p.ToPrims(*v[1], indices)) return nullptr;
  if (!v[0]->is(Kind::kBuffer)) return p.WrongValue(*v[0], "a buffer");
  const PrimExpr* predicate = p.Given(v[2]) ? p.ToPrim(*v[2]) : nullptr;
  return p.MakeLoad(v[0]->buffer, indices, predicate, args.span);
}

ParserCore::Failed UnknownIntrinsic(ScalarParser& p, std::string_view name, Span span) {
  std::vector<std::string_view> names;
  for (const OpInfo& op : AllOps()) {
    if (!op.is_graph_level()) names.push_back(op.name);
  }
  const auto near = NearestName(name, names);
  return p.Error(span, "unknown-operator",
                 near ? fmt::format("unknown intrinsic \"{}\"; did you mean \"{}\"?", name, *near)
                      : fmt::format("unknown intrinsic \"{}\"", name));
}

// T.call_intrin("float32", "tir.exp", x)
const PrimExpr* CallIntrin(ScalarParser& p, PyArgs& args, const PyValue* const*) {
  if (args.positional.size() == 1 || (args.positional.size() > 1 && !args.keywords.empty())) {
    if (args.keywords.size() == 1 && args.keywords[0].name == "dtype") {
      args.positional.insert(args.positional.begin(), args.keywords[0].value);
      args.keywords.clear();
    }
  }
  DataType dtype;
  std::string_view name;
  if (!p.CountArgs(args, "T.call_intrin", 2, SIZE_MAX) || !p.ToDType(args.positional[0], dtype) ||
      !p.ToString(args.positional[1], name))
    return nullptr;
  // TVM 0.26 calls the dialect tirx.
  constexpr std::string_view kNewer = "tirx.";
  if (name.starts_with(kNewer) && FindDeviceCall(name.substr(kNewer.size()))) {
    const PyValue type = args.positional[0];
    args.positional.erase(args.positional.begin());
    args.positional.erase(args.positional.begin());
    args.keywords.push_back({"dtype", type.span, type});
    return MakeDeviceCall(p, name.substr(kNewer.size()), args);
  }
  const OpInfo* op =
      name.starts_with(kNewer) ? FindOp(fmt::format("tir.{}", name.substr(kNewer.size()))) : FindOp(name);
  if (!op || op->is_graph_level()) return UnknownIntrinsic(p, name, args.positional[1].span);
  std::vector<const PrimExpr*> operands;
  for (const PyValue& v : std::span<const PyValue>(args.positional).subspan(2)) {
    const PrimExpr* e = IntrinsicOperand(p, *IntrinsicOf(op->op), v);
    if (!e) return nullptr;
    operands.push_back(e);
  }
  // Printed as T.reinterpret("float32", x), which has one operand.
  if (op->id == op::kTirReinterpret && operands.size() == 1 &&
      !CheckReinterpret(p, operands[0]->dtype, dtype, args.span))
    return nullptr;
  return Spanned(p.ws_.New<tir::Call>(dtype, op->op, p.CopyPrims(operands)), args.span);
}

// T.Call(dtype, "tir.exp", [x]), in TVM 0.25 with attrs={...}; newer ones write
// T.Call("tirx.exp", [x], attrs={...}, ret_ty=dtype).
const PrimExpr* Call(ScalarParser& p, PyArgs& args, const PyValue* const*) {
  const bool has_attrs = std::ranges::find(args.keywords, "attrs", &PyKeyword::name) != args.keywords.end();
  if (args.positional.size() == 3 && has_attrs) {
    args.keywords.push_back({"ret_ty", args.positional[0].span, args.positional[0]});
    args.positional.erase(args.positional.begin());
  }
  if (args.positional.size() == 2) return MakeAttributedCall(p, args);
  const PyValue* v[3];
  if (!p.Bind(args, "T.Call", {"dtype", "op", "args"}, 3, v)) return nullptr;
  if (!v[2]->is_list()) return p.WrongValue(*v[2], "a list of operands");
  PyArgs flat;
  flat.positional.push_back(*v[0]);
  flat.positional.push_back(*v[1]);
  flat.positional.append(v[2]->items());
  flat.span = args.span;
  return CallIntrin(p, flat, nullptr);
}

// T.target({...}), T.target("llvm", host="llvm")
bool Target(ScalarParser& p, PyArgs& args, const PyValue* const* v, PyValue& out) {
  const Attr* target = MakeTarget(p, *v[0], p.Given(v[1]));
  out = PyValue(target, args.span);
  return target != nullptr;
}

// ---- The table

// Calls a function of the table and stores its result as a value.
template <auto Make>
bool Run(ScalarParser& p, PyArgs& args, const PyValue* const* v, PyValue& out) {
  if constexpr (std::is_invocable_v<decltype(Make), ScalarParser&, PyArgs&, const PyValue* const*>) {
    return Give(Make(p, args, v), out);
  } else {
    return Make(p, args, v, out);
  }
}

constexpr bool Taken = false;   // NOLINT: words of the table
constexpr bool Ignored = true;  // NOLINT

constexpr TirFunction kFunctions[] = {
#define IROPT_TIR_FUNCTION(name, make, dtype, required, ...)                                                           \
  {name, "T." name, Run<make>, dtype, required, {__VA_ARGS__}},
#include "functions.def"
};
static_assert(std::ranges::is_sorted(kFunctions, {}, &TirFunction::name));

}  // namespace

std::span<const TirFunction> TirFunctions() { return kFunctions; }

const TirFunction* FindTirFunction(std::string_view name) {
  const auto* it = std::ranges::lower_bound(kFunctions, name, {}, &TirFunction::name);
  return it != std::end(kFunctions) && it->name == name ? it : nullptr;
}

bool CallTirFunction(ScalarParser& p, const TirFunction& function, PyArgs& args, PyValue& out) {
  if (function.ignores_dtype && !args.positional.empty())
    std::erase_if(args.keywords, [](const PyKeyword& k) { return k.name == "dtype"; });
  const std::span<const std::string_view> params = function.params();
  const PyValue* v[TirFunction::kMaxParams];
  if (!params.empty() &&
      !BindArguments(args, function.full_name, params, function.required, std::span(v).first(params.size()), p.diag_))
    return false;
  return function.make(p, args, v, out);
}

std::optional<DataType> TirDTypeName(std::string_view name) {
  if (name == "int64") return DataType::Int(64);
  if (name == "float32") return DataType::Float(32);
  if (name == "boolean" || name == "bool") return DataType::Bool();
  if (name == "void") return DataType::Void();
  // Every other spelling has a digit; most names of functions do not.
  if (name.find_first_of("0123456789") == std::string_view::npos) return std::nullopt;
  if (const auto dtype = DataType::Parse(name)) return dtype;
  // TVM 0.25 also has T.f32, T.i8, T.u64, T.bf16.
  static constexpr std::pair<std::string_view, DataType> kShort[] = {
      {"f16", DataType::Float(16)}, {"f32", DataType::Float(32)}, {"f64", DataType::Float(64)},
      {"i8", DataType::Int(8)},     {"i16", DataType::Int(16)},   {"i32", DataType::Int(32)},
      {"i64", DataType::Int(64)},   {"u8", DataType::UInt(8)},    {"u16", DataType::UInt(16)},
      {"u32", DataType::UInt(32)},  {"u64", DataType::UInt(64)},  {"bf16", DataType::BFloat(16)},
  };
  const auto* found = std::ranges::find(kShort, name, &std::pair<std::string_view, DataType>::first);
  return found == std::end(kShort) ? std::nullopt : std::optional(found->second);
}

}  // namespace iropt::text
