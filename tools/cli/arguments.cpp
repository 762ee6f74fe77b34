#include "cli/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include "iropt/support/file.h"
#include "iropt/support/shell.h"

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

Status ExpandInto(const std::vector<std::string>& arguments, std::vector<std::string>& files, int depth,
                  std::vector<std::string>& out) {
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
    files.push_back(path);
    IROPT_RETURN_IF_ERROR(ExpandInto(words, files, depth + 1, out));
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

const Flag* FindFlag(std::string_view name, std::span<const Flag> flags) {
  const auto at = std::ranges::find(flags, name, &Flag::name);
  return at == flags.end() ? nullptr : &*at;
}

// The row of a normalized flag whose value is the next word; null if there is none.
const Flag* FindFlagWithValue(std::string_view flag, std::span<const Flag> flags) {
  const Flag* row = FindFlag(flag.substr(2), flags);
  return row && TakesNextWord(row->value) ? row : nullptr;
}

// Flags that write files next to the output have no value in peers such as opt. In `-time-trace model.ir`, the next
// word is rather the input, which the trace must not replace.
bool WritesFile(const Flag& flag) {
  return flag.group == FlagGroup::Observation && flag.value.completion == Completion::File;
}

bool HasDash(std::string_view word) { return word.size() > 1 && word[0] == '-' && word != "--"; }

bool IsFlag(const std::string& word, std::span<const Flag> flags) {
  const std::string flag = NormalizeFlag(word).substr(2);
  return flag == "help" || FindFlag(std::string_view(flag).substr(0, flag.find('=')), flags);
}

}  // namespace

std::string CommandOf(std::string_view tool, const Arguments& arguments) {
  std::vector<std::string> words = arguments.defaults;
  words.insert(words.end(), arguments.words.begin(), arguments.words.end());
  return fmt::format("{} {}", tool, ShellWords(words));
}

Result<std::vector<std::string>> DefaultFlags() {
  const char* text = std::getenv(kFlagsVariable);
  return SplitWords(text == nullptr ? std::string_view() : text, kFlagsVariable);
}

Result<std::vector<std::string>> ExpandResponseFiles(const std::vector<std::string>& words,
                                                     std::vector<std::string>& files) {
  std::vector<std::string> expanded;
  IROPT_RETURN_IF_ERROR(ExpandInto(words, files, 0, expanded));
  return expanded;
}

Result<std::vector<std::string>> NormalizeArguments(const std::vector<std::string>& arguments,
                                                    std::span<const Flag> flags,
                                                    std::vector<std::string>& response_files,
                                                    std::span<const Flag> others) {
  IROPT_ASSIGN_OR_RETURN(const std::vector<std::string> expanded, ExpandResponseFiles(arguments, response_files));
  std::vector<std::string> normalized;
  for (size_t i = 0; i < expanded.size(); ++i) {
    if (expanded[i] == "--") {
      normalized.insert(normalized.end(), expanded.begin() + static_cast<ptrdiff_t>(i), expanded.end());
      break;
    }
    std::string& flag = normalized.emplace_back(NormalizeFlag(expanded[i]));
    if (!flag.starts_with("--")) continue;
    const Flag* row = FindFlagWithValue(flag, flags);
    if (row && WritesFile(*row)) {
      return Error{ErrorCode::Usage,
                   fmt::format("flag '-{0}' needs a value after '=': -{0}={1}", row->name, row->value.placeholder)};
    }
    if (row && i + 1 < expanded.size() && HasDash(expanded[i + 1])) {
      const std::string& value = expanded[++i];
      if (IsFlag(value, flags) || IsFlag(value, others)) {
        return Error{ErrorCode::Usage,
                     fmt::format("flag '-{}' needs a value, found the flag '{}'", flag.substr(2), value)};
      }
      flag += "=" + value;
    } else if (flag.find('=') == flag.size() - 1) {
      // CLI11 would take the next word for the value of a flag whose value is empty.
      flag.pop_back();
      normalized.emplace_back();
    }
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
