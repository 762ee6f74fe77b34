// UTF-8: validation, and characters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace iropt::text {

// The offset of the first byte that is not part of valid UTF-8, or is zero, which no text holds; the size if there is
// none.
size_t FirstInvalidByte(std::string_view text);

// The code point of the character at the start of a text in valid UTF-8.
uint32_t CodePoint(std::string_view text);
// The offset of the first character that cannot be seen: controls, spaces, and marks of the direction of writing. The
// text is valid UTF-8. text.size() if there is none.
size_t FirstInvisible(std::string_view text);

}  // namespace iropt::text
