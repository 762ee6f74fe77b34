// A log of the files that the process reads and writes: for dependency files, and for the keys of cached results.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace iropt {

// During its lifetime, notes the files that ReadFile reads, the shared objects that are loaded and the files that
// AtomicFile replaces. A process has one at a time: making a second one is an internal error. Thread-safe, but the
// threads that read and write must have ended before it is destroyed. O(paths) for each note.
class FileLog {
 public:
  FileLog();
  FileLog(const FileLog&) = delete;
  FileLog& operator=(const FileLog&) = delete;
  ~FileLog();

  // The paths as they were given, each once, in the order of their first use.
  std::vector<std::string> read() const;
  std::vector<std::string> written() const;
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
