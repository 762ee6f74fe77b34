// Random PrimFuncs: loops with and without blocks, reductions, split and predicated loops, intermediate buffers.
#pragma once

#include <string>
#include <vector>

#include "choices.h"
#include "types.h"

namespace iropt::generate {

// A PrimFunc that takes these tensors and one buffer for each of the results.
struct PrimFuncInfo {
  std::string name;
  std::vector<Type> params;
  std::vector<Type> results;
};

struct WrittenPrimFunc {
  PrimFuncInfo info;
  std::string text;
};

// Whether PrimFuncs can have this type of parameter.
bool FitsPrimFunc(const Type& type);

// `params` have the same dimensions, at least one, and the same dtype. O(text).
WrittenPrimFunc WritePrimFunc(Choices& choices, const std::string& name, const std::vector<Type>& params);

}  // namespace iropt::generate
