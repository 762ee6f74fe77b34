// Several modules in one file.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace iropt {

inline constexpr std::string_view kSplitMarker = "# -----";

struct InputPart {
  std::string_view text;
  uint32_t first_line;  // of the file, from 1
};

// The parts between lines that hold only the marker. There is always at least one.
std::vector<InputPart> SplitInput(std::string_view text);

}  // namespace iropt
