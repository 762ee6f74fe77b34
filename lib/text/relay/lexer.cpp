#include "lexer.h"

#include <fmt/format.h>

#include "iropt/diag/source.h"

namespace iropt::relay {

namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsWordChar(char c) { return IsLetter(c) || IsDigit(c); }

struct Punctuation {
  std::string_view text;
  TokenKind kind;
};
// Longer ones before their beginnings.
constexpr Punctuation kPunctuation[] = {
    {"->", TokenKind::kArrow},    {"=>", TokenKind::kFatArrow},  {"==", TokenKind::kEqual},
    {"!=", TokenKind::kNotEqual}, {"<=", TokenKind::kLessEqual}, {">=", TokenKind::kGreaterEqual},
    {"(", TokenKind::kLParen},    {")", TokenKind::kRParen},     {"[", TokenKind::kLBracket},
    {"]", TokenKind::kRBracket},  {"{", TokenKind::kLBrace},     {"}", TokenKind::kRBrace},
    {",", TokenKind::kComma},     {":", TokenKind::kColon},      {";", TokenKind::kSemicolon},
    {".", TokenKind::kDot},       {"=", TokenKind::kAssign},     {"?", TokenKind::kQuestion},
    {"+", TokenKind::kPlus},      {"-", TokenKind::kMinus},      {"*", TokenKind::kStar},
    {"/", TokenKind::kSlash},     {"<", TokenKind::kLess},       {">", TokenKind::kGreater},
};

}  // namespace

std::string_view TokenKindName(TokenKind kind) {
  switch (kind) {
    case TokenKind::kEnd: return "the end of the text";
    case TokenKind::kLocal: return "a variable";
    case TokenKind::kGraph: return "a graph variable";
    case TokenKind::kGlobal: return "a global name";
    case TokenKind::kName: return "a name";
    case TokenKind::kInt: return "an integer";
    case TokenKind::kFloat: return "a number";
    case TokenKind::kString: return "a string";
    case TokenKind::kHash: return "a '#[...]' line";
    case TokenKind::kLParen: return "'('";
    case TokenKind::kRParen: return "')'";
    case TokenKind::kLBracket: return "'['";
    case TokenKind::kRBracket: return "']'";
    case TokenKind::kLBrace: return "'{'";
    case TokenKind::kRBrace: return "'}'";
    case TokenKind::kComma: return "','";
    case TokenKind::kColon: return "':'";
    case TokenKind::kSemicolon: return "';'";
    case TokenKind::kDot: return "'.'";
    case TokenKind::kAssign: return "'='";
    case TokenKind::kArrow: return "'->'";
    case TokenKind::kFatArrow: return "'=>'";
    case TokenKind::kQuestion: return "'?'";
    case TokenKind::kPlus: return "'+'";
    case TokenKind::kMinus: return "'-'";
    case TokenKind::kStar: return "'*'";
    case TokenKind::kSlash: return "'/'";
    case TokenKind::kLess: return "'<'";
    case TokenKind::kLessEqual: return "'<='";
    case TokenKind::kGreater: return "'>'";
    case TokenKind::kGreaterEqual: return "'>='";
    case TokenKind::kEqual: return "'=='";
    case TokenKind::kNotEqual: return "'!='";
    case TokenKind::kError: return "an invalid character";
  }
  return "a token";
}

Lexer::Lexer(std::string_view text, uint32_t base, DiagnosticEngine& diagnostics)
    : text_(text), base_(base), diagnostics_(diagnostics) {
  token_ = Scan();
}

Token Lexer::Next() {
  const Token current = token_;
  last_end_ = current.end;
  token_ = ahead_ ? *ahead_ : Scan();
  ahead_.reset();
  return current;
}

TokenKind Lexer::PeekKind() {
  if (!ahead_) ahead_ = Scan();
  return ahead_->kind;
}

void Lexer::SkipComment() {
  const size_t begin = pos_;
  size_t depth = 0;
  while (pos_ < text_.size()) {
    if (text_[pos_] == '/' && At(pos_ + 1) == '*') {
      ++depth;
      pos_ += 2;
    } else if (text_[pos_] == '*' && At(pos_ + 1) == '/') {
      pos_ += 2;
      if (--depth == 0) return;
    } else {
      ++pos_;
    }
  }
  diagnostics_.Error({base_ + static_cast<uint32_t>(begin), base_ + static_cast<uint32_t>(begin) + 2}, "syntax",
                     "unterminated comment");
}

void Lexer::SkipBlanks() {
  while (pos_ < text_.size()) {
    const char c = text_[pos_];
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
      ++pos_;
    } else if (c == '/' && At(pos_ + 1) == '/') {
      pos_ = std::min(text_.find('\n', pos_), text_.size());
    } else if (c == '/' && At(pos_ + 1) == '*') {
      SkipComment();
    } else {
      return;
    }
  }
}

