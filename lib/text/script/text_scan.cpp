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

// Tests lines for an indentation of more than a number of columns, in spaces alone.
class DeeperLine {
 public:
  explicit DeeperLine(uint32_t column) : fits_(column < kWord) {
    std::memset(&mask_, 0xff, std::min(column + 1, kWord));
  }
  // False, too, for a line at the end of the text, and if the indentation is wider than a word.
  bool operator()(std::string_view text, uint32_t begin) const {
    if (!fits_ || text.size() - begin < kWord) return false;
    uint64_t word;
    std::memcpy(&word, text.data() + begin, kWord);
    return ((word ^ kSpaces) & mask_) == 0;
  }

 private:
  static constexpr uint32_t kWord = sizeof(uint64_t);
  static constexpr uint64_t kSpaces = 0x2020202020202020;
  bool fits_;
  uint64_t mask_ = 0;  // all bits of the bytes that must be spaces
};

}  // namespace

bool HasNewerName(std::string_view text) {
  const auto has_name_at = [&](size_t i) {
    const std::string_view rest = text.substr(i), before = text.substr(0, i);
    if (text[i] == 't') return rest.starts_with("ty_args=") || (rest.starts_with("ty=") && before.ends_with("out_"));
    return text[i] == '.' && rest.starts_with(".Any") && before.ends_with('R');
  };
  // Where one of the names may be: many names have a "ty" that a "p" follows.
  const auto may_be = [](const char* p) {
    const Block first = Load(p), second = Load(p + 1), third = Load(p + 2);
    return (Is(first, 't') & Is(second, 'y') & ~Is(third, 'p')) | (Is(first, '.') & Is(second, 'A'));
  };
  constexpr size_t kStep = 2 * kBlock;
  size_t p = 0;
  for (; p + kStep + 2 <= text.size(); p += kStep) {
    if (!Any(may_be(text.data() + p) | may_be(text.data() + p + kBlock))) continue;
    for (size_t i = p; i < p + kStep; ++i) {
      if (has_name_at(i)) return true;
    }
  }
  for (; p < text.size(); ++p) {
    if (has_name_at(p)) return true;
  }
  return false;
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

uint32_t BlockEnd(std::string_view text, uint32_t begin, uint32_t column) {
  const auto end = static_cast<uint32_t>(text.size());
  const DeeperLine is_deeper(column);
  for (uint32_t p = begin;;) {
    const void* eol = std::memchr(text.data() + p, '\n', end - p);
    if (eol == nullptr) return end;
    p = static_cast<uint32_t>(static_cast<const char*>(eol) - text.data()) + 1;
    if (is_deeper(text, p)) continue;
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
