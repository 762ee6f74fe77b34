#include "text_scan.h"

#include <algorithm>
#include <cstring>

#include "iropt/support/hash.h"

namespace iropt::text {

namespace {

// Compilers make this of the vector registers that the processor has.
using Block = uint8_t __attribute__((vector_size(16)));
constexpr uint32_t kBlock = sizeof(Block);

Block Load(const char* text) {
  Block block;
  std::memcpy(&block, text, kBlock);
  return block;
}

// All bits of a byte are set where the block has the character, and none elsewhere.
Block Is(Block block, char c) { return reinterpret_cast<Block>(block == static_cast<uint8_t>(c)); }

bool Any(Block block) {
  uint64_t words[kBlock / sizeof(uint64_t)];
  std::memcpy(words, &block, kBlock);
  return (words[0] | words[1]) != 0;
}

}  // namespace

bool HasNewerName(std::string_view text) {
  // The arguments have a "ty" that one of two characters follows.
  constexpr uint32_t kBehind = 2;
  const auto is_in = [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const std::string_view rest = text.substr(i), before = text.substr(0, i);
      if (text[i] == 't' && (rest.starts_with("ty_args=") || (rest.starts_with("ty=") && before.ends_with("out_"))))
        return true;
      if (text[i] == '.' && rest.starts_with(".Any") && before.ends_with('R')) return true;
    }
    return false;
  };
  size_t p = 0;
  for (; p + kBlock + kBehind <= text.size(); p += kBlock) {
    const Block first = Load(text.data() + p), second = Load(text.data() + p + 1), third = Load(text.data() + p + 2);
    const Block found = (Is(first, 't') & Is(second, 'y') & (Is(third, '=') | Is(third, '_'))) |
                        (Is(first, '.') & Is(second, 'A') & Is(third, 'n'));
    if (Any(found) && is_in(p, p + kBlock)) return true;
  }
  return is_in(p, text.size());
}

uint64_t HashCode(uint64_t hash, std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const size_t first = line.find_first_not_of(" \t\r");
    if (first != std::string_view::npos && line[first] != '#') hash = HashCombine(hash, HashString(line));
  }
  return hash;
}

uint32_t SkipDeeperLines(std::string_view text, uint32_t column) {
  const auto size = static_cast<uint32_t>(text.size());
  uint32_t p = 0;
  for (; p + kBlock + column + 1 <= size; p += kBlock) {
    const char* block = text.data() + p;
    const Block line_ends = Is(Load(block), '\n');
    if (!Any(line_ends)) continue;
    Block are_spaces = Is(Load(block + 1), ' ');
    for (uint32_t k = 1; k <= column; ++k) are_spaces &= Is(Load(block + 1 + k), ' ');
    if (Any(line_ends & ~are_spaces)) break;
  }
  return p;
}

uint32_t BlockEnd(std::string_view text, uint32_t begin, uint32_t column) {
  const auto end = static_cast<uint32_t>(text.size());
  for (uint32_t p = begin;;) {
    p += SkipDeeperLines(text.substr(p), column);
    const size_t eol = text.find('\n', p);
    if (eol == std::string_view::npos) return end;
    p = static_cast<uint32_t>(eol) + 1;
    uint32_t q = p;
    while (q < end && q - p <= column && (text[q] == ' ' || text[q] == '\t')) q += 1;
    if (q >= end) return end;
    if (q - p > column || text[q] == '\n' || text[q] == '\r' || text[q] == '#' || text[q] == ')' || text[q] == ']' ||
        text[q] == '}')
      continue;
    return p;
  }
}

}  // namespace iropt::text
