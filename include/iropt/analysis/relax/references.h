// References of a module to its functions.
#pragma once

#include <optional>
#include <vector>

#include "iropt/analysis/relax/called_functions.h"
#include "iropt/ir/module.h"
#include "iropt/support/function_ref.h"

namespace iropt {

// The index of the function of the module that is called, or -1.
int CalleeIndex(const Module& module, const Call& call);

// By index in the module: true for a private Relax function whose only references are direct calls with the right
// number of arguments for which accepts(index, call) holds. Such a function and its calls can be changed together.
// O(nodes).
std::vector<bool> FunctionsWithOnlyDirectCalls(const Module& module, CalledFunctionsSource called,
                                               FunctionRef<bool(size_t, const Call&)> accepts);

// A use of the name of a function.
struct FunctionReference {
  const Node* place;  // for messages: the value of the binding that it is in, or the function
  const GlobalVar* callee;
};

// The first reference in the function to one of the module for which `wanted` holds, by its index. O(nodes).
std::optional<FunctionReference> FindReference(const Function& function, const Module& module,
                                               FunctionRef<bool(size_t)> wanted);

}  // namespace iropt
