// Hashes that files record: the algorithm must not change.
#include "iropt/support/data_hash.h"

#include <string>
#include <vector>

#include "catch.h"

namespace iropt {
namespace {

std::span<const std::byte> Bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

TEST_CASE("hashes are those of xxhsum -H128", "[support]") {
  CHECK(HashData(Bytes("")).ToString() == "xxh128:99aa06d3014798d86001c324468d497f");
  CHECK(HashData(Bytes("hello, weights")).Digits() == "24c6875678bfc9128e94e15dc14e8616");
}

TEST_CASE("a hash reads back from its text, and other texts are refused", "[support]") {
  const DataHash hash = HashData(Bytes("hello, weights"));
  CHECK(DataHash::Parse(hash.ToString()) == hash);
  for (const char* text : {"", "xxh128:", "xxh128:24c6875678bfc9128e94e15dc14e861", "24c6875678bfc9128e94e15dc14e8616",
                           "xxh128:24c6875678bfc9128e94e15dc14e86161", "xxh128:24c6875678bfc9128e94e15dc14e861g",
                           "xxh128:-4c6875678bfc9128e94e15dc14e8616", "md5___:24c6875678bfc9128e94e15dc14e8616"}) {
    CHECK_FALSE(DataHash::Parse(text).has_value());
  }
}

TEST_CASE("a hash in parts is that of the whole, and sees each part once", "[support]") {
  for (const size_t size : {size_t{0}, size_t{5}, size_t{16} << 20, (size_t{40} << 20) + 3}) {
    std::vector<std::byte> data(size);
    for (size_t i = 0; i < size; ++i) data[i] = static_cast<std::byte>(i * 7 + i / 251);
    size_t seen = 0;
    const DataHash hash = HashData(data, [&](std::string_view part) {
      CHECK(part.data() == reinterpret_cast<const char*>(data.data()) + seen);
      seen += part.size();
    });
    CHECK(hash == HashData(data));
    CHECK(seen == size);
  }
}

}  // namespace
}  // namespace iropt
