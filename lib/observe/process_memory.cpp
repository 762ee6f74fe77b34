#include "process_memory.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <string_view>

namespace iropt {

// /proc/self/statm holds the pages of the process: "SIZE RESIDENT ...".
int64_t ResidentBytes() {
  const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  std::array<char, 128> buffer = {};
  const ssize_t size = read(file, buffer.data(), buffer.size());
  close(file);
  if (size <= 0) return 0;
  const std::string_view text(buffer.data(), static_cast<size_t>(size));
  const size_t space = text.find(' ');
  if (space == std::string_view::npos) return 0;
  int64_t pages = 0;
  std::from_chars(text.data() + space + 1, text.data() + text.size(), pages);
  return pages * sysconf(_SC_PAGESIZE);
}

int64_t PeakResidentBytes() {
  struct rusage usage = {};
  constexpr int64_t kKibi = 1024;
  return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_maxrss * kKibi : 0;
}

}  // namespace iropt
