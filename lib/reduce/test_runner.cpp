#include "test_runner.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <utility>

#include "iropt/support/file.h"
#include "iropt/support/shell.h"

namespace iropt {

namespace {

constexpr std::string_view kFolderPattern = "ir-reduce-XXXXXX";
constexpr const char* kNowhere = "/dev/null";

std::string DescribeStatus(int status) {
  if (WIFSIGNALED(status)) return fmt::format("signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  return fmt::format("exit code {}", WEXITSTATUS(status));
}

TestVerdict VerdictOf(int status) {
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? TestVerdict::Interesting : TestVerdict::NotInteresting;
}

// Ends a test and all that it started.
void KillGroup(pid_t pid) {
  kill(-pid, SIGKILL);
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

// The settings of a new process, which are freed with it.
class SpawnSettings {
 public:
  SpawnSettings(const sigset_t& mask, const char* output) {
    posix_spawnattr_init(&attributes_);
    posix_spawn_file_actions_init(&files_);
    sigset_t defaults;
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes_, &defaults);
    posix_spawnattr_setsigmask(&attributes_, &mask);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawn_file_actions_addopen(&files_, STDIN_FILENO, kNowhere, O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files_, STDOUT_FILENO, output, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&files_, STDOUT_FILENO, STDERR_FILENO);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  ~SpawnSettings() {
    posix_spawnattr_destroy(&attributes_);
    posix_spawn_file_actions_destroy(&files_);
  }

  const posix_spawnattr_t* attributes() const { return &attributes_; }
  const posix_spawn_file_actions_t* files() const { return &files_; }

 private:
  posix_spawnattr_t attributes_ = {};
  posix_spawn_file_actions_t files_ = {};
};

bool IsIgnored(int signal) {
  struct sigaction action = {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

Result<std::unique_ptr<TestRunner>> TestRunner::Create(TestOptions options) {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  if (error)
    return Error{ErrorCode::Usage, fmt::format("cannot find the folder for temporary files: {}", error.message())};
  std::string folder = (parent / kFolderPattern).string();
  if (mkdtemp(folder.data()) == nullptr)
    return Error{ErrorCode::Usage, fmt::format("cannot create '{}': {}", folder, std::strerror(errno))};
  return std::unique_ptr<TestRunner>(new TestRunner(std::move(options), std::move(folder)));
}

TestRunner::TestRunner(TestOptions options, std::string folder)
    : options_(std::move(options)), folder_(std::move(folder)) {
  std::signal(SIGCHLD, SIG_DFL);
  sigemptyset(&waited_);
  sigaddset(&waited_, SIGCHLD);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    if (!IsIgnored(signal)) sigaddset(&waited_, signal);
  }
  sigprocmask(SIG_BLOCK, &waited_, &old_mask_);
}

TestRunner::~TestRunner() {
  KillFrom(0);
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
  sigprocmask(SIG_SETMASK, &old_mask_, nullptr);
}

std::string TestRunner::FileOf(size_t slot) const {
  return (std::filesystem::path(folder_) / fmt::format("{}-{}", slot, options_.name)).string();
}

Result<pid_t> TestRunner::Spawn(const std::string& file, const char* output) const {
  const SpawnSettings settings(old_mask_, output);
  std::string shell = "sh";
  std::string flag = "-c";
  std::string command = CommandOn(options_.command, file);
  char* const arguments[] = {shell.data(), flag.data(), command.data(), nullptr};
  pid_t pid = 0;
  const int failed = posix_spawn(&pid, "/bin/sh", settings.files(), settings.attributes(), arguments, environ);
  if (failed != 0) return Error{ErrorCode::Usage, fmt::format("cannot start the test: {}", std::strerror(failed))};
  return pid;
}

Result<TestRunner::Process> TestRunner::Start(size_t candidate, size_t slot, std::string_view text,
                                              const char* output) {
  const std::string file = FileOf(slot);
  IROPT_RETURN_IF_ERROR(WriteFileAtomically(file, [&](OutputStream& out) {
    out.Append(text);
    return out.Flush();
  }));
  IROPT_ASSIGN_OR_RETURN(const pid_t pid, Spawn(file, output));
  ++tests_;
  return Process{candidate, slot, pid, Clock::now() + std::chrono::seconds(options_.timeout)};
}

size_t TestRunner::FreeSlot() const {
  size_t slot = 0;
  while (std::ranges::any_of(running_, [&](const Process& p) { return p.slot == slot; })) ++slot;
  return slot;
}

std::optional<TestRunner::Ended> TestRunner::Reap() {
  const auto now = Clock::now();
  for (auto process = running_.begin(); process != running_.end(); ++process) {
    Ended ended{*process};
    if (waitpid(process->pid, &ended.status, WNOHANG) == process->pid) {
      ended.verdict = VerdictOf(ended.status);
      kill(-process->pid, SIGKILL);  // what it left running
    } else if (process->deadline <= now) {
      KillGroup(process->pid);
      ended.verdict = TestVerdict::TimedOut;
    } else {
      continue;
    }
    running_.erase(process);
    return ended;
  }
  return std::nullopt;
}

std::optional<TestRunner::Ended> TestRunner::WaitForAny() {
  using std::chrono::nanoseconds;
  while (!interrupted_) {
    if (std::optional<Ended> ended = Reap()) return ended;
    const auto next = std::ranges::min_element(running_, {}, &Process::deadline);
    const auto left = std::max(nanoseconds(0), std::chrono::duration_cast<nanoseconds>(next->deadline - Clock::now()));
    const timespec wait = {.tv_sec = left.count() / 1'000'000'000, .tv_nsec = left.count() % 1'000'000'000};
    const int signal = sigtimedwait(&waited_, nullptr, &wait);
    interrupted_ = signal > 0 && signal != SIGCHLD;
  }
  return std::nullopt;
}

void TestRunner::KillFrom(size_t candidate) {
  std::erase_if(running_, [&](const Process& process) {
    if (process.candidate < candidate) return false;
    KillGroup(process.pid);
    return true;
  });
}

Result<TestRunner::Outcome> TestRunner::Run(std::string_view text) {
  const std::string log = (std::filesystem::path(folder_) / "output").string();
  IROPT_ASSIGN_OR_RETURN(Process process, Start(0, 0, text, log.c_str()));
  running_.push_back(process);
  const std::optional<Ended> ended = WaitForAny();
  KillFrom(0);
  if (!ended) return Outcome{};
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<const FileBuffer> output, ReadFile(log));
  const bool timed_out = ended->verdict == TestVerdict::TimedOut;
  return Outcome{ended->verdict,
                 timed_out ? fmt::format("no end within {} s", options_.timeout) : DescribeStatus(ended->status),
                 std::string(output->text())};
}

Result<std::optional<size_t>> TestRunner::FindFirst(size_t count, TextOf text_of) {
  std::optional<size_t> found;
  size_t next = 0;
  while (!interrupted_) {
    while (running_.size() < static_cast<size_t>(options_.jobs) && next < found.value_or(count)) {
      const size_t candidate = next++;
      const std::string* text = text_of(candidate);
      if (!text) continue;
      IROPT_ASSIGN_OR_RETURN(const Process process, Start(candidate, FreeSlot(), *text, kNowhere));
      running_.push_back(process);
    }
    if (running_.empty()) return found;
    const std::optional<Ended> ended = WaitForAny();
    if (!ended || ended->verdict != TestVerdict::Interesting) continue;
    found = ended->process.candidate;
    KillFrom(*found);
  }
  KillFrom(0);
  return std::optional<size_t>();
}

}  // namespace iropt
