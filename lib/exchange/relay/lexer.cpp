#include "lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "iropt/diag/source.h"
#include "iropt/support/characters.h"

namespace iropt::relay {

namespace {

enum class CharClass : uint8_t { kOther, kBlank, kLetter, kDigit };

constexpr std::array<CharClass, 256> kCharClasses = [] {
  std::array<CharClass, 256> classes{};
  for (const char c : {' ', '\n', '\t', '\r'}) classes[static_cast<uint8_t>(c)] = CharClass::kBlank;
  for (size_t c = 'a'; c <= 'z'; ++c) classes[c] = classes[c - 'a' + 'A'] = CharClass::kLetter;
  for (size_t c = '0'; c <= '9'; ++c) classes[c] = CharClass::kDigit;
  classes['_'] = CharClass::kLetter;
  return classes;
}();

CharClass ClassOf(char c) { return kCharClasses[static_cast<uint8_t>(c)]; }
bool IsWordStart(char c) { return ClassOf(c) == CharClass::kLetter; }
bool IsWordChar(char c) { return ClassOf(c) >= CharClass::kLetter; }

struct Punctuation {
  TokenKind kind = TokenKind::kError;
  // Of the token that the character and the next one make; none if that is 0.
  char next = '\0';
  TokenKind longer = TokenKind::kError;
};

// The tokens that always are one character.
constexpr std::array<TokenKind, 256> kSingleTokens = [] {
  std::array<TokenKind, 256> kinds{};
  kinds.fill(TokenKind::kError);
  constexpr std::pair<char, TokenKind> kRows[] = {
      {'(', TokenKind::kLParen},    {')', TokenKind::kRParen}, {'[', TokenKind::kLBracket}, {']', TokenKind::kRBracket},
      {'{', TokenKind::kLBrace},    {'}', TokenKind::kRBrace}, {',', TokenKind::kComma},    {':', TokenKind::kColon},
      {';', TokenKind::kSemicolon}, {'.', TokenKind::kDot},    {'?', TokenKind::kQuestion}, {'+', TokenKind::kPlus},
      {'*', TokenKind::kStar},      {'/', TokenKind::kSlash}};
  for (const auto& [c, kind] : kRows) kinds[static_cast<uint8_t>(c)] = kind;
  return kinds;
}();

Punctuation PunctuationOf(char c) {
  switch (c) {
    case '-': return {TokenKind::kMinus, '>', TokenKind::kArrow};
    case '<': return {TokenKind::kLess, '=', TokenKind::kLessEqual};
    case '>': return {TokenKind::kGreater, '=', TokenKind::kGreaterEqual};
    case '!': return {TokenKind::kError, '=', TokenKind::kNotEqual};
    default: return {};
  }
}

}  // namespace

std::string_view TokenKindName(TokenKind kind) {
  switch (kind) {
    case TokenKind::kEnd: return "the end of the text";
    case TokenKind::kLocal:
    case TokenKind::kGraph: return "a variable";
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
    case TokenKind::kError: break;  // is reported where it is read
  }
  return "a token";
}

Lexer::Lexer(std::string_view text, uint32_t base, DiagnosticEngine& diagnostics)
    : text_(text), base_(base), diagnostics_(diagnostics) {
  token_ = Scan();
}

TokenKind Lexer::PeekKind() {
  if (!has_ahead_) ahead_ = Scan();
  has_ahead_ = true;
  return ahead_.kind;
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
    if (ClassOf(c) == CharClass::kBlank) {
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
  while (At(pos_) == '.' && IsWordStart(At(pos_ + 1))) {
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
  } else if (At(pos_) == '.' && !IsWordStart(At(pos_ + 1))) {
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
  const char next = At(pos_ + 1);
  TokenKind kind = TokenKind::kError;
  if (text_[pos_] == '=') {
    kind = next == '=' ? TokenKind::kEqual : next == '>' ? TokenKind::kFatArrow : TokenKind::kAssign;
    pos_ += kind == TokenKind::kAssign ? 1 : 2;
    return Make(kind, begin);
  }
  const Punctuation punctuation = PunctuationOf(text_[pos_]);
  const bool longer = punctuation.next != '\0' && punctuation.next == next;
  kind = longer ? punctuation.longer : punctuation.kind;
  if (kind != TokenKind::kError) {
    pos_ += longer ? 2 : 1;
    return Make(kind, begin);
  }
  pos_ += CodePointLength(text_.substr(pos_));
  const Token token = Make(TokenKind::kError, begin);
  diagnostics_.Error(SpanOf(token), "unexpected-character", fmt::format("unexpected character '{}'", Text(token)));
  return token;
}

bool Lexer::IsSpecialNumber(size_t offset) const {
  const char c = At(offset);
  if (c != 'i' && c != 'n') return false;
  const std::string_view rest = text_.substr(offset);
  return rest.starts_with("inff") || rest.starts_with("nanf");
}

Token Lexer::Scan() {
  SkipBlanks();
  const auto begin = static_cast<uint32_t>(pos_);
  if (pos_ >= text_.size()) return Make(TokenKind::kEnd, begin);
  const char c = text_[pos_];
  if (const TokenKind single = kSingleTokens[static_cast<uint8_t>(c)]; single != TokenKind::kError) {
    ++pos_;
    return Make(single, begin);
  }
  const char next = At(pos_ + 1);
  switch (c) {
    case '%':
      if (IsWordStart(next)) return ++pos_, ScanWord(begin, TokenKind::kLocal);
      if (!IsDigit(next)) break;
      for (++pos_; IsDigit(At(pos_));) ++pos_;
      return Make(TokenKind::kGraph, begin);
    case '@':
      if (IsWordStart(next)) return ++pos_, ScanWord(begin, TokenKind::kGlobal);
      break;
    case '#':
      if (next != '[') break;
      pos_ = std::min(text_.find('\n', pos_), text_.size());
      return Make(TokenKind::kHash, begin);
    case '"': return ScanString(begin);
    case '-':
      if (IsDigit(next) || IsSpecialNumber(pos_ + 1)) return ScanNumber(begin);
      break;
    default:
      if (IsWordStart(c)) return IsSpecialNumber(pos_) ? ScanNumber(begin) : ScanWord(begin, TokenKind::kName);
      if (IsDigit(c)) return ScanNumber(begin);
  }
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
