#include "iropt/driver/generated_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "iropt/ir/ndarray.h"
#include "iropt/ir/relax/walk.h"

namespace iropt {

namespace {

// Longer arrays would hide what else is checked.
constexpr int64_t kMostCheckedElements = 1024;
constexpr std::string_view kIndentation = " \t\r";
// Of functions in a module.
constexpr std::string_view kDefinition = "    def ";
// Of a function without a module.
constexpr std::string_view kBareDefinition = "def ";
// The first and the last line of the metadata section.
constexpr std::string_view kMetadata = "metadata = ";
constexpr std::string_view kMetadataEnd = "}\"\"\")";

bool IsWordChar(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-'; }

// Removes the next line from the text, and returns it with its line break.
std::string_view TakeLine(std::string_view& text) {
  const size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end == std::string_view::npos ? end : end + 1);
  text.remove_prefix(line.size());
  return line;
}

void SkipPast(std::string_view last_line, std::string_view& text) {
  while (!text.empty() && !TakeLine(text).starts_with(last_line)) {
  }
}

std::string_view Trimmed(std::string_view line) {
  const size_t begin = line.find_first_not_of(kIndentation);
  if (begin == std::string_view::npos || line[begin] == '\n') return {};
  line.remove_prefix(begin);
  return line.substr(0, line.find_last_not_of(" \t\r\n") + 1);
}

// Returns the text after '#' in a line that is a comment.
std::optional<std::string_view> CommentOf(std::string_view line) {
  const std::string_view text = Trimmed(line);
  if (!text.starts_with('#')) return std::nullopt;
  return Trimmed(text.substr(1));
}

bool IsRunLine(std::string_view line) {
  const std::optional<std::string_view> comment = CommentOf(line);
  return comment && comment->starts_with("RUN:");
}

// "# PREFIX:", and the same with -NEXT, -LABEL, -NOT, -COUNT-2, ... after the prefix.
bool IsCheckLine(std::string_view line, std::string_view prefix) {
  std::optional<std::string_view> comment = CommentOf(line);
  if (!comment || !comment->starts_with(prefix)) return false;
  const std::string_view rest = comment->substr(prefix.size());
  const size_t colon = rest.find(':');
  if (colon == std::string_view::npos) return false;
  const std::string_view directive = rest.substr(0, colon);
  return directive.empty() || (directive.starts_with('-') && std::ranges::all_of(directive, IsWordChar));
}

// The line as a pattern of FileCheck: "[[" and "{{" would begin a variable and a regular expression.
std::string PatternOf(std::string_view line) {
  std::string pattern;
  for (size_t i = 0; i < line.size(); ++i) {
    const std::string_view pair = line.substr(i, 2);
    if (pair == "[[") {
      pattern += R"({{\[\[}})";
      ++i;
    } else if (pair == "{{") {
      pattern += R"({{[{][{]}})";
      ++i;
    } else {
      pattern += line[i];
    }
  }
  return pattern;
}

bool IsNameChar(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool IsNameStart(char c) { return IsNameChar(c) && std::isdigit(static_cast<unsigned char>(c)) == 0; }

// The length of the string literal that begins here, with its quotes.
size_t LengthOfString(std::string_view text) {
  size_t end = 1;
  while (end < text.size() && text[end] != text[0]) end += text[end] == '\\' ? 2 : 1;
  return std::min(end + 1, text.size());
}

// Lines of functions as patterns in which the names of variables that the body binds are variables of FileCheck: a
// test passes if they are renamed. Parameters keep their names.
class BodyPatterns {
 public:
  // The next function begins.
  void Reset() { names_.clear(); }

  std::string Of(std::string_view line) {
    const std::string_view defined = DefinedIn(line);
    std::string pattern;
    std::string literal;
    const auto flush = [&] { pattern += PatternOf(std::exchange(literal, {})); };
    for (size_t i = 0; i < line.size();) {
      const bool begins_name = IsNameStart(line[i]) && (i == 0 || (!IsNameChar(line[i - 1]) && line[i - 1] != '.'));
      if (!begins_name) {
        const size_t length = line[i] == '"' || line[i] == '\'' ? LengthOfString(line.substr(i)) : 1;
        literal += line.substr(i, length);
        i += length;
        continue;
      }
      const size_t end = static_cast<size_t>(
          std::find_if_not(line.begin() + static_cast<ptrdiff_t>(i), line.end(), IsNameChar) - line.begin());
      const std::string name(line.substr(i, end - i));
      const bool is_in_definition = line.data() + i >= defined.data() && i + name.size() <= EndOf(defined, line);
      const bool is_keyword = line.substr(end).starts_with('=') && !line.substr(end).starts_with("==");
      if (is_in_definition) {
        flush();
        names_.insert(name);
        pattern += fmt::format("[[{}:[A-Za-z0-9_]+]]", name);
      } else if (names_.contains(name) && !is_keyword) {
        flush();
        pattern += fmt::format("[[{}]]", name);
      } else {
        literal += name;
      }
      i = end;
    }
    flush();
    return pattern;
  }

 private:
  static size_t EndOf(std::string_view part, std::string_view line) {
    return static_cast<size_t>(part.data() + part.size() - line.data());
  }

  // The part of the line with the names that it binds: "a, b" of "a, b = ...", "a" of "a: type = ...", "i, j" of
  // "for i, j in ...". Empty if it binds none.
  static std::string_view DefinedIn(std::string_view line) {
    const size_t indentation = std::min(line.find_first_not_of(' '), line.size());
    std::string_view text = line.substr(indentation);
    constexpr std::string_view kFor = "for ";
    const bool is_loop = text.starts_with(kFor);
    if (is_loop) text.remove_prefix(kFor.size());
    size_t end = 0;
    while (end < text.size() && (IsNameChar(text[end]) || text.substr(end).starts_with(", "))) {
      end += IsNameChar(text[end]) ? 1 : 2;
    }
    const std::string_view rest = text.substr(end);
    const bool binds = is_loop ? rest.starts_with(" in ")
                               : rest.starts_with(" = ") || (rest.starts_with(": ") && rest.find(" = ") != rest.npos);
    return binds && end > 0 && IsNameStart(text[0]) ? text.substr(0, end) : line.substr(0, 0);
  }

  std::set<std::string, std::less<>> names_;
};

std::string ChecksOf(std::string_view output, std::string_view prefix) {
  BodyPatterns patterns;
  std::string checks;
  bool follows = false;  // the line before is checked
  while (!output.empty()) {
    std::string_view line = TakeLine(output);
    if (line.starts_with(kMetadata)) {
      SkipPast(kMetadataEnd, output);
      follows = false;
      continue;
    }
    line = line.substr(0, line.find_last_not_of(" \t\r\n") + 1);
    if (line.empty() || line.starts_with('#')) {
      follows = false;
      continue;
    }
    const bool is_label = line.starts_with(kDefinition);  // which has no variables
    if (is_label || line.starts_with(kBareDefinition)) patterns.Reset();
    const std::string_view directive = is_label ? "-LABEL" : follows ? "-NEXT" : "";
    checks += fmt::format("# {}{}: {:>{}}{}\n", prefix, directive, "", 6 - directive.size(),
                          is_label ? PatternOf(line) : patterns.Of(line));
    follows = true;
  }
  return checks;
}

}  // namespace

Status CheckCheckPrefix(std::string_view prefix) {
  const bool is_valid = !prefix.empty() && std::isalpha(static_cast<unsigned char>(prefix.front())) != 0 &&
                        std::ranges::all_of(prefix, IsWordChar);
  if (is_valid) return {};
  return Error{ErrorCode::Usage,
               fmt::format("flag '-generate-checks': invalid prefix '{}': expected a letter, then letters, digits, "
                           "'-' and '_'",
                           prefix)};
}

void WarnOfUncheckedValues(const Module& module, int64_t inline_constants, DiagnosticEngine& diagnostics) {
  struct Handler : WalkHandler {
    void OnConstant(const Constant& constant) {
      const NDArray& array = *constant.data;
      const bool is_named = array.source() && array.source()->hash;  // by its hash
      const bool is_checkable = array.num_elements() > inline_limit && array.num_elements() <= kMostCheckedElements;
      if (array.shape().empty() || is_named || !is_checkable) return;
      arrays.insert(&array);
      most = std::max(most, array.num_elements());
    }
    int64_t inline_limit = 0;
    int64_t most = 0;
    std::set<const NDArray*> arrays;
  };
  Handler handler;
  handler.inline_limit = inline_constants;
  for (const ModuleEntry& entry : module.functions()) {
    if (const auto* function = As<Function>(entry.func)) Walk(function, handler);
  }
  if (handler.arrays.empty()) return;
  diagnostics.Warning({}, "unchecked-values",
                      fmt::format("the values of {} constant{} are in the metadata section, which is not checked; "
                                  "-inline-constants={}, also in the RUN line, prints them in the text",
                                  handler.arrays.size(), handler.arrays.size() == 1 ? "" : "s", handler.most));
}

std::string RenewChecks(std::string_view test, std::string_view output, std::string_view prefix) {
  std::string text;
  text.reserve(test.size() + output.size() * 2);
  size_t after_run = 0;  // the position after the last RUN line
  std::optional<size_t> first_check;
  while (!test.empty()) {
    const std::string_view line = TakeLine(test);
    if (IsCheckLine(line, prefix)) {
      if (!first_check) first_check = text.size();
      continue;
    }
    text += line;
    if (IsRunLine(line)) after_run = text.size();
  }
  const size_t position = first_check.value_or(after_run);
  if (position == text.size() && !text.empty() && text.back() != '\n') text += '\n';
  text.insert(std::min(position, text.size()), ChecksOf(output, prefix));
  return text;
}

}  // namespace iropt
