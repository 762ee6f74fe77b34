// The grammar of expressions, which is Python's and the same at both levels.
//
// The meaning of an expression differs: `a + b` is a call of an operator on tensors, and a node on scalars. A level
// derives from the grammar and defines it; the calls are resolved at compile time, so that reading pays nothing for the
// choice. A level has
//
//   Operand(value)                       makes a value one that operators apply to; false after an error
//   Unary(op, operand, span, out)        op operand: - + ~ and `not`
//   Binary(op, left, right, span, out)   left op right, for all operators but the next two
//   Logic(kind, left, right, span, out)  left and right, left or right
//   Subscript(out, begin), Member(out, begin), Call(out, begin)
//                                        at the [ . or ( after a value that began at the offset `begin`
//   Named(node, token, out)              a name in scope, which was read
//   Undefined(out)                       at a name that means nothing else
//   Prefixed(prefix, out)                at T. R. or I.
//   Dict(out), Lambda(out)               at { or `lambda`
//   Metadata(node, span, out)            an entry of the metadata section
//   Keyword(name)                        the name of a keyword argument in today's spelling
//   Choice(condition, a, b, span, out)   a if condition else b, if the text does not decide the condition
//
//   kIsPrimFunc                          whether it reads PrimFuncs
//
// as members that the grammar may call. Each returns false after a reported error.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <vector>

#include "iropt/support/stack.h"
#include "operator_tokens.h"
#include "value_reader.h"

namespace iropt::text {

template <class Level>
class ExprGrammar : public ValueReader {
 public:
  using ValueReader::ValueReader;

  // An expression whose operators bind at least as tightly as `least`.
  bool ParseValue(PyValue& out, Precedence least = Precedence::kLambda) {
    if (IsStackLow()) [[unlikely]]
      return OnFreshStack([&] { return ParseValue(out, least); });
    const uint32_t begin = lex_.peek().begin;
    return ParsePrefix(out) && ParseInfix(out, begin, least);
  }

  // After a first operand: the operators that follow it.
  bool ParseInfix(PyValue& out, uint32_t begin, Precedence least) {
    std::optional<PyValue> compared;  // the right operand of the comparison before
    for (;;) {
      Precedence precedence = PrecedenceOf(lex_.kind());
      const bool word = At(TokenKind::kName);
      bool conjunction = false;
      if (word) {
        const std::string_view text = lex_.text();
        conjunction = text == "and";
        if (conjunction) precedence = Precedence::kAnd;
        if (text == "or") precedence = Precedence::kOr;
        if (text == "if" && least <= Precedence::kIfThenElse) return ParseChoice(out, begin);
      }
      // `+=` is a statement.
      const bool augmented = precedence > Precedence::kComparison && lex_.next_char() == '=';
      if (precedence == Precedence::kLambda || precedence < least || augmented)
        return least == Precedence::kUnary || InRange(out);
      const TokenKind op = lex_.Next().kind;
      if (!InRange(out) || !level().Operand(out)) return false;
      PyValue right;
      // ** binds to the right, and less tightly than a sign on its right.
      if (!ParseValue(right, op == TokenKind::kDoubleStar ? Precedence::kUnary : Above(precedence)) ||
          !InRange(right) || !level().Operand(right))
        return false;
      const PyValue left = out;
      const Span span = lex_.SpanFrom(begin);
      const NodeKind logic = conjunction ? NodeKind::kAnd : NodeKind::kOr;
      const bool compares = !word && precedence == Precedence::kComparison;
      if (compares && compared && LinksComparisons(left, right)) {
        PyValue link;
        if (!level().Binary(op, *compared, right, span, link) || !level().Logic(NodeKind::kAnd, left, link, span, out))
          return false;
      } else if (word ? !level().Logic(logic, left, right, span, out) : !level().Binary(op, left, right, span, out)) {
        return false;
      }
      compared = compares ? std::optional(right) : std::nullopt;
    }
  }

  bool ParsePostfix(PyValue& out, uint32_t begin) {
    for (;;) {
      bool ok = false;
      switch (lex_.kind()) {
        case TokenKind::kLBracket: ok = level().Subscript(out, begin); break;
        case TokenKind::kDot: ok = level().Member(out, begin); break;
        case TokenKind::kLParen: ok = level().Call(out, begin); break;
        default: return true;
      }
      if (!ok) return false;
    }
  }

