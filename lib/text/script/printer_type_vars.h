// The symbolic variables of signatures, which TVM 0.27 declares before a function: n = TypeVar("n"), or def f[n](...).
#pragma once

#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/infer/print/print_names.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/support/file.h"

namespace iropt::text {

// Those of the buffers of a PrimFunc: scalars of type int64 that are not parameters, in the order of their first use.
std::vector<const tir::Var*> TypeVarsOf(const PrimFunc* func);

// The names of the lines above the module.
using TypeVarNames = std::set<std::string, std::less<>>;
// Those that other variables of the signature would have: in quotes TVM takes such a name for that of the line.
std::vector<std::string_view> NamesTakenByTypeVars(const PrimFunc* func, const TypeVarNames& declared);

// Defines the variables; their names in alphabetical order.
std::vector<std::string_view> DefineTypeVars(std::span<const tir::Var* const> vars, PrintNames& names);

// Prints [m, n], or nothing without names.
void PrintTypeParams(std::span<const std::string_view> names, OutputStream& out);

}  // namespace iropt::text
