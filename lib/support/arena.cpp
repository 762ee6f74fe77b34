#include "iropt/support/arena.h"

#include <algorithm>
#include <cstdlib>

namespace iropt {

namespace {

constexpr size_t kFirstChunk = 1024;
constexpr size_t kLargestChunk = 128 * 1024;

#ifdef IROPT_ARENA_POISON
void Poison(uintptr_t begin, size_t size) { ASAN_POISON_MEMORY_REGION(reinterpret_cast<void*>(begin), size); }
void Unpoison(const void* begin, size_t size) { ASAN_UNPOISON_MEMORY_REGION(begin, size); }
#else
void Poison(uintptr_t, size_t) {}
void Unpoison(const void*, size_t) {}
#endif

}  // namespace

Arena::~Arena() {
  for (Chunk* chunk = chunks_; chunk != nullptr;) {
    Chunk* previous = chunk->previous;
    Unpoison(chunk, chunk->size);
    std::free(chunk);
    chunk = previous;
  }
}

// Links a chunk of `size` bytes, header included, whose payload is poisoned until handed out.
Arena::Chunk* Arena::NewChunk(size_t size) {
  void* memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  chunks_ = new (memory) Chunk{chunks_, size};
  reserved_ += size;
  Poison(reinterpret_cast<uintptr_t>(chunks_ + 1), size - sizeof(Chunk));
  return chunks_;
}

void* Arena::AllocateSlow(size_t size, size_t align) {
  if (size > SIZE_MAX / 2) throw std::bad_alloc();
  const size_t needed = sizeof(Chunk) + size + align;
  const size_t regular = std::clamp(next_chunk_size_, kFirstChunk, kLargestChunk);
  if (needed > regular / 2) {
    // A big block gets a chunk of its own, and the rest of the current one stays in use.
    const uintptr_t payload = reinterpret_cast<uintptr_t>(NewChunk(needed) + 1);
    const uintptr_t start = (payload + (align - 1)) & ~static_cast<uintptr_t>(align - 1);
    closed_used_ += size;
    Unpoison(reinterpret_cast<void*>(start), size);
    return reinterpret_cast<void*>(start);
  }
  closed_used_ += cursor_ - begin_;
  begin_ = cursor_ = reinterpret_cast<uintptr_t>(NewChunk(regular) + 1);
  end_ = begin_ + regular - sizeof(Chunk);
  next_chunk_size_ = regular * 2;
  return Allocate(size, align);
}

void Arena::Swap(Arena& other) noexcept {
  std::swap(cursor_, other.cursor_);
  std::swap(end_, other.end_);
  std::swap(begin_, other.begin_);
  std::swap(chunks_, other.chunks_);
  std::swap(next_chunk_size_, other.next_chunk_size_);
  std::swap(closed_used_, other.closed_used_);
  std::swap(reserved_, other.reserved_);
  retained_.swap(other.retained_);
}

}  // namespace iropt
