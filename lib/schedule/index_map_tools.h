// Applying index maps to indices and shapes.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "iropt/arith/analyzer.h"
#include "iropt/ir/attr.h"
#include "iropt/ir/module.h"
#include "iropt/ir/tir/expr.h"
#include "iropt/ir/tir/substitute.h"

namespace iropt::schedule {

// The variables of the results that are not parameters, each once. In a trace they stand for results of sampling, or
// for variables of the function.
std::vector<const tir::Var*> FreeVarsOf(const IndexMapAttr& map);
// The map with values for such variables; owned by the workspace.
const IndexMapAttr* WithFreeVars(const IndexMapAttr& map, const tir::VarValues& values, Workspace& workspace);

// The results for these indices, one for each parameter, without simplification. Operands take common dtypes.
std::vector<const PrimExpr*> ApplyMap(const IndexMapAttr& map, std::span<const PrimExpr* const> indices,
                                      const arith::PrimBuilder& make);
// The results for these indices, simplified.
std::vector<const PrimExpr*> MapIndices(const IndexMapAttr& map, std::span<const PrimExpr* const> indices,
                                        arith::Analyzer& analyzer);
// The ranges of the results for parameters in these ranges.
std::vector<tir::Range> MapRanges(const IndexMapAttr& map, std::span<const tir::Range> ranges,
                                  arith::Analyzer& analyzer, Workspace& workspace);
// The extents of the results for parameters from 0 below the dimensions; nothing if a result does not begin with 0.
std::optional<std::vector<const PrimExpr*>> MapShape(const IndexMapAttr& map, std::span<const PrimExpr* const> shape,
                                                     arith::Analyzer& analyzer, Workspace& workspace);

// The map as `lambda i, j: (i, j)`, for messages and the Python form.
std::string ToPython(const IndexMapAttr& map);

}  // namespace iropt::schedule
