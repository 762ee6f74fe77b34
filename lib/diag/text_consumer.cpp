#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "iropt/diag/consumers.h"

namespace iropt {

namespace {

// An excerpt has at least as many columns, and at most a third of them before the span.
constexpr size_t kLeastColumns = 40;
constexpr std::string_view kIndentation = "  ";
constexpr std::string_view kEllipsis = "...";

struct Colours {
  std::string_view reset, bold, caret, severity;
};

Colours ColoursFor(Severity severity, bool enabled) {
  if (!enabled) return {};
  constexpr std::string_view kNames[] = {"\x1b[1;36m", "\x1b[1;34m", "\x1b[1;35m", "\x1b[1;31m"};
  return {"\x1b[0m", "\x1b[1m", "\x1b[1;32m", kNames[static_cast<size_t>(severity)]};
}

// Sanitizes text for a terminal: no control characters, no malformed UTF-8. One code point stays one.
std::string Printable(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    bool valid = false;
    const size_t length = CodePointLength(text, &valid);
    const auto first = static_cast<unsigned char>(text[0]);
    // C1 controls (U+0080 to U+009F) start escape sequences on some terminals just as ESC does.
    const bool c1 = length == 2 && first == 0xC2 && static_cast<unsigned char>(text[1]) < 0xA0;
    const bool control = (first < 0x20 && first != '\t') || first == 0x7F || c1;
    if (valid && !control) {
      result += text.substr(0, length);
    } else {
      result += "\uFFFD";
    }
    text.remove_prefix(length);
  }
  return result;
}

// A message may have several lines, but no other characters that move the cursor.
std::string PrintableMessage(std::string_view message) {
  std::string result;
  while (true) {
    const size_t end = message.find('\n');
    result += Printable(message.substr(0, end));
    if (end == std::string_view::npos) return result;
    result += '\n';
    message.remove_prefix(end + 1);
  }
}

// The byte range of a line to show, on the boundaries of code points.
struct Excerpt {
  size_t begin = 0;
  size_t end = 0;
};

// Of a longer line, what fits into the columns with the indentation and an ellipsis at both ends.
Excerpt ExcerptAround(std::string_view line, size_t position, size_t columns) {
  const size_t around = kIndentation.size() + 2 * kEllipsis.size();
  const size_t most = std::max(columns, around + kLeastColumns) - around;
  if (line.size() <= most) return {0, line.size()};
  const auto is_inside = [&](size_t at) { return at < line.size() && (line[at] & 0xC0) == 0x80; };
  Excerpt excerpt;
  excerpt.begin = position > most / 3 ? position - most / 3 : 0;
  excerpt.begin = std::min(excerpt.begin, line.size() - most);
  excerpt.end = excerpt.begin + most;
  // Malformed text may have no boundary nearby, hence the bound by `position`.
  while (excerpt.begin < position && is_inside(excerpt.begin)) ++excerpt.begin;
  while (is_inside(excerpt.end)) ++excerpt.end;
  return excerpt;
}

// Blanks as wide as `text`: tabs stay, so that the caret lines up for any tab width.
std::string Padding(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    result += text[0] == '\t' ? '\t' : ' ';
    text.remove_prefix(CodePointLength(text));
  }
  return result;
}

// The source line with `^~~~` under the part of the span that is on it.
void AppendSnippet(std::string& out, const SourceLocation& where, SourceSpan span, const Colours& colours,
                   std::span<const FixItHint> fix_its, size_t most_columns) {
  const Excerpt excerpt = ExcerptAround(where.line_text, where.byte_in_line, most_columns);
  const std::string_view shown = where.line_text.substr(excerpt.begin, excerpt.end - excerpt.begin);
  // Lines of files that are not text show nothing, and neither do empty ones.
  if (shown.find('\0') != std::string_view::npos || (shown.empty() && fix_its.empty())) return;
  const bool cut_before = excerpt.begin > 0;
  const bool cut_after = excerpt.end < where.line_text.size();
  const std::string_view lead = cut_before ? kEllipsis : "";
  out += fmt::format("{}{}{}{}\n", kIndentation, lead, Printable(shown), cut_after ? kEllipsis : "");
  const size_t begin = where.byte_in_line - excerpt.begin;
  const size_t length = std::min<size_t>(span.end > span.begin ? span.end - span.begin : 0, shown.size() - begin);
  const size_t columns = CountCodePoints(shown.substr(begin, length));
  const std::string padding = std::string(kIndentation.size() + lead.size(), ' ') + Padding(shown.substr(0, begin));
  out += fmt::format("{}{}^{}{}\n", padding, colours.caret, std::string(std::max<size_t>(columns, 1) - 1, '~'),
                     colours.reset);
  for (const FixItHint& hint : fix_its) {
    // A hint for another line cannot be shown here; JSON has them all.
    if (hint.span.begin == span.begin) {
      out += fmt::format("{}{}{}{}\n", padding, colours.caret, PrintableMessage(hint.replacement), colours.reset);
    }
  }
}

// `file` is the place if `span` is unknown.
void AppendMessage(std::string& out, const SourceManager& sources, Severity severity, SourceSpan span,
                   std::string_view file, std::string_view message, std::span<const FixItHint> fix_its,
                   const TextStyle& style) {
  const Colours colours = ColoursFor(severity, style.colour);
  const SourceLocation where = span.known() ? sources.Locate(span.begin) : SourceLocation{};
  if (where.line != 0) {
    out += fmt::format("{}{}:{}:{}: ", colours.bold, Printable(where.name), where.line, where.column);
  } else if (!file.empty()) {
    out += fmt::format("{}{}: ", colours.bold, Printable(file));
  }
  out += fmt::format("{}{}:{} {}{}{}\n", colours.severity, SeverityName(severity), colours.reset, colours.bold,
                     PrintableMessage(message), colours.reset);
  if (where.line != 0) AppendSnippet(out, where, span, colours, fix_its, style.columns);
}

}  // namespace

void TextConsumer::Consume(const Diagnostic& diagnostic) {
  std::string text;
  const std::string_view place = diagnostic.file.empty() ? std::string_view(style_.program) : diagnostic.file;
  AppendMessage(text, *sources_, diagnostic.severity, diagnostic.span, place, diagnostic.message, diagnostic.fix_its,
                style_);
  for (const DiagnosticNote& note : diagnostic.notes) {
    AppendMessage(text, *sources_, Severity::Note, note.span, {}, note.message, {}, style_);
  }
  out_->Append(text);
  // A closed stderr must not cause another failure.
  static_cast<void>(out_->Flush());
}

}  // namespace iropt
