// Files that are read as a whole, without mappings, names and permissions.
#include "support/file_system.h"

#include <unistd.h>

#include <cstdlib>

namespace iropt {

void* MapFile(int fd, size_t size) {
  auto* const data = static_cast<char*>(std::malloc(size));
  size_t used = 0;
  while (data != nullptr && used < size) {
    const ssize_t n = pread(fd, data + used, size - used, static_cast<off_t>(used));
    if (n <= 0) {
      std::free(data);
      return nullptr;
    }
    used += static_cast<size_t>(n);
  }
  return data;
}
void UnmapFile(void* mapping, size_t) { std::free(mapping); }
void DiscardPages(std::string_view) {}

std::string DescriptorPath(int) { return {}; }
int CreateUnnamed(const std::string&) { return -1; }
bool SetPermissions(int, mode_t) { return true; }

}  // namespace iropt
