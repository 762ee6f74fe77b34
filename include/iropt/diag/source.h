// Source texts and locations. Every position in every source is one 32-bit number, so that an IR node carries its span
// in a few bytes; the SourceManager turns such numbers into file, line and column when a diagnostic needs them.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/support/result.h"

namespace iropt {

// Half-open range of global source offsets. Offset 0 belongs to no source: a span that begins there is unknown.
struct SourceSpan {
  uint32_t begin = 0;
  uint32_t end = 0;

  bool known() const { return begin != 0; }
  friend bool operator==(SourceSpan, SourceSpan) = default;
};

// A position for messages. Lines and columns count from 1, columns in code points of UTF-8.
struct SourceLocation {
  std::string_view name;
  uint32_t line = 0;
  uint32_t column = 0;
  std::string_view line_text;  // without the line break
  size_t byte_in_line = 0;     // offset of the position in line_text
};

// The number of code points in UTF-8; a byte that is not part of a well-formed sequence counts as one.
size_t CountCodePoints(std::string_view text);

// The length in bytes of the code point at the start of non-empty `text`, 1 if it is malformed; sets `*valid`.
size_t CodePointLength(std::string_view text, bool* valid = nullptr);

// All sources of one run. Sources are added once and stay; looking up locations is thread-safe.
class SourceManager {
 public:
  SourceManager() = default;
  SourceManager(const SourceManager&) = delete;
  SourceManager& operator=(const SourceManager&) = delete;

  // Adds a source and returns the global offset of its first byte; the byte at `text[i]` has offset base + i, and
  // base + text.size() is its end. `owner` keeps the text alive. `first_line` is the line number of the first line,
  // for a part of a bigger file. Fails when the sources of this run exceed 4 GiB.
  Result<uint32_t> AddBuffer(std::string name, std::string_view text, std::shared_ptr<const void> owner,
                             uint32_t first_line = 1);

  // The location of a known offset; a location without a name for an offset of no source. Where a comment at the end of
  // the line says where it comes from (location_comment.h), the name, line and column are those.
  SourceLocation Locate(uint32_t offset) const;

  // The text of a span within one source; empty for an unknown one.
  std::string_view Text(SourceSpan span) const;

 private:
  struct Buffer {
    std::string name;
    std::string_view text;
    std::shared_ptr<const void> owner;
    uint32_t base;
    uint32_t first_line;
    std::vector<uint32_t> line_starts;  // filled when the first position of the buffer is located
  };

  Buffer* Find(uint32_t offset) const;

  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Buffer>> buffers_;  // by ascending base
  uint64_t next_base_ = 1;
};

}  // namespace iropt
