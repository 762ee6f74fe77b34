#include "iropt/text/script/lexer.h"

#include <fmt/format.h>

#include <array>
#include <cstring>

#include "iropt/support/characters.h"
#include "utf8.h"

namespace iropt {
namespace {

// Character classes, by the token that may begin with one, so that scanning is one table look-up per byte. Bytes above
// 127 are in names: Python allows most of them, and other characters are refused when the name is looked up.
enum class CharClass : uint8_t {
  kLetter,
  kDigit,
  kWide,  // a byte above 127; the characters of names are up to here
  kSpace,
  kNewline,
  kComment,
  kBackslash,
  kQuote,
  kDot,
  kOpen,
  kClose,
  kSingle,    // a token on its own
  kOperator,  // perhaps with the next character
  kOther
};

constexpr std::array<CharClass, 256> MakeClasses() {
  std::array<CharClass, 256> t{};
  const auto set = [&](std::string_view chars, CharClass c) {
    for (const char x : chars) t[static_cast<uint8_t>(x)] = c;
  };
  t.fill(CharClass::kOther);
  for (int c = 'a'; c <= 'z'; ++c) t[c] = CharClass::kLetter;
  for (int c = 'A'; c <= 'Z'; ++c) t[c] = CharClass::kLetter;
  for (int c = 128; c < 256; ++c) t[c] = CharClass::kWide;
  set("_", CharClass::kLetter);
  set("0123456789", CharClass::kDigit);
  set(" \t\f\r", CharClass::kSpace);
  set("\n", CharClass::kNewline);
  set("#", CharClass::kComment);
  set("\\", CharClass::kBackslash);
  set("\"'", CharClass::kQuote);
  set(".", CharClass::kDot);
  set("([{", CharClass::kOpen);
  set(")]}", CharClass::kClose);
  set(",:;@+%&|^~", CharClass::kSingle);
  set("=!<>*/-", CharClass::kOperator);
  return t;
}
constexpr std::array<CharClass, 256> kClass = MakeClasses();

CharClass ClassOf(char c) { return kClass[static_cast<uint8_t>(c)]; }
bool IsNameChar(char c) { return ClassOf(c) <= CharClass::kWide; }
bool IsSpace(char c) { return ClassOf(c) == CharClass::kSpace; }

constexpr TokenKind SingleCharKind(char c) {
  switch (c) {
    case '(': return TokenKind::kLParen;
    case ')': return TokenKind::kRParen;
    case '[': return TokenKind::kLBracket;
    case ']': return TokenKind::kRBracket;
    case '{': return TokenKind::kLBrace;
    case '}': return TokenKind::kRBrace;
    case ',': return TokenKind::kComma;
    case ':': return TokenKind::kColon;
    case '.': return TokenKind::kDot;
    case ';': return TokenKind::kSemicolon;
    case '@': return TokenKind::kAt;
    case '=': return TokenKind::kAssign;
    case '+': return TokenKind::kPlus;
    case '-': return TokenKind::kMinus;
    case '*': return TokenKind::kStar;
    case '/': return TokenKind::kSlash;
    case '%': return TokenKind::kPercent;
    case '<': return TokenKind::kLess;
    case '>': return TokenKind::kGreater;
    case '&': return TokenKind::kAmpersand;
    case '|': return TokenKind::kPipe;
    case '^': return TokenKind::kCaret;
    case '~': return TokenKind::kTilde;
    default: return TokenKind::kError;
  }
}

constexpr std::array<TokenKind, 256> kSingleChars = [] {
  std::array<TokenKind, 256> t{};
  for (size_t c = 0; c < t.size(); ++c) t[c] = SingleCharKind(static_cast<char>(c));
  return t;
}();

TokenKind SingleChar(char c) { return kSingleChars[static_cast<uint8_t>(c)]; }

TokenKind DoubleChar(char a, char b) {
  if (b == '=') {
    if (a == '=') return TokenKind::kEqual;
    if (a == '!') return TokenKind::kNotEqual;
    if (a == '<') return TokenKind::kLessEqual;
    if (a == '>') return TokenKind::kGreaterEqual;
  }
  if (a == b) {
    if (a == '*') return TokenKind::kDoubleStar;
    if (a == '/') return TokenKind::kDoubleSlash;
    if (a == '<') return TokenKind::kShiftLeft;
    if (a == '>') return TokenKind::kShiftRight;
  }
  return a == '-' && b == '>' ? TokenKind::kArrow : TokenKind::kError;
}

// Prefixes such as r"", f"", rb""; not the end of `or""`.
bool IsStringPrefix(std::string_view word) {
  return word.size() <= 2 && word.find_first_not_of("rRuUfFbB") == std::string_view::npos;
}

}  // namespace

std::string_view TokenKindName(TokenKind kind) {
  static constexpr std::string_view kNames[] = {"the end of the input",
                                                "the end of the line",
                                                "an indented block",
                                                "the end of the block",
                                                "a name",
                                                "an integer",
                                                "a number",
                                                "a string",
                                                "'('",
                                                "')'",
                                                "'['",
                                                "']'",
                                                "'{'",
                                                "'}'",
                                                "','",
                                                "':'",
                                                "'.'",
                                                "'='",
                                                "'->'",
                                                "'@'",
                                                "';'",
                                                "'+'",
                                                "'-'",
                                                "'*'",
                                                "'**'",
                                                "'/'",
                                                "'//'",
                                                "'%'",
                                                "'<'",
                                                "'<='",
                                                "'>'",
                                                "'>='",
                                                "'=='",
                                                "'!='",
                                                "'<<'",
                                                "'>>'",
                                                "'&'",
                                                "'|'",
                                                "'^'",
                                                "'~'",
                                                "an unknown character"};
  static_assert(std::size(kNames) == static_cast<size_t>(TokenKind::kError) + 1);
  return kNames[static_cast<size_t>(kind)];
}

Lexer::Lexer(std::string_view buffer, uint32_t base, uint32_t begin, uint32_t end, DiagnosticEngine& diagnostics)
    : buffer_(buffer),
      base_(base),
      end_(end),
      cursor_(begin),
      previous_end_(begin),
      indents_{0},
      diagnostics_(diagnostics) {
  Advance();
}

void Lexer::Emit(TokenKind kind, uint32_t begin, uint32_t end) {
  current_ = {kind, begin, end};
  cursor_ = end;
}

// At the start of a physical line outside brackets: skips blank lines and comments, then turns a change of indentation
// into tokens. Returns with line_start_ false when the next token is an ordinary one.
void Lexer::LexLineStart() {
  const char* text = buffer_.data();
  uint32_t p = cursor_;
  uint32_t column = 0;
  for (;;) {
    const uint32_t begin = p;
    constexpr std::string_view kSpaces = "        ";
    while (end_ - p >= kSpaces.size() && std::memcmp(text + p, kSpaces.data(), kSpaces.size()) == 0)
      p += static_cast<uint32_t>(kSpaces.size());
    while (p < end_ && text[p] == ' ') ++p;
    column = p - begin;
    for (; p < end_ && IsSpace(text[p]); ++p) column = text[p] == '\t' ? (column / 8 + 1) * 8 : column + 1;
    if (p >= end_) {
      p = end_;
      column = 0;
      break;
    }
    if (text[p] == '#') {
      const uint32_t stop = EndOfLine(p);
      p = stop < end_ ? stop + 1 : end_;
      continue;
    }
    if (text[p] == '\n') {
      ++p;
      continue;
    }
    break;
  }
  cursor_ = p;
  line_start_ = false;
  if (column > indents_.back()) {
    indents_.push_back(column);
    return Emit(TokenKind::kIndent, p, p);
  }
  while (column < indents_.back()) {
    indents_.pop_back();
    ++pending_dedents_;
  }
  if (column != indents_.back()) {
    diagnostics_.Error({base_ + p, base_ + p + 1}, "bad-indentation", "the indentation matches no enclosing block");
    // The outermost level stays, because every line is at least as deep as that.
    if (indents_.size() > 1) indents_.back() = column;
  }
  if (pending_dedents_ > 0) {
    --pending_dedents_;
    return Emit(TokenKind::kDedent, p, p);
  }
  Advance();
}

void Lexer::Advance() {
  if (pending_dedents_ > 0) [[unlikely]] {
    --pending_dedents_;
    return Emit(TokenKind::kDedent, cursor_, cursor_);
  }
  if (line_start_) return LexLineStart();
  const char* text = buffer_.data();
  uint32_t p = cursor_;
  for (; p < end_; ++p) {
    const char c = text[p];
    switch (ClassOf(c)) {
      case CharClass::kSpace: continue;
      case CharClass::kLetter: return LexName(p);
      case CharClass::kWide: return LexWideName(p);
      case CharClass::kDigit: return LexNumber(text + p);
      case CharClass::kDot:
        if (p + 1 < end_ && IsDigit(text[p + 1])) return LexNumber(text + p);
        return Emit(TokenKind::kDot, p, p + 1);
      case CharClass::kOpen: ++depth_; return Emit(SingleChar(c), p, p + 1);
      case CharClass::kClose:
        if (depth_ > 0) --depth_;
        return Emit(SingleChar(c), p, p + 1);
      case CharClass::kSingle: return Emit(SingleChar(c), p, p + 1);
      case CharClass::kOperator: {
        const TokenKind two = p + 1 < end_ ? DoubleChar(c, text[p + 1]) : TokenKind::kError;
        if (two != TokenKind::kError) return Emit(two, p, p + 2);
        return c == '!' ? LexUnknown(p) : Emit(SingleChar(c), p, p + 1);
      }
      case CharClass::kQuote: cursor_ = p; return LexString(p);
      case CharClass::kNewline:
        if (depth_ > 0) return AdvanceOverLines(p);
        line_start_ = true;
        return Emit(TokenKind::kNewline, p, p + 1);
      case CharClass::kComment: return AdvanceOverLines(p);
      case CharClass::kBackslash: return ContinuesLine(p) ? AdvanceOverLines(p) : LexUnknown(p);
      case CharClass::kOther: return LexUnknown(p);
    }
  }
  LexEnd();
}

// Over everything that lies between two tokens of a logical line. A function of its own, so that Advance has no calls
// to save registers for.
void Lexer::AdvanceOverLines(uint32_t begin) {
  const char* text = buffer_.data();
  uint32_t p = begin;
  for (; p < end_; ++p) {
    const CharClass c = ClassOf(text[p]);
    if (c == CharClass::kComment || ContinuesLine(p)) {
      p = EndOfLine(p) - (c == CharClass::kComment ? 1 : 0);
    } else if (c != CharClass::kSpace && (c != CharClass::kNewline || depth_ == 0)) {
      break;
    }
  }
  cursor_ = p;
  Advance();
}

// Returns whether there is a backslash at the end of a physical line, which does not end the logical one.
bool Lexer::ContinuesLine(uint32_t offset) const {
  if (buffer_[offset] != '\\') return false;
  const uint32_t eol = offset + 1 < end_ && buffer_[offset + 1] == '\r' ? offset + 2 : offset + 1;
  return eol < end_ && buffer_[eol] == '\n';
}

// At the end of the text.
void Lexer::LexEnd() {
  // The last line ends even if brackets are open, so that look-ahead within a line stops there.
  if (current_.kind != TokenKind::kNewline && current_.kind != TokenKind::kDedent && current_.kind != TokenKind::kEnd &&
      end_ != 0)
    return Emit(TokenKind::kNewline, end_, end_);
  if (indents_.size() == 1) return Emit(TokenKind::kEnd, end_, end_);
  indents_.pop_back();
  Emit(TokenKind::kDedent, end_, end_);
}

void Lexer::LexName(uint32_t begin) {
  const char* text = buffer_.data();
  uint32_t end = begin + 1;
  for (; end < end_; ++end) {
    const CharClass c = ClassOf(text[end]);
    if (c <= CharClass::kDigit) continue;
    if (c == CharClass::kWide) return LexWideName(begin);
    if (c == CharClass::kQuote) return LexBeforeQuote(begin, end);
    break;
  }
  Emit(TokenKind::kName, begin, end);
}

// A name that has bytes above 127.
void Lexer::LexWideName(uint32_t begin) {
  uint32_t end = begin + 1;
  while (end < end_ && IsNameChar(buffer_[end])) ++end;
  if (!CheckVisible(begin, end)) return Emit(TokenKind::kError, begin, end);
  if (end < end_ && ClassOf(buffer_[end]) == CharClass::kQuote) return LexBeforeQuote(begin, end);
  Emit(TokenKind::kName, begin, end);
}

// Reports characters of a name that are not seen, or change the order of what is seen.
bool Lexer::CheckVisible(uint32_t begin, uint32_t end) {
  const std::string_view name = buffer_.substr(begin, end - begin);
  const size_t at = text::FirstInvisible(name);
  if (at == name.size()) return true;
  const auto place = begin + static_cast<uint32_t>(at);
  diagnostics_.Error({base_ + place, base_ + end}, "unexpected-character",
                     fmt::format("a name has the invisible character U+{:04X}", text::CodePoint(name.substr(at))));
  return false;
}

// A name directly before a quote, which may be the prefix of the string.
void Lexer::LexBeforeQuote(uint32_t begin, uint32_t end) {
  if (!IsStringPrefix(buffer_.substr(begin, end - begin))) return Emit(TokenKind::kName, begin, end);
  cursor_ = end;
  LexString(begin);
}

// At a character that begins no token.
void Lexer::LexUnknown(uint32_t begin) {
  const char c = buffer_[begin];
  Emit(TokenKind::kError, begin, begin + 1);
  const bool printable = c >= ' ' && c < 127;
  diagnostics_.Error({base_ + begin, base_ + begin + 1}, "unexpected-character",
                     printable ? fmt::format("unexpected character '{}'", c)
                               : fmt::format("unexpected byte 0x{:02x}", static_cast<uint8_t>(c)));
}

// The end of the physical line that the offset is in: at its newline or the end of the text.
uint32_t Lexer::EndOfLine(uint32_t offset) const {
  const void* eol = std::memchr(buffer_.data() + offset, '\n', end_ - offset);
  return eol ? static_cast<uint32_t>(static_cast<const char*>(eol) - buffer_.data()) : end_;
}

void Lexer::LexNumber(const char* start) {
  const char* text = buffer_.data();
  const char* stop = text + end_;
  const char* p = start;
  bool real = false;
  if (*p == '0' && p + 1 < stop &&
      (p[1] == 'x' || p[1] == 'X' || p[1] == 'b' || p[1] == 'B' || p[1] == 'o' || p[1] == 'O')) {
    p += 2;
    while (p < stop && IsNameChar(*p)) ++p;
  } else {
    while (p < stop && (IsDigit(*p) || *p == '_')) ++p;
    if (p < stop && *p == '.') {
      real = true;
      ++p;
      while (p < stop && (IsDigit(*p) || *p == '_')) ++p;
    }
    if (p < stop && (*p == 'e' || *p == 'E')) {
      const char* q = p + 1;
      if (q < stop && (*q == '+' || *q == '-')) ++q;
      if (q < stop && IsDigit(*q)) {
        real = true;
        p = q;
        while (p < stop && IsDigit(*p)) ++p;
      }
    }
  }
  const auto begin = static_cast<uint32_t>(start - text);
  if (p < stop && IsNameChar(*p)) {
    while (p < stop && IsNameChar(*p)) ++p;
    const auto end = static_cast<uint32_t>(p - text);
    diagnostics_.Error({base_ + begin, base_ + end}, "bad-number", "this is not a number");
    return Emit(TokenKind::kError, begin, end);
  }
  Emit(real ? TokenKind::kFloat : TokenKind::kInt, begin, static_cast<uint32_t>(p - text));
}

// At a quote; the token began at `begin`, which differs if it has a prefix.
void Lexer::LexString(uint32_t begin) {
  const char* text = buffer_.data();
  uint32_t p = cursor_;
  const char quote = text[p];
  const std::string_view prefix = buffer_.substr(begin, p - begin);
  const auto close = [&](uint32_t end) {
    // Strings that Python evaluates are not supported.
    const bool bytes = prefix.find_first_of("bB") != std::string_view::npos;
    const bool format = prefix.find_first_of("fF") != std::string_view::npos;
    if (!bytes && !(format && buffer_.substr(begin, end - begin).find('{') != std::string_view::npos))
      return Emit(TokenKind::kString, begin, end);
    diagnostics_.Error({base_ + begin, base_ + end}, "syntax",
                       bytes ? "bytes are not text" : "f-strings are not supported: write the text out");
    Emit(TokenKind::kError, begin, end);
  };
  const bool triple = p + 2 < end_ && text[p + 1] == quote && text[p + 2] == quote;
  p += triple ? 3 : 1;
  for (; p < end_; ++p) {
    const char c = text[p];
    if (c == '\\' && p + 1 < end_) {
      ++p;
    } else if (c == quote) {
      if (!triple) return close(p + 1);
      if (p + 2 < end_ && text[p + 1] == quote && text[p + 2] == quote) return close(p + 3);
    } else if (c == '\n' && !triple) {
      break;
    }
  }
  diagnostics_.Error({base_ + begin, base_ + begin + 1}, "unterminated-string", "unterminated string");
  Emit(TokenKind::kError, begin, p);
}

void Lexer::SkipTo(uint32_t offset) {
  previous_end_ = offset;
  cursor_ = offset;
  Advance();
}

void Lexer::SkipToLine(uint32_t offset) {
  previous_end_ = offset;
  cursor_ = offset;
  depth_ = 0;
  line_start_ = true;
  Advance();
}

void Lexer::SkipLine() {
  // Brackets that were left open would hide the end of the line from the lexer; look for it in the text.
  while (kind() != TokenKind::kEnd && kind() != TokenKind::kNewline && kind() != TokenKind::kDedent &&
         kind() != TokenKind::kIndent) {
    if (depth_ > 0) {
      depth_ = 0;
      cursor_ = EndOfLine(current_.begin);
    }
    Next();
  }
  if (kind() == TokenKind::kNewline) Next();
  if (kind() != TokenKind::kIndent) return;
  size_t blocks = 0;
  do {
    if (kind() == TokenKind::kIndent) ++blocks;
    if (kind() == TokenKind::kDedent) --blocks;
    Next();
  } while (blocks > 0 && kind() != TokenKind::kEnd);
}

Lexer::State Lexer::Save() const {
  return {current_, cursor_, previous_end_, depth_, pending_dedents_, indents_.size(), line_start_};
}

void Lexer::SwapPositions(Lexer& other) {
  std::swap(end_, other.end_);
  std::swap(cursor_, other.cursor_);
  std::swap(previous_end_, other.previous_end_);
  std::swap(current_, other.current_);
  std::swap(depth_, other.depth_);
  std::swap(pending_dedents_, other.pending_dedents_);
  std::swap(line_start_, other.line_start_);
  indents_.swap(other.indents_);
}

void Lexer::Restore(const State& state) {
  IROPT_CHECK(state.indent_count == indents_.size());  // look-ahead stays within a line
  current_ = state.current;
  cursor_ = state.cursor;
  previous_end_ = state.previous_end;
  depth_ = state.depth;
  pending_dedents_ = state.pending_dedents;
  line_start_ = state.line_start;
}

namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Reads up to `max` digits of the base at text[i]; the number of digits read is added to i.
uint32_t ReadDigits(std::string_view text, size_t& i, int base, int max) {
  uint32_t value = 0;
  for (int n = 0; n < max && i < text.size(); ++n, ++i) {
    const int d = HexDigit(text[i]);
    if (d < 0 || d >= base) break;
    value = value * static_cast<uint32_t>(base) + static_cast<uint32_t>(d);
  }
  return value;
}

void AppendUtf8(uint32_t c, std::string& out) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xc0 | c >> 6);
    out += static_cast<char>(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xe0 | c >> 12);
    out += static_cast<char>(0x80 | (c >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (c & 0x3f));
  } else {
    out += static_cast<char>(0xf0 | (c >> 18 & 0x7));
    out += static_cast<char>(0x80 | (c >> 12 & 0x3f));
    out += static_cast<char>(0x80 | (c >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (c & 0x3f));
  }
}

