#include "iropt/support/file_log.h"

#include <algorithm>
#include <filesystem>
#include <shared_mutex>

namespace iropt {

namespace {

// The logs that are alive.
struct OpenLogs {
  std::shared_mutex mutex;
  std::vector<FileLog*> logs;
};

OpenLogs& Open() {
  static OpenLogs open;
  return open;
}

template <class Action>
void ForEachLog(Action&& action) {
  OpenLogs& open = Open();
  const std::shared_lock lock(open.mutex);
  for (FileLog* log : open.logs) action(*log);
}

bool IsSame(const std::string& a, const std::string& b) {
  std::error_code error;
  return a == b || std::filesystem::equivalent(a, b, error);
}

bool Contains(const std::vector<std::string>& paths, const std::string& path) {
  return std::ranges::any_of(paths, [&](const std::string& other) { return IsSame(other, path); });
}

}  // namespace

FileLog::FileLog() {
  OpenLogs& open = Open();
  const std::unique_lock lock(open.mutex);
  open.logs.push_back(this);
}

FileLog::~FileLog() {
  OpenLogs& open = Open();
  const std::unique_lock lock(open.mutex);
  std::erase(open.logs, this);
}

std::vector<std::string> FileLog::read() const {
  const std::scoped_lock lock(mutex_);
  std::vector<std::string> files;
  for (const std::string& path : read_) {
    if (!Contains(files, path)) files.push_back(path);
  }
  return files;
}

std::vector<std::string> FileLog::written() const {
  const std::scoped_lock lock(mutex_);
  return written_;
}

bool FileLog::HasRead(const std::string& path) const {
  const std::scoped_lock lock(mutex_);
  return Contains(read_, path);
}

bool FileLog::is_complete() const {
  const std::scoped_lock lock(mutex_);
  return is_complete_;
}

void FileLog::NoteUnknown() {
  ForEachLog([](FileLog& log) {
    const std::scoped_lock lock(log.mutex_);
    log.is_complete_ = false;
  });
}

void FileLog::NoteRead(std::string_view path) { Note(&FileLog::read_, path); }
void FileLog::NoteWritten(std::string_view path) { Note(&FileLog::written_, path); }

void FileLog::Note(std::vector<std::string> FileLog::*paths, std::string_view path) {
  ForEachLog([&](FileLog& log) {
    const std::scoped_lock lock(log.mutex_);
    std::vector<std::string>& list = log.*paths;
    if (std::ranges::find(list, path) == list.end()) list.emplace_back(path);
  });
}

}  // namespace iropt
