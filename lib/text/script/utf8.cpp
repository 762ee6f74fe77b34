#include "utf8.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace iropt::text {
namespace {

constexpr uint64_t kLowBits = 0x0101010101010101u;
constexpr uint64_t kHighBits = 0x8080808080808080u;

// The number of bytes from `p` on that are ASCII without zeros, in steps of eight.
size_t PlainPrefix(const char* p, size_t size) {
  size_t i = 0;
  // Long runs first, in blocks of which compilers make vector instructions.
  constexpr size_t kBlock = 256;
  for (; i + kBlock <= size; i += kBlock) {
    uint8_t is_other = 0;
    for (size_t k = 0; k < kBlock; ++k) is_other |= static_cast<uint8_t>(static_cast<int8_t>(p[i + k]) <= 0);
    if (is_other != 0) break;
  }
  for (; i + 8 <= size; i += 8) {
    uint64_t word;
    std::memcpy(&word, p + i, 8);
    // The second term has a high bit for each zero byte.
    if (((word | (word - kLowBits)) & kHighBits) != 0) break;
  }
  return i;
}

// The length of the character at the start of `text`; 0 if it is not one.
size_t CharLength(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(0);
  if (first < 0x80) return first != 0;
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  // Longer than necessary, surrogates, and beyond the last code point.
  if ((first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) > 0x9f)) return 0;
  if ((first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) > 0x8f)) return 0;
  return length;
}

}  // namespace

size_t FirstInvalidByte(std::string_view text) {
  size_t i = 0;
  while (i < text.size()) {
    i += PlainPrefix(text.data() + i, text.size() - i);
    // Past the word that stopped it, or to the end.
    for (const size_t stop = i + 8; i < text.size() && i < stop;) {
      const size_t length = CharLength(text.substr(i));
      if (length == 0) return i;
      i += length;
    }
  }
  return i;
}

uint32_t CodePoint(std::string_view text) {
  const size_t length = CharLength(text);
  const auto first = static_cast<uint8_t>(text[0]);
  if (length <= 1) return first;
  uint32_t code = first & (0x7fu >> length);
  for (size_t i = 1; i < length; ++i) code = code << 6 | (static_cast<uint8_t>(text[i]) & 0x3f);
  return code;
}

size_t FirstInvisible(std::string_view text) {
  struct Range {
    uint32_t first;
    uint32_t last;
  };
  // The ranges of Unicode's categories Cc, Cf and Z beyond ASCII that have several uses, and the tags.
  static constexpr Range kInvisible[] = {{0x80, 0xa0},     {0xad, 0xad},     {0x61c, 0x61c},   {0x1680, 0x1680},
                                         {0x180e, 0x180e}, {0x2000, 0x200f}, {0x2028, 0x202f}, {0x205f, 0x206f},
                                         {0x3000, 0x3000}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f}};
  for (size_t i = 0; i < text.size();) {
    const uint32_t code = CodePoint(text.substr(i));
    const bool is_invisible =
        std::ranges::any_of(kInvisible, [&](const Range& r) { return code >= r.first && code <= r.last; });
    if (is_invisible) return i;
    i += std::max<size_t>(CharLength(text.substr(i)), 1);
  }
  return text.size();
}

}  // namespace iropt::text
