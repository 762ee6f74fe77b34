// Data of a run that need not be in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "iropt/support/file.h"
#include "iropt/support/result.h"

namespace iropt {

// A temporary file without a name, of which nothing is left when the process ends, however that happens. On systems
// without mappings it is in memory.
class ScratchFile {
 public:
  // The folder of the files that are created from now on; it needs the space for what is written to them. Without one,
  // or where it cannot have such files, it is $TMPDIR or /tmp. Thread-safe.
  static void SetFolder(std::string folder);

  static Result<std::shared_ptr<ScratchFile>> Create();
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  ~ScratchFile();

  // The offset of so many bytes that nothing else is written to.
  uint64_t Reserve(uint64_t bytes);
  Status Write(uint64_t offset, std::span<const std::byte> bytes);
  // A reserved part, which must be written before it is read. It may be used after the file has gone.
  Result<std::shared_ptr<const FileBuffer>> Map(uint64_t offset, size_t bytes) const;

 private:
  struct Data;
  explicit ScratchFile(std::unique_ptr<Data> data);

  std::unique_ptr<Data> data_;
};

}  // namespace iropt
