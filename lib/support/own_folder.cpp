#include "iropt/support/own_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <memory>
#include <system_error>
#include <tuple>
#include <vector>

#include "descriptor.h"

namespace iropt {

namespace {

constexpr int kOpenFolder = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
constexpr std::string_view kUnfinished = ".tmp-";

// A checksum does not tell who wrote a file: nobody else may be able to write the file or folder.
bool IsOwn(int fd, mode_t type) {
  struct stat info = {};
  if (fd < 0 || fstat(fd, &info) != 0) return false;
  return (info.st_mode & S_IFMT) == type && info.st_uid == geteuid() && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// "NAME.EXTENSION", or "NAME.EXTENSION.tmp-..." while it is written.
bool HasExtension(std::string_view name, std::span<const std::string_view> extensions) {
  name = name.substr(0, name.find(kUnfinished));
  return std::ranges::any_of(extensions, [&](std::string_view extension) { return name.ends_with(extension); });
}

struct FolderEntry {
  timespec used;
  uint64_t size;
  std::string name;
};

// The regular files with one of the extensions; takes over the descriptor.
std::vector<FolderEntry> EntriesOf(int folder, std::span<const std::string_view> extensions) {
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(fdopendir(folder), closedir);
  std::vector<FolderEntry> entries;
  if (!stream) return entries;
  while (const dirent* entry = readdir(stream.get())) {  // NOLINT(concurrency-mt-unsafe): the stream is not shared
    struct stat info = {};
    if (!HasExtension(entry->d_name, extensions)) continue;
    if (fstatat(dirfd(stream.get()), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode))
      continue;
    entries.push_back({info.st_mtim, static_cast<uint64_t>(info.st_size), entry->d_name});
  }
  return entries;
}

}  // namespace

int OwnFolder::Open() const {
  const int whole = open(path_.c_str(), kOpenFolder);
  if (part_.empty() && IsOwn(whole, S_IFDIR)) return whole;
  const Descriptor folder(whole);
  if (part_.empty() || !IsOwn(whole, S_IFDIR)) return -1;
  const int part = openat(whole, part_.c_str(), kOpenFolder | O_NOFOLLOW);
  if (IsOwn(part, S_IFDIR)) return part;
  if (part >= 0) close(part);
  return -1;
}

// Folders above get the permissions that the umask gives.
void OwnFolder::Make() const {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::path(path_).parent_path();
  if (!parent.empty()) std::filesystem::create_directories(parent, error);
  static_cast<void>(mkdir(path_.c_str(), S_IRWXU));
  if (part_.empty()) return;
  const Descriptor folder(open(path_.c_str(), kOpenFolder));
  if (IsOwn(folder.get(), S_IFDIR)) static_cast<void>(mkdirat(folder.get(), part_.c_str(), S_IRWXU));
}

std::string OwnFolder::Problem() const {
  Make();
  const Descriptor folder(Open());
  if (folder.get() >= 0) {
    if (faccessat(folder.get(), ".", W_OK | X_OK, AT_EACCESS) == 0) return {};
    return ErrnoText(errno);
  }
  for (const std::string& path : {path_, path_ + '/' + part_}) {
    const Descriptor part(open(path.c_str(), kOpenFolder));
    struct stat info = {};
    if (part.get() < 0 || fstat(part.get(), &info) != 0) return ErrnoText(errno);
    if (info.st_uid != geteuid()) return "it belongs to another user";
    if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "others can write to it";
  }
  return "a folder in it is a link";
}

std::optional<std::string> OwnFolder::Read(const std::string& name) const {
  const Descriptor folder(Open());
  if (folder.get() < 0) return std::nullopt;
  // Not blocking, so that a pipe of that name is refused rather than waited for.
  const Descriptor file(openat(folder.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat info = {};
  if (!IsOwn(file.get(), S_IFREG) || fstat(file.get(), &info) != 0) return std::nullopt;
  std::string text;
  if (ReadToEnd(file.get(), static_cast<size_t>(info.st_size), text) != 0) return std::nullopt;
  return text;
}

bool OwnFolder::Write(const std::string& name, std::initializer_list<std::string_view> parts) const {
  Make();
  const Descriptor folder(Open());
  if (folder.get() < 0) return false;
  static std::atomic<unsigned> count = 0;
  const std::string temporary = fmt::format("{}{}{}-{}", name, kUnfinished, getpid(), count++);
  bool written = false;
  {
    constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
    const Descriptor file(openat(folder.get(), temporary.c_str(), kFlags, S_IRUSR | S_IWUSR));
    if (file.get() < 0) return false;
    written = std::ranges::all_of(parts, [&](std::string_view part) { return WriteAll(file.get(), part) == 0; });
  }
  // Renaming replaces a link of that name, not what it points to.
  if (written && renameat(folder.get(), temporary.c_str(), folder.get(), name.c_str()) == 0) return true;
  unlinkat(folder.get(), temporary.c_str(), 0);
  return false;
}

void OwnFolder::Touch(const std::string& name) const {
  const Descriptor folder(Open());
  if (folder.get() >= 0) utimensat(folder.get(), name.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
}

void OwnFolder::Trim(uint64_t bytes, std::span<const std::string_view> extensions) const {
  const Descriptor folder(Open());
  if (folder.get() < 0) return;
  std::vector<FolderEntry> entries = EntriesOf(fcntl(folder.get(), F_DUPFD_CLOEXEC, 0), extensions);
  uint64_t total = 0;
  for (const FolderEntry& entry : entries) total += entry.size;
  if (total <= bytes) return;
  std::ranges::sort(entries, {},
                    [](const FolderEntry& entry) { return std::tuple(entry.used.tv_sec, entry.used.tv_nsec); });
  for (const FolderEntry& entry : entries) {
    if (total <= bytes) return;
    unlinkat(folder.get(), entry.name.c_str(), 0);
    total -= entry.size;
  }
}

}  // namespace iropt
