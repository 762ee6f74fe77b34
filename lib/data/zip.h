// Zip archives, as numpy makes them: entries are stored or deflated, and may have any size.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "bytes.h"
#include "iropt/support/file.h"
#include "iropt/support/function_ref.h"

namespace iropt::data {

inline bool IsZip(std::string_view file) { return file.starts_with("PK\x03\x04") || file.starts_with("PK\x05\x06"); }

// The size in bytes that the contents of an entry state in their first bytes; nothing if more of them are needed.
using StatedSize = FunctionRef<Result<std::optional<uint64_t>>(std::string_view first)>;

// Calls `visit` with the name and the contents of every entry, in the order of the archive's directory, until it fails.
// Contents are checked against their checksums; those that are stored are not copied. Entries with more contents than
// they state are refused before all of these are unpacked.
Status ForEachZipEntry(const std::shared_ptr<const FileBuffer>& file, StatedSize stated,
                       FunctionRef<Status(std::string_view, const Bytes&)> visit);

// Writes entries that are stored, without a date.
class ZipWriter {
 public:
  explicit ZipWriter(OutputStream& out) : out_(out) {}

  // The contents are both texts, concatenated. The name has less than 2^16 bytes.
  void Add(std::string_view name, std::string_view head, std::string_view body);
  // Writes the directory.
  void Finish();

 private:
  void Write(std::string_view bytes);

  OutputStream& out_;
  uint64_t offset_ = 0;
  uint64_t num_entries_ = 0;
  std::string directory_;
};

}  // namespace iropt::data
