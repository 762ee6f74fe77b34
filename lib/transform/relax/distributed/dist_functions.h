// Relax functions on distributed tensors.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"

namespace iropt {

// The operands of a call; of calls of PrimFuncs those of the PrimFunc.
std::span<const Expr* const> DistOperands(const Call& call);

// Returns whether the parameters are distributed tensors: false if none is, nothing after an error if only some are.
std::optional<bool> IsDistributed(const Function& function, std::string_view name, DiagnosticEngine& diagnostics);

// The PrimFunc that a call_tir calls, or null.
const PrimFunc* PrimFuncOf(const Call& call, const Module& module);

// The dimensions of the part of a tensor that one device has.
std::vector<const PrimExpr*> ShardDims(std::span<const PrimExpr* const> dims, const DTensorType& type);

// The type with plain tensors; with `sharded` of the parts that one device has.
const Type* PlainType(const Type* type, bool sharded, Arena& arena);

}  // namespace iropt
