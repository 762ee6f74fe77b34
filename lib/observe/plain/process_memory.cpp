// The memory of a program that never gives memory back.
#include "observe/process_memory.h"

#include <cstddef>

namespace iropt {

namespace {

constexpr size_t kPage = 65536;

}  // namespace

int64_t ResidentBytes() { return static_cast<int64_t>(__builtin_wasm_memory_size(0) * kPage); }

int64_t PeakResidentBytes() { return ResidentBytes(); }

}  // namespace iropt
