// The effect of a failed check of the program's own assumptions (check.h): in a program that has its process for itself
// it ends the process; the library throws, so that a program around it decides.
#pragma once

#include <stdexcept>

namespace iropt {

// A bug in the library, or in the code that uses it. What the failed operation was working on must not be used again;
// other modules, contexts and threads are not affected. The text is the message with the place of the check.
class CheckFailure : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

// From now on a failed check prints its message and ends the process with ErrorCode::Internal, without running
// destructors, which could trip over the broken state. For programs, not for libraries; InstallCrashHandler calls it.
void EndProcessOnCheckFailure();

}  // namespace iropt
