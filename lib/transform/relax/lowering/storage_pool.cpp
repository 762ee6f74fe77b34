#include "storage_pool.h"

#include <iterator>
#include <limits>

#include "iropt/arith/prim_builder.h"

namespace iropt {

std::optional<uint32_t> StoragePool::Take(const StorageRequest& request, const std::vector<bool>& closed) {
  const auto found = free_.find(KindOf(request));
  if (found == free_.end()) return std::nullopt;
  const int64_t* size = arith::AsInt(request.bytes);
  if (!size) {
    auto* same_size = found->second.symbolic.Find(request.size_class);
    if (!same_size) return std::nullopt;
    std::deque<uint32_t>& free = *same_size;
    while (!free.empty()) {
      const uint32_t storage = free.front();
      free.pop_front();
      if (!closed[storage]) return storage;
    }
    return std::nullopt;
  }
  std::multimap<int64_t, uint32_t>& free = found->second.by_bytes;
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const int64_t largest = *size > kMost / kStorageMatchRange ? kMost : *size * kStorageMatchRange;
  auto at = free.lower_bound(*size);
  while (at != free.end() && at->first <= largest) {
    const uint32_t storage = at->second;
    at = free.erase(at);
    if (!closed[storage]) return storage;
  }
  while (at != free.begin() && std::prev(at)->first >= *size / kStorageMatchRange) {
    at = std::prev(at);
    const uint32_t storage = at->second;
    at = free.erase(at);
    if (!closed[storage]) return storage;
  }
  return std::nullopt;
}

void StoragePool::Release(const StorageRequest& request, uint32_t storage) {
  Free& free = free_[KindOf(request)];
  if (const int64_t* size = arith::AsInt(request.bytes)) {
    free.by_bytes.emplace(*size, storage);
  } else {
    free.symbolic[request.size_class].push_back(storage);
  }
}

}  // namespace iropt