  // At the opening parenthesis of a call that began at `begin`.
  bool ParseArguments(PyArgs& args, uint32_t begin) {
    return Expect(TokenKind::kLParen, "a call") && ParseMoreArguments(args, begin);
  }
  // After the opening parenthesis, and possibly after some arguments.
  bool ParseMoreArguments(PyArgs& args, uint32_t begin) {
    while (!At(TokenKind::kRParen)) {
      if (AtKeyword()) {
        const Token name = lex_.Next();
        lex_.Next();
        Record(OccurrenceKind::kAttribute, lex_.text(name));
        args.keywords.push_back({level().Keyword(lex_.text(name)), lex_.SpanOf(name), {}});
        if (!ParseValue(args.keywords.back().value)) return false;
      } else {
        const Span span = SpanHere();
        if (!ParseItem(args.positional)) return false;
        if (!args.keywords.empty()) return Error(span, "syntax", "a positional argument follows a keyword argument");
      }
      if (!Accept(TokenKind::kComma)) break;
    }
    if (!Accept(TokenKind::kRParen)) return UnclosedCall(begin);
    args.span = lex_.SpanFrom(begin);
    return true;
  }

  // From now on a < b < c is a < b and b < c, as in Python. In scripts it is (a < b) < c, as TVM prints that, if c is a
  // truth value.
  void ChainComparisons() { chains_comparisons_ = true; }

  // From now on a name is that of a variable, even if a value has that name, too.
  void IgnoreConstants() { ignores_constants_ = true; }

  // x, or *list for all items of the list.
  bool ParseItem(PyValues& items) {
    const bool star = Accept(TokenKind::kStar);
    PyValue item;
    return ParseValue(item) && AddItem(item, star, items);
  }
  // After an opening bracket: expressions up to the closing one.
  bool ParseItems(TokenKind close, PyValues& items, bool* trailing_comma = nullptr) {
    bool comma = false;
    while (!At(close)) {
      if (!ParseItem(items)) return false;
      comma = Accept(TokenKind::kComma);
      if (!comma) break;
    }
    if (trailing_comma) *trailing_comma = comma;
    return Expect(close, "a list");
  }
  // After the first item, which may have a star: `a, b` without parentheses.
  bool ParseTupleTail(PyValue& out, bool star, uint32_t begin) {
    PyValues items;
    if (!AddItem(out, star, items)) return false;
    while (Accept(TokenKind::kComma) && !At(TokenKind::kNewline)) {
      if (!ParseItem(items)) return false;
    }
    out = ListOf(Kind::kTuple, items, lex_.SpanFrom(begin));
    return true;
  }

 private:
  Level& level() { return static_cast<Level&>(*this); }

  bool chains_comparisons_ = false;
  bool ignores_constants_ = false;

  bool ParsePrefix(PyValue& out) {
    const uint32_t begin = lex_.peek().begin;
    const bool sign = At(TokenKind::kMinus) || At(TokenKind::kPlus) || At(TokenKind::kTilde);
    if (!sign && !AtName("not")) return ParseAtom(out) && ParsePostfix(out, begin);
    const TokenKind op = lex_.Next().kind;
    PyValue operand;
    if (!ParseValue(operand, sign ? Precedence::kUnary : Precedence::kNot)) return false;
    const Span span = lex_.SpanFrom(begin);
    if (operand.beyond_int64) {
      // The least integer is the only one whose digits exceed the type.
      operand.span = span;
      operand.beyond_int64 = op != TokenKind::kMinus || operand.integer != INT64_MIN;
      out = operand;
      return InRange(out);
    }
    return level().Operand(operand) && level().Unary(op, operand, span, out);
  }

  // `a if condition else b`, which is a value if the text decides the condition.
  bool ParseChoice(PyValue& out, uint32_t begin) {
    lex_.Next();
    PyValue condition, other;
    if (!ParseValue(condition, Precedence::kOr)) return false;
    if (!AcceptName("else")) return Unexpected("'else'");
    if (!ParseValue(other, Precedence::kIfThenElse)) return false;
    if (!condition.is(Kind::kBool)) return level().Choice(condition, PyValue(out), other, lex_.SpanFrom(begin), out);
    if (!condition.boolean) out = other;
    return true;
  }

