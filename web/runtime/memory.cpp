// Copies and fills by instructions of WebAssembly, as Debian's C library has loops, which are slower from some size on, and the
// memory that malloc asks for.
#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace {

constexpr size_t kSmall = 64;

using Word [[gnu::may_alias, gnu::aligned(1)]] = uint64_t;

void CopyForward(unsigned char* to, const unsigned char* from, size_t size) {
  for (; size >= sizeof(Word); to += sizeof(Word), from += sizeof(Word), size -= sizeof(Word))
    *reinterpret_cast<Word*>(to) = *reinterpret_cast<const Word*>(from);
  for (; size > 0; --size) *to++ = *from++;
}

void CopyBackward(unsigned char* to, const unsigned char* from, size_t size) {
  while (size > 0) {
    --size;
    to[size] = from[size];
  }
}

}  // namespace

extern "C" {

void* memcpy(void* __restrict to, const void* __restrict from, size_t size) {
  if (size < kSmall) {
    CopyForward(static_cast<unsigned char*>(to), static_cast<const unsigned char*>(from), size);
  } else {
    asm volatile("local.get %0\n local.get %1\n local.get %2\n memory.copy 0, 0" : : "r"(to), "r"(from), "r"(size) : "memory");
  }
  return to;
}

void* memmove(void* to, const void* from, size_t size) {
  if (size >= kSmall) {
    asm volatile("local.get %0\n local.get %1\n local.get %2\n memory.copy 0, 0" : : "r"(to), "r"(from), "r"(size) : "memory");
  } else if (reinterpret_cast<uintptr_t>(to) - reinterpret_cast<uintptr_t>(from) >= size) {
    CopyForward(static_cast<unsigned char*>(to), static_cast<const unsigned char*>(from), size);
  } else {
    CopyBackward(static_cast<unsigned char*>(to), static_cast<const unsigned char*>(from), size);
  }
  return to;
}

void* memset(void* to, int value, size_t size) {
  if (size < kSmall) {
    for (size_t i = 0; i < size; ++i) static_cast<unsigned char*>(to)[i] = static_cast<unsigned char>(value);
    return to;
  }
  asm volatile("local.get %0\n local.get %1\n local.get %2\n memory.fill 0" : : "r"(to), "r"(value), "r"(size) : "memory");
  return to;
}

// The C library's returns the end of the memory. In an instance whose variables are as they were before another run, the memory has
// grown since, and that of the other run is used again.
void* sbrk(intptr_t increment) {
  constexpr size_t kPage = 65536;
  static size_t pages = 0;  // that are in use
  if (pages == 0) pages = __builtin_wasm_memory_size(0);
  const size_t before = pages;
  const size_t wanted = before + (static_cast<size_t>(increment) + kPage - 1) / kPage;
  const size_t there = __builtin_wasm_memory_size(0);
  if (increment < 0 || (wanted > there && __builtin_wasm_memory_grow(0, wanted - there) == SIZE_MAX)) {
    errno = ENOMEM;
    return reinterpret_cast<void*>(-1);
  }
  pages = wanted;
  return reinterpret_cast<void*>(before * kPage);
}

}  // extern "C"
