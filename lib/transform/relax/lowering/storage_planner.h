// The plan of StaticPlanBlockMemory for one function: which tensors are put into which storage.
#pragma once

#include <cstdint>
#include <vector>

#include "iropt/ir/module.h"
#include "iropt/ir/relax/expr.h"
#include "shape_bounds.h"

namespace iropt {

struct PlannedStorage {
  const PrimExpr* bytes = nullptr;
  DataType dtype;
};

struct StoragePlan {
  static constexpr uint32_t kNone = UINT32_MAX;

  std::vector<PlannedStorage> storages;
  // By Var::id: the number of the storage of the tensor that R.builtin.alloc_tensor binds to the variable.
  std::vector<uint32_t> storage_of;
  size_t num_tensors = 0;
  size_t num_symbolic = 0;   // those of symbolic size among them
  int64_t tensor_bytes = 0;  // of the planned tensors of known size
  size_t num_unplanned = 0;  // tensors that stay as they are

  uint32_t StorageOf(const Var* var) const { return var->id < storage_of.size() ? storage_of[var->id] : kNone; }
};

// The bytes of an element in memory; parts of bytes are not shared.
int64_t ElementBytes(DataType dtype);

// `bounds` are those of the function; the attributes of local functions are added. The code is in A-normal form.
// O(nodes log tensors), plus the leaves of tuples at each call.
Result<StoragePlan> PlanStorage(const Function& function, const Module& module, uint32_t num_vars, ShapeBounds& bounds);

}  // namespace iropt