  // Returns whether the comparison a < b and the operator < c after it mean a < b and b < c. A comparison is only
  // compared with a truth value. One that the text decides is Python's: TVM prints such a comparison as T.LT(0, 1).
  bool LinksComparisons(const PyValue& comparison, const PyValue& next) const {
    if (chains_comparisons_ || comparison.is(Kind::kBool)) return true;
    const bool is_truth = comparison.is(Kind::kPrim) && comparison.prim->dtype.is_bool();
    return is_truth &&
           (next.is(Kind::kInt) || next.is(Kind::kFloat) || (next.is(Kind::kPrim) && !next.prim->dtype.is_bool()));
  }

  bool ParseAtom(PyValue& out) {
    switch (lex_.kind()) {
      case TokenKind::kName: return ParseName(out);
      case TokenKind::kInt:
      case TokenKind::kFloat: return ParseNumber(out);
      case TokenKind::kString: return ParseString(out);
      case TokenKind::kLParen: return ParseParenthesized(out);
      case TokenKind::kLBracket: {
        const uint32_t begin = lex_.Next().begin;
        PyValues items;
        if (!ParseItems(TokenKind::kRBracket, items)) return false;
        out = ListOf(Kind::kList, items, lex_.SpanFrom(begin));
        return true;
      }
      case TokenKind::kLBrace: return level().Dict(out);
      default: return Unexpected("an expression");
    }
  }

  bool ParseParenthesized(PyValue& out) {
    const uint32_t begin = lex_.Next().begin;
    PyValues items;
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

  bool ParseName(PyValue& out) {
    const Token token = lex_.peek();
    const std::string_view name = lex_.text(token);
    const Node* node = symbols_.MayHold(name) ? symbols_.Find(name) : nullptr;
    if (ignores_constants_ && state_.IsValueSymbol(node)) node = nullptr;
    if (node && node != state_.module_alias()) {
      lex_.Next();
      return level().Named(node, token, out);
    }
    if (!node) {
      const Prefix prefix = AtPrefix();
      if (prefix != Prefix::kNone) return level().Prefixed(prefix, out);
      if (name == "True" || name == "False" || name == "None") {
        lex_.Next();
        const Span span = lex_.SpanOf(token);
        out = name == "None" ? PyValue::None(span) : PyValue::Bool(name == "True", span);
        return true;
      }
      if (name == "metadata") {
        const Node* entry = ParseMetadataEntry();
        return entry && level().Metadata(entry, lex_.SpanFrom(token.begin), out);
      }
      if (name == "lambda") return level().Lambda(out);
      if (state_.host && name.starts_with(kHostCallPrefix)) {
        lex_.Next();
        PyArgs args;
        return ParseArguments(args, token.begin) && CallHost(name, args, Level::kIsPrimFunc, out);
      }
      if (IsPythonFunction(name) && CharAfterName() == '(') {
        lex_.Next();
        PyArgs args;
        return ParseArguments(args, token.begin) && CallPython(name, args, out);
      }
      if (name != state_.module_name || lex_.next_char() != '.') return level().Undefined(out);
    }
    return ParseModuleMember(lex_.Next(), out);
  }

  // cls.function
  bool ParseModuleMember(const Token& alias, PyValue& out) {
    if (!At(TokenKind::kDot)) {
      return Error(lex_.SpanOf(alias), "bad-expression",
                   fmt::format("'{0}' is a module; expected '{0}.function'", lex_.text(alias)));
    }
    lex_.Next();
    if (!At(TokenKind::kName)) return Unexpected("the name of a function");
    const Token member = lex_.Next();
    const GlobalVar* func = GlobalVar::Get(lex_.text(member));
    Record(OccurrenceKind::kFunction, lex_.text(member));
    if (!state_.module->Find(func)) return UnknownFunction(member);
    out = PyValue(func);
    out.span = lex_.SpanFrom(alias.begin);
    return true;
  }
};

}  // namespace iropt::text
