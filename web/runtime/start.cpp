// The folder in which the program starts: that of the variable PWD, since WASI has none.
#include <unistd.h>

#include <cstdlib>

namespace {

[[gnu::constructor]] void EnterFolder() {
  const char* folder = std::getenv("PWD");
  // Where it is missing, paths are relative to the root.
  if (folder != nullptr && chdir(folder) != 0) return;
}

}  // namespace
