#include "iropt/support/child_process.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>
#include <vector>

#include "../catch.h"
#include "iropt/support/parallel.h"
#include "iropt/support/shell.h"

using namespace iropt;

TEST_CASE("a child returns its text and changes nothing here") {
  int value = 1;
  const Result<ChildReport> report = RunInChild([&](OutputStream& out) {
    value = 2;
    int sum = 0;
    ParallelFor(100, 4, [&](size_t i) { sum += static_cast<int>(i); });  // on one thread
    out.Append(fmt::format("{} {}", value, sum));
  });
  REQUIRE(report.ok());
  CHECK(report->text == "2 4950");
  CHECK(report->crash.empty());
  CHECK(value == 1);
}

TEST_CASE("a child that crashes leaves the text before the crash") {
  const Result<ChildReport> report = RunInChild([](OutputStream& out) {
    out.Append("begun");
    static_cast<void>(out.Flush());
    std::raise(SIGKILL);
  });
  REQUIRE(report.ok());
  CHECK(report->text == "begun");
  CHECK(report->crash == "crashed: Killed");
}

TEST_CASE("a child that stops with an exit code has not finished its work") {
  const Result<ChildReport> report = RunInChild([](OutputStream&) { _exit(70); });
  REQUIRE(report.ok());
  CHECK(report->crash == "stopped with an internal error");
}

TEST_CASE("a child ends with its object") {
  pid_t child = 0;
  {
    Result<ChildProcess> process = ChildProcess::Start([](OutputStream& out) {
      out.AppendInt(getpid());
      static_cast<void>(out.Flush());
      while (true) pause();
    });
    REQUIRE(process.ok());
    std::array<char, 32> text{};
    REQUIRE(read(process->descriptor(), text.data(), text.size() - 1) > 0);
    child = static_cast<pid_t>(std::stol(text.data()));
    CHECK(kill(child, 0) == 0);
  }
  CHECK(kill(child, 0) != 0);
}

TEST_CASE("a child ends with the process that started it") {
  std::array<int, 2> ends{};
  REQUIRE(pipe(ends.data()) == 0);
  // The end of the file says that neither of the two processes has it any more.
  Result<ChildProcess> process = ChildProcess::Start([&](OutputStream&) {
    const Result<ChildProcess> grandchild = ChildProcess::Start([](OutputStream&) {
      while (true) pause();
    });
    raise(SIGKILL);
  });
  REQUIRE(process.ok());
  close(ends[1]);
  char byte = 0;
  CHECK(read(ends[0], &byte, 1) == 0);
  close(ends[0]);
}

TEST_CASE("a child has no more memory than it is given") {
  Result<ChildProcess> process =
      ChildProcess::Start([](OutputStream&) { std::vector<char>(size_t{1} << 30, 'x'); }, int64_t{1} << 29);
  REQUIRE(process.ok());
  while (process->Read()) {
  }
  CHECK(process->Finish().crash == "ran out of memory");
}

TEST_CASE("a command of the shell has an exit code") {
  const auto code_of = [](const std::string& command) {
    const Result<int> code = RunShellCommand(command);
    REQUIRE(code.ok());
    return *code;
  };
  CHECK(code_of("test -e /dev/null") == 0);
  CHECK(code_of("echo to nowhere; exit 3") == 3);
  CHECK(code_of("read line") == 1);
  CHECK(code_of("no-such-command-at-all") == 127);
  CHECK(code_of("kill -9 $$") == 128 + SIGKILL);
}

TEST_CASE("a command gets the file in place of {}, or as its last word") {
  CHECK(CommandOn("test -e", "a.ir") == "test -e a.ir");
  CHECK(CommandOn("run {} | grep -v {}", "a b.ir") == "run 'a b.ir' | grep -v 'a b.ir'");
  CHECK(CommandOn("cat", "it's {}") == "cat 'it'\\''s {}'");
  CHECK(CommandOn("", "") == " ''");
}
