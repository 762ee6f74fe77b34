#include "iropt/support/hash.h"

namespace iropt::hash_detail {

uint64_t HashLong(const unsigned char* p, size_t size) {
  uint64_t seed0 = kSecret0;
  uint64_t seed1 = kSecret3;  // unlike seed0, with which it is xor-ed, and kSecret2, which the same lane multiplies by
  size_t left = size;
  // Two independent lanes, so that the multiplications of one overlap those of the other.
  while (left > 32) {
    seed0 = MultiplyFold(Read64(p) ^ kSecret1, Read64(p + 8) ^ seed0);
    seed1 = MultiplyFold(Read64(p + 16) ^ kSecret2, Read64(p + 24) ^ seed1);
    p += 32;
    left -= 32;
  }
  seed0 ^= seed1;
  if (left > 16) seed0 = MultiplyFold(Read64(p) ^ kSecret1, Read64(p + 8) ^ seed0);
  // The last 16 bytes, which may overlap what was read already.
  const uint64_t a = Read64(p + left - 16);
  const uint64_t b = Read64(p + left - 8);
  return MultiplyFold(MultiplyFold(a ^ kSecret1, b ^ seed0) ^ kSecret2, size ^ kSecret1);
}

}  // namespace iropt::hash_detail
