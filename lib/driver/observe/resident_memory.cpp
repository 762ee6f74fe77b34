#include "resident_memory.h"

#include <unistd.h>

#include <fstream>

namespace iropt {

size_t ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  size_t all_pages = 0;
  size_t resident_pages = 0;
  if (!(file >> all_pages >> resident_pages)) return 0;
  return resident_pages * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace iropt
