#include "split_input.h"

namespace iropt {

namespace {

bool IsMarker(std::string_view line) {
  if (!line.starts_with(kSplitMarker)) return false;
  return line.substr(kSplitMarker.size()).find_first_not_of(" \t\r") == std::string_view::npos;
}

}  // namespace

std::vector<InputPart> SplitInput(std::string_view text) {
  std::vector<InputPart> parts;
  size_t part_begin = 0;
  uint32_t part_line = 1;
  uint32_t line = 1;
  for (size_t begin = 0; begin < text.size(); ++line) {
    const size_t newline = text.find('\n', begin);
    const size_t next = newline == std::string_view::npos ? text.size() : newline + 1;
    if (IsMarker(text.substr(begin, next - begin - (newline != std::string_view::npos ? 1 : 0)))) {
      parts.push_back({text.substr(part_begin, begin - part_begin), part_line});
      part_begin = next;
      part_line = line + 1;
    }
    begin = next;
  }
  parts.push_back({text.substr(part_begin), part_line});
  return parts;
}

}  // namespace iropt
