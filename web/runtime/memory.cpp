// Copies and fills by instructions of WebAssembly: Debian's C library has loops, which are slower from some size on.
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

}  // extern "C"
