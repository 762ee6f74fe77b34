// The memory of the process.
#pragma once

#include <cstddef>

namespace iropt {

// The bytes that are in memory now; 0 where the system does not tell.
size_t ResidentBytes();

}  // namespace iropt
