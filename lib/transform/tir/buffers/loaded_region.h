// The part of a buffer that a statement loads.
#pragma once

#include <vector>

#include "iropt/arith/analyzer.h"
#include "iropt/arith/int_set.h"
#include "iropt/ir/tir/stmt.h"

namespace iropt {

// For each dimension, the least interval that holds all indices, by the ranges of the loops and threads in the
// statement and the conditions around the loads. Variables that are bound outside stay as they are. Empty if there are
// no loads. O(nodes), plus the simplification of the intervals.
//
// Source: TVM 0.18's arith::DomainTouched.
std::vector<arith::IntervalSet> LoadedRegion(const tir::Stmt* stmt, const tir::Buffer* buffer,
                                             arith::Analyzer& analyzer, Workspace& workspace);

}  // namespace iropt
