#include "iropt/driver/split_input.h"

#include <fmt/format.h>

#include <algorithm>

#include "iropt/support/edit_distance.h"

namespace iropt {

namespace {

constexpr std::string_view kBlanks = " \t\r";

// A line of the text, without its line break.
struct InputLine {
  std::string_view text;
  size_t begin;
  size_t next;  // the beginning of the next line
};

InputLine LineFrom(std::string_view text, size_t begin) {
  const size_t newline = text.find('\n', begin);
  const bool is_last = newline == std::string_view::npos;
  return {text.substr(begin, newline - begin), begin, is_last ? text.size() : newline + 1};
}

std::string_view WithoutTrailingBlanks(std::string_view line) {
  return line.substr(0, line.find_last_not_of(kBlanks) + 1);
}

bool IsMarker(std::string_view line, std::string_view marker) {
  return line.starts_with(marker) && line.find_first_not_of(kBlanks, marker.size()) == std::string_view::npos;
}

// At most one character is wrong, missing or too many, blanks not counted.
bool IsNearMarker(std::string_view line, std::string_view marker) {
  if (line.size() > 2 * marker.size() || IsMarker(line, marker)) return false;
  const auto without_blanks = [](std::string_view text) {
    std::string result;
    std::ranges::copy_if(text, std::back_inserter(result), [](char c) { return kBlanks.find(c) == kBlanks.npos; });
    return result;
  };
  return EditDistance(without_blanks(line), without_blanks(marker), 1) <= 1;
}

}  // namespace

std::vector<InputPart> SplitInput(std::string_view text, std::string_view marker) {
  std::vector<InputPart> parts;
  size_t part_begin = 0;
  uint32_t part_line = 1;
  for (size_t at = text.find(marker); at != std::string_view::npos; at = text.find(marker, at + 1)) {
    if (at > 0 && text[at - 1] != '\n') continue;
    const InputLine line = LineFrom(text, at);
    if (!IsMarker(line.text, marker)) continue;
    const std::string_view part = text.substr(part_begin, line.next - part_begin);
    parts.push_back({part.substr(0, line.begin - part_begin), part_line});
    part_begin = line.next;
    part_line += static_cast<uint32_t>(std::ranges::count(part, '\n'));
  }
  parts.push_back({text.substr(part_begin), part_line});
  return parts;
}

Status CheckSplitMarker(std::string_view marker) {
  if (marker.find('\n') != std::string_view::npos) {
    return Error{ErrorCode::Usage, "the marker of -split-input-file has a line break: expected one line"};
  }
  if (WithoutTrailingBlanks(marker).empty()) {
    return Error{ErrorCode::Usage, "the marker of -split-input-file is blank: expected a text such as '# -----'"};
  }
  return {};
}

void WarnOfNearMarkers(std::string_view text, uint32_t base, std::string_view marker, DiagnosticEngine& diagnostics) {
  constexpr size_t kShortest = 5;
  if (marker.size() < kShortest) return;
  for (size_t begin = 0; begin < text.size();) {
    const InputLine line = LineFrom(text, begin);
    begin = line.next;
    if (!IsNearMarker(line.text, marker)) continue;
    const auto at = static_cast<uint32_t>(base + line.begin);
    const auto end = static_cast<uint32_t>(at + WithoutTrailingBlanks(line.text).size());
    diagnostics.Warning({at, end}, "near-marker",
                        fmt::format("this line does not split the input: the marker is '{}'", marker));
  }
}

}  // namespace iropt
