// A text that an editor changes, with the positions of the language server protocol.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace iropt::lsp {

// A line and a distance in it, both from 0, in UTF-16 code units as the protocol counts.
struct Position {
  uint32_t line = 0;
  uint32_t character = 0;

  friend auto operator<=>(const Position&, const Position&) = default;
};

struct Range {
  Position start;
  Position end;

  friend bool operator==(const Range&, const Range&) = default;
};

// Half-open, in bytes.
struct TextSpan {
  uint32_t begin = 0;
  uint32_t end = 0;

  friend bool operator==(const TextSpan&, const TextSpan&) = default;
};

// Lines end with \n, \r\n or \r. Positions beyond the end of a line or of the text are its end, and those within a
// character its beginning, so that every position has an offset.
class TextDocument {
 public:
  explicit TextDocument(std::string text = {});

  const std::string& text() const { return text_; }
  std::string_view Text(TextSpan span) const {
    return std::string_view(text_).substr(span.begin, span.end - span.begin);
  }
  uint32_t size() const { return static_cast<uint32_t>(text_.size()); }

  // O(length of the line).
  uint32_t OffsetOf(Position position) const;
  // O(log lines + length of the line).
  Position PositionOf(uint32_t offset) const;
  Range RangeOf(TextSpan span) const { return {PositionOf(span.begin), PositionOf(span.end)}; }
  TextSpan SpanOf(const Range& range) const;

  uint32_t num_lines() const { return static_cast<uint32_t>(line_starts_.size()); }
  uint32_t LineAt(uint32_t offset) const;
  // Without the line break.
  TextSpan Line(uint32_t line) const;

  // O(bytes after the span); of the lines, only the changed ones are looked for.
  void Replace(TextSpan span, std::string_view replacement);

 private:
  void FindLines(uint32_t begin, uint32_t end, std::vector<uint32_t>& starts) const;

  std::string text_;
  std::vector<uint32_t> line_starts_;
};

// The text, whose lines end with \n or \r\n, with the line breaks that the first line of the document has.
std::string WithLineBreaksOf(const TextDocument& document, std::string_view text);

// The number of UTF-16 code units of a text in UTF-8; bytes that are not UTF-8 count one each.
uint32_t Utf16Length(std::string_view text);

}  // namespace iropt::lsp
