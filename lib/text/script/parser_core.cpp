#include "parser_core.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <iterator>

#include "iropt/support/edit_distance.h"
#include "value_reader.h"

namespace iropt::text {
namespace {

// The digits of a number, without the underscores between them; a view of the text, or else of `storage`.
std::string_view DigitsOf(std::string_view number, std::string& storage) {
  if (number.find('_') == std::string_view::npos) return number;
  std::copy_if(number.begin(), number.end(), std::back_inserter(storage), [](char c) { return c != '_'; });
  return storage;
}

// The value of a number of decimal digits that are too few to overflow, as most are. False for other numbers.
bool ShortDecimal(std::string_view digits, int64_t& value) {
  if (digits.size() > 18) return false;
  int64_t sum = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return false;
    sum = 10 * sum + (c - '0');
  }
  value = sum;
  return true;
}

// A name as messages quote it.
std::string Quoted(std::string_view name) {
  constexpr size_t kLongest = 200;
  return name.size() <= kLongest ? fmt::format("'{}'", name) : fmt::format("a name of {} letters", name.size());
}

}  // namespace

std::string ParserCore::Found() const {
  return At(TokenKind::kName) ? Quoted(lex_.text()) : std::string(TokenKindName(lex_.kind()));
}

ParserCore::Failed ParserCore::Missing(TokenKind kind, std::string_view where) {
  // The lexer has reported what is not a token.
  if (!At(TokenKind::kError))
    ErrorHere("syntax", fmt::format("expected {} in {}, found {}", TokenKindName(kind), where, Found()));
  return {};
}

ParserCore::Failed ParserCore::UnclosedCall(uint32_t begin) {
  const uint32_t here = lex_.peek().begin;
  const bool is_elsewhere = lex_.buffer().substr(begin, here - begin).find('\n') != std::string_view::npos;
  if (At(TokenKind::kError) || !is_elsewhere) return Missing(TokenKind::kRParen, "an argument list");
  const Span start = lex_.SpanOf({.kind = TokenKind::kName, .begin = begin, .end = begin + 1});
  diag_
      .Error(Location(lex_.SpanOf(lex_.peek())), "syntax",
             fmt::format("expected {} in an argument list, found {}", TokenKindName(TokenKind::kRParen), Found()))
      .Note(Location(start), "the call begins here");
  return {};
}

bool ParserCore::AtKeyword() const {
  if (!At(TokenKind::kName)) return false;
  // `name =` but not `name ==`: look at the text, which is cheaper than a second token of look-ahead.
  const std::string_view text = lex_.buffer();
  uint32_t p = lex_.peek().end;
  while (p < lex_.end_offset() && text[p] == ' ') ++p;
  return p < lex_.end_offset() && text[p] == '=' && (p + 1 >= lex_.end_offset() || text[p + 1] != '=');
}

Prefix ParserCore::AtPrefix() const {
  if (!At(TokenKind::kName) || lex_.next_char() != '.') return Prefix::kNone;
  const std::string_view name = lex_.text();
  const Prefix prefix = state_.prefixes.Of(name);
  // A variable may be called like a prefix.
  if (prefix != Prefix::kNone && symbols_.MayHold(name) && symbols_.Find(name)) return Prefix::kNone;
  return prefix;
}

std::string_view ParserCore::DottedName() {
  if (!At(TokenKind::kDot)) return {};
  const uint32_t begin = lex_.peek().begin + 1;
  uint32_t end = begin;
  while (At(TokenKind::kDot)) {
    lex_.Next();
    if (!At(TokenKind::kName)) {
      Unexpected("a name after '.'");
      return {};
    }
    end = lex_.Next().end;
  }
  return lex_.buffer().substr(begin, end - begin);
}

ParserCore::Failed ParserCore::Unexpected(std::string_view expected) {
  if (At(TokenKind::kError)) return {};  // the lexer has reported the error
  return ErrorHere("syntax", fmt::format("expected {}, found {}", expected, Found()));
}

bool IsPythonKeyword(std::string_view word) {
  static constexpr std::string_view kWords[] = {
      "and",      "as",     "assert",  "async", "await", "break",  "class", "continue", "def",  "del",  "elif",
      "else",     "except", "finally", "for",   "from",  "global", "if",    "import",   "in",   "is",   "lambda",
      "nonlocal", "not",    "or",      "pass",  "raise", "return", "try",   "while",    "with", "yield"};
  return std::ranges::find(kWords, word) != std::end(kWords);
}

