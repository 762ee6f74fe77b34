#include "iropt/support/shell.h"

namespace iropt {

std::string ShellWord(std::string_view word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";  // of shlex.quote
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + '\'';
}

std::string ShellWords(std::span<const std::string> words) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += ' ';
    text += ShellWord(word);
  }
  return text;
}

std::string CommandOn(std::string_view command, std::string_view file) {
  constexpr std::string_view kPlaceholder = "{}";
  const std::string word = ShellWord(file);
  std::string text(command);
  size_t at = text.find(kPlaceholder);
  if (at == std::string::npos) return text + ' ' + word;
  for (; at != std::string::npos; at = text.find(kPlaceholder, at + word.size()))
    text.replace(at, kPlaceholder.size(), word);
  return text;
}

}  // namespace iropt
