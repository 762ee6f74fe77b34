// Threads that run next to the work, such as one that watches its limits.
#pragma once

namespace iropt {

// Returns whether this system can start threads.
bool CanStartThreads();

}  // namespace iropt
