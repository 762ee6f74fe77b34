#include "iropt/support/own_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <vector>

namespace iropt {

namespace {

// A descriptor that is closed at the end; -1 if there is none.
class OwnedDescriptor {
 public:
  explicit OwnedDescriptor(int fd) : fd_(fd) {}
  OwnedDescriptor(const OwnedDescriptor&) = delete;
  OwnedDescriptor& operator=(const OwnedDescriptor&) = delete;
  ~OwnedDescriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

// A checksum does not tell who wrote a file: nobody else may be able to write the file or folder.
bool IsOwn(int fd, mode_t type) {
  struct stat info = {};
  if (fd < 0 || fstat(fd, &info) != 0) return false;
  return (info.st_mode & S_IFMT) == type && info.st_uid == geteuid() && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

int OpenFolder(const std::string& folder) { return open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }

// Folders above get the permissions that the umask gives.
void MakeFolder(const std::string& folder) {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::path(folder).parent_path();
  if (!parent.empty()) std::filesystem::create_directories(parent, error);
  static_cast<void>(mkdir(folder.c_str(), S_IRWXU));
}

std::optional<std::string> ReadWhole(int fd) {
  struct stat info = {};
  if (fstat(fd, &info) != 0) return std::nullopt;
  std::string text(static_cast<size_t>(info.st_size) + 1, '\0');  // a file that grew is read again
  size_t used = 0;
  while (true) {
    const ssize_t size = read(fd, text.data() + used, text.size() - used);
    if (size < 0 && errno != EINTR) return std::nullopt;
    if (size == 0) break;
    if (size > 0) used += static_cast<size_t>(size);
    if (used == text.size()) text.resize(2 * used);
  }
  text.resize(used);
  return text;
}

bool WriteWhole(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t size = write(fd, text.data(), text.size());
    if (size < 0 && errno != EINTR) return false;
    if (size > 0) text.remove_prefix(static_cast<size_t>(size));
  }
  return true;
}

}  // namespace

std::optional<std::string> OwnFolder::Read(const std::string& name) const {
  const OwnedDescriptor folder(OpenFolder(path_));
  if (!IsOwn(folder.get(), S_IFDIR)) return std::nullopt;
  // Not blocking, so that a pipe of that name is refused rather than waited for.
  const OwnedDescriptor file(openat(folder.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!IsOwn(file.get(), S_IFREG)) return std::nullopt;
  return ReadWhole(file.get());
}

bool OwnFolder::Write(const std::string& name, std::initializer_list<std::string_view> parts) const {
  MakeFolder(path_);
  const OwnedDescriptor folder(OpenFolder(path_));
  if (!IsOwn(folder.get(), S_IFDIR)) return false;
  static std::atomic<unsigned> count = 0;
  const std::string temporary = fmt::format("{}.tmp-{}-{}", name, getpid(), count++);
  bool written = false;
  {
    constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
    const OwnedDescriptor file(openat(folder.get(), temporary.c_str(), kFlags, S_IRUSR | S_IWUSR));
    if (file.get() < 0) return false;
    written = std::ranges::all_of(parts, [&](std::string_view part) { return WriteWhole(file.get(), part); });
  }
  // Renaming replaces a link of that name, not what it points to.
  if (written && renameat(folder.get(), temporary.c_str(), folder.get(), name.c_str()) == 0) return true;
  unlinkat(folder.get(), temporary.c_str(), 0);
  return false;
}

void OwnFolder::Touch(const std::string& name) const {
  const OwnedDescriptor folder(OpenFolder(path_));
  if (IsOwn(folder.get(), S_IFDIR)) utimensat(folder.get(), name.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
}

void OwnFolder::Trim(uint64_t bytes) const {
  struct Entry {
    std::filesystem::file_time_type used;
    uint64_t size;
    std::filesystem::path path;
  };
  std::vector<Entry> entries;
  uint64_t total = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator at(path_, error), end; !error && at != end; at.increment(error)) {
    std::error_code gone;
    if (!at->is_regular_file(gone) || at->is_symlink(gone)) continue;
    const uint64_t size = at->file_size(gone);
    const std::filesystem::file_time_type used = at->last_write_time(gone);
    if (gone) continue;
    entries.push_back({used, size, at->path()});
    total += size;
  }
  if (total <= bytes) return;
  std::ranges::sort(entries, {}, &Entry::used);
  for (const Entry& entry : entries) {
    if (total <= bytes) return;
    if (std::filesystem::remove(entry.path, error)) total -= entry.size;
  }
}

}  // namespace iropt
