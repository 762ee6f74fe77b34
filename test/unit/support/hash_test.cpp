#include "iropt/support/hash.h"

#include <set>
#include <string>

#include "catch.h"

namespace iropt {
namespace {

TEST_CASE("every byte and the length matter, for all sizes around the steps of the algorithm", "[support]") {
  for (size_t size = 0; size <= 100; ++size) {
    const std::string zeros(size, '\0');
    std::set<uint64_t> seen = {HashString(zeros)};
    for (size_t i = 0; i < size; ++i) {
      std::string changed = zeros;
      changed[i] = 1;
      REQUIRE(seen.insert(HashString(changed)).second);
    }
    REQUIRE(seen.insert(HashString(zeros + '\0')).second);
  }
}

TEST_CASE("a hash does not depend on the address of the text", "[support]") {
  const std::string text = "the quick brown fox jumps over the lazy dog";
  for (size_t shift = 0; shift < 8; ++shift) {
    const std::string moved = std::string(shift, ' ') + text;
    CHECK(HashString(std::string_view(moved).substr(shift)) == HashString(text));
  }
}

TEST_CASE("low bits of small numbers spread", "[support]") {
  std::set<uint64_t> low;
  for (uint64_t i = 0; i < 4096; ++i) low.insert(HashMix(i * 64) & 0xFFFF);
  // 4096 balls in 65536 bins leave about 3970 different ones.
  CHECK(low.size() > 3900);
}

TEST_CASE("combining depends on the order and survives zeros", "[support]") {
  CHECK(HashCombine(HashCombine(0, 1), 2) != HashCombine(HashCombine(0, 2), 1));
  std::set<uint64_t> seen;
  uint64_t hash = 0;
  for (int i = 0; i < 1000; ++i) {
    hash = HashCombine(hash, 0);
    CHECK(seen.insert(hash).second);
  }
}

TEST_CASE("bytes are equal if each of them is") {
  for (size_t size = 0; size <= 40; ++size) {
    const std::string text(size, 'a');
    CHECK(EqualBytes(text.data(), std::string(text).data(), size));
    for (size_t i = 0; i < size; ++i) {
      std::string other = text;
      other[i] = 'b';
      CHECK(!EqualBytes(text.data(), other.data(), size));
    }
  }
}

TEST_CASE("short hashes differ for names that differ") {
  std::set<uint64_t> hashes;
  size_t names = 0;
  std::string name;
  for (size_t size = 0; size <= 12; ++size, name += 'a') {
    for (size_t i = 0; i < size; ++i) {
      for (const char c : {'b', 'c', '0'}) {
        std::string other = name;
        other[i] = c;
        hashes.insert(HashShortBytes(other.data(), size));
        ++names;
      }
    }
    hashes.insert(HashShortBytes(name.data(), size));
    ++names;
  }
  CHECK(hashes.size() == names);
}

}  // namespace
}  // namespace iropt
