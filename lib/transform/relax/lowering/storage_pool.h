// Storages that are free, for StaticPlanBlockMemory.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "iropt/ir/relax/expr.h"
#include "iropt/support/lookup.h"

namespace iropt {

// Request for the storage of a tensor. Only tensors of one kind share storage.
struct StorageRequest {
  std::string_view scope;
  int64_t device = 0;
  DataType dtype;
  const PrimExpr* bytes = nullptr;
  const PrimExpr* size_class = nullptr;  // the same for equal sizes
};

// A storage that can be reused for tensors that are smaller or larger by up to this factor.
inline constexpr int64_t kStorageMatchRange = 16;

class StoragePool {
 public:
  // Takes a free storage for the tensor out of the pool: the smallest one that is large enough, otherwise the largest
  // one, which the caller enlarges; of equal ones, the first or the last that was released, respectively. If the size
  // of the tensor is not known, a storage of the same size. Nothing if no storage fits. `closed` tells which storages
  // are out of scope; they are removed.
  std::optional<uint32_t> Take(const StorageRequest& request, const std::vector<bool>& closed);
  void Release(const StorageRequest& request, uint32_t storage);

 private:
  using Kind = std::tuple<std::string_view, int64_t, uint32_t>;  // scope, device, dtype
  struct Free {
    std::multimap<int64_t, uint32_t> by_bytes;
    LookupMap<const PrimExpr*, std::deque<uint32_t>> symbolic;  // by size class
  };
  static Kind KindOf(const StorageRequest& request) { return {request.scope, request.device, request.dtype.raw()}; }

  std::map<Kind, Free> free_;
};

}  // namespace iropt
