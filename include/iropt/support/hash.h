// Hashing for in-process tables: fast, well mixed, and the same in every run (no seed from the environment), because
// tables are never iterated for output but tests and dumps do compare structural hashes. Not safe against hostile keys.
//
// The core is the multiply-and-fold step known from wyhash: a 64x64 -> 128 bit product whose halves are xor-ed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace iropt {

namespace hash_detail {

__extension__ using Uint128 = unsigned __int128;

inline constexpr uint64_t kSecret0 = 0x2d358dccaa6c78a5ull;
inline constexpr uint64_t kSecret1 = 0x8bb84b93962eacc9ull;
inline constexpr uint64_t kSecret2 = 0x4b33a62ed433d4a3ull;
inline constexpr uint64_t kSecret3 = 0x4d5a2da51de1aa47ull;

constexpr uint64_t MultiplyFold(uint64_t a, uint64_t b) {
  const Uint128 product = static_cast<Uint128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

inline uint64_t Read64(const unsigned char* p) {
  uint64_t v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

inline uint64_t Read32(const unsigned char* p) {
  uint32_t v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

// The lane loop for more than 16 bytes; out of line because names and spellings are mostly shorter.
uint64_t HashLong(const unsigned char* p, size_t size);

}  // namespace hash_detail

// Spreads the bits of an integer or a pointer over the whole word, without collisions. One multiply-and-fold would be
// cheaper, and leaves too much pattern in the low bits of aligned pointers; this is the finalizer known from
// splitmix64.
constexpr uint64_t HashMix(uint64_t v) {
  v = (v ^ (v >> 30)) * 0xbf58476d1ce4e5b9ull;
  v = (v ^ (v >> 27)) * 0x94d049bb133111ebull;
  return v ^ (v >> 31);
}

// Adds a value to a hash; the order of additions matters.
constexpr uint64_t HashCombine(uint64_t seed, uint64_t v) {
  // The added constants keep a zero operand, the most common one, from erasing the other.
  return hash_detail::MultiplyFold(seed + hash_detail::kSecret2, v ^ hash_detail::kSecret1) ^ seed;
}

inline uint64_t HashBytes(const void* data, size_t size) {
  using namespace hash_detail;
  const auto* p = static_cast<const unsigned char*>(data);
  uint64_t a = 0;
  uint64_t b = 0;
  if (size > 16) return HashLong(p, size);
  if (size >= 4) {
    // Two possibly overlapping pairs of words cover 4 to 16 bytes without a loop.
    const size_t middle = (size >> 3) << 2;
    a = (Read32(p) << 32) | Read32(p + middle);
    b = (Read32(p + size - 4) << 32) | Read32(p + size - 4 - middle);
  } else if (size > 0) {
    a = (static_cast<uint64_t>(p[0]) << 16) | (static_cast<uint64_t>(p[size >> 1]) << 8) | p[size - 1];
  }
  const Uint128 product = static_cast<Uint128>(a ^ kSecret0) * (b ^ kSecret1);
  return MultiplyFold(static_cast<uint64_t>(product) ^ kSecret2 ^ size,
                      static_cast<uint64_t>(product >> 64) ^ kSecret1);
}

// Returns whether the bytes are equal, like memcmp, without a call for what is short.
inline bool EqualBytes(const void* a, const void* b, size_t size) {
  using namespace hash_detail;
  const auto* p = static_cast<const unsigned char*>(a);
  const auto* q = static_cast<const unsigned char*>(b);
  if (size > 16) return std::memcmp(p, q, size) == 0;
  // Two words that may overlap, or three bytes.
  if (size >= 8) return ((Read64(p) ^ Read64(q)) | (Read64(p + size - 8) ^ Read64(q + size - 8))) == 0;
  if (size >= 4) return ((Read32(p) ^ Read32(q)) | (Read32(p + size - 4) ^ Read32(q + size - 4))) == 0;
  return size == 0 || (p[0] == q[0] && p[size >> 1] == q[size >> 1] && p[size - 1] == q[size - 1]);
}

// HashBytes for names of up to eight bytes in a few instructions, for tables whose slots are few bits of the hash.
inline uint64_t HashShortBytes(const void* data, size_t size) {
  using namespace hash_detail;
  if (size > 8) return HashBytes(data, size);
  const auto* p = static_cast<const unsigned char*>(data);
  uint64_t word = 0;
  if (size >= 4) {
    word = (Read32(p) << 32) | Read32(p + size - 4);
  } else if (size > 0) {
    word = (static_cast<uint64_t>(p[0]) << 16) | (static_cast<uint64_t>(p[size >> 1]) << 8) | p[size - 1];
  }
  return MultiplyFold(word ^ kSecret0, kSecret1 ^ size);
}

inline uint64_t HashString(std::string_view text) { return HashBytes(text.data(), text.size()); }

}  // namespace iropt
