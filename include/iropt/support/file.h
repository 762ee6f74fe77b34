// Whole-file input, buffered output, and output files that appear only when complete.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "iropt/support/function_ref.h"
#include "iropt/support/result.h"

namespace iropt {

// The bytes of a file, mapped into memory if that pays, and unmapped with the last reference.
class FileBuffer {
 public:
  // Takes over `contents`, for text that does not come from a file.
  explicit FileBuffer(std::string contents) : contents_(std::move(contents)), text_(contents_) {}
  // Takes over a mapping made by mmap.
  FileBuffer(void* mapping, size_t size) : mapping_(mapping), text_(static_cast<const char*>(mapping), size) {}
  FileBuffer(const FileBuffer&) = delete;
  FileBuffer& operator=(const FileBuffer&) = delete;
  ~FileBuffer();

  std::string_view text() const { return text_; }
  const char* data() const { return text_.data(); }
  size_t size() const { return text_.size(); }

  // Gives back the memory of a part of text() that is not expected to be read again; if it is, it comes from the file
  // again. Does nothing for text that is not mapped. Thread-safe.
  void Discard(std::string_view part) const;

 private:
  std::string contents_;
  void* mapping_ = nullptr;
  std::string_view text_;
};

// Returns whether a path names an open descriptor instead of a file in a folder: "-", "/dev/stdin", "/dev/fd/63" and so
// on.
bool IsStandardStream(std::string_view path);

// Reads a file; "-" is the standard input. Pipes and devices are read to their end.
Result<std::shared_ptr<const FileBuffer>> ReadFile(const std::string& path);

// Takes the text of an OutputStream, for output in another form than the text itself.
class OutputSink {
 public:
  virtual ~OutputSink() = default;
  // Any part of the text.
  virtual void Write(std::string_view text) = 0;
  // The text since the last call is complete.
  virtual Status Flush() = 0;
};

// A buffered writer over a file descriptor, which it does not own, a string or a sink. The first failed write is kept
// and later ones are dropped; ask status() or the result of Flush() once at the end. A pipe whose reader has gone, as
// in `ir-opt in.ir | head`, takes nothing more but is not a failure; the program must ignore SIGPIPE.
class OutputStream {
 public:
  explicit OutputStream(int fd);
  explicit OutputStream(std::string* target);
  explicit OutputStream(OutputSink* sink);
  OutputStream(OutputStream&& other) noexcept;
  OutputStream& operator=(OutputStream&&) = delete;
  // Flushes and ignores failures: flush first if they matter. Throws if memory for the string or the sink runs out.
  ~OutputStream() noexcept(false);

  [[gnu::always_inline]] void Append(std::string_view text) {
    if (text.size() > static_cast<size_t>(end_ - cursor_)) [[unlikely]] {
      AppendSlow(text);
      return;
    }
    if (text.empty()) return;  // it may have no address
    std::memcpy(cursor_, text.data(), text.size());
    cursor_ += text.size();
  }
  void Append(char c) {
    if (cursor_ == end_) [[unlikely]]
      Drain();
    *cursor_++ = c;
  }
  void AppendRepeated(char c, size_t count);
  void AppendInt(int64_t value);

  Status Flush();
  Status status() const;

  // The number of bytes appended so far.
  uint64_t position() const { return drained_ + static_cast<uint64_t>(cursor_ - buffer_.get()); }

 private:
  void AppendSlow(std::string_view text);
  void Drain();
  void Write(std::string_view text);

  std::unique_ptr<char[]> buffer_;
  char* cursor_;
  char* end_;
  int fd_ = -1;
  std::string* target_ = nullptr;
  OutputSink* sink_ = nullptr;
  uint64_t drained_ = 0;
  int errno_ = 0;
};

// An output file that appears only when it is complete. Output goes to a file in the same directory, which has no name
// until it is finished (or a temporary one, where the file system knows no files without names), and which Commit
// renames to the target; without Commit nothing changes, and a process that is killed leaves nothing behind. An
// existing target keeps its permissions, a symbolic link keeps pointing to the file that is replaced. A target that is
// not a regular file (a pipe, a device, "-" and
// "/dev/stdout" for the standard output) is written directly.
class AtomicFile {
 public:
  static Result<AtomicFile> Create(const std::string& path);
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  OutputStream& stream() { return stream_; }
  // Writes everything and closes the file, which reports failed writes. Commit does this if it was not done before;
  // when several files belong together, finish all of them before the first one is committed.
  Status Finish();
  Status Commit();

 private:
  enum class Kind : uint8_t { Direct, Named, Unnamed };

  AtomicFile(int fd, bool owns_fd, Kind kind, std::string path, std::string temporary);
  Status GiveName();
  void Close();

  int fd_;
  bool owns_fd_;
  Kind kind_;
  std::string path_;
  std::string temporary_;  // empty if the target is written directly, and until a file without a name gets one
  OutputStream stream_;
};

// Writes a file through `writer`, all or nothing.
Status WriteFileAtomically(const std::string& path, FunctionRef<Status(OutputStream&)> writer);

}  // namespace iropt
