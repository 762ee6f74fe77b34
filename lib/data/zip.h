// Zip archives, as numpy makes them, by libarchive.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "bytes.h"
#include "iropt/support/file.h"
#include "iropt/support/function_ref.h"

struct archive;

namespace iropt::data {

inline bool IsEmptyZip(std::string_view file) { return file.starts_with("PK\x05\x06"); }
inline bool IsZip(std::string_view file) { return file.starts_with("PK\x03\x04") || IsEmptyZip(file); }

// Calls `visit` with the name and the contents of every entry, in the order of the archive's directory, until it fails.
// Contents are checked against their checksums.
Status ForEachZipEntry(std::string_view archive, FunctionRef<Status(std::string_view, Bytes)> visit);

// Writes entries that are stored, without a date.
class ZipWriter {
 public:
  explicit ZipWriter(OutputStream& out);
  ~ZipWriter();
  ZipWriter(const ZipWriter&) = delete;
  ZipWriter& operator=(const ZipWriter&) = delete;

  // The contents are both texts, concatenated.
  Status Add(const std::string& name, std::string_view head, std::string_view body);
  Status Finish();

 private:
  Status Check(int status) const;

  struct archive* archive_;
};

}  // namespace iropt::data
