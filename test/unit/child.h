// Running a part of a test in a child process, to observe its end.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>

#include "catch.h"
#include "iropt/support/check_failure.h"
#include "iropt/support/function_ref.h"

namespace iropt {

struct Outcome {
  int exit_code = -1;  // -1 after a signal
  int signal = 0;
  std::string errors;
};

// Runs `f` in a child process.
inline Outcome RunInChild(FunctionRef<void()> f) {
  std::array<int, 2> ends{};
  REQUIRE(pipe(ends.data()) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    EndProcessOnCheckFailure();
    f();
    _exit(0);
  }
  close(ends[1]);
  Outcome outcome;
  std::array<char, 256> buffer{};
  for (ssize_t n = 0; (n = read(ends[0], buffer.data(), buffer.size())) > 0;) {
    outcome.errors.append(buffer.data(), static_cast<size_t>(n));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status)) outcome.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) outcome.signal = WTERMSIG(status);
  return outcome;
}

}  // namespace iropt
