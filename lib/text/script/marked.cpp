#include "iropt/text/script/marked.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "iropt/text/script/printer.h"

namespace iropt {
namespace text {
namespace {

// Functions of up to so many lines are shown in full.
constexpr size_t kLinesInFull = 24;
// The lines that are shown before and after a mark.
constexpr size_t kLinesAround = 3;

struct MarkedLine {
  std::string text;
  std::string carets;  // empty without a mark
  size_t indent = 0;
  bool is_shown = false;
};

// Takes the marks out of a line.
MarkedLine ReadLine(std::string_view line) {
  MarkedLine result;
  bool is_marked = false;
  bool is_first = false;
  for (const char c : line) {
    if (c == kMarkBegin || c == kMarkEnd) {
      is_marked = is_first = c == kMarkBegin;
      continue;
    }
    result.text += c;
    // Code points of several bytes get one column.
    if ((c & 0xC0) == 0x80) continue;
    result.carets += !is_marked ? ' ' : is_first ? '^' : '~';
    is_first = false;
  }
  result.indent = std::min(result.text.find_first_not_of(' '), result.text.size());
  result.carets.erase(result.carets.find_last_not_of(' ') + 1);
  return result;
}

// The lines of the function: without the comments on imports before it and the empty lines after it.
std::vector<MarkedLine> ReadLines(std::string_view text) {
  std::vector<MarkedLine> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!lines.empty() || line.starts_with('@')) lines.push_back(ReadLine(line));
  }
  while (!lines.empty() && lines.back().text.empty()) lines.pop_back();
  return lines;
}

// Shows what is near the line, and the heads of the statements around it.
void ShowAround(std::vector<MarkedLine>& lines, size_t at) {
  const size_t end = std::min(lines.size(), at + kLinesAround + 1);
  for (size_t i = at - std::min(at, kLinesAround); i < end; ++i) lines[i].is_shown = true;
  size_t indent = lines[at].indent;
  for (size_t i = at; i-- > 0;) {
    if (lines[i].indent >= indent) continue;
    indent = lines[i].indent;
    lines[i].is_shown = true;
  }
}

void Select(std::vector<MarkedLine>& lines) {
  if (lines.size() <= kLinesInFull) {
    for (MarkedLine& line : lines) line.is_shown = true;
    return;
  }
  bool is_marked = false;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].carets.empty()) continue;
    ShowAround(lines, i);
    is_marked = true;
  }
  // The decorator and the header, or without marks the beginning.
  const size_t num_first = is_marked ? 2 : kLinesInFull;
  for (size_t i = 0; i < num_first; ++i) lines[i].is_shown = true;
  // "..." takes one line, too.
  for (size_t i = 1; i + 1 < lines.size(); ++i) lines[i].is_shown |= lines[i - 1].is_shown && lines[i + 1].is_shown;
}

std::string Render(const std::vector<MarkedLine>& lines) {
  std::string result;
  bool is_cut = false;
  for (const MarkedLine& line : lines) {
    if (!line.is_shown) {
      if (!is_cut) result += std::string(line.indent, ' ') + "...\n";
      is_cut = true;
      continue;
    }
    is_cut = false;
    result += line.text + '\n';
    if (!line.carets.empty()) result += line.carets + '\n';
  }
  if (!result.empty()) result.pop_back();
  return result;
}

}  // namespace
}  // namespace text

std::string MarkedFunctionToString(const Module& module, const GlobalVar* var, std::span<const Node* const> marks) {
  const ModuleEntry* entry = module.Find(var);
  if (!entry) return {};
  Module alone;
  alone.set_name({});
  if (module.text_version()) alone.set_text_version(*module.text_version());
  alone.Set(var, entry->func, entry->storage);
  const std::unordered_set<const Node*> marked(marks.begin(), marks.end());
  std::vector<text::MarkedLine> lines = text::ReadLines(ModuleToString(alone, {.show_meta = false, .marked = &marked}));
  text::Select(lines);
  return text::Render(lines);
}

}  // namespace iropt
