// Expressions of graph-level functions. Python's operators on literals and scalar expressions make scalar expressions;
// on tensors they make operator calls.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "text/script/attr_text.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/op/op.h"
#include "iropt/support/stack.h"
#include "parser.h"
#include "text/script/tir/parser.h"

namespace iropt::text {
namespace {

using Kind = ScriptValue::Kind;

int BinaryPrecedence(TokenKind kind) {
  switch (kind) {
    case TokenKind::kLess:
    case TokenKind::kLessEqual:
    case TokenKind::kGreater:
    case TokenKind::kGreaterEqual:
    case TokenKind::kEqual:
    case TokenKind::kNotEqual: return 1;
    case TokenKind::kPlus:
    case TokenKind::kMinus: return 2;
    case TokenKind::kStar:
    case TokenKind::kSlash:
    case TokenKind::kDoubleSlash:
    case TokenKind::kPercent: return 3;
    case TokenKind::kDoubleStar: return 4;
    default: return -1;
  }
}

struct InfixOperator {
  TokenKind token;
  std::string_view graph_op;  // empty: none on tensors
  NodeKind prim;              // kLet: none on scalars
};
constexpr InfixOperator kInfix[] = {
    {TokenKind::kLess, "relax.less", NodeKind::kLT},
    {TokenKind::kLessEqual, "relax.less_equal", NodeKind::kLE},
    {TokenKind::kGreater, "relax.greater", NodeKind::kGT},
    {TokenKind::kGreaterEqual, "relax.greater_equal", NodeKind::kGE},
    {TokenKind::kEqual, "", NodeKind::kEQ},
    {TokenKind::kNotEqual, "", NodeKind::kNE},
    {TokenKind::kPlus, "relax.add", NodeKind::kAdd},
    {TokenKind::kMinus, "relax.subtract", NodeKind::kSub},
    {TokenKind::kStar, "relax.multiply", NodeKind::kMul},
    {TokenKind::kSlash, "relax.divide", NodeKind::kDiv},
    {TokenKind::kDoubleSlash, "relax.floor_divide", NodeKind::kFloorDiv},
    {TokenKind::kPercent, "", NodeKind::kFloorMod},
    {TokenKind::kDoubleStar, "relax.power", NodeKind::kLet},
};

const InfixOperator& Infix(TokenKind token) {
  return *std::find_if(std::begin(kInfix), std::end(kInfix),
                       [&](const InfixOperator& op) { return op.token == token; });
}

}  // namespace

const Expr* RelaxParser::ParseExpr() {
  ScriptValue value;
  return ParseValue(value) ? ToExpr(value) : nullptr;
}

const Expr* RelaxParser::ToExpr(const ScriptValue& value) {
  if (value.kind == Kind::kExpr) return value.expr;
  if (const Expr* expr = ScriptValueToExpr(value, ws_)) return expr;
  return Error(value.span, "bad-expression", "this is not an expression of the graph level");
}

const PrimExpr* RelaxParser::ToDim(const ScriptValue& value) {
  IRContext& context = IRContext::Current();
  if (value.kind == Kind::kInt) return context.Int(value.integer);
  if (value.kind == Kind::kPrim) return context.Intern(value.prim);
  return Error(value.span, "bad-shape", "expected a dimension: an integer or an expression of symbolic variables");
}

bool RelaxParser::ParseValue(ScriptValue& out, int min_precedence) {
  return WithStack([&]() -> bool {
    const uint32_t begin = lex_.peek().begin;
    if (!ParseUnary(out)) return false;
    for (;;) {
      const TokenKind op = lex_.kind();
      const int precedence = BinaryPrecedence(op);
      if (precedence < 0 || precedence < min_precedence) return in_constant_ || FitsInt64(out);
      if (!FitsInt64(out)) return false;
      lex_.Next();
      ScriptValue right;
      // ** binds to the right, all others to the left.
      if (!ParseValue(right, op == TokenKind::kDoubleStar ? precedence : precedence + 1)) return false;
      const ScriptValue left = out;
      if (!BinaryValue(op, left, right, lex_.SpanFrom(begin), out)) return false;
    }
  });
}

bool RelaxParser::ParseUnary(ScriptValue& out) {
  if (!At(TokenKind::kMinus) && !At(TokenKind::kPlus)) return ParsePostfix(out);
  const uint32_t begin = lex_.peek().begin;
  const bool negate = lex_.Next().kind == TokenKind::kMinus;
  if (!WithStack([&] { return ParseUnary(out); })) return false;
  const Span span = lex_.SpanFrom(begin);
  out.span = span;
  if (!negate) return true;
  if (out.beyond_int64 && out.integer != INT64_MIN) return FitsInt64(out);
  out.beyond_int64 = false;
  switch (out.kind) {
    case Kind::kInt: out.integer = static_cast<int64_t>(0 - static_cast<uint64_t>(out.integer)); return true;
    case Kind::kFloat: out.real = -out.real; return true;
    case Kind::kPrim: {
      const arith::PrimBuilder builder;
      out.prim = builder.Sub(builder.Const(0, out.prim->dtype), IRContext::Current().Intern(out.prim));
      return true;
    }
    case Kind::kExpr: {
      const Expr* args[] = {out.expr};
      auto* call = ws_.New<Call>(GetOp("relax.negative"), ws_.Copy(std::span<const Expr* const>(args)), nullptr,
                                 nullptr, nullptr);
      call->set_span(span);
      out = ExprValue(call);
      return true;
    }
    default: return Error(span, "bad-expression", "'-' applies to numbers and tensors");
  }
}

bool RelaxParser::BinaryValue(TokenKind op, const ScriptValue& a, const ScriptValue& b, Span span, ScriptValue& out) {
  const InfixOperator& infix = Infix(op);
  if (a.kind == Kind::kExpr || b.kind == Kind::kExpr) {
    if (infix.graph_op.empty()) {
      return Error(span, "bad-expression", fmt::format("{} does not apply to tensors", TokenKindName(op)));
    }
    const ScriptValue operands[] = {a, b};
    const Call* call = BuildOpCall(*GetOp(infix.graph_op)->info, operands, {}, span, ws_, diag_, state_.module);
    if (!call) return false;
    out = ExprValue(call);
    return true;
  }
  const auto number = [](const ScriptValue& v) {
    return v.kind == Kind::kInt || v.kind == Kind::kFloat || v.kind == Kind::kPrim;
  };
  if (!number(a) || !number(b) || (infix.prim == NodeKind::kLet && (a.kind == Kind::kPrim || b.kind == Kind::kPrim))) {
    return Error(span, "bad-expression", fmt::format("{} does not apply to these operands", TokenKindName(op)));
  }
  const bool divides = op == TokenKind::kSlash || op == TokenKind::kDoubleSlash || op == TokenKind::kPercent;
  if (divides && ((b.kind == Kind::kInt && b.integer == 0) || (b.kind == Kind::kFloat && b.real == 0))) {
    return Error(span, "bad-expression", "division by zero");
  }
  out.span = span;
  if (a.kind == Kind::kFloat || b.kind == Kind::kFloat || infix.prim == NodeKind::kLet ||
      (infix.prim == NodeKind::kDiv && a.kind == Kind::kInt && b.kind == Kind::kInt)) {
    if (a.kind == Kind::kPrim || b.kind == Kind::kPrim)
      return Error(span, "bad-expression", "a dimension is an integer expression");
    const double x = a.kind == Kind::kInt ? static_cast<double>(a.integer) : a.real;
    const double y = b.kind == Kind::kInt ? static_cast<double>(b.integer) : b.real;
    out.kind = Kind::kFloat;
    switch (infix.prim) {
      case NodeKind::kAdd: out.real = x + y; return true;
      case NodeKind::kSub: out.real = x - y; return true;
      case NodeKind::kMul: out.real = x * y; return true;
      case NodeKind::kDiv: out.real = x / y; return true;
      case NodeKind::kLet: out.real = std::pow(x, y); return true;
      default:
        return Error(span, "bad-expression", fmt::format("{} does not apply to numbers here", TokenKindName(op)));
    }
  }
  const arith::PrimBuilder builder;
  const auto prim = [&](const ScriptValue& v) {
    return v.kind == Kind::kInt ? builder.Int(v.integer) : IRContext::Current().Intern(v.prim);
  };
  const PrimExpr* x = prim(a);
  const PrimExpr* y = prim(b);
  if (const auto error = arith::CheckBinary(infix.prim, x, y)) return Error(span, "bad-expression", error->message);
  const PrimExpr* result = builder.Binary(infix.prim, x, y);
  if (const auto* literal = As<tir::IntImm>(result);
      literal && a.kind == Kind::kInt && b.kind == Kind::kInt && literal->dtype == DataType::Int(64)) {
    out.kind = Kind::kInt;
    out.integer = literal->value;
    return true;
  }
  out.kind = Kind::kPrim;
  out.prim = result;
  return true;
}

bool RelaxParser::ParsePostfix(ScriptValue& out) {
  if (!ParsePrimary(out)) return false;
  for (;;) {
    if (At(TokenKind::kLBracket)) {
      if (!ParseSubscript(out)) return false;
    } else if (At(TokenKind::kDot)) {
      if (!ParseMember(out)) return false;
    } else if (At(TokenKind::kLParen)) {
      if (out.kind != Kind::kExpr) return ErrorHere("bad-expression", "this can't be called");
      if (!ParseCallOf(out.expr, lex_.peek().begin, out)) return false;
    } else {
      return true;
    }
  }
}

bool RelaxParser::ParsePrimary(ScriptValue& out) {
  switch (lex_.kind()) {
    case TokenKind::kName: return ParseNameValue(out);
    case TokenKind::kInt:
    case TokenKind::kFloat: return ParseNumber(out);
    case TokenKind::kString: {
      const uint32_t begin = lex_.peek().begin;
      const std::string_view text = ParseStringLiteral();
      out.kind = Kind::kString;
      out.text = {text.data(), static_cast<uint32_t>(text.size())};
      out.span = lex_.SpanFrom(begin);
      return true;
    }
    case TokenKind::kLParen: return ParseParenthesized(out);
    case TokenKind::kLBracket: {
      const uint32_t begin = lex_.Next().begin;
      if (!ParseItems(TokenKind::kRBracket, out, nullptr)) return false;
      out.kind = Kind::kList;
      out.span = lex_.SpanFrom(begin);
      return true;
    }
    case TokenKind::kLBrace: return ParseDict(out);
    default: return Unexpected("an expression");
  }
}

bool RelaxParser::ParseNumber(ScriptValue& out) {
  const Token token = lex_.Next();
  out.span = lex_.SpanOf(token);
  if (token.kind == TokenKind::kFloat) {
    out.kind = Kind::kFloat;
    out.real = FloatValue(token);
    return true;
  }
  out.kind = Kind::kInt;
  if (!IntegerValue(token, out.integer)) return false;
  out.beyond_int64 = out.integer < 0;
  return true;
}

bool RelaxParser::FitsInt64(const ScriptValue& value) {
  return !value.beyond_int64 || Error(value.span, "bad-number", "this integer exceeds the range of int64");
}

// After an opening bracket: expressions up to the closing one, into out.list.
bool RelaxParser::ParseItems(TokenKind close, ScriptValue& out, bool* trailing_comma) {
  std::vector<ScriptValue> items;
  bool comma = false;
  while (!At(close)) {
    ScriptValue item;
    if (!ParseValue(item)) return false;
    items.push_back(item);
    comma = Accept(TokenKind::kComma);
    if (!comma) break;
  }
  if (!Expect(close, "a list")) return false;
  if (trailing_comma) *trailing_comma = comma;
  out.list = {scratch_.Copy(std::span<const ScriptValue>(items)).data(), static_cast<uint32_t>(items.size())};
  return true;
}

bool RelaxParser::ParseParenthesized(ScriptValue& out) {
  const uint32_t begin = lex_.Next().begin;
  bool comma = false;
  if (!ParseItems(TokenKind::kRParen, out, &comma)) return false;
  if (out.list.count == 1 && !comma) {
    const ScriptValue inner = out.list.items[0];
    out = inner;
    return true;
  }
  out.kind = Kind::kTuple;
  out.span = lex_.SpanFrom(begin);
  return true;
}

bool RelaxParser::ParseDict(ScriptValue& out) {
  const uint32_t begin = lex_.peek().begin;
  out.kind = Kind::kAttr;
  out.attr = ParseAttr(shared_, AttrMode::kRelax);
  out.span = lex_.SpanFrom(begin);
  return out.attr != nullptr;
}

bool RelaxParser::ParseNameValue(ScriptValue& out) {
  const Token token = lex_.peek();
  const std::string_view name = lex_.text(token);
  const Node* node = symbols_.MayHold(name) ? symbols_.Find(name) : nullptr;
  if (!node) {
    switch (AtPrefix()) {
      case Prefix::kRelax: return ParseRelaxMember(out);
      case Prefix::kTir: return ParseTirMember(out);
      case Prefix::kIr: return ParseIrMember(out);
      case Prefix::kNone: break;
    }
    if (name == "True" || name == "False" || name == "None") {
      lex_.Next();
      out.span = lex_.SpanOf(token);
      out.kind = name == "None" ? Kind::kNone : Kind::kBool;
      if (out.kind == Kind::kBool) out.boolean = name == "True";
      return true;
    }
    if (name == "metadata") return ParseMetadata(out);
    if (name == "lambda") return ParseIndexMap(out);
    if (name == "float" && lex_.next_char() == '(') return ParseFloatCall(out);
    if (in_signature_) {
      // A quoted dimension names a symbolic variable for the first time.
      lex_.Next();
      const tir::Var* var = IRContext::Current().NewSymVar(name);
      symbols_.Define(name, var);
      out.kind = Kind::kPrim;
      out.prim = var;
      out.span = lex_.SpanOf(token);
      return true;
    }
    if (!(name == state_.module_name && lex_.next_char() == '.')) return UnknownName(lex_.Next());
    node = state_.module_alias();
  }
  lex_.Next();
  out.span = lex_.SpanOf(token);
  if (node == state_.module_alias()) {
    if (!At(TokenKind::kDot))
      return Error(out.span, "bad-expression", fmt::format("'{}' is a module; expected '{}.function'", name, name));
    lex_.Next();
    if (!At(TokenKind::kName)) return Unexpected("the name of a function");
    const Token member = lex_.Next();
    const GlobalVar* gvar = GlobalVar::Get(lex_.text(member));
    if (!state_.module->Find(gvar)) return UnknownFunction(member);
    out = ExprValue(gvar);
    out.span = lex_.SpanFrom(token.begin);
    return true;
  }
  if (PrimExpr::ClassOf(node->kind)) {
    out.kind = Kind::kPrim;
    out.prim = static_cast<const PrimExpr*>(node);
    return true;
  }
  const auto* expr = static_cast<const Expr*>(node);
  // The binding of a variable of no value is printed without its name, so uses of it are the empty tuple itself.
  if (const auto* type = As<TupleType>(expr->type); type && type->fields.empty() && Var::ClassOf(expr->kind)) {
    auto* nothing = ws_.New<Tuple>(List<const Expr*>(), type);
    nothing->set_span(out.span);
    expr = nothing;
  }
  out.kind = Kind::kExpr;
  out.expr = expr;
  return true;
}

bool RelaxParser::ParseTirMember(ScriptValue& out) {
  const uint32_t begin = lex_.peek().begin;
  if (AtAttrConstructor(shared_)) {
    out.kind = Kind::kAttr;
    out.attr = ParseAttr(shared_, AttrMode::kRelax);
    out.span = lex_.SpanFrom(begin);
    return out.attr != nullptr;
  }
  out.kind = Kind::kPrim;
  out.prim = ParseScalarExpr(shared_);
  out.span = lex_.SpanFrom(begin);
  if (!out.prim || IRContext::CanIntern(out.prim)) return out.prim != nullptr;
  return Error(
      out.span, "bad-expression",
      "graph-level functions have no such scalar; a symbolic variable is defined by a statement, n = T.int64()");
}

bool RelaxParser::ParseIrMember(ScriptValue& out) { return ParseDict(out); }

// float("inf") and the like: numbers that Python has no literal for.
bool RelaxParser::ParseFloatCall(ScriptValue& out) {
  const uint32_t begin = lex_.Next().begin;
  lex_.Next();
  ScriptValue text;
  if (!ParseValue(text) || !ExpectClose("float(...)")) return false;
  out.span = lex_.SpanFrom(begin);
  const auto special = text.kind == Kind::kString ? SpecialFloat(text.string()) : std::nullopt;
  if (special) {
    out.kind = Kind::kFloat;
    out.real = *special;
    return true;
  }
  return Error(text.span, "bad-number", "float(...) takes \"inf\", \"-inf\" or \"nan\"");
}

// lambda i, j: (j, i) is T.index_map(lambda i, j: (j, i)).
bool RelaxParser::ParseIndexMap(ScriptValue& out) {
  const uint32_t begin = lex_.peek().begin;
  out.kind = Kind::kAttr;
  out.attr = ParseIndexMapLambda(shared_);
  out.span = lex_.SpanFrom(begin);
  return out.attr != nullptr;
}

bool RelaxParser::ParseMetadata(ScriptValue& out) {
  const uint32_t begin = lex_.Next().begin;
  if (!Expect(TokenKind::kLBracket, "a metadata reference")) return false;
  if (!At(TokenKind::kString)) return Unexpected("the kind of the metadata entry");
  const std::string_view key = ParseStringLiteral();
  int64_t index = 0;
  if (!Expect(TokenKind::kRBracket, "a metadata reference") || !Expect(TokenKind::kLBracket, "a metadata reference") ||
      !ParseInteger(index) || !Expect(TokenKind::kRBracket, "a metadata reference")) {
    return false;
  }
  const Span span = lex_.SpanFrom(begin);
  const Node* node = state_.Metadata(key, index);
  if (!node)
    return Error(span, "unknown-metadata",
                 fmt::format("the metadata section has no entry {} of kind \"{}\"", index, key));
  if (const auto* constant = As<Constant>(node)) {
    ws_.arena().Retain(constant->data->shared_from_this());
    auto* copy = ws_.New<Constant>(constant->data, constant->type);
    copy->set_span(span);
    out = ExprValue(copy);
    return true;
  }
  out.kind = Kind::kAttr;
  out.attr = static_cast<const Attr*>(node);
  out.span = span;
  return true;
}

bool RelaxParser::ParseRelaxMember(ScriptValue& out) {
  const uint32_t begin = lex_.peek().begin;
  const Lexer::State start = lex_.Save();
  lex_.Next();
  const std::string_view name = DottedName();
  if (name.empty()) return false;
  // TVM has this operator under two names.
  if (const OpInfo* op = FindGraphOpByScript(name == "stop_lift_params" ? "builtin.stop_lift_params" : name))
    return ParseOpCall(*op, begin, out);
  bool known = false;
  const bool ok = ParseConstructor(name, begin, out, known);
  if (known) return ok;
  // R.Tensor(...) and the other types, as arguments.
  if (name[0] >= 'A' && name[0] <= 'Z') {
    lex_.Restore(start);
    out.kind = Kind::kType;
    out.type = ParseType();
    out.span = lex_.SpanFrom(begin);
    return out.type != nullptr;
  }
  std::vector<std::string_view> candidates;
  for (const OpInfo& op : AllOps()) {
    if (op.is_graph_level()) candidates.push_back(op.script.substr(2));
  }
  const Span span = lex_.SpanFrom(begin);
  return UnknownMember("R", name, span, candidates);
}

// The callee was read. The common form, with variables as the only operands, skips the general binding of arguments.
bool RelaxParser::ParseOpCall(const OpInfo& op, uint32_t begin, ScriptValue& out) {
  if (!Expect(TokenKind::kLParen, "a call")) return false;
  std::vector<ScriptValue> positional;
  std::vector<ScriptKeyword> keywords;
  if (op.attrs.empty() && !op.variadic && op.args.size() <= 3 && op.form == ScriptForm::kDefault) {
    const Expr* operands[3];
    size_t n = 0;
    while (n < op.args.size() && At(TokenKind::kName) && (lex_.next_char() == ',' || lex_.next_char() == ')')) {
      const Node* node = symbols_.Find(lex_.text());
      if (!node || !Var::ClassOf(node->kind)) break;
      const Token token = lex_.Next();
      operands[n++] = static_cast<const Expr*>(node);
      ScriptValue value = ExprValue(static_cast<const Expr*>(node));
      value.span = lex_.SpanOf(token);
      if (At(TokenKind::kRParen)) break;
      lex_.Next();
    }
    if (n == op.args.size() && At(TokenKind::kRParen)) {
      lex_.Next();
      auto* call = ws_.New<Call>(op.op, ws_.Copy(std::span<const Expr* const>(operands, n)), nullptr, nullptr, nullptr);
      call->set_span(lex_.SpanFrom(begin));
      out = ExprValue(call);
      return true;
    }
    for (size_t i = 0; i < n; ++i) positional.push_back(ExprValue(operands[i]));
  }
  if (!ParseArguments(positional, keywords)) return false;
  return MakeOpCall(op, positional, keywords, begin, out);
}

namespace {

// TVM 0.26 calls some arguments by other names.
std::string_view CanonicalKeyword(std::string_view name) {
  if (name == "out_ty") return "out_sinfo";
  return name == "ty_args" ? "sinfo_args" : name;
}

}  // namespace

// After the opening parenthesis (and possibly some arguments): the arguments and the closing one.
bool RelaxParser::ParseArguments(std::vector<ScriptValue>& positional, std::vector<ScriptKeyword>& keywords) {
  while (!At(TokenKind::kRParen)) {
    if (AtKeyword()) {
      ScriptKeyword keyword;
      const Token name = lex_.Next();
      keyword.name = CanonicalKeyword(lex_.text(name));
      keyword.name_span = lex_.SpanOf(name);
      lex_.Next();
      if (!ParseValue(keyword.value)) return false;
      keywords.push_back(keyword);
    } else {
      const bool star = Accept(TokenKind::kStar);
      ScriptValue value;
      if (!ParseValue(value)) return false;
      if (!keywords.empty()) return Error(value.span, "syntax", "a positional argument follows a keyword argument");
      if (star) {
        if (value.kind != Kind::kTuple && value.kind != Kind::kList)
          return Error(value.span, "syntax", "only a list can be unpacked");
        positional.insert(positional.end(), value.items().begin(), value.items().end());
      } else {
        positional.push_back(value);
      }
    }
    if (!Accept(TokenKind::kComma)) break;
  }
  return Expect(TokenKind::kRParen, "an argument list");
}

bool RelaxParser::ParseCallOf(const Expr* callee, uint32_t begin, ScriptValue& out) {
  const uint32_t start = callee->span().known() ? callee->span().begin - lex_.base() : begin;
  lex_.Next();
  std::vector<ScriptValue> positional;
  std::vector<ScriptKeyword> keywords;
  if (!ParseArguments(positional, keywords)) return false;
  if (!Is<GlobalVar>(callee) && !Is<Var>(callee) && !Is<ExternFunc>(callee)) {
    return Error(lex_.SpanFrom(begin), "bad-expression", "this can't be called");
  }
  const TupleType* type_args = nullptr;
  for (const ScriptKeyword& k : keywords) {
    if (k.name != "sinfo_args")
      return Error(k.name_span, "unknown-argument", fmt::format("a call has no argument '{}'", k.name));
    type_args = TypeArguments(k.value);
    if (!type_args) return false;
  }
  std::vector<const Expr*> args;
  for (const ScriptValue& v : positional) {
    const Expr* arg = ToExpr(v);
    if (!arg) return false;
    args.push_back(arg);
  }
  auto* call = ws_.New<Call>(callee, ws_.Copy(args), nullptr, type_args, nullptr);
  call->set_span(lex_.SpanFrom(Is<Var>(callee) ? begin : start));
  out = ExprValue(call);
  return true;
}

}  // namespace iropt::text
