// Zip archives as far as numpy makes them: entries that are stored or deflated, of any size, without encryption.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bytes.h"
#include "iropt/support/file.h"

namespace iropt::data {

struct ZipEntry {
  std::string_view name;
  uint16_t method = 0;
  uint32_t crc = 0;
  uint64_t size = 0;        // of the contents
  std::string_view stored;  // what lies in the archive
};

inline bool IsZip(std::string_view file) { return file.starts_with("PK\x03\x04") || file.starts_with("PK\x05\x06"); }

// The entries of an archive, in the order of its directory. O(entries).
Result<std::vector<ZipEntry>> ReadZipDirectory(std::string_view archive);

// The contents of an entry, checked against its checksum; a part of the archive where they are stored.
Result<Bytes> ReadZipEntry(const ZipEntry& entry, const std::shared_ptr<const FileBuffer>& archive);

// Writes entries that are stored, then the directory.
class ZipWriter {
 public:
  explicit ZipWriter(OutputStream& out) : out_(out) {}
  // The contents are both texts, one behind the other.
  void Add(std::string_view name, std::string_view head, std::string_view body);
  void Finish();

 private:
  struct Entry {
    std::string name;
    uint32_t crc;
    uint64_t size;
    uint64_t offset;
  };

  OutputStream& out_;
  std::vector<Entry> entries_;
};

}  // namespace iropt::data
