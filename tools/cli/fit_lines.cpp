#include "cli/fit_lines.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <system_error>

#include "iropt/support/terminal.h"

namespace iropt {

namespace {

// Narrower ones would leave no room behind the names.
constexpr size_t kLeastWidth = 40;
constexpr size_t kDeeper = 4;

// Where the lines below one that is broken begin.
size_t HangingIndent(std::string_view line, size_t width) {
  const size_t indent = std::min(line.find_first_not_of(' '), line.size());
  const size_t farthest = width * 3 / 5;
  size_t column = 0;
  for (size_t gap = line.find("  ", indent); gap != std::string_view::npos; gap = line.find("  ", column)) {
    const size_t next = line.find_first_not_of(' ', gap);
    if (next == std::string_view::npos || next > farthest) break;
    column = next;
  }
  if (column != 0) return column;
  // Sentences go on where they begin, code deeper.
  const bool is_sentence = indent == 0 || indent >= width / 4;
  return std::min(is_sentence ? indent : indent + kDeeper, width / 2);
}

// How much of the text goes on a line with this room: up to a space, else up to a mark between parts of a long word.
size_t LengthOfLine(std::string_view text, size_t room) {
  const size_t space = text.rfind(' ', room);
  if (space != std::string_view::npos && text.find_first_not_of(' ') < space) return space;
  const size_t mark = text.find_last_of(",;|/(<", room - 1);
  return mark == std::string_view::npos || mark == 0 ? room : mark + 1;
}

// Appends a line of the text, broken.
void AppendFitted(std::string_view line, size_t width, std::string& out) {
  const size_t hanging = HangingIndent(line, width);
  size_t indent = 0;
  while (line.size() + indent > width) {
    std::string_view head = line.substr(0, LengthOfLine(line, width - indent));
    line.remove_prefix(head.size());
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    head = head.substr(0, head.find_last_not_of(' ') + 1);
    out += fmt::format("{:{}}{}\n", "", indent, head);
    indent = hanging;
    if (line.empty()) return;
  }
  out += fmt::format("{:{}}{}\n", "", indent, line);
}

}  // namespace

std::optional<size_t> OutputWidth() {
  const char* columns = std::getenv("COLUMNS");
  const std::string_view text = columns == nullptr ? "" : columns;
  size_t width = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), width);
  if (!text.empty() && error == std::errc() && end == text.data() + text.size()) return std::max(width, kLeastWidth);
  const std::optional<size_t> terminal = TerminalWidth(STDOUT_FILENO);
  return terminal ? std::optional(std::max(*terminal, kLeastWidth)) : std::nullopt;
}

std::string FitLines(std::string_view text, size_t width) {
  std::string out;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    AppendFitted(text.substr(0, end), width, out);
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return out;
}

}  // namespace iropt