void AppendEscape(std::string_view body, size_t& i, std::string& out) {
  const char c = body[i++];
  switch (c) {
    case '\n': return;
    case 'n': out += '\n'; return;
    case 't': out += '\t'; return;
    case 'r': out += '\r'; return;
    case 'a': out += '\a'; return;
    case 'b': out += '\b'; return;
    case 'f': out += '\f'; return;
    case 'v': out += '\v'; return;
    case '\\':
    case '\'':
    case '"': out += c; return;
    case 'x': out += static_cast<char>(ReadDigits(body, i, 16, 2)); return;
    case 'u': AppendUtf8(ReadDigits(body, i, 16, 4), out); return;
    case 'U': AppendUtf8(ReadDigits(body, i, 16, 8), out); return;
    default:
      if (c >= '0' && c <= '7') {
        --i;
        out += static_cast<char>(ReadDigits(body, i, 8, 3));
        return;
      }
      out += '\\';
      out += c;
  }
}

}  // namespace

std::string_view UnescapeString(std::string_view token, std::string& storage) {
  const size_t quote = token.find_first_of("\"'");
  const bool raw = token.substr(0, quote).find_first_of("rR") != std::string_view::npos;
  std::string_view body = token.substr(quote);
  const size_t fence = body.size() >= 6 && body[1] == body[0] && body[2] == body[0] ? 3 : 1;
  body = body.substr(fence, body.size() - 2 * fence);
  if (raw || body.find('\\') == std::string_view::npos) return body;
  storage.clear();
  storage.reserve(body.size());
  for (size_t i = 0; i < body.size();) {
    const size_t stop = std::min(body.find('\\', i), body.size());
    storage.append(body, i, stop - i);
    i = stop + 1;
    if (stop + 1 < body.size()) AppendEscape(body, i, storage);
  }
  return storage;
}

}  // namespace iropt
