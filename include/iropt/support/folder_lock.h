// A lock on a folder whose files belong together, such as those of a tuning database, between processes.
#pragma once

#include <cstdint>
#include <string>

#include "iropt/support/result.h"

namespace iropt {

// Held as long as it exists. Several may hold it to read, only one to write; the constructor waits. A thread that holds
// a lock on a folder must not ask for another one.
class FolderLock {
 public:
  enum class Use : uint8_t { kRead, kWrite };
  FolderLock(const std::string& folder, Use use);
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock();

  // Fails if the folder is missing, or its file system has no locks.
  Status status() const;

 private:
  std::string folder_;
  int fd_;
  int errno_ = 0;
};

}  // namespace iropt
