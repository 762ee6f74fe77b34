// Machine code in a folder, shared by any number of processes.
#pragma once

#include <atomic>
#include <string>

#include "backend.h"

namespace iropt::codegen {

// One file for each key. Files appear only when complete, and carry their size and a checksum: one that is damaged
// counts as missing and is replaced. What cannot be written is not kept; that is not an error.
class ObjectCache final : public ObjectStore {
 public:
  explicit ObjectCache(std::string folder) : folder_(std::move(folder)) {}

  std::string Load(const std::string& key) override;
  void Store(const std::string& key, std::string_view object) override;
  uint64_t damaged() const { return damaged_; }

 private:
  std::string PathOf(const std::string& key) const { return folder_ + "/" + key + ".loops"; }

  std::string folder_;
  std::atomic<uint64_t> damaged_ = 0;
};

}  // namespace iropt::codegen
