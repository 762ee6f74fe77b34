// Formatting: blanks between tokens, indentation and the ends of lines, as the printer writes them. Nothing else
// changes: the canonical text of a module, which has types and default values, is an action of its own
// (formatting.cpp).
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "features.h"
#include "iropt/diag/diagnostic.h"
#include "iropt/text/script/lexer.h"

namespace iropt::lsp {

namespace {

bool CanBeUnary(TokenKind kind) {
  return kind == TokenKind::kPlus || kind == TokenKind::kMinus || kind == TokenKind::kStar ||
         kind == TokenKind::kDoubleStar || kind == TokenKind::kTilde;
}

bool Opens(TokenKind kind) {
  return kind == TokenKind::kLParen || kind == TokenKind::kLBracket || kind == TokenKind::kLBrace;
}

bool Closes(TokenKind kind) {
  return kind == TokenKind::kRParen || kind == TokenKind::kRBracket || kind == TokenKind::kRBrace;
}

// Words that an operand follows, so that a bracket after them is not a call.
bool IsOperatorWord(std::string_view word) {
  static constexpr std::string_view kWords[] = {"in",  "is",     "and",  "or", "not",    "if",    "elif",   "else",
                                                "for", "return", "with", "as", "lambda", "while", "assert", "yield"};
  return std::ranges::find(kWords, word) != std::end(kWords);
}

class LayoutFormatter {
 public:
  LayoutFormatter(const TextDocument& document, TextSpan part)
      : document_(document),
        text_(document.Text(part)),
        begin_(part.begin),
        lexer_(text_, 0, 0, static_cast<uint32_t>(text_.size()), engine_) {}

  // Adds the edits of the part; none if it has what is not a token.
  void AddEdits(Json& edits) {
    while (lexer_.kind() != TokenKind::kEnd) {
      const Token token = lexer_.Next();
      switch (token.kind) {
        case TokenKind::kIndent: ++depth_; break;
        case TokenKind::kDedent: --depth_; break;
        case TokenKind::kNewline: EndLine(token.begin); break;
        default: Place(token);
      }
    }
    if (engine_.error_count() > 0) return;
    for (const auto& [span, blanks] : found_)
      edits.push_back(TextEdit(document_.RangeOf({begin_ + span.begin, begin_ + span.end}), blanks));
  }

 private:
  struct Bracket {
    TokenKind kind;
    bool is_annotated = false;  // the parameter that it is at has a type
  };

  void Set(uint32_t begin, uint32_t end, std::string_view blanks) {
    if (text_.substr(begin, end - begin) != blanks) found_.emplace_back(TextSpan{begin, end}, blanks);
  }

  // What is between the last token of a line and its end: blanks, and a comment.
  void EndLine(uint32_t end) {
    const size_t comment = text_.substr(0, end).find('#', last_.end);
    is_line_start_ = true;
    if (comment != std::string_view::npos) return Set(last_.end, static_cast<uint32_t>(comment), "  ");
    const size_t first = text_.find_first_not_of(" \t", last_.end);
    Set(last_.end, static_cast<uint32_t>(std::min<size_t>(first, end)), "");
  }

  void Place(const Token& token) {
    const std::string_view gap = text_.substr(last_.end, token.begin - last_.end);
    const bool is_unary = CanBeUnary(token.kind) && !AfterOperand();
    if (is_line_start_) {
      IndentLines(token.begin);
    } else if (gap.find_first_not_of(" \t") == std::string_view::npos) {
      Set(last_.end, token.begin, NeedsBlank(token, is_unary) ? " " : "");
    }
    is_line_start_ = false;
    Track(token);
    last_ = token;
    last_is_unary_ = is_unary;
  }

  // The line of a token that begins one, and those of the comments above it.
  void IndentLines(uint32_t token) {
    const std::string indentation(4 * static_cast<size_t>(std::max(depth_, 0)), ' ');
    for (uint32_t line = last_.end; line < token;) {
      const bool begins = line == 0 || text_[line - 1] == '\n';
      const auto first = static_cast<uint32_t>(std::min(text_.find_first_not_of(" \t", line), text_.size()));
      // Comments in the first column, such as those of lit, stay there.
      if (begins && (first == token || (text_[first] == '#' && first > line))) Set(line, first, indentation);
      if (first >= token) return;
      line = static_cast<uint32_t>(std::min(text_.find('\n', first), text_.size() - 1)) + 1;
    }
    if (last_.end < token && text_[token - 1] == '\n') Set(token, token, indentation);
  }

  void Track(const Token& token) {
    if (Opens(token.kind)) {
      brackets_.push_back({token.kind});
    } else if (Closes(token.kind)) {
      if (!brackets_.empty()) brackets_.pop_back();
    } else if (!brackets_.empty() && (token.kind == TokenKind::kColon || token.kind == TokenKind::kComma)) {
      brackets_.back().is_annotated = token.kind == TokenKind::kColon;
    }
  }

  bool AfterOperand() const {
    if (is_line_start_) return false;
    if (last_.kind == TokenKind::kName) return !IsOperatorWord(lexer_.text(last_));
    return last_.kind == TokenKind::kInt || last_.kind == TokenKind::kFloat || last_.kind == TokenKind::kString ||
           Closes(last_.kind);
  }

  // Returns whether a blank is between the last token and the next one.
  bool NeedsBlank(const Token& next, bool is_unary) const {
    const TokenKind kind = next.kind;
    const TokenKind last = last_.kind;
    if (Opens(last) || last == TokenKind::kAt || last == TokenKind::kDot || last_is_unary_) return false;
    if (Closes(kind) || kind == TokenKind::kComma || kind == TokenKind::kSemicolon || kind == TokenKind::kColon)
      return false;
    if (kind == TokenKind::kDot) return !AfterOperand();
    if (last == TokenKind::kComma || last == TokenKind::kSemicolon) return true;
    if (last == TokenKind::kColon) return brackets_.empty() || brackets_.back().kind != TokenKind::kLBracket;
    // += is two tokens.
    if (kind == TokenKind::kAssign && !AfterOperand()) return false;
    if (kind == TokenKind::kAssign || last == TokenKind::kAssign)
      return brackets_.empty() || brackets_.back().kind != TokenKind::kLParen || brackets_.back().is_annotated;
    if (kind == TokenKind::kDoubleStar || last == TokenKind::kDoubleStar) return is_unary;
    if (kind == TokenKind::kLParen || kind == TokenKind::kLBracket) return !AfterOperand();
    return true;
  }

  const TextDocument& document_;
  std::string_view text_;
  uint32_t begin_;
  DiagnosticBuffer buffer_;
  DiagnosticEngine engine_{&buffer_};
  Lexer lexer_;
  int depth_ = 0;
  bool is_line_start_ = true;
  Token last_;
  bool last_is_unary_ = false;
  std::vector<Bracket> brackets_;
  std::vector<std::pair<TextSpan, std::string>> found_;
};

}  // namespace

Json Formatting(Document& document) {
  Json edits = Json::array();
  const TextDocument& text = document.text();
  if (document.kind() != DocumentKind::kScript) return edits;
  for (const ModulePart& part : document.analysis().parts()) {
    // Tensors in a metadata section are long strings, and line breaks that are one \r count in the protocol only.
    const std::string_view content = text.Text(part.span);
    bool has_returns = false;
    for (size_t at = content.find('\r'); at != std::string_view::npos; at = content.find('\r', at + 1))
      has_returns |= at + 1 == content.size() || content[at + 1] != '\n';
    if (!has_returns) LayoutFormatter(text, part.span).AddEdits(edits);
  }
  return edits;
}

}  // namespace iropt::lsp
