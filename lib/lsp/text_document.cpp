#include "iropt/lsp/text_document.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "iropt/diag/source.h"

namespace iropt::lsp {

namespace {

// The bytes and the UTF-16 code units of the character at the beginning of the text.
std::pair<size_t, uint32_t> FirstCharacter(std::string_view text) {
  if (static_cast<unsigned char>(text[0]) < 0x80) return {1, 1};
  const size_t length = CodePointLength(text);
  return {length, length == 4 ? 2 : 1};
}

}  // namespace

uint32_t Utf16Length(std::string_view text) {
  uint32_t units = 0;
  while (!text.empty()) {
    const auto [bytes, length] = FirstCharacter(text);
    units += length;
    text.remove_prefix(bytes);
  }
  return units;
}

std::string WithLineBreaksOf(const TextDocument& document, std::string_view text) {
  const size_t first = document.text().find('\n');
  const bool returns = first != std::string::npos && first > 0 && document.text()[first - 1] == '\r';
  std::string result;
  for (const char c : text) {
    if (c == '\r') continue;
    if (c == '\n' && returns) result += '\r';
    result += c;
  }
  return result;
}

TextDocument::TextDocument(std::string text) : text_(std::move(text)), line_starts_{0} {
  FindLines(0, size(), line_starts_);
}

// Appends the beginnings of the lines that begin after a line break in [begin, end).
void TextDocument::FindLines(uint32_t begin, uint32_t end, std::vector<uint32_t>& starts) const {
  const bool returns = std::memchr(text_.data() + begin, '\r', end - begin) != nullptr;
  for (uint32_t p = begin; p < end;) {
    const char* found =
        returns ? std::find_if(text_.data() + p, text_.data() + end, [](char c) { return c == '\n' || c == '\r'; })
                : static_cast<const char*>(std::memchr(text_.data() + p, '\n', end - p));
    if (!found || found == text_.data() + end) return;
    p = static_cast<uint32_t>(found - text_.data()) + 1;
    if (*found == '\r' && p < size() && text_[p] == '\n') {
      if (p == end) return;  // the \n is after the part
      ++p;
    }
    starts.push_back(p);
  }
}

uint32_t TextDocument::LineAt(uint32_t offset) const {
  return static_cast<uint32_t>(std::ranges::upper_bound(line_starts_, offset) - line_starts_.begin()) - 1;
}

TextSpan TextDocument::Line(uint32_t line) const {
  const uint32_t begin = line_starts_[line];
  uint32_t end = line + 1 < num_lines() ? line_starts_[line + 1] : size();
  while (end > begin && line + 1 < num_lines() && (text_[end - 1] == '\n' || text_[end - 1] == '\r')) --end;
  return {begin, end};
}

uint32_t TextDocument::OffsetOf(Position position) const {
  if (position.line >= num_lines()) return size();
  const TextSpan line = Line(position.line);
  uint32_t offset = line.begin;
  for (uint32_t units = 0; offset < line.end && units < position.character;) {
    const auto [bytes, length] = FirstCharacter(Text({offset, line.end}));
    if (units + length > position.character) break;  // within a surrogate pair
    units += length;
    offset += static_cast<uint32_t>(bytes);
  }
  return offset;
}

Position TextDocument::PositionOf(uint32_t offset) const {
  offset = std::min(offset, size());
  const uint32_t line = LineAt(offset);
  const TextSpan span = Line(line);
  return {line, Utf16Length(Text({span.begin, std::min(offset, span.end)}))};
}

TextSpan TextDocument::SpanOf(const Range& range) const {
  const uint32_t begin = OffsetOf(range.start);
  return {begin, std::max(begin, OffsetOf(range.end))};
}

// Line breaks that end after the span stay what they are; one before it may become two, or two one.
void TextDocument::Replace(TextSpan span, std::string_view replacement) {
  const uint32_t from = span.begin > 0 ? line_starts_[LineAt(span.begin - 1)] : 0;
  text_.replace(span.begin, span.end - span.begin, replacement);
  const auto by = static_cast<uint32_t>(replacement.size()) - (span.end - span.begin);  // modulo 2^32
  std::vector<uint32_t> starts;
  FindLines(from, static_cast<uint32_t>(span.begin + replacement.size()), starts);
  const auto first = std::ranges::upper_bound(line_starts_, from);
  const auto last = std::ranges::upper_bound(line_starts_, span.end);
  for (auto it = last; it != line_starts_.end(); ++it) *it += by;
  const auto common = std::min(starts.size(), static_cast<size_t>(last - first));
  std::copy_n(starts.begin(), common, first);
  const auto rest = line_starts_.erase(first + static_cast<ptrdiff_t>(common), last);
  line_starts_.insert(rest, starts.begin() + static_cast<ptrdiff_t>(common), starts.end());
}

}  // namespace iropt::lsp
