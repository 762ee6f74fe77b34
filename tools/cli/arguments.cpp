#include "cli/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "iropt/support/file.h"

namespace iropt {

namespace {

constexpr int kMostNestedFiles = 10;

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// Splits as a shell would: blanks separate, quotes and backslashes keep together, a word that begins with '#' begins a
// comment.
Result<std::vector<std::string>> SplitWords(std::string_view text, const std::string& path) {
  std::vector<std::string> words;
  std::optional<std::string> word;
  char quote = '\0';
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool escapes = c == '\\' && quote != '\'' && i + 1 < text.size();
    if (quote == '\0' && IsSpace(c)) {
      if (word) words.push_back(*std::exchange(word, std::nullopt));
      continue;
    }
    if (!word && c == '#') {
      i = std::min(text.find('\n', i), text.size());
      continue;
    }
    if (!word) word.emplace();
    if (escapes) {
      *word += text[++i];
    } else if (quote == '\0' && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c == quote) {
      quote = '\0';
    } else {
      *word += c;
    }
  }
  if (quote != '\0') return Error{ErrorCode::Usage, fmt::format("a quotation in '{}' does not end", path)};
  if (word) words.push_back(*std::move(word));
  return words;
}

Status ExpandInto(const std::vector<std::string>& arguments, int depth, std::vector<std::string>& out) {
  bool literal = false;
  for (const std::string& argument : arguments) {
    literal |= argument == "--";
    if (literal || argument.size() < 2 || argument[0] != '@') {
      out.push_back(argument);
      continue;
    }
    const std::string path = argument.substr(1);
    if (depth == kMostNestedFiles) {
      return Error{ErrorCode::Usage, fmt::format("response files are nested too deeply at '{}'", path)};
    }
    IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<const FileBuffer> file, ReadFile(path));
    IROPT_ASSIGN_OR_RETURN(const std::vector<std::string> words, SplitWords(file->text(), path));
    IROPT_RETURN_IF_ERROR(ExpandInto(words, depth + 1, out));
  }
  return {};
}

std::string NormalizeFlag(const std::string& argument) {
  if (argument.size() < 2 || argument[0] != '-' || argument == "--") return argument;
  const std::string body = argument.substr(argument[1] == '-' ? 2 : 1);
  const std::string name = body.substr(0, body.find('='));
  const std::string rest = body.substr(name.size());
  if (name == "o") return "--output" + rest;
  if (name == "h") return "--help";
  if (name.size() == 2 && name[0] == 'O' && rest.empty()) return fmt::format("--opt-level={}", name[1]);
  return "--" + body;
}

}  // namespace

Result<std::vector<std::string>> NormalizeArguments(const std::vector<std::string>& arguments) {
  std::vector<std::string> expanded;
  IROPT_RETURN_IF_ERROR(ExpandInto(arguments, 0, expanded));
  std::vector<std::string> normalized;
  bool literal = false;
  for (const std::string& argument : expanded) {
    literal |= argument == "--";
    normalized.push_back(literal ? argument : NormalizeFlag(argument));
    // CLI11 would take the next word for the value of a flag that ends with '='.
    std::string& flag = normalized.back();
    if (literal || !flag.starts_with("--") || !flag.ends_with('=')) continue;
    flag.pop_back();
    normalized.emplace_back();
  }
  return normalized;
}

std::string FindDiagnosticFormat(const std::vector<std::string>& arguments) {
  constexpr std::string_view kName = "diagnostics";
  std::string format;
  for (size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i) {
    std::string_view word = arguments[i];
    if (!word.starts_with('-')) continue;
    word.remove_prefix(word.starts_with("--") ? 2 : 1);
    if (!word.starts_with(kName)) continue;
    word.remove_prefix(kName.size());
    if (word.empty() && i + 1 < arguments.size()) format = arguments[i + 1];
    if (word.starts_with('=')) format = word.substr(1);
  }
  return format;
}

}  // namespace iropt
