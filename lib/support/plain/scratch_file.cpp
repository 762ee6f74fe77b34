#include "iropt/support/scratch_file.h"

#include <cstring>
#include <string>
#include <utility>

namespace iropt {

struct ScratchFile::Data {
  std::string bytes;
};

void ScratchFile::SetFolder(std::string /*folder*/) {}

ScratchFile::ScratchFile(std::unique_ptr<Data> data) : data_(std::move(data)) {}
ScratchFile::~ScratchFile() = default;

Result<std::shared_ptr<ScratchFile>> ScratchFile::Create() {
  return std::shared_ptr<ScratchFile>(new ScratchFile(std::make_unique<Data>()));
}

uint64_t ScratchFile::Reserve(uint64_t bytes) {
  const uint64_t offset = data_->bytes.size();
  constexpr uint64_t kAlignment = 64;
  data_->bytes.resize(static_cast<size_t>((offset + bytes + kAlignment - 1) / kAlignment * kAlignment));
  return offset;
}

Status ScratchFile::Write(uint64_t offset, std::span<const std::byte> bytes) {
  if (!bytes.empty()) std::memcpy(data_->bytes.data() + offset, bytes.data(), bytes.size());
  return {};
}

Result<std::shared_ptr<const FileBuffer>> ScratchFile::Map(uint64_t offset, size_t bytes) const {
  return std::make_shared<const FileBuffer>(data_->bytes.substr(static_cast<size_t>(offset), bytes));
}

}  // namespace iropt
