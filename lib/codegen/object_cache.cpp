#include "object_cache.h"

#include <cstring>
#include <optional>

#include "iropt/support/hash.h"

namespace iropt::codegen {

namespace {

struct Header {
  char magic[8] = {'i', 'r', 'l', 'o', 'o', 'p', 's', '1'};
  uint64_t size = 0;
  uint64_t checksum = 0;
};

Header HeaderOf(const std::string& key, std::string_view object) {
  Header header;
  header.size = object.size();
  header.checksum = HashCombine(HashString(key), HashString(object));
  return header;
}

}  // namespace

std::string ObjectCache::Load(const std::string& key) {
  const std::optional<std::string> text = folder_.Read(NameOf(key));
  if (!text) return {};
  if (text->size() >= sizeof(Header)) {
    const std::string_view object = std::string_view(*text).substr(sizeof(Header));
    const Header expected = HeaderOf(key, object);
    if (std::memcmp(text->data(), &expected, sizeof expected) == 0) return std::string(object);
  }
  ++damaged_;
  return {};
}

void ObjectCache::Store(const std::string& key, std::string_view object) {
  const Header header = HeaderOf(key, object);
  folder_.Write(NameOf(key), {{reinterpret_cast<const char*>(&header), sizeof header}, object});
}

}  // namespace iropt::codegen
