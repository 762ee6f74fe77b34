// Validation of UTF-8.
#pragma once

#include <cstddef>
#include <string_view>

namespace iropt::text {

// The offset of the first byte that is not part of valid UTF-8, or is zero, which no text holds; the size if there is
// none.
size_t FirstInvalidByte(std::string_view text);

}  // namespace iropt::text
