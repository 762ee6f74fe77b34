// Thread axes by their tags ("blockIdx.x"), and storage scopes ("shared.dyn"): on which level of a device's hierarchy
// they are.
#pragma once

#include <cstdint>
#include <string_view>

namespace iropt {

// The levels of the launch of a kernel: its blocks, and the threads of a block. Virtual threads are on the level of
// threads.
enum class ThreadRank : uint8_t { kBlock, kThread, kUnknown };

struct ThreadTag {
  ThreadRank rank = ThreadRank::kUnknown;
  int dim = -1;  // 0 to 2 for x to z, -1 for a virtual thread

  static ThreadTag Of(std::string_view tag);
};

// Returns whether loops over threads of this tag are virtual threads, which are not launched ("vthread", "vthread.x").
bool IsVirtualThreadTag(std::string_view tag);

// Memory that all threads see, that of a block, of a warp, of one thread; kOther: special memory of one thread.
enum class StorageRank : uint8_t { kGlobal, kShared, kWarp, kLocal, kOther };

struct StorageScope {
  StorageRank rank = StorageRank::kOther;
  std::string_view base;  // "shared"
  std::string_view tag;   // after the base: ".dyn"

  static StorageScope Of(std::string_view scope);
  friend bool operator==(const StorageScope&, const StorageScope&) = default;
};

// Returns whether all threads of this axis see the same memory of this scope.
bool IsSharedBy(const StorageScope& scope, const ThreadTag& thread);

}  // namespace iropt
