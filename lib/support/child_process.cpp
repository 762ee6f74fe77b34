#include "iropt/support/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

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

// An exception ends the process: nothing below must run in the child.
[[noreturn]] void BeChild(int out, FunctionRef<void(OutputStream&)> work) noexcept {
  for (const int number : kSignals) signal(number, SIG_DFL);
  ForgetFilesOfCrash();
  UseOneThread();
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  dup2(nowhere, STDOUT_FILENO);
  dup2(nowhere, STDERR_FILENO);
  OutputStream stream(out);
  work(stream);
  static_cast<void>(stream.Flush());
  _exit(0);
}

std::string ReadAll(int fd) {
  std::string text;
  std::array<char, 4096> buffer;
  while (true) {
    const ssize_t n = read(fd, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return text;
    text.append(buffer.data(), static_cast<size_t>(n));
  }
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
  return WEXITSTATUS(status) == 0 ? "" : "stopped with an internal error";
}

// No other thread holds the lock of the status line then.
pid_t Fork() {
  const StatusLinePause pause;
  return fork();
}

}  // namespace

Result<ChildReport> RunInChild(FunctionRef<void(OutputStream&)> work) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return SystemError("cannot make a pipe");
  const pid_t child = Fork();
  if (child == 0) BeChild(ends[1], work);
  close(ends[1]);
  if (child < 0) {
    const Error error = SystemError("cannot start a process");
    close(ends[0]);
    return error;
  }
  ChildReport report{.text = ReadAll(ends[0])};
  close(ends[0]);
  report.crash = CrashOf(WaitFor(child));
  return report;
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
