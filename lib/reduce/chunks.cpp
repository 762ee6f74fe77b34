#include "chunks.h"

#include <algorithm>

#include "iropt/support/check.h"

namespace iropt {

std::vector<bool> MakeChunks(size_t count, size_t size, FirstInteresting first) {
  IROPT_CHECK(size > 0, "a chunk without edits");
  std::vector<bool> made(count);
  size_t next = 0;
  while (next < count) {
    std::vector<Chunk> chunks;
    for (size_t begin = next; begin < count; begin += size) chunks.push_back({begin, std::min(begin + size, count)});
    const std::optional<size_t> found = first(made, chunks);
    if (!found) break;
    const Chunk& chunk = chunks[*found];
    std::fill(made.begin() + static_cast<std::ptrdiff_t>(chunk.begin),
              made.begin() + static_cast<std::ptrdiff_t>(chunk.end), true);
    next = chunk.end;
  }
  return made;
}

}  // namespace iropt
