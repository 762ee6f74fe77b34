// Scalar expressions of loop-level functions, by operator precedence.
#include <fmt/format.h>

#include "iropt/support/stack.h"
#include "parser.h"

namespace iropt::text {
namespace {

using Kind = Value::Kind;

Precedence PrecedenceOf(TokenKind kind) {
  switch (kind) {
    case TokenKind::kLess:
    case TokenKind::kLessEqual:
    case TokenKind::kGreater:
    case TokenKind::kGreaterEqual:
    case TokenKind::kEqual:
    case TokenKind::kNotEqual: return Precedence::kComparison;
    case TokenKind::kPipe: return Precedence::kBitOr;
    case TokenKind::kCaret: return Precedence::kBitXor;
    case TokenKind::kAmpersand: return Precedence::kBitAnd;
    case TokenKind::kShiftLeft:
    case TokenKind::kShiftRight: return Precedence::kShift;
    case TokenKind::kPlus:
    case TokenKind::kMinus: return Precedence::kAdd;
    case TokenKind::kStar:
    case TokenKind::kSlash:
    case TokenKind::kDoubleSlash:
    case TokenKind::kPercent: return Precedence::kMul;
    case TokenKind::kDoubleStar: return Precedence::kPower;
    default: return Precedence::kLambda;  // no operator
  }
}

constexpr Precedence Above(Precedence p) { return static_cast<Precedence>(static_cast<uint8_t>(p) + 1); }

std::string_view KindName(Kind kind) {
  static constexpr std::string_view kNames[] = {"None",         "a truth value", "an integer",
                                                "a float",      "a string",      "an expression",
                                                "a buffer",     "a region",      "an iteration variable",
                                                "a range",      "a reducer",     "a function",
                                                "an attribute", "a data type",   "a tuple",
                                                "a list",       "a list"};
  static_assert(std::size(kNames) == static_cast<size_t>(Kind::kArray) + 1);
  return kNames[static_cast<size_t>(kind)];
}

}  // namespace

ParserCore::Failed TirParser::WrongValue(const Value& value, std::string_view expected) {
  return Error(value.span, "bad-expression", fmt::format("expected {}, found {}", expected, KindName(value.kind)));
}

const PrimExpr* TirParser::ParseScalar() {
  Value value;
  return ParseExpr(value) ? ToPrim(value) : nullptr;
}

bool TirParser::ParseExpr(Value& out, Precedence least) {
  return WithStack([&]() -> bool {
    const uint32_t begin = lex_.peek().begin;
    return ParsePrefix(out) && ParseInfix(out, begin, least);
  });
}

// What takes part in arithmetic: numbers and expressions.
bool TirParser::Operand(Value& value) {
  switch (value.kind) {
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kFloat:
    case Kind::kPrim: return true;
    case Kind::kRegion: {
      const PrimExpr* load = LoadRegion(value.region, value.span);
      if (load) value = Value(load);
      return load != nullptr;
    }
    case Kind::kIterVar: value = Value(static_cast<const PrimExpr*>(value.iter_var->var)); return true;
    default: return WrongValue(value, "an operand");
  }
}

bool TirParser::ParsePrefix(Value& out) {
  const uint32_t begin = lex_.peek().begin;
  if (At(TokenKind::kMinus) || At(TokenKind::kPlus) || At(TokenKind::kTilde)) {
    const TokenKind op = lex_.Next().kind;
    if (op == TokenKind::kMinus && At(TokenKind::kInt)) {
      if (!ParseNumber(out, true)) return false;
      out.span = lex_.SpanFrom(begin);
      return true;
    }
    return ParseExpr(out, Precedence::kUnary) && Operand(out) && ops_.Unary(op, Value(out), lex_.SpanFrom(begin), out);
  }
  if (AtName("not")) {
    lex_.Next();
    return ParseExpr(out, Precedence::kNot) && Operand(out) && ops_.Not(Value(out), lex_.SpanFrom(begin), out);
  }
  return ParseAtom(out) && ParsePostfix(out, begin);
}

// `a if condition else b`, whose condition the text decides.
bool TirParser::ParseChoice(Value& out) {
  lex_.Next();
  Value condition, other;
  if (!ParseExpr(condition, Precedence::kOr)) return false;
  if (!condition.is(Kind::kBool)) {
    return Error(condition.span, "bad-expression",
                 "a choice between values is written T.if_then_else(...) or T.Select(...)");
  }
  if (!AcceptName("else")) return Unexpected("'else'");
  if (!ParseExpr(other, Precedence::kIfThenElse)) return false;
  if (!condition.boolean) out = other;
  return true;
}

bool TirParser::ParseInfix(Value& out, uint32_t begin, Precedence least) {
  for (;;) {
    Precedence precedence = PrecedenceOf(lex_.kind());
    NodeKind logic = NodeKind::kLet;
    if (At(TokenKind::kName)) {
      if (AtName("and")) precedence = Precedence::kAnd, logic = NodeKind::kAnd;
      if (AtName("or")) precedence = Precedence::kOr, logic = NodeKind::kOr;
      if (AtName("if") && least <= Precedence::kIfThenElse) return ParseChoice(out);
    }
    // `+=` is no operator of an expression.
    const bool augmented = precedence > Precedence::kComparison && lex_.next_char() == '=';
    if (precedence == Precedence::kLambda || precedence < least || augmented) return true;
    const TokenKind op = lex_.Next().kind;
    if (!Operand(out)) return false;
    Value right;
    // ** binds to the right, and less tightly than a sign on its right.
    if (!ParseExpr(right, op == TokenKind::kDoubleStar ? Precedence::kUnary : Above(precedence)) || !Operand(right))
      return false;
    const Value left = out;
    const Span span = lex_.SpanFrom(begin);
    if (logic != NodeKind::kLet ? !ops_.Logic(logic, left, right, span, out) : !ops_.Binary(op, left, right, span, out))
      return false;
  }
}

bool TirParser::ParsePostfix(Value& out, uint32_t begin) {
  for (;;) {
    if (At(TokenKind::kLBracket)) {
      if (out.is(Kind::kBuffer)) {
        const tir::Buffer* buffer = out.buffer;
        std::vector<Index> indices;
        if (!ParseIndices(indices) || !AccessOf(buffer, indices, lex_.SpanFrom(begin), out)) return false;
        continue;
      }
      if (!out.is_list()) return ErrorHere("bad-expression", "this can't be indexed");
      if (!ParseListItem(out, begin)) return false;
    } else if (At(TokenKind::kDot)) {
      if (!ParseMember(out, begin)) return false;
    } else if (At(TokenKind::kLParen)) {
      if (!out.is(Kind::kFunc)) return ErrorHere("bad-expression", "this can't be called");
      const GlobalVar* func = out.func;
      TirArgs args;
      if (!ParseArguments(args, begin) || !CallOf(func, args, out)) return false;
    } else {
      return true;
    }
  }
}

bool TirParser::ParseAtom(Value& out) {
  switch (lex_.kind()) {
    case TokenKind::kName: return ParseName(out);
    case TokenKind::kInt:
    case TokenKind::kFloat: return ParseNumber(out, false);
    case TokenKind::kString: {
      const uint32_t begin = lex_.peek().begin;
      const std::string_view text = ParseStringLiteral();
      out = Value::String(text, lex_.SpanFrom(begin));
      return true;
    }
    case TokenKind::kLParen: return ParseParenthesized(out);
    case TokenKind::kLBracket: {
      const uint32_t begin = lex_.Next().begin;
      std::vector<Value> items;
      if (!ParseItems(TokenKind::kRBracket, items)) return false;
      out = ListOf(Kind::kList, items, lex_.SpanFrom(begin));
      return true;
    }
    case TokenKind::kLBrace: {
      const uint32_t begin = lex_.peek().begin;
      out.kind = Kind::kAttr;
      out.attr = ParseDict();
      out.span = lex_.SpanFrom(begin);
      return out.attr != nullptr;
    }
    default: return Unexpected("an expression");
  }
}

bool TirParser::ParseNumber(Value& out, bool negative) {
  const Token token = lex_.Next();
  if (token.kind == TokenKind::kFloat) {
    out = Value::Float(FloatValue(token), lex_.SpanOf(token));
    return true;
  }
  int64_t value = 0;
  if (!IntegerValue(token, value)) return false;
  // The reader of the token takes 64 bits; of those, the sign bit is only good for the least integer.
  if (value < 0 && !(negative && value == INT64_MIN))
    return Error(lex_.SpanOf(token), "bad-number", "this integer exceeds 64 bits");
  out = Value::Int(negative ? static_cast<int64_t>(0 - static_cast<uint64_t>(value)) : value, lex_.SpanOf(token));
  return true;
}

bool TirParser::ParseName(Value& out) {
  const Token token = lex_.peek();
  const std::string_view name = lex_.text(token);
  if (const Node* node = symbols_.Find(name)) {
    lex_.Next();
    out.span = lex_.SpanOf(token);
    if (node == poison()) return false;
    if (node == state_.module_alias()) return ParseModuleMember(token, out);
    if (PrimExpr::ClassOf(node->kind)) {
      out.kind = Kind::kPrim;
      out.prim = static_cast<const PrimExpr*>(node);
    } else if (const auto* buffer = As<tir::Buffer>(node)) {
      out.kind = Kind::kBuffer;
      out.buffer = buffer;
    } else if (const auto* iter_var = As<tir::IterVar>(node)) {
      out.kind = Kind::kIterVar;
      out.iter_var = iter_var;
    } else if (node->kind == NodeKind::kNoneAttr) {
      const Span span = out.span;
      out = static_cast<const NamedValue*>(node)->value;
      out.span = span;
    } else {
      return Error(out.span, "bad-expression", fmt::format("'{}' is no scalar and no buffer", name));
    }
    return true;
  }
  switch (AtPrefix()) {
    case Prefix::kTir: return ParseTirMember(out);
    case Prefix::kIr:
    case Prefix::kRelax: {
      const uint32_t begin = token.begin;
      out.kind = Kind::kAttr;
      out.attr = ParseConstructed();
      out.span = lex_.SpanFrom(begin);
      return out.attr != nullptr;
    }
    case Prefix::kNone: break;
  }
  if (name == "True" || name == "False") {
    lex_.Next();
    out = Value::Bool(name == "True", lex_.SpanOf(token));
    return true;
  }
  if (name == "None") {
    lex_.Next();
    out.kind = Kind::kNone;
    out.span = lex_.SpanOf(token);
    return true;
  }
  if (name == "metadata") return ParseMetadata(out);
  if (name == state_.module_name && lex_.next_char() == '.') {
    lex_.Next();
    return ParseModuleMember(token, out);
  }
  if (IsPythonFunction(name) && CharAfterName() == '(') return ParsePythonCall(out);
  return UnknownName(lex_.Next());
}

bool TirParser::ParseModuleMember(const Token& alias, Value& out) {
  if (!At(TokenKind::kDot)) {
    return Error(lex_.SpanOf(alias), "bad-expression",
                 fmt::format("'{0}' is a module; expected '{0}.function'", lex_.text(alias)));
  }
  lex_.Next();
  if (!At(TokenKind::kName)) return Unexpected("the name of a function");
  const Token member = lex_.Next();
  out.kind = Kind::kFunc;
  out.func = GlobalVar::Get(lex_.text(member));
  out.span = lex_.SpanFrom(alias.begin);
  if (state_.module->Find(out.func)) return true;
  std::vector<std::string_view> names;
  for (const ModuleEntry& entry : state_.module->functions()) names.push_back(entry.var->name);
  return UnknownMember(lex_.text(alias), lex_.text(member), lex_.SpanOf(member), names);
}

bool TirParser::CallOf(const GlobalVar* func, const TirArgs& args, Value& out) {
  if (!args.keywords.empty())
    return Error(args.keywords[0].span, "unknown-argument", "a function of the module is called by position");
  std::vector<const PrimExpr*> operands;
  for (const Value& v : args.positional) {
    const PrimExpr* e = ToPrim(v);
    if (!e) return false;
    operands.push_back(e);
  }
  const ModuleEntry* entry = state_.module->Find(func);
  const auto* callee = entry ? As<PrimFunc>(entry->func) : nullptr;
  const auto* result = callee ? As<PrimType>(callee->ret_type) : nullptr;
  auto* call = ws_.New<tir::Call>(result ? result->dtype : DataType::Void(), func, CopyPrims(operands));
  call->set_span(args.span);
  out = Value(static_cast<const PrimExpr*>(call));
  return true;
}

Value TirParser::ListOf(Kind kind, std::span<const Value> items, Span span) {
  Value v;
  v.kind = kind;
  v.span = span;
  v.list = {scratch_.Copy(items).data(), static_cast<uint32_t>(items.size())};
  return v;
}

bool TirParser::AddItem(const Value& item, bool star, std::vector<Value>& items) {
  if (!star) return items.push_back(item), true;
  if (!item.is_list()) return WrongValue(item, "a list to unpack");
  items.insert(items.end(), item.items().begin(), item.items().end());
  return items.size() <= kMostItems || TooLong(item.span);
}

bool TirParser::ParseItem(std::vector<Value>& items) {
  const bool star = Accept(TokenKind::kStar);
  Value item;
  return ParseExpr(item) && AddItem(item, star, items);
}

// After an opening bracket: expressions up to the closing one.
bool TirParser::ParseItems(TokenKind close, std::vector<Value>& items, bool* trailing_comma) {
  bool comma = false;
  while (!At(close)) {
    if (!ParseItem(items)) return false;
    comma = Accept(TokenKind::kComma);
    if (!comma) break;
  }
  if (trailing_comma) *trailing_comma = comma;
  return Expect(close, "a list");
}

bool TirParser::ParseParenthesized(Value& out) {
  const uint32_t begin = lex_.Next().begin;
  std::vector<Value> items;
  bool comma = false;
  const bool star = At(TokenKind::kStar);
  if (!ParseItems(TokenKind::kRParen, items, &comma)) return false;
  if (star && !comma && items.size() <= 1)
    return Error(lex_.SpanFrom(begin), "syntax", "'*' unpacks a list in another list only");
  if (items.size() == 1 && !comma) {
    out = items[0];
  } else {
    out = ListOf(Kind::kTuple, items, lex_.SpanFrom(begin));
  }
  return true;
}

bool TirParser::ParseMember(Value& out, uint32_t begin) {
  lex_.Next();
  if (!At(TokenKind::kName)) return Unexpected("a name after '.'");
  const Token token = lex_.Next();
  const std::string_view name = lex_.text(token);
  if (out.is(Kind::kBuffer)) return ParseBufferMember(out.buffer, name, lex_.SpanFrom(begin), out);
  if (out.is(Kind::kIterVar) && name == "var") {
    Operand(out);
    return true;
  }
  if ((out.is(Kind::kPrim) || out.is(Kind::kIterVar) || out.is(Kind::kRegion)) && Operand(out)) {
    if (name == "dtype") {
      const std::string text = out.prim->dtype.ToString();
      out = Value::String(scratch_.CopyString(text), lex_.SpanFrom(begin));
      return true;
    }
    if (name == "astype" && At(TokenKind::kLParen)) {
      const PrimExpr* value = out.prim;
      TirArgs args;
      const Value* v[1];
      DataType dtype;
      if (!ParseArguments(args, begin) || !Bind(args, "astype", {"dtype"}, 1, v) || !ToDType(*v[0], dtype))
        return false;
      const PrimExpr* cast = ops_.MakeCast(dtype, value, args.span);
      if (cast) out = Value(cast);
      return cast != nullptr;
    }
  }
  return Error(lex_.SpanOf(token), "unknown-member", fmt::format("{} has no member '{}'", KindName(out.kind), name));
}

bool TirParser::ParseMetadata(Value& out) {
  const uint32_t begin = lex_.Next().begin;
  int64_t index = 0;
  if (!Expect(TokenKind::kLBracket, "a metadata reference")) return false;
  if (!At(TokenKind::kString)) return Unexpected("the kind of the metadata entry");
  const std::string_view key = ParseStringLiteral();
  if (!Expect(TokenKind::kRBracket, "a metadata reference") || !Expect(TokenKind::kLBracket, "a metadata reference") ||
      !ParseInteger(index) || !Expect(TokenKind::kRBracket, "a metadata reference")) {
    return false;
  }
  const Node* node = state_.Metadata(key, index);
  out.span = lex_.SpanFrom(begin);
  if (!node)
    return Error(out.span, "unknown-metadata",
                 fmt::format("the metadata section has no entry {} of kind \"{}\"", index, key));
  if (!Attr::ClassOf(node->kind))
    return Error(out.span, "bad-expression", "this metadata entry is no value of a loop-level function");
  out.kind = Kind::kAttr;
  out.attr = static_cast<const Attr*>(node);
  return true;
}

// At the opening parenthesis of a call that began at `begin`.
bool TirParser::ParseArguments(TirArgs& args, uint32_t begin) {
  if (!Expect(TokenKind::kLParen, "a call")) return false;
  while (!At(TokenKind::kRParen)) {
    if (AtKeyword()) {
      const Token name = lex_.Next();
      lex_.Next();
      args.keywords.push_back({lex_.text(name), lex_.SpanOf(name), {}});
      if (!ParseExpr(args.keywords.back().value)) return false;
    } else {
      const Span span = SpanHere();
      if (!ParseItem(args.positional)) return false;
      if (!args.keywords.empty()) return Error(span, "syntax", "a positional argument follows a keyword argument");
    }
    if (!Accept(TokenKind::kComma)) break;
  }
  if (!Expect(TokenKind::kRParen, "an argument list")) return false;
  args.span = lex_.SpanFrom(begin);
  return true;
}

}  // namespace iropt::text
