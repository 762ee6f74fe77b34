// The memory of this process, as the system counts it.
#pragma once

#include <cstdint>

namespace iropt {

// The bytes of the process in main memory now, mapped files included; 0 if the system does not tell.
int64_t ResidentBytes();
// The most that was there at any time so far.
int64_t PeakResidentBytes();

}  // namespace iropt
