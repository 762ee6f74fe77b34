#include "object_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "iropt/support/hash.h"

namespace iropt::codegen {

namespace {

struct Header {
  char magic[8] = {'i', 'r', 'l', 'o', 'o', 'p', 's', '1'};
  uint64_t size = 0;
  uint64_t checksum = 0;
};

Header HeaderOf(const std::string& key, std::string_view object) {
  Header header;
  header.size = object.size();
  header.checksum = HashCombine(HashString(key), HashString(object));
  return header;
}

// A descriptor that is closed at the end; -1 if there is none.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

// What is read is run, and a checksum does not tell who wrote it: nobody else may be able to write the file or folder.
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

std::string ReadToEnd(int fd) {
  std::string text;
  char part[1 << 16];
  while (true) {
    const ssize_t size = read(fd, part, sizeof part);
    if (size > 0) {
      text.append(part, static_cast<size_t>(size));
    } else if (size == 0) {
      return text;
    } else if (errno != EINTR) {
      return {};
    }
  }
}

bool WriteToEnd(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t size = write(fd, text.data(), text.size());
    if (size < 0 && errno != EINTR) return false;
    if (size > 0) text.remove_prefix(static_cast<size_t>(size));
  }
  return true;
}

// Renaming replaces a link of that name, not what it points to.
void WriteAndRename(int folder, const std::string& name, std::string_view text) {
  static std::atomic<unsigned> count = 0;
  const std::string temporary = fmt::format("{}.tmp-{}-{}", name, getpid(), count++);
  bool written = false;
  {
    const Descriptor file(
        openat(folder, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR));
    if (file.get() < 0) return;
    written = WriteToEnd(file.get(), text);
  }
  if (!written || renameat(folder, temporary.c_str(), folder, name.c_str()) != 0)
    unlinkat(folder, temporary.c_str(), 0);
}

}  // namespace

std::string ObjectCache::Load(const std::string& key) {
  const Descriptor folder(OpenFolder(folder_));
  if (!IsOwn(folder.get(), S_IFDIR)) return {};
  // Not blocking, so that a pipe of that name is refused rather than waited for.
  const Descriptor file(openat(folder.get(), NameOf(key).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!IsOwn(file.get(), S_IFREG)) return {};
  const std::string text = ReadToEnd(file.get());
  if (text.size() >= sizeof(Header)) {
    const std::string_view object = std::string_view(text).substr(sizeof(Header));
    const Header expected = HeaderOf(key, object);
    if (std::memcmp(text.data(), &expected, sizeof expected) == 0) return std::string(object);
  }
  ++damaged_;
  return {};
}

void ObjectCache::Store(const std::string& key, std::string_view object) {
  MakeFolder(folder_);
  const Descriptor folder(OpenFolder(folder_));
  if (!IsOwn(folder.get(), S_IFDIR)) return;
  const Header header = HeaderOf(key, object);
  std::string text(reinterpret_cast<const char*>(&header), sizeof header);
  text += object;
  WriteAndRename(folder.get(), NameOf(key), text);
}

}  // namespace iropt::codegen
