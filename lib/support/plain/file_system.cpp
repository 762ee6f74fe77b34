// Files without mappings, files without names and permissions.
#include "support/file_system.h"

namespace iropt {

void* MapFile(int, size_t) { return nullptr; }
void UnmapFile(void*, size_t) {}
void DiscardPages(std::string_view) {}

std::string DescriptorPath(int) { return {}; }
int CreateUnnamed(const std::string&) { return -1; }
bool SetPermissions(int, mode_t) { return true; }

}  // namespace iropt
