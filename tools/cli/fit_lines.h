// Fitting texts to the width of the terminal.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace iropt {

inline constexpr size_t kUsualWidth = 80;

// The columns of what the standard output goes to: what the environment variable COLUMNS says, else the width of the
// terminal; nothing if it is not a terminal.
std::optional<size_t> OutputWidth();

// Breaks lines that are wider, at spaces where they have some. What follows is indented to the last column of the line,
// which begins behind two spaces or more; lines without columns, or with one far to the right, go on as the line
// begins, or if they look like code, deeper.
std::string FitLines(std::string_view text, size_t width);

}  // namespace iropt
