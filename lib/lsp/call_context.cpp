#include "call_context.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace iropt::lsp {

namespace {

constexpr uint32_t kMostLines = 200;

// A statement begins with a keyword, a decorator, or a name before " =" or ":". Keyword arguments are written without
// blanks before their "=".
bool BeginsStatement(std::string_view line) {
  const size_t first = line.find_first_not_of(" \t");
  if (first == std::string_view::npos) return false;
  line.remove_prefix(first);
  if (line[0] == '@') return true;
  static constexpr std::array<std::string_view, 14> kWords = {"assert", "class",  "def",   "elif",   "else",
                                                              "for",    "from",   "if",    "import", "metadata",
                                                              "pass",   "return", "while", "with"};
  const auto end = std::ranges::find_if_not(line, [](char c) { return IsNameCharacter(c) || c == ','; });
  const std::string_view word = line.substr(0, static_cast<size_t>(end - line.begin()));
  if (std::ranges::binary_search(kWords, word)) return true;
  const std::string_view rest = line.substr(word.size());
  return !word.empty() && (rest.starts_with(":") || rest.starts_with(" = ") || rest.starts_with("["));
}

// Reads the text of a statement up to the cursor.
class Scanner {
 public:
  Scanner(std::string_view text, uint32_t begin, uint32_t end) : text_(text), begin_(begin), end_(end) {}

  CursorContext Run() {
    uint32_t p = begin_;
    while (p < end_) p = Step(p);
    if (!context_.in_string) {
      uint32_t word = end_;
      while (word > begin_ && (IsNameCharacter(text_[word - 1]) || text_[word - 1] == '.')) --word;
      context_.word = {word, end_};
    }
    context_.before = text_.substr(begin_, context_.word.begin - begin_);
    return std::move(context_);
  }

 private:
  uint32_t Step(uint32_t p) {
    const char c = text_[p];
    switch (c) {
      case '#': return SkipComment(p);
      case '"':
      case '\'': return SkipString(p);
      case '(':
      case '[':
      case '{': Open(c, p); break;
      case ')':
      case ']':
      case '}':
        if (!context_.brackets.empty()) context_.brackets.pop_back();
        break;
      case ',':
        if (context_.brackets.empty()) break;
        ++context_.brackets.back().argument;
        context_.brackets.back().keyword = {};
        break;
      case '=': Keyword(p); break;
      default: break;
    }
    return p + 1;
  }

  void Open(char bracket, uint32_t p) {
    OpenBracket& open = context_.brackets.emplace_back();
    open.bracket = bracket;
    if (bracket == '(') open.callee = NameBefore(p);
  }

  uint32_t SkipComment(uint32_t p) {
    while (p < end_ && text_[p] != '\n') ++p;
    context_.in_comment = p == end_;
    return p;
  }

  uint32_t SkipString(uint32_t p) {
    const char quote = text_[p];
    uint32_t q = p + 1;
    while (q < end_ && text_[q] != quote && text_[q] != '\n') q += text_[q] == '\\' ? 2 : 1;
    if (q < end_) return q + 1;
    context_.in_string = true;
    context_.word = {p + 1, end_};
    return end_;
  }

  void Keyword(uint32_t p) {
    const bool comparison = (p + 1 < text_.size() && text_[p + 1] == '=') ||
                            (p > begin_ && std::string_view("=<>!").find(text_[p - 1]) != std::string_view::npos);
    if (comparison || context_.brackets.empty() || context_.brackets.back().bracket != '(') return;
    context_.brackets.back().keyword = NameBefore(p);
    context_.brackets.back().keywords.push_back(NameBefore(p));
  }

  std::string_view NameBefore(uint32_t p) const {
    uint32_t end = p;
    while (end > begin_ && text_[end - 1] == ' ') --end;
    uint32_t begin = end;
    while (begin > begin_ && (IsNameCharacter(text_[begin - 1]) || text_[begin - 1] == '.')) --begin;
    return text_.substr(begin, end - begin);
  }

  std::string_view text_;
  uint32_t begin_;
  uint32_t end_;
  CursorContext context_;
};

}  // namespace

bool IsNameCharacter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

const OpenBracket* CursorContext::call() const {
  for (auto it = brackets.rbegin(); it != brackets.rend(); ++it) {
    if (it->bracket == '(' && !it->callee.empty()) return &*it;
    if (it->bracket == '{') return nullptr;
  }
  return nullptr;
}

CursorContext ContextAt(const TextDocument& document, uint32_t offset) {
  const uint32_t last = document.LineAt(offset);
  const uint32_t least = last > kMostLines ? last - kMostLines : 0;
  uint32_t line = last;
  while (line > least && !BeginsStatement(document.Text(document.Line(line)))) --line;
  return Scanner(document.text(), document.Line(line).begin, offset).Run();
}

}  // namespace iropt::lsp
