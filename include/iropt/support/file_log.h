// A log of the files that the process reads and writes: for dependency files, for the keys of cached results, and so
// that no output replaces a file that was read.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace iropt {

// During its lifetime, notes the files that ReadFile reads, the shared objects that are loaded and the files that
// AtomicFile replaces. Logs may overlap: each notes what all threads do. Thread-safe. O(paths) for each note.
class FileLog {
 public:
  FileLog();
  FileLog(const FileLog&) = delete;
  FileLog& operator=(const FileLog&) = delete;
  ~FileLog();

  // The paths as they were given, each file once by the path of its first use, in the order of these.
  std::vector<std::string> read() const;
  std::vector<std::string> written() const;
  // Returns whether the file at the path was read, by any path.
  bool HasRead(const std::string& path) const;
  // Returns whether nothing else was read: neither streams nor what a plugin in Python imports.
  bool is_complete() const;

  // These have no effect while the process has no FileLog.
  static void NoteRead(std::string_view path);
  static void NoteWritten(std::string_view path);
  static void NoteUnknown();

 private:
  static void Note(std::vector<std::string> FileLog::*paths, std::string_view path);

  mutable std::mutex mutex_;
  std::vector<std::string> read_;
  std::vector<std::string> written_;
  bool is_complete_ = true;
};

}  // namespace iropt
