// PrimFuncs for arguments of which more is known.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "iropt/ir/module.h"
#include "iropt/ir/tir/stmt.h"

namespace iropt {

// Facts about the arguments of a function.
struct PrimFuncArgs {
  // Of variables that a dimension of a parameter defines, each once.
  std::vector<std::pair<const tir::Var*, int64_t>> values = {};
  // Memory scopes of parameters, by their index; empty: as the function states it.
  std::vector<std::string_view> scopes = {};

  friend bool operator==(const PrimFuncArgs&, const PrimFuncArgs&) = default;
};

// The function with these values for its variables, folded as TVM's operators do, and its buffers in these scopes. The
// same pointer if nothing changes. O(nodes).
const PrimFunc* SpecializePrimFunc(const PrimFunc* func, const PrimFuncArgs& args, Workspace& workspace);

}  // namespace iropt
