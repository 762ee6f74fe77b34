// The object cache: object files in a directory that several processes can share.
#pragma once

#include <atomic>
#include <string>

#include "backend.h"
#include "iropt/support/own_folder.h"

namespace iropt::codegen {

// One file per key, written atomically, with its size and a checksum. A damaged file counts as missing and is replaced.
// Failures to write are ignored. The code in the files is run, so only files of this user are read, see OwnFolder.
class ObjectCache final : public ObjectStore {
 public:
  explicit ObjectCache(std::string folder) : folder_(std::move(folder)) {}

  std::string Load(const std::string& key) override;
  void Store(const std::string& key, std::string_view object) override;
  uint64_t damaged() const { return damaged_; }

 private:
  static std::string NameOf(const std::string& key) { return key + ".loops"; }

  const OwnFolder folder_;
  std::atomic<uint64_t> damaged_ = 0;
};

}  // namespace iropt::codegen
