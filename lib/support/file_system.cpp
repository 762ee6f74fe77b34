#include "file_system.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>

namespace iropt {

void* MapFile(int fd, size_t size) {
  void* mapping = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  return mapping == MAP_FAILED ? nullptr : mapping;
}

void UnmapFile(void* mapping, size_t size) { munmap(mapping, size); }

void DiscardPages(std::string_view part) {
  static const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<uintptr_t>(part.data()) + page - 1) / page * page;
  const auto end = reinterpret_cast<uintptr_t>(part.data() + part.size()) / page * page;
  // Advice only: without it the memory stays in use.
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

std::string DescriptorPath(int fd) { return fmt::format("/proc/self/fd/{}", fd); }

int CreateUnnamed(const std::string& target) {
  const std::string folder = std::filesystem::path(target).parent_path().string();
  const int fd = open(folder.empty() ? "." : folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  if (fd >= 0 && access(DescriptorPath(fd).c_str(), F_OK) != 0) {
    close(fd);
    return -1;
  }
  return fd;
}

bool SetPermissions(int fd, mode_t mode) { return fchmod(fd, mode) == 0; }

}  // namespace iropt