ParserCore::Failed ParserCore::UnknownName(const Token& name) {
  const std::string_view text = lex_.text(name);
  if (IsPythonKeyword(text)) return Error(lex_.SpanOf(name), "syntax", fmt::format("'{}' is not allowed here", text));
  if (At(TokenKind::kDot) && (text == "relax" || text == "tir" || text == "tirx")) {
    return Error(lex_.SpanOf(name), "unknown-name",
                 fmt::format("unknown name '{0}'; did you mean {1}, or is 'from tvm import {0}' missing?", text,
                             text == "relax" ? "R" : "T"));
  }
  std::vector<std::string_view> candidates;
  symbols_.ForEach([&](std::string_view known, const Node*) { candidates.push_back(known); });
  symbols_.ForEachConstant([&](std::string_view known) { candidates.push_back(known); });
  const auto near = LeastNearestName(text, candidates);
  if (!near) return Error(lex_.SpanOf(name), "unknown-name", "unknown name " + Quoted(text));
  const SourceSpan at = Location(lex_.SpanOf(name));
  diag_.Error(at, "unknown-name", fmt::format("unknown name '{}'; did you mean '{}'?", text, *near))
      .FixIt(at, std::string(*near));
  return {};
}

ParserCore::Failed ParserCore::UnknownFunction(const Token& name) {
  return Error(lex_.SpanOf(name), "unknown-function", fmt::format("the module has no function '{}'", lex_.text(name)));
}

ParserCore::Failed ParserCore::UnknownMember(std::string_view prefix, std::string_view member, Span span,
                                             std::span<const std::string_view> candidates) {
  // R.conv2d is R.nn.conv2d.
  const auto ends = [&](std::string_view name) {
    return name.ends_with(member) && name.size() > member.size() && name[name.size() - member.size() - 1] == '.';
  };
  const auto nested = std::ranges::find_if(candidates, ends);
  const auto near = nested != candidates.end() ? std::optional(*nested) : NearestName(member, candidates);
  const std::string name = fmt::format("{}.{}", prefix, member);
  if (!near) return Error(span, "unknown-member", fmt::format("unknown name '{}'", name));
  const std::string meant = fmt::format("{}.{}", prefix, *near);
  const SourceSpan at = Location(span);
  DiagnosticBuilder error =
      diag_.Error(at, "unknown-member", fmt::format("unknown name '{}'; did you mean '{}'?", name, meant));
  // The text may name the prefix in another way.
  if (lex_.buffer().substr(at.begin - lex_.base(), at.end - at.begin) == name) error.FixIt(at, meant);
  return Failed();
}

std::string_view ParserCore::ParseStringLiteral() {
  std::string storage;
  const Token first = lex_.Next();
  std::string_view text = UnescapeString(lex_.text(first), storage);
  if (!At(TokenKind::kString)) return storage.empty() ? text : ws_.arena().CopyString(text);
  std::string joined(text);
  while (At(TokenKind::kString)) joined += UnescapeString(lex_.text(lex_.Next()), storage);
  return ws_.arena().CopyString(joined);
}

bool ParserCore::IntegerValue(const Token& token, int64_t& value) {
  if (ShortDecimal(lex_.text(token), value)) return true;
  std::string storage;
  const std::string_view digits = DigitsOf(lex_.text(token), storage);
  int base = 10;
  const char* first = digits.data();
  if (digits.size() > 2 && digits[0] == '0') {
    const char mark = static_cast<char>(digits[1] | 0x20);
    base = mark == 'x' ? 16 : mark == 'o' ? 8 : mark == 'b' ? 2 : 10;
    if (base != 10) first += 2;
  }
  const char* last = digits.data() + digits.size();
  uint64_t bits = 0;
  const auto [end, status] = std::from_chars(first, last, bits, base);
  if (status != std::errc() || end != last) {
    return Error(lex_.SpanOf(token), "bad-number",
                 status == std::errc::result_out_of_range ? "this integer exceeds 64 bits" : "this is not an integer");
  }
  value = static_cast<int64_t>(bits);
  return true;
}

double ParserCore::FloatValue(const Token& token) const {
  std::string storage;
  return std::strtod(std::string(DigitsOf(lex_.text(token), storage)).c_str(), nullptr);
}

bool ParserCore::ParseInteger(int64_t& value) {
  const bool negative = Accept(TokenKind::kMinus);
  if (!At(TokenKind::kInt)) return Unexpected("an integer");
  if (!IntegerValue(lex_.Next(), value)) return false;
  if (negative) value = static_cast<int64_t>(0 - static_cast<uint64_t>(value));
  return true;
}

std::optional<DataType> ParserCore::ParseDataTypeString() {
  const Span span = SpanHere();
  std::string_view text;
  if (const Node* known = At(TokenKind::kName) ? symbols_.Find(lex_.text()) : nullptr; state_.IsValueSymbol(known)) {
    const PyValue& value = static_cast<const ValueSymbol*>(known)->value;
    if (value.is(PyValue::Kind::kString)) text = value.string();
  }
  if (!text.empty()) {
    lex_.Next();
  } else if (At(TokenKind::kString)) {
    text = ParseStringLiteral();
  } else {
    Unexpected("a data type such as \"float32\"");
    return std::nullopt;
  }
  const auto dtype = DataType::Parse(text);
  if (!dtype) Error(span, "unknown-dtype", DescribeUnknownDType(text));
  return dtype;
}

}  // namespace iropt::text
