// Work in a copy of this process, which may crash without harm, and commands of a shell.
#pragma once

#include <string>

#include "iropt/support/file.h"
#include "iropt/support/function_ref.h"
#include "iropt/support/result.h"

namespace iropt {

struct ChildReport {
  std::string text = {};   // that the work wrote, also before a crash
  std::string crash = {};  // the way in which the child ended; empty if the work was finished
};

// Runs `work` in a forked copy of this process and waits for it. What it writes to the stream is returned; the standard
// outputs of the child lead nowhere. It has one thread and leaves the unfinished files of this process alone.
Result<ChildReport> RunInChild(FunctionRef<void(OutputStream&)> work);

// Runs a command of the shell without input and output. Returns its exit code; the number of a signal that ended it
// comes on top of 128, as in a shell.
Result<int> RunShellCommand(const std::string& command);

}  // namespace iropt
