#include "iropt/support/crash.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <new>
#include <string>
#include <vector>

#include "catch.h"
#include "child.h"
#include "iropt/support/check.h"
#include "iropt/support/file.h"
#include "iropt/support/parallel.h"
#include "iropt/support/stack.h"
#include "temporary_folder.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZERS_HANDLE_CRASHES 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZERS_HANDLE_CRASHES 1
#endif
#endif

namespace iropt {
namespace {

std::vector<std::string> Notes() {
  std::vector<std::string> notes;
  for (const CrashNote* note = CrashNote::Current(); note != nullptr; note = note->outer()) {
    notes.push_back(note->activity() + (" " + std::string(note->subject())));
  }
  return notes;
}

// Volatile, so that the compiler cannot know its value. Builds with sanitizers leave out the tests that use it.
[[maybe_unused]] int* volatile nowhere = reinterpret_cast<int*>(0x10);

bool Exists(const std::string& path) {
  struct stat info = {};
  return stat(path.c_str(), &info) == 0;
}

TEST_CASE("notes nest and end with their scopes", "[support]") {
  CHECK(Notes().empty());
  const CrashNote outer("running pass", "A");
  {
    const CrashNote inner("rewriting function", "f");
    CHECK(Notes() == std::vector<std::string>{"rewriting function f", "running pass A"});
  }
  CHECK(Notes() == std::vector<std::string>{"running pass A"});
}

TEST_CASE("notes end if an exception leaves their scopes", "[support]") {
  const auto f = [] {
    const CrashNote note("running pass", "A");
    throw 1;
  };
  CHECK_THROWS(f());
  CHECK(Notes().empty());
}

TEST_CASE("worker threads have the notes of the thread that started them", "[support]") {
  const CrashNote outer("running pass", "A");
  std::atomic<int> right = 0;
  ParallelFor(100, 4, [&](size_t) {
    const CrashNote inner("rewriting function", "f");
    if (Notes() == std::vector<std::string>{"rewriting function f", "running pass A"}) ++right;
  });
  CHECK(right == 100);
  CHECK(Notes() == std::vector<std::string>{"running pass A"});
}

TEST_CASE("a failed check prints the notes", "[support]") {
  const Outcome outcome = RunInChild([] {
    const CrashNote note("running pass", "A");
    IROPT_UNREACHABLE("oops");
  });
  CHECK(outcome.exit_code == 70);
  CHECK(outcome.errors.find("oops\nnote: while running pass 'A'\n") != std::string::npos);
}

TEST_CASE("a file that is finished stays", "[support]") {
  const std::string path = "crash_test.finished";
  std::ofstream(path) << "all";
  RunInChild([&] {
    std::signal(SIGTERM, SIG_DFL);
    InstallCrashHandler("test", "test");
    RemoveFileOnCrash(path);
    KeepFileOnCrash(path);
    std::raise(SIGTERM);
  });
  CHECK(Exists(path));
  std::remove(path.c_str());
}

TEST_CASE("a signal that was ignored stays ignored", "[support]") {
  const Outcome outcome = RunInChild([] {
    std::signal(SIGHUP, SIG_IGN);
    InstallCrashHandler("test", "test");
    std::raise(SIGHUP);
    _exit(3);
  });
  CHECK(outcome.exit_code == 3);
}

#ifndef SANITIZERS_HANDLE_CRASHES

// The thread sanitizer takes signals and does not pass them on in a forked process.
TEST_CASE("a signal that ends the process removes unfinished files", "[support]") {
  const std::string path = "crash_test.unfinished";
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    std::ofstream(path) << "half";
    const Outcome outcome = RunInChild([&] {
      std::signal(signal, SIG_DFL);  // the test program has a handler of its own
      InstallCrashHandler("test", "test");
      RemoveFileOnCrash(path);
      std::raise(signal);
    });
    CHECK(outcome.signal == signal);
    CHECK_FALSE(Exists(path));
  }
}

[[gnu::noinline]] int RecurseForever(volatile int* depth) {
  const int before = *depth;
  if (before < 0) return 0;
  *depth = (before + 1) % 1000;
  return RecurseForever(depth) + before + *depth;
}

[[gnu::noinline]] int RecurseInSegments(volatile int* depth, int levels) {
  if (levels == 0) return RecurseForever(depth);
  return WithStack([&] { return RecurseInSegments(depth, levels - 1); }) + *depth;
}

void Install() { InstallCrashHandler("test", "test -flag 'a b'"); }

TEST_CASE("a crash prints the signal, the notes and the command line, and exits with 70", "[support]") {
  const Outcome outcome = RunInChild([] {
    Install();
    const CrashNote outer("running pass", "A");
    const CrashNote inner("rewriting function", "f");
    *nowhere = 1;
  });
  CHECK(outcome.exit_code == 70);
  CHECK(
      outcome.errors.starts_with("test: internal error: crashed: an invalid memory access at 0x10 (SIGSEGV)\n"
                                 "note: while rewriting function 'f'\n"
                                 "note: while running pass 'A'\n"
                                 "note: to reproduce: test -flag 'a b'\n"
                                 "note: the stack, innermost first:\n"));
}

// A crash with a symbolizer that is this script of the shell.
Outcome CrashWithSymbolizer(const std::string& script) {
  const TemporaryFolder folder;
  const std::string path = folder / "symbolizer";
  std::ofstream(path) << "#!/bin/sh\n" << script;
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return RunInChild([&] {
    setenv("LLVM_SYMBOLIZER_PATH", path.c_str(), 1);
    unsetenv("LLVM_DISABLE_SYMBOLIZATION");
    Install();
    *nowhere = 1;
  });
}

std::string StackOf(const Outcome& outcome) {
  constexpr std::string_view kHeading = "note: the stack, innermost first:\n";
  const size_t at = outcome.errors.find(kHeading);
  REQUIRE(at != std::string::npos);
  return outcome.errors.substr(at + kHeading.size());
}

TEST_CASE("a crash shows names and lines of the symbolizer", "[support]") {
  const Outcome outcome = CrashWithSymbolizer(
      "[ $1 = --output-style=GNU -a $2 = -fCip -a $3 = -e ] || exit 1\n"
      "shift 4\n"
      "for address; do echo 'inner at in.cpp:7'; echo ' (inlined by) outer at out.cpp:9'; done\n");
  CHECK(outcome.exit_code == 70);
  const std::string stack = StackOf(outcome);
  CHECK(stack.starts_with("#0 inner at in.cpp:7\n      (inlined by) outer at out.cpp:9 (unit_support+0x"));
  CHECK(stack.find("\n#1 inner at in.cpp:7\n") != std::string::npos);
}

TEST_CASE("a line that the symbolizer does not know is left out", "[support]") {
  const Outcome outcome = CrashWithSymbolizer("shift 4\nfor address; do echo 'inner at ??:0'; done\n");
  CHECK(StackOf(outcome).starts_with("#0 inner (unit_support+0x"));
}

TEST_CASE("without a result of the symbolizer, a crash shows files and offsets", "[support]") {
  for (const std::string script :
       {"exit 1\n", "echo 'inner at in.cpp:7'\nkill -9 $$\n", "shift 4\nfor address; do echo '?? ??:0'; done\n"}) {
    const Outcome outcome = CrashWithSymbolizer(script);
    CHECK(outcome.exit_code == 70);
    const std::string stack = StackOf(outcome);
    CHECK(stack.starts_with("#0 "));
    CHECK(stack.find("unit_support(") != std::string::npos);
    CHECK(stack.find("inner") == std::string::npos);
  }
}

[[gnu::noinline]] void CrashHere() { *nowhere = 1; }

TEST_CASE("without a symbolizer, the stack begins with the address that failed", "[support]") {
  const Outcome outcome = RunInChild([] {
    setenv("LLVM_DISABLE_SYMBOLIZATION", "1", 1);
    Install();
    CrashHere();
  });
  const std::string stack = StackOf(outcome);
  CHECK(stack.find("unit_support(") != std::string::npos);
  const size_t bracket = stack.find('[');
  REQUIRE(bracket < stack.find('\n'));
  const uintptr_t address = std::stoull(stack.substr(bracket + 1), nullptr, 16);
  const auto function = reinterpret_cast<uintptr_t>(&CrashHere);
  CHECK(address >= function);
  CHECK(address < function + 32);
}

TEST_CASE("a crash writes the file that was prepared for it", "[support]") {
  const std::string path = (std::filesystem::temp_directory_path() / fmt::format("crash_test_{}", getpid())).string();
  for (const bool prepared : {true, false}) {
    const Outcome outcome = RunInChild([&] {
      Install();
      WriteFileOnCrash(path, "contents\n");
      if (!prepared) WriteFileOnCrash({}, {});
      *nowhere = 1;
    });
    CHECK(outcome.exit_code == 70);
    CHECK(std::filesystem::exists(path) == prepared);
    CHECK_FALSE(std::filesystem::exists(path + ".tmp"));
    if (prepared) CHECK((*ReadFile(path))->text() == "contents\n");
    std::filesystem::remove(path);
  }
}

TEST_CASE("every signal of a crash is handled", "[support]") {
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) {
    const Outcome outcome = RunInChild([&] {
      Install();
      std::raise(signal);
    });
    CHECK(outcome.exit_code == 70);
    CHECK(outcome.errors.find("test: internal error: crashed: an") == 0);
  }
}

