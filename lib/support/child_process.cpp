#include "iropt/support/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

#include "iropt/support/crash.h"
#include "iropt/support/parallel.h"
#include "iropt/support/status_line.h"

extern char** environ;

namespace iropt {

namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGINT, SIGTERM, SIGHUP};
constexpr int kSignalBase = 128;

Error SystemError(std::string_view what) {
  return {ErrorCode::Internal, fmt::format("{}: {}", what, std::strerror(errno))};  // NOLINT(concurrency-mt-unsafe)
}

// The parent may have ended before this is called.
void EndWithParent(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(ExitCode(ErrorCode::Internal));
}

// Of memory that the process writes to; files that are mapped for reading do not count.
void LimitMemory(int64_t bytes) {
  rlimit limit{};
  if (bytes <= 0 || getrlimit(RLIMIT_DATA, &limit) != 0) return;
  limit.rlim_cur = std::min(limit.rlim_max, static_cast<rlim_t>(bytes));
  setrlimit(RLIMIT_DATA, &limit);
}

// An exception other than std::bad_alloc ends the process: nothing below must run in the child.
[[noreturn]] void BeChild(int out, FunctionRef<void(OutputStream&)> work) noexcept {
  for (const int number : kSignals) signal(number, SIG_DFL);
  ForgetFilesOfCrash();
  UseOneThread();
  const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nowhere, stream);
  try {
    OutputStream stream(out);
    work(stream);
    static_cast<void>(stream.Flush());
  } catch (const std::bad_alloc&) {
    _exit(ExitCode(ErrorCode::Budget));
  }
  _exit(0);
}

int WaitFor(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

std::string CrashOf(int status) {
  if (WIFSIGNALED(status)) {
    return fmt::format("crashed: {}", strsignal(WTERMSIG(status)));  // NOLINT(concurrency-mt-unsafe)
  }
  if (WEXITSTATUS(status) == ExitCode(ErrorCode::Budget)) return "ran out of memory";
  return WEXITSTATUS(status) == 0 ? "" : "stopped with an internal error";
}

// No other thread holds the lock of the status line then.
pid_t Fork() {
  const StatusLinePause pause;
  return fork();
}

}  // namespace

Result<ChildProcess> ChildProcess::Start(FunctionRef<void(OutputStream&)> work, int64_t memory_bytes) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return SystemError("cannot make a pipe");
  const pid_t parent = getpid();
  const pid_t child = Fork();
  if (child == 0) {
    setpgid(0, 0);
    EndWithParent(parent);
    LimitMemory(memory_bytes);
    BeChild(ends[1], work);
  }
  close(ends[1]);
  if (child < 0) {
    Error error = SystemError("cannot start a process");
    close(ends[0]);
    return error;
  }
  setpgid(child, child);  // whichever of both comes first
  return ChildProcess(child, ends[0]);
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : process_(std::exchange(other.process_, 0)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      text_(std::move(other.text_)) {}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  std::swap(process_, other.process_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(text_, other.text_);
  return *this;
}

ChildProcess::~ChildProcess() {
  if (process_ != 0) {
    kill(-process_, SIGKILL);
    WaitFor(process_);
  }
  if (descriptor_ >= 0) close(descriptor_);
}

bool ChildProcess::Read() {
  std::array<char, 1 << 16> buffer;
  ssize_t count = 0;
  do {
    count = read(descriptor_, buffer.data(), buffer.size());
  } while (count < 0 && errno == EINTR);
  if (count > 0) text_.append(buffer.data(), static_cast<size_t>(count));
  return count > 0;
}

ChildReport ChildProcess::Finish() {
  const int status = WaitFor(std::exchange(process_, 0));
  return {.text = std::move(text_), .crash = CrashOf(status)};
}

Result<ChildReport> RunInChild(FunctionRef<void(OutputStream&)> work) {
  IROPT_ASSIGN_OR_RETURN(ChildProcess child, ChildProcess::Start(work));
  while (child.Read()) {
  }
  return child.Finish();
}

Result<int> RunShellCommand(const std::string& command) {
  std::string shell = "/bin/sh";
  std::string flag = "-c";
  std::string script = command;
  const std::array<char*, 4> words = {shell.data(), flag.data(), script.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int failure = posix_spawn(&child, shell.c_str(), &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) {
    errno = failure;
    return SystemError("cannot run /bin/sh");
  }
  const int status = WaitFor(child);
  return WIFSIGNALED(status) ? kSignalBase + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace iropt
