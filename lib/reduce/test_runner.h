// Runs the command that decides whether a candidate is interesting.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "iropt/support/function_ref.h"
#include "iropt/support/result.h"

namespace iropt {

struct TestOptions {
  std::string command;  // of the shell; {} stands for the file, which is the last argument without it
  std::string name;     // of the files
  int jobs = 1;         // tests at a time
  int timeout = 60;     // seconds
};

enum class TestVerdict : uint8_t { Interesting, NotInteresting, TimedOut };

// Owns a folder for the files. While it exists, interrupts end tests instead of the program. Tests run in process
// groups of their own, so that nothing that they started outlives them.
class TestRunner {
 public:
  static Result<std::unique_ptr<TestRunner>> Create(TestOptions options);
  ~TestRunner();
  TestRunner(const TestRunner&) = delete;
  TestRunner& operator=(const TestRunner&) = delete;

  const std::string& folder() const { return folder_; }
  // The number of tests that were started.
  size_t tests() const { return tests_; }
  bool interrupted() const { return interrupted_; }

  struct Outcome {
    TestVerdict verdict = TestVerdict::NotInteresting;
    std::string status;  // "exit code 1"
    std::string output;  // of the command, both streams
  };
  // Runs one test. Fails if it cannot be started.
  Result<Outcome> Run(std::string_view text);

  // The text of a candidate by its number; null if it need not be tested, because it is certainly not interesting.
  using TextOf = FunctionRef<const std::string*(size_t)>;
  // The lowest number of an interesting candidate; nothing if there is none or the search was interrupted. Several
  // tests run at a time, but what is returned does not depend on how many. Texts are asked for in order, once each.
  Result<std::optional<size_t>> FindFirst(size_t count, TextOf text_of);

 private:
  using Clock = std::chrono::steady_clock;
  struct Process {
    size_t candidate = 0;
    size_t slot = 0;
    pid_t pid = 0;
    Clock::time_point deadline;
  };
  struct Ended {
    Process process;
    TestVerdict verdict = TestVerdict::NotInteresting;
    int status = 0;
  };

  TestRunner(TestOptions options, std::string folder);

  Result<Process> Start(size_t candidate, size_t slot, std::string_view text, const char* output);
  Result<pid_t> Spawn(const std::string& file, const char* output) const;
  std::string FileOf(size_t slot) const;
  size_t FreeSlot() const;
  // Waits for one of the running tests to end or to be out of time. Nothing after an interrupt.
  std::optional<Ended> WaitForAny();
  std::optional<Ended> Reap();
  void KillFrom(size_t candidate);

  const TestOptions options_;
  const std::string folder_;
  sigset_t waited_ = {};    // signals that are taken by sigtimedwait
  sigset_t old_mask_ = {};  // of the program
  std::vector<Process> running_;
  size_t tests_ = 0;
  bool interrupted_ = false;
};

}  // namespace iropt
