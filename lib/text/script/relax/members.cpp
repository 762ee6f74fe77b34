// Subscripts and members of Relax values.
#include <fmt/format.h>

#include <algorithm>

#include "expr_parser.h"
#include "iropt/infer/infer.h"
#include "iropt/op/op.h"
#include "text/script/tir/scalar_values.h"

namespace iropt::text {

using Kind = PyValue::Kind;

// Members of a tensor that are known from its type, or inspect it at run time.
struct Inspection {
  std::string_view member;
  std::string_view op;
  bool subscript;  // of one dimension: x.shape[0]
};
static constexpr Inspection kInspections[] = {
    {"ndim", "inspect.tensor_ndim", false},
    {"byte_offset", "inspect.tensor_byte_offset", false},
    {"elem_offset", "inspect.tensor_elem_offset", false},
    {"shape", "inspect.tensor_shape_i", true},
    {"strides", "inspect.tensor_stride_i", true},
    {"dtype.type_code", "inspect.tensor_dtype_code", false},
    {"dtype.bits", "inspect.tensor_dtype_bits", false},
    {"dtype.lanes", "inspect.tensor_dtype_lanes", false},
};

bool RelaxExprParser::Subscript(PyValue& out, uint32_t begin) {
  lex_.Next();
  PyValue index;
  if (!ParseValue(index) || !Expect(TokenKind::kRBracket, "a subscript")) return false;
  return MakeProjection(index, lex_.SpanFrom(begin), out);
}

bool RelaxExprParser::MakeProjection(const PyValue& index, Span span, PyValue& out) {
  if (index.kind != Kind::kInt || index.integer < INT32_MIN || index.integer > INT32_MAX) {
    return Error(index.span, "bad-expression", "a tuple is indexed with an integer");
  }
  const Expr* tuple = ToExpr(out);
  if (!tuple) return false;
  if (ObjectType::IsAfterError(tuple->type)) {
    out = PyValue(tuple);
    return true;
  }
  const auto* type = As<TupleType>(tuple->type);
  int64_t i = index.integer;
  if (tuple->type && !type && !Is<ObjectType>(tuple->type))
    return Error(span, "bad-expression", "only tuples can be indexed");
  if (type && i < 0) i += type->fields.size();
  if (i < 0 || (type && i >= type->fields.size())) {
    return Error(index.span, "index-out-of-range",
                 fmt::format("index {} is out of range for a tuple of {} fields", index.integer,
                             type ? type->fields.size() : 0));
  }
  auto* item =
      ws_.New<TupleGetItem>(tuple, static_cast<int32_t>(i), type ? type->fields[static_cast<size_t>(i)] : nullptr);
  item->set_span(span);
  out = PyValue(item);
  return true;
}

bool RelaxExprParser::MakeOpCall(const OpInfo& op, std::span<const PyValue> positional,
                                 std::span<const PyKeyword> keywords, uint32_t begin, PyValue& out) {
  const iropt::Call* call = BuildOpCall(op, positional, keywords, lex_.SpanFrom(begin), ws_, diag_, state_.module);
  if (!call) return false;
  out = PyValue(call);
  return true;
}

// x.astype("float16"), x.expand_dims(0): the operator of that name with the value as its first operand. x.struct_info
// is its type, and x.shape[0] and x.ndim are known from its type, or inspect the tensor at run time.
bool RelaxExprParser::Member(PyValue& out, uint32_t) {
  if (out.kind != Kind::kExpr && out.kind != Kind::kPrim) return ErrorHere("bad-expression", "this has no members");
  const uint32_t begin = lex_.peek().begin;
  const std::string_view name = DottedName();
  if (name.empty()) return false;
  const auto* constant = out.is(Kind::kExpr) ? As<PrimValue>(out.expr) : nullptr;
  if (name == "astype" && At(TokenKind::kLParen) && (constant || out.is(Kind::kPrim)))
    return CastScalar(constant ? constant->value : out.prim, begin, out);
  if (out.is(Kind::kPrim))
    return Error(lex_.SpanFrom(begin + 1), "unknown-member", fmt::format("a scalar has no member '{}'", name));
  if (At(TokenKind::kLParen)) {
    if (const OpInfo* op = FindGraphOpByScript(name)) {
      PyArgs args{.positional = {out}, .keywords = {}, .span = {}};
      return ParseArguments(args, begin) && MakeOpCall(*op, args.positional, args.keywords, begin, out);
    }
  } else if (name == "struct_info" || name == "ty") {
    const Expr* expr = anf_.FlattenTyped(out.expr);
    if (!expr) return false;
    out = PyValue(TypeOfExpr(expr, state_.module), lex_.SpanFrom(begin));
    return true;
  }
  const auto* inspection = std::ranges::find(kInspections, name, &Inspection::member);
  if (inspection != std::end(kInspections)) return ParseInspection(*inspection, begin, out);
  return Error(lex_.SpanFrom(begin + 1), "unknown-member", fmt::format("an expression has no member '{}'", name));
}

// n.astype("int32") of a scalar.
bool RelaxExprParser::CastScalar(const PrimExpr* scalar, uint32_t begin, PyValue& out) {
  PyArgs args;
  const PyValue* value[1];
  DataType dtype;
  if (!ParseArguments(args, begin) || !Bind(args, "astype", {"dtype"}, 1, value) ||
      !ScalarValues(ws_, diag_, 64).ToDType(*value[0], dtype))
    return false;
  const PrimExpr* cast = ops_.MakeCast(dtype, scalar, args.span);
  if (!cast) return false;
  out = PyValue(cast);
  return Scalar(true, args.span, out);
}

bool RelaxExprParser::ParseInspection(const Inspection& inspection, uint32_t begin, PyValue& out) {
  std::vector<PyValue> operands{out};
  if (inspection.subscript) {
    operands.emplace_back();
    if (!Expect(TokenKind::kLBracket, fmt::format("x.{0}[i], because x.{0} alone is not a value", inspection.member)) ||
        !ParseValue(operands.back()) || !Expect(TokenKind::kRBracket, "a subscript"))
      return false;
  }
  if (!MakeOpCall(*FindGraphOpByScript(inspection.op), operands, {}, begin, out)) return false;
  const Expr* call = anf_.FlattenTyped(out.expr);
  if (!call) return false;
  // As in TVM's block builder, a result known from the type of the tensor becomes a constant.
  if (const auto* type = As<PrimType>(call->type); type && type->value) {
    auto* value = ws_.New<PrimValue>(type->value, type);
    value->set_span(call->span());
    call = value;
  }
  out = PyValue(call);
  return true;
}

}  // namespace iropt::text
