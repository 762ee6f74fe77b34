#include "constants.h"

#include <fmt/format.h>

#include <vector>

#include "iropt/ir/context.h"
#include "value_reader.h"

namespace iropt::text {
namespace {

// The nodes and lists outlive the functions, which copy what they use.
class ConstantReader : public ParserCore {
 public:
  explicit ConstantReader(const ParserCore& reader) : ParserCore(reader.shared_) {}

  bool Read() {
    const Token token = lex_.Next();
    const std::string_view name = lex_.text(token);
    if (IsPythonKeyword(name) || name == "True" || name == "False" || name == "None")
      return Error(lex_.SpanOf(token), "syntax", fmt::format("'{}' cannot be the name of a value", name));
    lex_.Next();
    PyValue value;
    if (!ReadValue(value, 0) || !Expect(TokenKind::kNewline, "a statement")) return false;
    state_.constants.Define(name, ws_.New<ValueSymbol>(value));
    return true;
  }

 private:
  static constexpr int kMostNested = 8;

  bool ReadValue(PyValue& out, int depth) {
    const uint32_t begin = lex_.peek().begin;
    if (At(TokenKind::kLParen) || At(TokenKind::kLBracket)) return ReadList(out, depth);
    if (At(TokenKind::kString)) {
      out = PyValue::String(IRContext::Current().InternString(ParseStringLiteral()), lex_.SpanFrom(begin));
      return true;
    }
    if (At(TokenKind::kName)) return ReadName(out, depth);
    const bool negative = Accept(TokenKind::kMinus);
    if (!AtNumber()) return Unexpected("a number, a string, a list or a name of one");
    const Token token = lex_.Next();
    if (token.kind == TokenKind::kFloat) {
      out = PyValue::Float(negative ? -FloatValue(token) : FloatValue(token), lex_.SpanFrom(begin));
      return true;
    }
    int64_t integer = 0;
    if (!IntegerValue(token, integer)) return false;
    // The least integer is the only one whose digits exceed the type.
    if (integer < 0 && !(negative && integer == INT64_MIN))
      return Error(lex_.SpanOf(token), "bad-number", "this integer exceeds the range of int64");
    out = PyValue::Int(negative && integer > 0 ? -integer : integer, lex_.SpanFrom(begin));
    return true;
  }

  bool ReadName(PyValue& out, int depth) {
    const Token token = lex_.peek();
    const std::string_view name = lex_.text(token);
    const Span span = lex_.SpanOf(token);
    if (name == "True" || name == "False") {
      out = PyValue::Bool(name == "True", span);
    } else if (name == "None") {
      out = PyValue::None(span);
    } else if (const Node* known = state_.constants.Find(name)) {
      out = static_cast<const ValueSymbol*>(known)->value;
      out.span = span;
      if (depth > 0 && out.is_list()) return Error(span, "syntax", "a list within a list is written out");
    } else {
      return Unexpected("a number, a string, a list or a name of one");
    }
    lex_.Next();
    return true;
  }

  bool ReadList(PyValue& out, int depth) {
    const Token open = lex_.Next();
    const TokenKind close = open.kind == TokenKind::kLParen ? TokenKind::kRParen : TokenKind::kRBracket;
    if (depth == kMostNested) return Error(lex_.SpanOf(open), "syntax", "lists are nested too deeply");
    std::vector<PyValue> items;
    bool comma = false;
    while (!At(close)) {
      if (!ReadValue(items.emplace_back(), depth + 1)) return false;
      comma = Accept(TokenKind::kComma);
      if (!comma) break;
    }
    if (!Expect(close, "a list")) return false;
    if (close == TokenKind::kRParen && items.size() == 1 && !comma) {
      out = items[0];
      return true;
    }
    const PyValue::Kind kind = close == TokenKind::kRParen ? PyValue::Kind::kTuple : PyValue::Kind::kList;
    out = PyValue(kind, ws_.arena().Copy(std::span<const PyValue>(items)), lex_.SpanFrom(open.begin));
    return true;
  }
};

}  // namespace

bool AtConstant(const ParserCore& reader) { return reader.AtKeyword(); }

bool ReadConstant(ParserCore& reader) { return ConstantReader(reader).Read(); }

}  // namespace iropt::text
