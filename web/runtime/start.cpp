// What the C library asks of the program: the folder in which it starts, that of the variable PWD, since WASI has none.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

namespace {

[[gnu::constructor]] void EnterFolder() {
  const char* folder = std::getenv("PWD");
  // Where it is missing, paths are relative to the root.
  if (folder != nullptr && chdir(folder) != 0) return;
}

}  // namespace

// Debian's C library is compiled with checks of the stack.
extern "C" {
uintptr_t __stack_chk_guard = 0x5bd1e995;
[[noreturn]] void __stack_chk_fail() { std::abort(); }
}
