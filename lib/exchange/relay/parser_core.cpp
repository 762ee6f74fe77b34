#include "parser_core.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <limits>

#include "iropt/support/stack.h"

namespace iropt::relay {

bool ParserCore::Error(SourceSpan span, DiagId kind, std::string message) {
  diagnostics.Error(span, kind, std::move(message));
  return false;
}

bool ParserCore::Unexpected(std::string_view expected) {
  const Token& token = lex.token();
  if (token.kind == TokenKind::kError) return false;  // was reported
  if (token.kind == TokenKind::kEnd)
    return Error(lex.SpanOf(token), "syntax", fmt::format("expected {} before the end of the text", expected));
  return Error(lex.SpanOf(token), "syntax", fmt::format("expected {}, found '{}'", expected, lex.Text(token)));
}

bool ParserCore::ExpectSemicolon() {
  if (Is(TokenKind::kSemicolon) || Is(TokenKind::kEnd) || !lex.StartsLine()) return Expect(TokenKind::kSemicolon);
  diagnostics.Error(lex.EndOfLast(), "syntax", "expected ';' at the end of the line").FixIt(lex.EndOfLast(), ";");
  return true;
}

std::optional<std::string_view> ParserCore::ExpectName(TokenKind kind) {
  const Token token = lex.token();
  const std::string_view text = lex.Text(token);
  if (Skip(kind)) return text.substr(1);
  if (!Skip(TokenKind::kName)) return Unexpected(TokenKindName(kind)), std::nullopt;
  const std::string name = fmt::format("{}{}", kind == TokenKind::kGlobal ? '@' : '%', text);
  diagnostics.Error(lex.SpanOf(token), "syntax", fmt::format("expected {}, found '{}'", TokenKindName(kind), text))
      .FixIt(lex.SpanOf(token), name)
      .Note(fmt::format("did you mean '{}'?", name));
  return text;
}

namespace {

std::optional<int> BitsOf(std::string_view digits, int by_default) {
  if (digits.empty()) return by_default;
  int bits = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), bits);
  if (status != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return bits;
}

}  // namespace

std::optional<Literal> ParseNumber(std::string_view text, TokenKind kind) {
  Literal literal;
  if (kind == TokenKind::kInt) {
    const size_t suffix = std::min(text.find('i'), text.size());
    const std::string_view digits = text.substr(0, suffix);
    const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), literal.integer);
    if (status != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
    const bool wide =
        literal.integer > std::numeric_limits<int32_t>::max() || literal.integer < std::numeric_limits<int32_t>::min();
    const auto bits = BitsOf(suffix == text.size() ? "" : text.substr(suffix + 1), wide ? 64 : 32);
    if (!bits || (*bits != 8 && *bits != 16 && *bits != 32 && *bits != 64)) return std::nullopt;
    literal.is_integer = true;
    literal.dtype = DataType::Int(*bits);
    literal.real = static_cast<double>(literal.integer);
    return literal;
  }
  const bool negative = text.starts_with('-');
  const std::string_view magnitude = text.substr(negative ? 1 : 0);
  const bool special = magnitude.starts_with("inf") || magnitude.starts_with("nan");
  const size_t suffix = std::min(text.find('f', special ? negative + 3 : 0), text.size());
  const std::string digits(text.substr(0, suffix));
  char* end = nullptr;
  literal.real = std::strtod(digits.c_str(), &end);
  const auto bits = BitsOf(suffix == text.size() ? "" : text.substr(suffix + 1), 32);
  if (*end != '\0' || !bits || (*bits != 16 && *bits != 32 && *bits != 64)) return std::nullopt;
  literal.dtype = DataType::Float(*bits);
  return literal;
}

const MetadataEntry* ParseMetadataReference(ParserCore& core) {
  const uint32_t begin = core.lex.Next().begin;  // meta
  if (!core.Expect(TokenKind::kLBracket)) return nullptr;
  const Token key = core.lex.token();
  if (!core.Expect(TokenKind::kName) || !core.Expect(TokenKind::kRBracket) || !core.Expect(TokenKind::kLBracket))
    return nullptr;
  const Token index = core.lex.token();
  if (!core.Expect(TokenKind::kInt) || !core.Expect(TokenKind::kRBracket)) return nullptr;
  const auto number = ParseNumber(core.lex.Text(index), TokenKind::kInt);
  const auto entries = core.metadata.find(core.lex.Text(key));
  if (entries == core.metadata.end() || !number || number->integer < 0 ||
      static_cast<size_t>(number->integer) >= entries->second.size()) {
    core.Error(core.lex.SpanFrom(begin), "unknown-metadata",
               fmt::format("the metadata section has no entry meta[{}][{}]", core.lex.Text(key), core.lex.Text(index)));
    return nullptr;
  }
  return &entries->second[static_cast<size_t>(number->integer)];
}

namespace {

std::optional<PyValue> ParseList(ParserCore& core, TokenKind close) {
  const uint32_t begin = core.lex.Next().begin;
  std::vector<PyValue> items;
  while (!core.Is(close)) {
    const std::optional<PyValue> item = WithStack([&] { return ParseValue(core); });
    if (!item) return std::nullopt;
    items.push_back(*item);
    if (!core.Skip(TokenKind::kComma)) break;
  }
  if (!core.Expect(close)) return std::nullopt;
  const auto kind = close == TokenKind::kRParen ? PyValue::Kind::kTuple : PyValue::Kind::kList;
  return PyValue(kind, core.graph.arena.Copy(items), NodeSpan(core.lex.SpanFrom(begin)));
}

std::optional<PyValue> ParseNameValue(ParserCore& core) {
  const Token token = core.lex.token();
  const std::string_view name = core.lex.Text(token);
  if (name == "meta") {
    const MetadataEntry* entry = ParseMetadataReference(core);
    if (!entry) return std::nullopt;
    PyValue value = entry->value;
    value.span = NodeSpan(core.lex.SpanFrom(token.begin));
    return value;
  }
  const Span span = NodeSpan(core.lex.SpanOf(token));
  core.lex.Next();
  if (name == "True") return PyValue::Bool(true, span);
  if (name == "False") return PyValue::Bool(false, span);
  if (name == "None") return PyValue::None(span);
  return PyValue::String(core.Keep(name), span);
}

}  // namespace

std::optional<PyValue> ParseValue(ParserCore& core) {
  const Token token = core.lex.token();
  const Span span = NodeSpan(core.lex.SpanOf(token));
  switch (token.kind) {
    case TokenKind::kInt:
    case TokenKind::kFloat: {
      core.lex.Next();
      const auto number = ParseNumber(core.lex.Text(token), token.kind);
      if (!number) {
        core.Error(core.lex.SpanOf(token), "bad-number", fmt::format("'{}' is not a number", core.lex.Text(token)));
        return std::nullopt;
      }
      return number->is_integer ? PyValue::Int(number->integer, span) : PyValue::Float(number->real, span);
    }
    case TokenKind::kString: core.lex.Next(); return PyValue::String(core.Keep(Unescape(core.lex.Text(token))), span);
    case TokenKind::kName: return ParseNameValue(core);
    case TokenKind::kQuestion: core.lex.Next(); return PyValue::Int(-1, span);
    case TokenKind::kLBracket: return ParseList(core, TokenKind::kRBracket);
    case TokenKind::kLParen: return ParseList(core, TokenKind::kRParen);
    default: core.Unexpected("the value of an attribute"); return std::nullopt;
  }
}

}  // namespace iropt::relay
