#include "iropt/diag/location_comment.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>

#include "iropt/diag/joint_spans.h"

namespace iropt {

namespace {

constexpr std::string_view kBegin = "# loc(";
constexpr std::string_view kFused = "fused[";

std::string Quoted(std::string_view name) {
  std::string text = "\"";
  while (!name.empty()) {
    bool valid = false;
    const size_t length = CodePointLength(name, &valid);
    const auto first = static_cast<unsigned char>(name[0]);
    if (!valid || first < ' ' || first == 0x7f || first == '"' || first == '\\') {
      fmt::format_to(std::back_inserter(text), "\\{:02X}", first);
    } else {
      text += name.substr(0, length);
    }
    name.remove_prefix(length);
  }
  return text + '"';
}

// Reads a comment from its beginning.
class CommentReader {
 public:
  explicit CommentReader(std::string_view text) : rest_(text) {}

  bool AtEnd() const { return rest_.empty(); }
  bool Take(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  std::optional<CommentedPlace> TakePlace() {
    CommentedPlace place;
    if (!Take("\"")) return std::nullopt;
    while (!Take("\"")) {
      if (rest_.empty()) return std::nullopt;
      const std::optional<char> next = Take("\\") ? TakeByte() : TakeCharacter();
      if (!next) return std::nullopt;
      place.name += *next;
    }
    if (!Take(":") || !TakeNumber(place.line, 10) || !Take(":") || !TakeNumber(place.column, 10)) return std::nullopt;
    return place;
  }

 private:
  std::optional<char> TakeCharacter() {
    const char c = rest_[0];
    rest_.remove_prefix(1);
    return c;
  }
  std::optional<char> TakeByte() {
    uint32_t value = 0;
    if (rest_.size() < 2) return std::nullopt;
    const std::string_view digits = rest_.substr(0, 2);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
    rest_.remove_prefix(2);
    return static_cast<char>(value);
  }
  bool TakeNumber(uint32_t& number, int base) {
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number, base);
    if (error != std::errc() || number == 0) return false;
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    return true;
  }

  std::string_view rest_;
};

}  // namespace

std::vector<CommentedPlace> PlacesInComment(std::string_view line) {
  if (!line.ends_with(')')) return {};
  const size_t begin = line.rfind(kBegin);
  if (begin == std::string_view::npos) return {};
  CommentReader reader(line.substr(begin + kBegin.size()));
  const bool is_fused = reader.Take(kFused);
  std::vector<CommentedPlace> places;
  do {
    std::optional<CommentedPlace> place = reader.TakePlace();
    if (!place) return {};
    places.push_back(*std::move(place));
  } while (is_fused && reader.Take(", "));
  if (is_fused && !reader.Take("]")) return {};
  return reader.Take(")") && reader.AtEnd() ? places : std::vector<CommentedPlace>();
}

std::string LocationComment(SourceSpan span, const SourceManager& sources) {
  std::vector<CommentedPlace> places;
  const auto add = [&](CommentedPlace place) {
    if (std::ranges::find(places, place) == places.end()) places.push_back(std::move(place));
  };
  for (const SourceSpan part : PartsOf(span)) {
    const SourceLocation at = sources.Locate(part.begin);
    if (at.line == 0) continue;
    const std::vector<CommentedPlace> before = PlacesInComment(at.line_text);
    if (before.empty()) add({std::string(at.name), at.line, at.column});
    for (const CommentedPlace& place : before) add(place);
  }
  if (places.empty()) return {};
  std::string text(kBegin);
  if (places.size() > 1) text += kFused;
  for (const CommentedPlace& place : places) {
    if (&place != &places.front()) text += ", ";
    fmt::format_to(std::back_inserter(text), "{}:{}:{}", Quoted(place.name), place.line, place.column);
  }
  text += places.size() > 1 ? "])" : ")";
  return text;
}

}  // namespace iropt
