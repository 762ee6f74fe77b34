// Work in a copy of this process, which may crash without harm, and commands of a shell.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "iropt/support/file.h"
#include "iropt/support/function_ref.h"
#include "iropt/support/result.h"

namespace iropt {

struct ChildReport {
  std::string text = {};   // that the work wrote, also before a crash
  std::string crash = {};  // the way in which the child ended; empty if the work was finished
};

// A forked copy of this process. It ends with this object, and when the thread that started it ends, in whatever way;
// so do the processes that it starts, unless this process is killed. Its standard streams lead nowhere, it has one
// thread, and it leaves the unfinished files of this process alone.
class ChildProcess {
 public:
  // Starts `work`, whose stream Read reads. The child may allocate so many bytes; 0: without a limit.
  static Result<ChildProcess> Start(FunctionRef<void(OutputStream&)> work, int64_t memory_bytes = 0);
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  ~ChildProcess();

  // Ready for reading when Read does not have to wait.
  int descriptor() const { return descriptor_; }
  // Waits until the child has written something or ended, and keeps what it wrote. Returns whether there may be more.
  bool Read();
  // Waits for the end of the child, after Read has returned false.
  ChildReport Finish();

 private:
  ChildProcess(pid_t process, int descriptor) : process_(process), descriptor_(descriptor) {}

  pid_t process_;  // 0 if it has ended
  int descriptor_;
  std::string text_;
};

// Runs `work` in a child process and waits for it. What it writes to the stream is returned.
Result<ChildReport> RunInChild(FunctionRef<void(OutputStream&)> work);

// Runs a command of the shell without input and output. Returns its exit code; the number of a signal that ended it
// comes on top of 128, as in a shell.
Result<int> RunShellCommand(const std::string& command);

}  // namespace iropt
