// Makes one PrimFunc of a Relax function that consists of calls of PrimFuncs.
#pragma once

#include <string>
#include <vector>

#include "iropt/ir/module.h"
#include "iropt/ir/tir/stmt.h"

namespace iropt {

struct FusedPrimFunc {
  const PrimFunc* function = nullptr;
  FuncStorageRef storage;
  // The parameters that results of the function are written to, instead of further parameters; in the order of results.
  std::vector<int64_t> inplace;
};

// The bodies of the PrimFuncs in order, intermediate tensors as buffers that the function allocates. The parameters are
// those of the Relax function that are tensors, its results, then the scalars in its shapes. Returns
// why it cannot be made, if the function has other operations, tensors of unknown shape or PrimFuncs whose bodies are
// not a root block; else an empty text. O(nodes).
std::string FusePrimFuncs(const Function& function, const Module& module, FusedPrimFunc& result);

}  // namespace iropt
