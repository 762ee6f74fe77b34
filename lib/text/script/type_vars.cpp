#include "type_vars.h"

#include <algorithm>

#include "iropt/support/characters.h"

namespace iropt::text {
namespace {

bool IsInName(char c) { return IsLetterOrDigit(c) || c == '_' || (c & 0x80) != 0; }

bool IsQuoted(std::string_view text, size_t begin, size_t end) {
  return begin > 0 && end < text.size() && text[begin - 1] == '"' && text[end] == '"';
}

// Returns whether the text holds the name, not as a part of a longer one or a member. A name that comes alone in quotes
// first is a variable of the signature, which may have another type: TVM quotes expressions of declared variables only.
bool HoldsName(std::string_view text, std::string_view name) {
  for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const size_t end = at + name.size();
    const bool begins = at == 0 || (!IsInName(text[at - 1]) && text[at - 1] != '.');
    if (begins && (end == text.size() || !IsInName(text[end]))) return !IsQuoted(text, at, end);
  }
  return false;
}

// From the current token to the end of its logical line.
std::string_view RestOfLine(const ParserCore& reader) {
  const Lexer& lexer = reader.lex_;
  DiagnosticBuffer nowhere;
  DiagnosticEngine silent(&nowhere);
  const uint32_t begin = lexer.peek().begin;
  Lexer ahead(lexer.buffer(), lexer.base(), begin, lexer.end_offset(), silent);
  while (ahead.kind() != TokenKind::kNewline && ahead.kind() != TokenKind::kEnd) ahead.Next();
  return lexer.buffer().substr(begin, ahead.peek().begin - begin);
}

}  // namespace

bool AtTypeVar(const ParserCore& reader) {
  if (!reader.AtKeyword()) return false;
  const std::string_view rest = reader.lex_.buffer().substr(reader.lex_.peek().end);
  const size_t word = rest.find_first_not_of(" =");
  return word != std::string_view::npos && rest.substr(word).starts_with("TypeVar(");
}

bool ReadTypeVar(ParserCore& reader) {
  reader.state_.type_vars.push_back(reader.lex_.text(reader.lex_.Next()));
  reader.lex_.Next();
  reader.lex_.Next();
  constexpr std::string_view kWhat = "TypeVar(...), which takes a name";
  return reader.Expect(TokenKind::kLParen, kWhat) && reader.Expect(TokenKind::kString, kWhat) &&
         reader.ExpectClose(kWhat) && reader.Expect(TokenKind::kNewline, "a statement");
}

bool ReadTypeParams(ParserCore& reader, std::vector<std::string_view>& names) {
  if (reader.Accept(TokenKind::kLBracket)) {
    while (!reader.At(TokenKind::kRBracket)) {
      if (!reader.At(TokenKind::kName)) return reader.Unexpected("the name of a symbolic variable");
      names.push_back(reader.lex_.text(reader.lex_.Next()));
      if (!reader.Accept(TokenKind::kComma)) break;
    }
    if (!reader.Expect(TokenKind::kRBracket, "the symbolic variables of a function")) return false;
  }
  if (reader.state_.type_vars.empty()) return true;
  const std::string_view header = RestOfLine(reader);
  for (const std::string_view name : reader.state_.type_vars) {
    if (std::ranges::find(names, name) == names.end() && HoldsName(header, name)) names.push_back(name);
  }
  return true;
}

}  // namespace iropt::text
