#include "iropt/support/file_log.h"

#include <algorithm>
#include <atomic>

#include "iropt/support/check.h"

namespace iropt {

namespace {

std::atomic<FileLog*> current_log = nullptr;

}  // namespace

FileLog::FileLog() {
  FileLog* none = nullptr;
  IROPT_CHECK(current_log.compare_exchange_strong(none, this), "there are two logs of files");
}

FileLog::~FileLog() { current_log = nullptr; }

std::vector<std::string> FileLog::read() const {
  const std::scoped_lock lock(mutex_);
  return read_;
}

std::vector<std::string> FileLog::written() const {
  const std::scoped_lock lock(mutex_);
  return written_;
}

bool FileLog::is_complete() const {
  const std::scoped_lock lock(mutex_);
  return is_complete_;
}

void FileLog::NoteUnknown() {
  FileLog* log = current_log;
  if (log == nullptr) return;
  const std::scoped_lock lock(log->mutex_);
  log->is_complete_ = false;
}

void FileLog::NoteRead(std::string_view path) { Note(&FileLog::read_, path); }
void FileLog::NoteWritten(std::string_view path) { Note(&FileLog::written_, path); }

void FileLog::Note(std::vector<std::string> FileLog::*paths, std::string_view path) {
  FileLog* log = current_log;
  if (log == nullptr) return;
  const std::scoped_lock lock(log->mutex_);
  std::vector<std::string>& list = log->*paths;
  if (std::ranges::find(list, path) == list.end()) list.emplace_back(path);
}

}  // namespace iropt
