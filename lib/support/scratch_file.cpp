#include "iropt/support/scratch_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <utility>

#include "descriptor.h"

namespace iropt {

namespace {

struct ScratchFolder {
  std::mutex mutex;
  std::string path;
};

ScratchFolder& CurrentScratchFolder() {
  static ScratchFolder folder;
  return folder;
}

std::string FolderOfTemporaries() {
  const char* given = std::getenv("TMPDIR");
  return given != nullptr && *given != '\0' ? given : "/tmp";
}

// -1 if the folder cannot have such a file.
int OpenUnnamed(const std::string& folder) {
  const int fd = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0) return fd;
  std::string name = folder + "/ir-opt-scratch-XXXXXX";
  const int named = mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) unlink(name.c_str());
  return named;
}

Error ScratchError(std::string_view action, std::string_view folder, int code) {
  return {ErrorCode::Usage, fmt::format("cannot {} temporary data in '{}': {}", action, folder, ErrnoText(code))};
}

}  // namespace

struct ScratchFile::Data {
  Descriptor file;
  std::string folder;
  uint64_t size = 0;
};

void ScratchFile::SetFolder(std::string folder) {
  ScratchFolder& current = CurrentScratchFolder();
  const std::scoped_lock lock(current.mutex);
  current.path = std::move(folder);
}

Result<std::shared_ptr<ScratchFile>> ScratchFile::Create() {
  std::string folder;
  {
    ScratchFolder& current = CurrentScratchFolder();
    const std::scoped_lock lock(current.mutex);
    folder = current.path;
  }
  int fd = folder.empty() ? -1 : OpenUnnamed(folder);
  if (fd < 0) {
    folder = FolderOfTemporaries();
    fd = OpenUnnamed(folder);
  }
  if (fd < 0) return ScratchError("write", folder, errno);
  return std::shared_ptr<ScratchFile>(
      new ScratchFile(std::unique_ptr<Data>(new Data{Descriptor(fd), std::move(folder)})));
}

ScratchFile::ScratchFile(std::unique_ptr<Data> data) : data_(std::move(data)) {}
ScratchFile::~ScratchFile() = default;

uint64_t ScratchFile::Reserve(uint64_t bytes) {
  // Parts are mapped one by one, from whole pages on.
  static const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t offset = data_->size;
  data_->size += (bytes + page - 1) / page * page;
  return offset;
}

Status ScratchFile::Write(uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = pwrite(data_->file.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return ScratchError("write", data_->folder, n < 0 ? errno : ENOSPC);
    bytes = bytes.subspan(static_cast<size_t>(n));
    offset += static_cast<uint64_t>(n);
  }
  return {};
}

Result<std::shared_ptr<const FileBuffer>> ScratchFile::Map(uint64_t offset, size_t bytes) const {
  if (bytes == 0) return std::make_shared<const FileBuffer>(std::string());
  void* mapping = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, data_->file.get(), static_cast<off_t>(offset));
  if (mapping == MAP_FAILED) return ScratchError("map", data_->folder, errno);
  return std::make_shared<const FileBuffer>(mapping, bytes);
}

}  // namespace iropt
