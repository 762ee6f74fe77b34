// The numbers of groups of threads that a kernel names: bx = T.cta_id([32]), and what they are once it is launched.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "iropt/arith/analyzer.h"
#include "iropt/ir/module.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/support/result.h"

namespace iropt {

// The launch of a kernel.
struct KernelLaunch {
  // The threads and their extents, the outermost first.
  std::vector<const tir::IterVar*> threads;
  // The values of the variables, in order; the number of the warp in its block is the first one.
  std::vector<std::pair<const tir::Var*, const PrimExpr*>> values;
};

// Returns the launch that the numbers under the statement ask for; without numbers, nothing is launched. Extents that
// are not given follow from others, those of warps in groups of warps from those of blocks and so on. Fails if they
// contradict each other, or do not say how many threads there are. O(nodes + groups squared).
Result<KernelLaunch> LaunchOf(const tir::Stmt* body, Workspace& workspace);

// The statement without them.
const tir::Stmt* WithoutScopeIds(const tir::Stmt* body, Workspace& workspace);

}  // namespace iropt
