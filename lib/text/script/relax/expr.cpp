// Expressions of Relax functions.
#include "iropt/ir/tir/expr.h"

#include <fmt/format.h>

#include "construct.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/op/op.h"
#include "text/script/attr_text.h"
#include "text/script/tir/scalar_parser.h"
#include "void_type.h"

namespace iropt::text {

const Expr* RelaxExprParser::ParseExpr() {
  PyValue value;
  return ParseValue(value) ? ToExpr(value) : nullptr;
}

const Expr* RelaxExprParser::ToExpr(const PyValue& value) {
  if (value.kind == Kind::kExpr) return value.expr;
  if (const Expr* expr = ToRelaxExpr(value, ws_)) return expr;
  return Error(value.span, "bad-expression", "this is not a Relax expression");
}

const PrimExpr* RelaxExprParser::ToDim(const PyValue& value) {
  IRContext& context = IRContext::Current();
  if (value.kind == Kind::kInt) return context.Int(value.integer);
  if (value.kind == Kind::kPrim) return context.Intern(value.prim);
  return Error(value.span, "bad-shape", "expected a dimension: an integer or an expression of symbolic variables");
}

// ---- Operators

// Results of operators on scalars: expressions shared by all functions.
bool RelaxExprParser::Scalar(bool ok, Span span, PyValue& out) {
  if (ok && out.is(Kind::kPrim)) out.prim = IRContext::Current().Intern(out.prim);
  out.span = span;
  return ok;
}

bool RelaxExprParser::Unary(TokenKind op, const PyValue& operand, Span span, PyValue& out) {
  out = operand;
  out.span = span;
  const bool scalar = operand.is_number() || operand.is(Kind::kPrim);
  if (op == TokenKind::kName) {
    if (scalar) return Scalar(ops_.Not(operand, span, out), span, out);
    return Error(Span::Of(span.begin, span.begin + 3), "syntax", "'not' is not allowed here");
  }
  if (op == TokenKind::kPlus) return true;
  if (op == TokenKind::kMinus && operand.is(Kind::kPrim)) {
    const arith::PrimBuilder builder;
    out.prim = builder.Sub(builder.Const(0, operand.prim->dtype), IRContext::Current().Intern(operand.prim));
    return true;
  }
  if (scalar) return Scalar(ops_.Unary(op, operand, span, out), span, out);
  if (op == TokenKind::kMinus && operand.is(Kind::kExpr)) {
    auto* call = ws_.New<iropt::Call>(GetOp("relax.negative"), ws_.Copy(std::span<const Expr* const>(&operand.expr, 1)),
                                      nullptr, nullptr, nullptr);
    call->set_span(span);
    out = PyValue(call);
    return true;
  }
  return Error(span, "bad-expression",
               op == TokenKind::kMinus ? "'-' applies to numbers and tensors" : "'~' applies to integers");
}

bool RelaxExprParser::Binary(TokenKind op, const PyValue& a, const PyValue& b, Span span, PyValue& out) {
  const auto fail = [&](std::string_view operands) {
    return Error(span, "bad-expression", fmt::format("{} does not apply to {}", TokenKindName(op), operands));
  };
  if (a.is(Kind::kExpr) || b.is(Kind::kExpr)) {
    const std::string_view name = OperatorOf(op).graph_op;
    if (name.empty()) return fail("tensors");
    const PyValue operands[] = {a, b};
    const iropt::Call* call = BuildOpCall(*GetOp(name)->info, operands, {}, span, ws_, diag_, state_.module);
    if (call) out = PyValue(call);
    return call != nullptr;
  }
  const auto scalar = [](const PyValue& v) { return v.is_number() || v.is(Kind::kPrim); };
  if (!scalar(a) || !scalar(b)) return fail("these operands");
  if (a.is(Kind::kPrim) != b.is(Kind::kPrim) && (a.is(Kind::kFloat) || b.is(Kind::kFloat)))
    return Error(span, "bad-expression", "a dimension is an integer expression");
  const std::optional<NodeKind> node = OperatorOf(op).node;
  if (!node || (a.is_number() && b.is_number())) return Scalar(ops_.Binary(op, a, b, span, out), span, out);
  // Dimensions are mathematical integers, so that they fold exactly.
  const arith::PrimBuilder builder;
  const auto prim = [&](const PyValue& v) {
    if (v.is(Kind::kPrim)) return IRContext::Current().Intern(v.prim);
    return v.is(Kind::kInt) ? builder.Int(v.integer) : builder.Bool(v.boolean);
  };
  const PrimExpr* x = prim(a);
  const PrimExpr* y = prim(b);
  if (const auto error = arith::CheckBinary(*node, x, y)) return Error(span, "bad-expression", error->message);
  out = PyValue(builder.Binary(*node, x, y));
  out.span = span;
  return true;
}

bool RelaxExprParser::Logic(NodeKind kind, const PyValue& a, const PyValue& b, Span span, PyValue& out) {
  const auto scalar = [](const PyValue& v) { return v.is_number() || v.is(Kind::kPrim); };
  if (scalar(a) && scalar(b)) return Scalar(ops_.Logic(kind, a, b, span, out), span, out);
  return Error(span, "bad-expression", "'and' and 'or' apply to truth values");
}

// ---- Names

bool RelaxExprParser::Named(const Node* node, const Token& token, PyValue& out) {
  if (PrimExpr::ClassOf(node->kind)) {
    out = PyValue(static_cast<const PrimExpr*>(node));
    out.span = lex_.SpanOf(token);
    return true;
  }
  if (node->kind == NodeKind::kNoneAttr) {
    out = static_cast<const ValueSymbol*>(node)->value;
    out.span = lex_.SpanOf(token);
    return true;
  }
  const auto* expr = static_cast<const Expr*>(node);
  // The binding of a variable without a value is printed without its name, so its uses are the empty tuple itself.
  if (IsVoid(expr->type) && Var::ClassOf(expr->kind)) expr = anf_.Nothing(expr->type, lex_.SpanOf(token));
  out.kind = Kind::kExpr;
  out.expr = expr;
  out.span = lex_.SpanOf(token);
  return true;
}

const Node* RelaxExprParser::NodeOf(const PyValue& value) {
  if (value.is(Kind::kPrim)) return value.prim;
  if (value.is(Kind::kExpr) && Var::ClassOf(value.expr->kind)) return value.expr;
  return scratch_.New<ValueSymbol>(value);
}

bool RelaxExprParser::Undefined(PyValue& out) {
  const Token token = lex_.Next();
  if (At(TokenKind::kLParen) && expand_macro_) {
    if (const Macro* macro = state_.FindMacro(lex_.text(token), Prefix::kRelax))
      return expand_macro_(*macro, token.begin, out);
  }
  if (!in_signature_) {
    const std::string_view name = lex_.text(token);
    const Var* local = anf_.sequence() != nullptr ? anf_.FindLocal(name) : nullptr;
    if (local == nullptr) return UnknownName(token);
    diag_
        .Error(Location(lex_.SpanOf(token)), "unknown-name",
               fmt::format("'{}' is a variable of a dataflow block, which is not known after the block", name))
        .Note(Location(*local), fmt::format("R.output({}) in this block makes it known", name));
    return false;
  }
  // A quoted dimension names a symbolic variable for the first time.
  const tir::Var* var = IRContext::Current().NewSymVar(lex_.text(token));
  symbols_.Define(lex_.text(token), var);
  out = PyValue(static_cast<const PrimExpr*>(var));
  out.span = lex_.SpanOf(token);
  return true;
}

bool RelaxExprParser::Prefixed(Prefix prefix, PyValue& out) {
  if (prefix == Prefix::kRelax) return ParseRelaxMember(out);
  return prefix == Prefix::kTir && !AtAttrConstructor(shared_) ? ParseTirMember(out) : Dict(out);
}

// T.name(...) is read as in PrimFuncs; of what it makes, scalars that need no function have a meaning here. T.int64 is
// the type of a scalar.
bool RelaxExprParser::ParseTirMember(PyValue& out) {
  const uint32_t begin = lex_.peek().begin;
  const Lexer::State start = lex_.Save();
  lex_.Next();
  const bool is_type = DataType::Parse(DottedName()).has_value() && !At(TokenKind::kLParen);
  lex_.Restore(start);
  if (is_type) {
    const Type* type = types_.Parse();
    out = PyValue(type, lex_.SpanFrom(begin));
    return type != nullptr;
  }
  const PrimExpr* scalar = ParseScalarExpr(shared_);
  if (!scalar) return false;
  out = PyValue(scalar);
  out.span = lex_.SpanFrom(begin);
  return IRContext::CanIntern(out.prim) ||
         Error(out.span, "bad-expression",
               "Relax functions do not have this scalar; a symbolic variable is defined by a statement, n = "
               "T.int64()");
}

// A dictionary, I.vdevice(...), T.target(...): attribute values are the same at both levels.
bool RelaxExprParser::Dict(PyValue& out) {
  const uint32_t begin = lex_.peek().begin;
  const Attr* attr = ParseAttr(shared_, ScriptDialect::kRelax, Precedence::kAtom);
  out = PyValue(attr, lex_.SpanFrom(begin));
  return attr != nullptr;
}

// lambda i, j: (j, i) is T.index_map(lambda i, j: (j, i)).
bool RelaxExprParser::Lambda(PyValue& out) {
  const uint32_t begin = lex_.peek().begin;
  const Attr* map = ParseIndexMapLambda(shared_);
  out = PyValue(map, lex_.SpanFrom(begin));
  return map != nullptr;
}

bool RelaxExprParser::Metadata(const Node* node, Span span, PyValue& out) {
  if (const auto* constant = As<Constant>(node)) {
    ws_.arena().Retain(constant->data->shared_from_this());
    auto* copy = ws_.New<Constant>(constant->data, constant->type);
    copy->set_span(span);
    out = PyValue(copy);
  } else {
    out = PyValue(static_cast<const Attr*>(node), span);
  }
  return true;
}

// TVM 0.26 calls some arguments by other names.
std::string_view RelaxExprParser::Keyword(std::string_view name) {
  if (name == "out_ty") return "out_sinfo";
  return name == "ty_args" ? "sinfo_args" : name;
}

// ---- Calls

bool RelaxExprParser::ParseRelaxMember(PyValue& out) {
  const uint32_t begin = lex_.peek().begin;
  const Lexer::State start = lex_.Save();
  lex_.Next();
  const std::string_view name = DottedName();
  if (name.empty()) return false;
  Record(OccurrenceKind::kOperator, TextOf(lex_.SpanFrom(begin)));
  // R.op.add is R.add.
  const std::string_view op_name = name.size() > 3 && name[2] == '.' && name.starts_with("op.") ? name.substr(3) : name;
  const OpInfo* known_op = FindGraphOpByScript(op_name);
  // TVM has this operator under two names.
  if (!known_op && op_name == "stop_lift_params") known_op = FindGraphOpByScript("builtin.stop_lift_params");
  if (known_op) return ParseOpCall(*known_op, begin, out);
  bool known = false;
  const bool ok = ParseConstructor(*this, name, begin, out, known);
  if (known) return ok;
  // R.Tensor(...) and the other types, as arguments.
  if (name[0] >= 'A' && name[0] <= 'Z') {
    lex_.Restore(start);
    const Type* type = types_.Parse();
    out = PyValue(type, lex_.SpanFrom(begin));
    return type != nullptr;
  }
  std::vector<std::string_view> candidates;
  for (const OpInfo& op : AllOps()) {
    if (op.is_graph_level()) candidates.push_back(op.script.substr(2));
  }
  for (const OpInfo& op : AddedOps()) candidates.push_back(op.script.substr(2));
  const Span span = lex_.SpanFrom(begin);
  return UnknownMember(op_name == name ? "R" : "R.op", op_name, span, candidates);
}

// The callee was read. The common form, with variables as the only operands, skips the general binding of arguments.
bool RelaxExprParser::ParseOpCall(const OpInfo& op, uint32_t begin, PyValue& out) {
  if (!Expect(TokenKind::kLParen, "a call")) return false;
  const Expr* operands[3];
  size_t n = 0;
  if (op.attrs.empty() && !op.variadic && op.args.size() <= std::size(operands) && op.form == ScriptForm::kDefault) {
    while (n < op.args.size() && At(TokenKind::kName) && (lex_.next_char() == ',' || lex_.next_char() == ')')) {
      const Node* node = symbols_.Find(lex_.text());
      if (!node || !Var::ClassOf(node->kind)) break;
      lex_.Next();
      operands[n++] = static_cast<const Expr*>(node);
      if (At(TokenKind::kRParen)) break;
      lex_.Next();
    }
    if (n == op.args.size() && At(TokenKind::kRParen)) {
      lex_.Next();
      auto* call =
          ws_.New<iropt::Call>(op.op, ws_.Copy(std::span<const Expr* const>(operands, n)), nullptr, nullptr, nullptr);
      call->set_span(lex_.SpanFrom(begin));
      out = PyValue(call);
      return true;
    }
  }
  PyArgs args;
  for (size_t i = 0; i < n; ++i) args.positional.push_back(PyValue(operands[i]));
  return ParseMoreArguments(args, begin) && MakeOpCall(op, args.positional, args.keywords, begin, out);
}

bool RelaxExprParser::Call(PyValue& out, uint32_t) {
  if (!out.is(Kind::kExpr)) return ErrorHere("bad-expression", "this can't be called");
  const Expr* callee = out.expr;
  const uint32_t begin = lex_.peek().begin;
  const uint32_t start = callee->span().known() ? callee->span().begin - lex_.base() : begin;
  PyArgs args;
  if (!ParseArguments(args, begin)) return false;
  if (!Is<GlobalVar>(callee) && !Is<Var>(callee) && !Is<ExternFunc>(callee)) {
    return Error(lex_.SpanFrom(begin), "bad-expression", "this can't be called");
  }
  const TupleType* type_args = nullptr;
  for (const PyKeyword& k : args.keywords) {
    if (k.name != "sinfo_args")
      return Error(k.span, "unknown-argument", fmt::format("a call has no argument '{}'", k.name));
    type_args = TypeArguments(*this, k.value);
    if (!type_args) return false;
  }
  std::vector<const Expr*> operands;
  for (const PyValue& v : args.positional) {
    const Expr* arg = ToExpr(v);
    if (!arg) return false;
    operands.push_back(arg);
  }
  auto* call = ws_.New<iropt::Call>(callee, ws_.Copy(operands), nullptr, type_args, nullptr);
  call->set_span(lex_.SpanFrom(Is<Var>(callee) ? begin : start));
  out = PyValue(call);
  return true;
}

}  // namespace iropt::text
