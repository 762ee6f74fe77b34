// The alignment of the dimensions of buffers, as schedules request it.
#pragma once

#include <vector>

#include "iropt/ir/tir/stmt.h"
#include "iropt/support/lookup.h"

namespace iropt {

// The stride of dimension `dim` shall be `offset` modulo `factor`.
struct StorageAlign {
  int64_t dim;
  int64_t factor;
  int64_t offset;
};

// By the data pointers of the buffers, in the order of the annotations.
using StorageAligns = LookupMap<const tir::Var*, std::vector<StorageAlign>>;

// From the annotations of blocks and allocations under the statement. O(nodes).
StorageAligns CollectStorageAligns(const tir::Stmt* stmt);

// The annotation of an allocation.
const Attr* MakeStorageAlignAttr(const std::vector<StorageAlign>& aligns);

}  // namespace iropt