Token Lexer::ScanWord(uint32_t begin, TokenKind kind) {
  while (IsWordChar(At(pos_))) ++pos_;
  // Names of operators have dots in them. The dot of a projection stands before a digit.
  while (At(pos_) == '.' && IsLetter(At(pos_ + 1))) {
    ++pos_;
    while (IsWordChar(At(pos_))) ++pos_;
  }
  return Make(kind, begin);
}

// A number ends with an optional suffix, f or i and an optional number of bits.
Token Lexer::ScanNumber(uint32_t begin) {
  bool is_float = false;
  if (At(pos_) == '-') ++pos_;
  if (text_.substr(pos_).starts_with("inf") || text_.substr(pos_).starts_with("nan")) {
    pos_ += 3;
    is_float = true;
  }
  while (IsDigit(At(pos_))) ++pos_;
  if (At(pos_) == '.' && IsDigit(At(pos_ + 1))) {
    is_float = true;
    ++pos_;
    while (IsDigit(At(pos_))) ++pos_;
  } else if (At(pos_) == '.' && !IsLetter(At(pos_ + 1))) {
    is_float = true;
    ++pos_;
  }
  const bool has_sign = At(pos_ + 1) == '-' || At(pos_ + 1) == '+';
  if ((At(pos_) == 'e' || At(pos_) == 'E') && IsDigit(At(pos_ + 1 + has_sign))) {
    is_float = true;
    pos_ += 1 + has_sign;
    while (IsDigit(At(pos_))) ++pos_;
  }
  if (At(pos_) == 'f' || At(pos_) == 'i') is_float = is_float || At(pos_) == 'f';
  while (IsWordChar(At(pos_))) ++pos_;
  return Make(is_float ? TokenKind::kFloat : TokenKind::kInt, begin);
}

Token Lexer::ScanString(uint32_t begin) {
  for (++pos_; pos_ < text_.size() && text_[pos_] != '"' && text_[pos_] != '\n'; ++pos_) {
    if (text_[pos_] == '\\') ++pos_;
  }
  if (At(pos_) != '"') {
    pos_ = std::min(pos_, text_.size());
    diagnostics_.Error({base_ + begin, base_ + static_cast<uint32_t>(pos_)}, "unterminated-string",
                       "the string is unterminated");
    return Make(TokenKind::kError, begin);
  }
  ++pos_;
  return Make(TokenKind::kString, begin);
}

Token Lexer::ScanPunctuation(uint32_t begin) {
  const std::string_view rest = text_.substr(pos_);
  for (const Punctuation& punctuation : kPunctuation) {
    if (!rest.starts_with(punctuation.text)) continue;
    pos_ += punctuation.text.size();
    return Make(punctuation.kind, begin);
  }
  pos_ += CodePointLength(rest);
  const Token token = Make(TokenKind::kError, begin);
  diagnostics_.Error(SpanOf(token), "unexpected-character", fmt::format("unexpected character '{}'", Text(token)));
  return token;
}

Token Lexer::Scan() {
  SkipBlanks();
  const auto begin = static_cast<uint32_t>(pos_);
  if (pos_ >= text_.size()) return Make(TokenKind::kEnd, begin);
  const char c = text_[pos_];
  const char next = At(pos_ + 1);
  if (c == '%' && IsLetter(next)) return ++pos_, ScanWord(begin, TokenKind::kLocal);
  if (c == '@' && IsLetter(next)) return ++pos_, ScanWord(begin, TokenKind::kGlobal);
  if (c == '%' && IsDigit(next)) {
    for (++pos_; IsDigit(At(pos_));) ++pos_;
    return Make(TokenKind::kGraph, begin);
  }
  if (c == '#' && next == '[') {
    pos_ = std::min(text_.find('\n', pos_), text_.size());
    return Make(TokenKind::kHash, begin);
  }
  if (c == '"') return ScanString(begin);
  const std::string_view rest = text_.substr(pos_);
  const std::string_view unsigned_rest = c == '-' ? rest.substr(1) : rest;
  if (IsDigit(c) || (c == '-' && IsDigit(next)) || unsigned_rest.starts_with("inff") ||
      unsigned_rest.starts_with("nanf"))
    return ScanNumber(begin);
  if (IsLetter(c)) return ScanWord(begin, TokenKind::kName);
  return ScanPunctuation(begin);
}

std::string Unescape(std::string_view literal) {
  literal.remove_prefix(1);
  literal.remove_suffix(1);
  std::string text;
  for (size_t i = 0; i < literal.size(); ++i) {
    if (literal[i] != '\\' || i + 1 == literal.size()) {
      text += literal[i];
      continue;
    }
    switch (const char c = literal[++i]) {
      case 'n': text += '\n'; break;
      case 't': text += '\t'; break;
      case 'r': text += '\r'; break;
      default: text += c;
    }
  }
  return text;
}

}  // namespace iropt::relay
