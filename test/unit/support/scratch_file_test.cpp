#include "iropt/support/scratch_file.h"

#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "catch.h"

namespace iropt {

TEST_CASE("parts of a temporary file outlive it, and it leaves nothing in the folder", "[scratch_file]") {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "iropt_scratch_file_test";
  std::filesystem::create_directories(folder);
  ScratchFile::SetFolder(folder.string());
  std::shared_ptr<const FileBuffer> second;
  {
    auto file = ScratchFile::Create();
    ScratchFile::SetFolder("");
    REQUIRE(file.ok());
    const std::vector<std::byte> ones(10'000, std::byte{1});
    const std::vector<std::byte> twos(20'000, std::byte{2});
    const uint64_t first_part = (*file)->Reserve(ones.size());
    const uint64_t second_part = (*file)->Reserve(twos.size());
    CHECK((*file)->Write(second_part, twos).ok());
    CHECK((*file)->Write(first_part, ones).ok());
    second = *(*file)->Map(second_part, twos.size());
    CHECK(std::filesystem::is_empty(folder));
  }
  CHECK(second->text() == std::string(20'000, '\2'));
  second->Discard(second->text());
  CHECK(second->text().back() == '\2');
  std::filesystem::remove_all(folder);
}

TEST_CASE("a temporary file that becomes too big is an error with its folder", "[scratch_file]") {
  auto file = ScratchFile::Create();
  REQUIRE(file.ok());
  rlimit before = {};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit limit = before;
  limit.rlim_cur = 4096;
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &limit);
  const Status written = (*file)->Write(4096, std::vector<std::byte>(10));
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  REQUIRE(!written.ok());
  CHECK(written.error().message.starts_with("cannot write temporary data in '/"));
}

}  // namespace iropt
