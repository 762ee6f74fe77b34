// Zip archives, as numpy makes them, by libarchive.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "bytes.h"
#include "iropt/support/file.h"
#include "iropt/support/function_ref.h"
#include "libarchive.h"

namespace iropt::data {

inline bool IsEmptyZip(std::string_view file) { return file.starts_with("PK\x05\x06"); }
inline bool IsZip(std::string_view file) { return file.starts_with("PK\x03\x04") || IsEmptyZip(file); }

// The size in bytes that the contents of an entry state in their first bytes; nothing if more of them are needed.
using StatedSize = FunctionRef<Result<std::optional<uint64_t>>(std::string_view first)>;

// Calls `visit` with the name and the contents of every entry, in the order of the archive's directory, until it fails.
// Contents are checked against their checksums. Entries with more contents than they state are refused before all of
// these are unpacked.
Status ForEachZipEntry(std::string_view archive, StatedSize stated, FunctionRef<Status(std::string_view, Bytes)> visit);

// Writes entries that are stored, without a date.
class ZipWriter {
 public:
  ZipWriter(const LibArchive& library, OutputStream& out);
  ~ZipWriter();
  ZipWriter(const ZipWriter&) = delete;
  ZipWriter& operator=(const ZipWriter&) = delete;

  // The contents are both texts, concatenated.
  Status Add(const std::string& name, std::string_view head, std::string_view body);
  Status Finish();

 private:
  Status Check(int status) const;

  const LibArchive& library_;
  struct archive* archive_;
};

}  // namespace iropt::data
