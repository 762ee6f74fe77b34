// Tokens of Relay's text format.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "iropt/diag/diagnostic.h"

namespace iropt::relay {

enum class TokenKind : uint8_t {
  kEnd,
  kLocal,   // %x
  kGraph,   // %0
  kGlobal,  // @main
  kName,    // let, nn.conv2d, Tensor
  kInt,     // 1, -1, 1i64
  kFloat,   // 1f, 0.5, -inff, 1e-05f16
  kString,  // "x", with the quotes
  kHash,    // #[version = "0.0.5"], with all of its text
  kLParen,
  kRParen,
  kLBracket,
  kRBracket,
  kLBrace,
  kRBrace,
  kComma,
  kColon,
  kSemicolon,
  kDot,
  kAssign,
  kArrow,     // ->
  kFatArrow,  // =>
  kQuestion,
  kPlus,
  kMinus,
  kStar,
  kSlash,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kEqual,
  kNotEqual,
  kError
};

// The name of a token in messages: "','", "a name".
std::string_view TokenKindName(TokenKind kind);

struct Token {
  TokenKind kind = TokenKind::kEnd;
  uint32_t begin = 0;  // offset in the text
  uint32_t end = 0;
};

// A pull lexer with one token of look-ahead. Comments, which nest, are skipped. Linear in the text.
class Lexer {
 public:
  // The first byte of the text has the global offset `base`. Errors go to `diagnostics`.
  Lexer(std::string_view text, uint32_t base, DiagnosticEngine& diagnostics);

  const Token& token() const { return token_; }
  // The kind of the token after the current one.
  TokenKind PeekKind();
  // Goes on and returns the token that was current.
  Token Next() {
    const Token current = token_;
    last_end_ = current.end;
    token_ = has_ahead_ ? ahead_ : Scan();
    has_ahead_ = false;
    return current;
  }

  std::string_view Text(const Token& token) const { return text_.substr(token.begin, token.end - token.begin); }
  SourceSpan SpanOf(const Token& token) const { return {base_ + token.begin, base_ + token.end}; }
  // From the offset in the text to the end of the last token that Next returned.
  SourceSpan SpanFrom(uint32_t begin) const { return {base_ + begin, base_ + last_end_}; }
  // Behind the last token that Next returned.
  SourceSpan EndOfLast() const { return {base_ + last_end_, base_ + last_end_}; }
  // Returns whether the token is the first one of its line.
  bool StartsLine() const { return text_.substr(last_end_, token_.begin - last_end_).find('\n') != std::string::npos; }

 private:
  Token Scan();
  void SkipBlanks();
  void SkipComment();
  Token ScanNumber(uint32_t begin);
  Token ScanString(uint32_t begin);
  Token ScanWord(uint32_t begin, TokenKind kind);
  Token ScanPunctuation(uint32_t begin);
  // Returns whether "inff" or "nanf" stands there.
  bool IsSpecialNumber(size_t offset) const;
  char At(size_t offset) const { return offset < text_.size() ? text_[offset] : '\0'; }
  Token Make(TokenKind kind, uint32_t begin) const { return {kind, begin, static_cast<uint32_t>(pos_)}; }

  std::string_view text_;
  uint32_t base_;
  DiagnosticEngine& diagnostics_;
  size_t pos_ = 0;
  uint32_t last_end_ = 0;
  Token token_;
  bool has_ahead_ = false;
  Token ahead_;  // the token after the current one, if it was scanned
};

// The text of a string literal without quotes and escapes.
std::string Unescape(std::string_view literal);

}  // namespace iropt::relay
