#include "iropt/support/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "catch.h"
#include "child.h"
#include "temporary_folder.h"

namespace iropt {
namespace {

namespace fs = std::filesystem;

// The number of files in a folder.
size_t FileCount(const TemporaryFolder& folder) {
  return static_cast<size_t>(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()));
}

std::string Contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void Put(const std::string& path, std::string_view text) { std::ofstream(path, std::ios::binary) << text; }

Status WriteText(const std::string& path, std::string_view text) {
  return WriteFileAtomically(path, [&](OutputStream& out) -> Status {
    out.Append(text);
    return {};
  });
}

mode_t ModeOf(const std::string& path) {
  struct stat info = {};
  REQUIRE(stat(path.c_str(), &info) == 0);
  return info.st_mode & 07777;
}

TEST_CASE("files of all sizes are read whole", "[support]") {
  const TemporaryFolder folder;
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  for (const size_t size :
       {size_t{0}, size_t{1}, page, 256 * 1024 - size_t{1}, size_t{256 * 1024}, size_t{1'000'003}}) {
    std::string text(size, 'x');
    for (size_t i = 0; i < size; i += 97) text[i] = static_cast<char>('a' + i % 26);
    Put(folder / "in", text);
    const auto buffer = ReadFile(folder / "in");
    REQUIRE(buffer.ok());
    CHECK(((*buffer)->text() == text));
  }
}

TEST_CASE("discarded parts of a file are read again on access", "[support]") {
  const TemporaryFolder folder;
  std::string text;
  while (text.size() < 1u << 20) text += std::to_string(text.size()) + "\n";
  std::ofstream(folder / "large") << text;
  const auto large = ReadFile(folder / "large");
  REQUIRE(large.ok());
  (*large)->Discard((*large)->text());
  (*large)->Discard((*large)->text().substr(5000, 3));
  (*large)->Discard((*large)->text().substr(100, 100'000));
  CHECK((*large)->text() == text);
  const FileBuffer small("not mapped");
  small.Discard(small.text());
  CHECK(small.text() == "not mapped");
}

TEST_CASE("files that cannot be read are errors with a reason", "[support]") {
  const TemporaryFolder folder;
  CHECK(ReadFile(folder / "none").error().message ==
        "cannot open '" + folder / "none" + "': no such file or directory");
  CHECK(ReadFile(folder / "").error().message == "cannot read '" + folder / "" + "': is a directory");
  CHECK(ExitCode(ReadFile("").error().code) == 1);
}

TEST_CASE("a pipe is read to its end", "[support]") {
  const TemporaryFolder folder;
  REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  const std::string text(300'000, 'p');
  std::thread writer([&] { CHECK(WriteText(folder / "pipe", text).ok()); });
  const auto buffer = ReadFile(folder / "pipe");
  writer.join();
  REQUIRE(buffer.ok());
  CHECK(((*buffer)->text() == text));
  CHECK(fs::is_fifo(folder / "pipe"));
}

TEST_CASE("an output stream writes everything in order", "[support]") {
  std::string got;
  std::string expected;
  {
    OutputStream out(&got);
    for (int i = 0; i < 20'000; ++i) {
      out.AppendInt(i - 10'000);
      out.Append(' ');
      out.Append("text");
      expected += std::to_string(i - 10'000) + " text";
    }
    out.AppendRepeated('-', 200'000);
    expected += std::string(200'000, '-');
    out.Append(std::string(100'000, 'y'));
    expected += std::string(100'000, 'y');
    CHECK(out.position() == expected.size());
    CHECK(out.Flush().ok());
  }
  CHECK((got == expected));
}

TEST_CASE("a failed write is kept and reported", "[support]") {
  const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
  REQUIRE(full >= 0);
  OutputStream out(full);
  out.Append("x");
  CHECK(out.status().ok());
  CHECK(out.Flush().error().message == "cannot write the output: no space left on device");
  out.Append("more");
  CHECK_FALSE(out.Flush().ok());
  close(full);
}

TEST_CASE("a pipe whose reader has gone is not a failure", "[support]") {
  std::array<int, 2> ends{};
  REQUIRE(pipe(ends.data()) == 0);
  close(ends[0]);
  const auto previous = std::signal(SIGPIPE, SIG_IGN);
  OutputStream out(ends[1]);
  out.Append("x");
  CHECK(out.Flush().ok());
  out.Append(std::string(1 << 20, 'y'));
  CHECK(out.Flush().ok());
  std::signal(SIGPIPE, previous);
  close(ends[1]);
}

TEST_CASE("a file is replaced when complete, and keeps its permissions", "[support]") {
  const TemporaryFolder folder;
  const std::string path = folder / "out";
  Put(path, "old");
  REQUIRE(chmod(path.c_str(), 0640) == 0);
  {
    auto file = AtomicFile::Create(path);
    REQUIRE(file.ok());
    file->stream().Append("new");
    REQUIRE(file->stream().Flush().ok());
    CHECK(Contents(path) == "old");
    CHECK(file->Commit().ok());
  }
  CHECK(Contents(path) == "new");
  CHECK(ModeOf(path) == 0640);
  CHECK(FileCount(folder) == 1);
}

TEST_CASE("a file that is not committed leaves no trace", "[support]") {
  const TemporaryFolder folder;
  Put(folder / "out", "old");
  const auto fail = [](OutputStream& out) -> Status {
    out.Append("half of it");
    return Error{ErrorCode::PassFailed, "stopped"};
  };
  CHECK(WriteFileAtomically(folder / "out", fail).error().message == "stopped");
  CHECK(WriteFileAtomically(folder / "fresh", fail).error().code == ErrorCode::PassFailed);
  CHECK(Contents(folder / "out") == "old");
  CHECK(FileCount(folder) == 1);
}

// Whether the file system of a folder has files without names.
bool HasUnnamedFiles(const TemporaryFolder& folder) {
  const int fd = open(folder.path().c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  if (fd >= 0) close(fd);
  return fd >= 0;
}

TEST_CASE("a process that is killed leaves no unfinished file", "[support]") {
  const TemporaryFolder folder;
  if (!HasUnnamedFiles(folder)) {
    WARN("skipped: the file system has no files without names");
    return;
  }
  const Outcome outcome = RunInChild([&] {
    Result<AtomicFile> file = AtomicFile::Create(folder / "out");
    file->stream().Append("half");
    static_cast<void>(file->stream().Flush());
    raise(SIGKILL);
  });
  CHECK(outcome.signal == SIGKILL);
  CHECK(FileCount(folder) == 0);
}

TEST_CASE("a finished file appears when it is committed", "[support]") {
  const TemporaryFolder folder;
  const std::string path = folder / "out";
  Result<AtomicFile> file = AtomicFile::Create(path);
  REQUIRE(file.ok());
  file->stream().Append("complete");
  REQUIRE(file->Finish().ok());
  CHECK_FALSE(fs::exists(path));
  REQUIRE(file->Commit().ok());
  CHECK(Contents(path) == "complete");
  CHECK(FileCount(folder) == 1);
}

TEST_CASE("a new file gets the permissions of the umask", "[support]") {
  const TemporaryFolder folder;
  const mode_t previous = umask(027);
  CHECK(WriteText(folder / "out", "x").ok());
  umask(previous);
  CHECK(ModeOf(folder / "out") == 0640);
}

TEST_CASE("a symbolic link stays a link", "[support]") {
  const TemporaryFolder folder;
  Put(folder / "real", "old");
  fs::create_symlink("real", folder / "link");
  fs::create_symlink("link", folder / "link2");
  CHECK(WriteText(folder / "link2", "new").ok());
  CHECK(Contents(folder / "real") == "new");
  CHECK(fs::is_symlink(folder / "link"));
  CHECK(fs::is_symlink(folder / "link2"));
  fs::create_symlink("later", folder / "dangling");
  CHECK(WriteText(folder / "dangling", "x").ok());
  CHECK(Contents(folder / "later") == "x");
  fs::create_symlink("circle", folder / "circle");
  CHECK_FALSE(WriteText(folder / "circle", "x").ok());
}

TEST_CASE("devices are written straight and folders refused", "[support]") {
  const TemporaryFolder folder;
  CHECK(WriteText("/dev/null", "x").ok());
  CHECK(fs::is_character_file("/dev/null"));
  CHECK(WriteText("/dev/full", "x").error().message == "cannot write '/dev/full': no space left on device");
  CHECK_FALSE(WriteText(folder / "", "x").ok());
  CHECK_FALSE(WriteText(folder / "none/out", "x").ok());
}

TEST_CASE("writing to a descriptor's path continues at its offset", "[support]") {
  const TemporaryFolder folder;
  const int fd = open((folder / "log").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  REQUIRE(write(fd, "begin ", 6) == 6);
  CHECK(WriteText("/dev/fd/" + std::to_string(fd), "end").ok());
  close(fd);
  CHECK(Contents(folder / "log") == "begin end");
}

}  // namespace
}  // namespace iropt
