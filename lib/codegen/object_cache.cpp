#include "object_cache.h"

#include <cstring>
#include <filesystem>

#include "iropt/support/file.h"
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
  const std::string path = PathOf(key);
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return {};
  const Result<std::shared_ptr<const FileBuffer>> file = ReadFile(path);
  if (!file) return {};
  const std::string_view text = (*file)->text();
  if (text.size() >= sizeof(Header)) {
    const std::string_view object = text.substr(sizeof(Header));
    const Header expected = HeaderOf(key, object);
    if (std::memcmp(text.data(), &expected, sizeof expected) == 0) return std::string(object);
  }
  ++damaged_;
  return {};
}

void ObjectCache::Store(const std::string& key, std::string_view object) {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  const Header header = HeaderOf(key, object);
  const Status written = WriteFileAtomically(PathOf(key), [&](OutputStream& out) -> Status {
    out.Append(std::string_view(reinterpret_cast<const char*>(&header), sizeof header));
    out.Append(object);
    return {};
  });
  static_cast<void>(written);
}

}  // namespace iropt::codegen
