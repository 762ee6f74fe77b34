// The memory allocator of the tools: mimalloc. Passes make many small objects that live briefly, for which it needs
// half of the instructions of glibc's malloc. Its own operator new ends the program where memory runs out; this one
// throws, as the standard says. A program that uses the library has the allocator of its choice. Memory goes back to
// the system a second after it was freed: passes over weights and calls of models free and allocate the same megabytes
// over and over, and a page that comes from the system again costs more than its use. For that reason the pages are
// huge ones (2 MB) where the system has them: half of the time of a big text, nine tenths of that of a model with 100
// MB of weights were page faults.
#include <mimalloc.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <new>
#include <string_view>

#include "iropt/support/result.h"

namespace {

// In milliseconds; what the environment says comes first.
constexpr long kKeepFreedMemory = 1000;  // NOLINT(google-runtime-int): the type of mimalloc
#if MI_MALLOC_VERSION < 210
constexpr mi_option_t kKeepingOption = mi_option_decommit_delay;
#else
constexpr mi_option_t kKeepingOption = mi_option_purge_delay;
#endif
void SetUp() {
  mi_option_set_default(kKeepingOption, kKeepFreedMemory);
  mi_option_set_default(mi_option_large_os_pages, 1);
}
// Before the constructors of libraries, whose first allocation already takes pages.
[[maybe_unused, gnu::used, gnu::section(".preinit_array")]] void (*const set_up)() = SetUp;

// Before the tool has started, an exception would find neither memory nor somebody to catch it.
[[noreturn]] void EndWithoutMemory() {
  constexpr std::string_view kMessage = "error: out of memory\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kMessage.data(), kMessage.size());
  _exit(iropt::ExitCode(iropt::ErrorCode::Budget));
}

// Calls the handler of std::set_new_handler until there is memory, or it throws.
void* AllocateSlowly(size_t size, size_t align) {
  static std::atomic<bool> had_handler = false;
  while (true) {
    if (void* memory = mi_malloc_aligned(size, align)) return memory;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr && !had_handler) EndWithoutMemory();
    if (handler == nullptr) throw std::bad_alloc();
    had_handler = true;
    handler();
  }
}

}  // namespace

// All forms, because mimalloc has each of them, too.
void* operator new(size_t size) {
  if (void* memory = mi_malloc(size)) [[likely]]
    return memory;
  return AllocateSlowly(size, alignof(std::max_align_t));
}
void* operator new(size_t size, std::align_val_t align) { return AllocateSlowly(size, static_cast<size_t>(align)); }
void* operator new[](size_t size) { return operator new(size); }
void* operator new[](size_t size, std::align_val_t align) { return operator new(size, align); }

void* operator new(size_t size, std::align_val_t align, const std::nothrow_t&) noexcept try {
  return operator new(size, align);
} catch (const std::bad_alloc&) {
  return nullptr;
}
void* operator new(size_t size, const std::nothrow_t& nothrow) noexcept {
  return operator new(size, std::align_val_t(alignof(std::max_align_t)), nothrow);
}
void* operator new[](size_t size, std::align_val_t align, const std::nothrow_t& nothrow) noexcept {
  return operator new(size, align, nothrow);
}
void* operator new[](size_t size, const std::nothrow_t& nothrow) noexcept { return operator new(size, nothrow); }

void operator delete(void* memory) noexcept { mi_free(memory); }
void operator delete(void* memory, size_t) noexcept { mi_free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { mi_free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { mi_free(memory); }
void operator delete[](void* memory) noexcept { mi_free(memory); }
void operator delete[](void* memory, size_t) noexcept { mi_free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { mi_free(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { mi_free(memory); }
