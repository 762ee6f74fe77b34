// Reading of values with located errors: strict JSON, and JSON with bare words for the options of pipeline strings.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "iropt/diag/diagnostic.h"
#include "iropt/pass/option_value.h"

namespace iropt {

// Deeper nesting than this in a pipeline or a value is refused.
inline constexpr int kMaxNesting = 200;

// A position in a text. The first error is reported and ends the parsing: every later call fails, too.
class Reader {
 public:
  enum class Words : uint8_t { Json, Bare };

  // The text begins at the global offset `base`. For a text that does not occur literally in a source, because it was a
  // string with escapes, the location of the whole string is used instead.
  Reader(std::string_view text, uint32_t base, Words words, DiagnosticEngine& diagnostics)
      : text_(text), base_(base), words_(words), diagnostics_(diagnostics) {}
  Reader(std::string_view text, SourceSpan whole, Words words, DiagnosticEngine& diagnostics)
      : text_(text), whole_(whole), words_(words), diagnostics_(diagnostics) {}

  size_t position() const { return position_; }
  bool failed() const { return failed_; }
  SourceSpan SpanFrom(size_t begin) const { return Span(begin, position_); }

  // Skips white space; returns whether the text has ended.
  bool AtEnd();
  // Skips white space; the next character, or '\0' at the end.
  char Peek();
  // Skips white space and, if it comes next, `c`.
  bool Consume(char c);
  // Skips white space and `c`; an error if `c` does not come next. `where` describes the position: "after an option".
  bool Expect(char c, std::string_view where);
  // Skips white space and the closing bracket `c`; the note of an error shows the `opened` one that it belongs to.
  bool ExpectClosing(char c, std::string_view where, SourceSpan opened);
  // The longest run of word characters, which may be empty.
  std::string_view TakeWord();
  // A string in double quotes.
  std::optional<std::string> ReadString();

  std::optional<OptionValue> ReadValue();
  // Reports an error at the next word or character.
  void Error(const std::string& message);
  void ErrorAt(SourceSpan span, const std::string& message);

  // A nested value; fails if the nesting is too deep.
  bool Enter();
  void Leave() { --depth_; }

 private:
  // The next word or character.
  SourceSpan SpanOfNext();
  SourceSpan Span(size_t begin, size_t end) const {
    if (whole_.known()) return whole_;
    return {base_ + static_cast<uint32_t>(begin), base_ + static_cast<uint32_t>(end)};
  }
  std::optional<OptionValue> ReadUnlocated();
  std::optional<OptionValue> ReadList();
  std::optional<OptionValue> ReadDict();
  std::optional<OptionValue> ReadAtom();
  std::optional<std::string> ReadKey();
  bool ReadEscape(std::string& out);
  std::optional<uint32_t> ReadHex4();

  std::string_view text_;
  uint32_t base_ = 0;
  SourceSpan whole_;
  Words words_;
  DiagnosticEngine& diagnostics_;
  size_t position_ = 0;
  int depth_ = 0;
  bool failed_ = false;
};

}  // namespace iropt
