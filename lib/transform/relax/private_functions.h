// Private functions whose calls are all known, so that their parameters and results can change together with the calls.
#pragma once

#include <vector>

#include "iropt/ir/module.h"
#include "iropt/support/function_ref.h"

namespace iropt {

// By index in the module: whether it is a graph-level function without a global symbol, and nothing refers to it but
// calls with as many arguments as it has parameters that `accepts` accepts. `accepts` is given the index and the call.
// O(nodes).
std::vector<bool> ChangeableFunctions(const Module& module, FunctionRef<bool(size_t, const Call&)> accepts);

// The types of the operands, global functions included.
std::vector<const Type*> TypesOf(std::span<const Expr* const> operands, const Module& module);
std::vector<const Type*> TypesOf(std::span<const Var* const> params);

// The function with other parameters and another body, its type inferred; its result type stays unless `ret_type` says
// otherwise.
const Function* WithSignature(const Function& old, std::span<const Var* const> params, const Expr* body,
                              const Type* ret_type, const Module& module, Workspace& workspace);

}  // namespace iropt
