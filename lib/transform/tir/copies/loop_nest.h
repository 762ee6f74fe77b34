// Nests of loops: taking them apart and making others with their bodies.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/arith/prim_builder.h"
#include "iropt/ir/module.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/ir/tir/substitute.h"
#include "iropt/support/result.h"

namespace iropt {

// Loops that contain nothing but the next one, outermost first, and the body of the innermost one.
struct LoopNest {
  std::vector<const tir::For*> loops;
  const tir::Stmt* body;
};
LoopNest LoopNestOf(const tir::Stmt* stmt);

// Copies of the loops, outermost first, around the body.
const tir::Stmt* WithLoops(std::span<const tir::For* const> loops, const tir::Stmt* body, Workspace& workspace);

// A serial loop from 0 whose body is to come, see WithLoops. The variable has the dtype of the extent.
const tir::For* NewLoop(std::string_view name, const PrimExpr* extent, Workspace& workspace);

// The body as a store without a predicate; otherwise the error that it must be one.
Result<const tir::BufferStore*> StoreIn(const tir::Stmt* body);

// A failure of a rule; the block of the copy is its location.
inline Error CopyError(std::string message) { return {ErrorCode::PassFailed, std::move(message)}; }

}  // namespace iropt