TEST_CASE("the end of the stack is recognized", "[support]") {
  for (const int levels : {0, 100'000}) {
    const Outcome outcome = RunInChild([&] {
      Install();
      volatile int depth = 0;
      depth = RecurseInSegments(&depth, levels);
    });
    CHECK(outcome.exit_code == 70);
    CHECK(outcome.errors.find("stack overflow") != std::string::npos);
  }
}

TEST_CASE("the end of the stack of a worker thread is recognized", "[support]") {
  const Outcome outcome = RunInChild([&] {
    Install();
    const CrashNote note("running pass", "A");
    ParallelFor(100, 4, [](size_t i) {
      volatile int depth = 0;
      if (i >= 50) depth = RecurseForever(&depth);
    });
  });
  CHECK(outcome.exit_code == 70);
  CHECK(outcome.errors.find("stack overflow") != std::string::npos);
  CHECK(outcome.errors.find("note: while running pass 'A'") != std::string::npos);
}

TEST_CASE("a mapped file that shrinks ends the process with a message", "[support]") {
  const std::string path = "crash_test.shrinking";
  std::ofstream(path) << std::string(1 << 20, 'x');
  const Outcome outcome = RunInChild([&] {
    Install();
    const Result<std::shared_ptr<const FileBuffer>> file = ReadFile(path);
    if (truncate(path.c_str(), 0) != 0) _exit(2);
    const volatile char* text = (*file)->data();
    _exit(text[500'000] == 'x' ? 3 : 4);
  });
  CHECK(outcome.exit_code == 1);
  CHECK(outcome.errors.ends_with(": error: file 'crash_test.shrinking' shrank while it was read\n"));
  std::remove(path.c_str());
}

TEST_CASE("a crash removes the output file in the making", "[support]") {
  const std::string path = "crash_test.output";
  std::remove(path.c_str());
  const Outcome outcome = RunInChild([&] {
    Install();
    Result<AtomicFile> file = AtomicFile::Create(path);
    file->stream().Append("half");
    std::abort();
  });
  CHECK(outcome.exit_code == 70);
  CHECK_FALSE(Exists(path));
  CHECK(std::system("ls crash_test.output.tmp-* >/dev/null 2>&1") != 0);
}

#endif

}  // namespace
}  // namespace iropt
