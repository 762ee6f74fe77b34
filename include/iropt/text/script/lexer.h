// Tokens of TVMScript: Python's lexical structure as far as modules use it.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/node.h"

namespace iropt {

enum class TokenKind : uint8_t {
  kEnd,
  kNewline,
  kIndent,
  kDedent,
  kName,
  kInt,
  kFloat,
  kString,
  kLParen,
  kRParen,
  kLBracket,
  kRBracket,
  kLBrace,
  kRBrace,
  kComma,
  kColon,
  kDot,
  kAssign,
  kArrow,
  kAt,
  kSemicolon,
  kPlus,
  kMinus,
  kStar,
  kDoubleStar,
  kSlash,
  kDoubleSlash,
  kPercent,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kEqual,
  kNotEqual,
  kShiftLeft,
  kShiftRight,
  kAmpersand,
  kPipe,
  kCaret,
  kTilde,
  kError
};

// The name of a token in messages: "','", "a name", "the end of the line".
std::string_view TokenKindName(TokenKind kind);

struct Token {
  TokenKind kind = TokenKind::kEnd;
  uint32_t begin = 0;  // offset in the text of the buffer
  uint32_t end = 0;
};

// A pull lexer with one token of look-ahead over one buffer or part of it. Line structure is Python's: newlines and
// indentation count outside brackets only; comments and blank lines are skipped; a comment directly before a token is
// available (TVM prints an implicit root block as a comment). Linear in the text; allocates only for the indentation
// stack.
class Lexer {
 public:
  // `text` is [begin, end) of a buffer whose first byte has the global offset `base`. Errors go to `diagnostics`.
  Lexer(std::string_view buffer, uint32_t base, uint32_t begin, uint32_t end, DiagnosticEngine& diagnostics);

  const Token& peek() const { return current_; }
  TokenKind kind() const { return current_.kind; }
  // Tokens lie in the text, so nothing is checked.
  std::string_view text(const Token& t) const { return {buffer_.data() + t.begin, t.end - t.begin}; }
  std::string_view text() const { return text(current_); }
  Token Next() {
    const Token t = current_;
    previous_end_ = t.end;
    Advance();
    return t;
  }
  // The character right after the current token (0 at the end): distinguishes `f (` from `f(`, `R.` from `R`.
  char next_char() const { return current_.end < end_ ? buffer_[current_.end] : '\0'; }
  // Returns whether the characters right after the current token are these.
  bool IsFollowedBy(std::string_view chars) const {
    return end_ - current_.end >= chars.size() &&
           std::memcmp(buffer_.data() + current_.end, chars.data(), chars.size()) == 0;
  }
  uint32_t previous_end() const { return previous_end_; }

  iropt::Span SpanOf(const Token& t) const { return iropt::Span::Of(base_ + t.begin, base_ + t.end); }
  iropt::Span SpanFrom(uint32_t begin) const { return iropt::Span::Of(base_ + begin, base_ + previous_end_); }
  uint32_t base() const { return base_; }
  std::string_view buffer() const { return buffer_; }
  uint32_t end_offset() const { return end_; }

  // Moves to the offset, which must be the start of a token inside the current line and bracket depth.
  void SkipTo(uint32_t offset);
  // Moves to the start of a physical line, which must be at the indentation of an enclosing block and outside brackets.
  void SkipToLine(uint32_t offset);
  // Error recovery: to the end of the logical line (past kNewline and any block that is indented below it).
  void SkipLine();
  int bracket_depth() const { return depth_; }

  // A saved position, for the rare constructs that need to look further ahead.
  struct State {
    Token current;
    uint32_t cursor, previous_end;
    int depth, pending_dedents;
    size_t indent_count;
    bool line_start;
  };
  State Save() const;
  void Restore(const State& state);

  // Exchanges the positions of two lexers of the same buffer.
  void SwapPositions(Lexer& other);

 private:
  void Advance();
  void LexLineStart();
  void AdvanceOverLines(uint32_t begin);
  bool ContinuesLine(uint32_t offset) const;
  void LexName(uint32_t begin);
  void LexWideName(uint32_t begin);
  bool CheckVisible(uint32_t begin, uint32_t end);
  void LexBeforeQuote(uint32_t begin, uint32_t end);
  void LexNumber(const char* p);
  void LexString(uint32_t begin);
  void LexUnknown(uint32_t begin);
  void LexEnd();
  uint32_t EndOfLine(uint32_t offset) const;
  void Emit(TokenKind kind, uint32_t begin, uint32_t end);

  std::string_view buffer_;
  const uint32_t base_;
  uint32_t end_;
  uint32_t cursor_;
  uint32_t previous_end_;
  Token current_;
  int depth_ = 0;
  int pending_dedents_ = 0;
  bool line_start_ = true;
  std::vector<uint32_t> indents_;  // columns of the enclosing blocks, innermost last
  DiagnosticEngine& diagnostics_;
};

// The value of a string token (quotes and prefix included): escapes resolved, adjacent quotes not joined. Returns a
// view of the text if it has no escapes, else of `storage`.
std::string_view UnescapeString(std::string_view token, std::string& storage);

}  // namespace iropt
