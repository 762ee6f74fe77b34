// The steps that lower functions with tile operations and layouts, each a pass; tirx.LowerTIRx runs them.
#pragma once

#include <string_view>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/pass/context.h"

namespace iropt {

// The target that the function states, or that of the context; null if there is none.
const DictAttr* TileTargetOf(const PrimFunc& func, const PassContext& context);

// Tile operations become code for the target, and kernels are launched. Null after an error.
const PrimFunc* DispatchTiles(const PrimFunc* func, const DictAttr* target, Workspace& workspace,
                              DiagnosticEngine& diagnostics);

// Layouts become indices: buffers lie in memory as their shapes say. Null after an error.
const PrimFunc* ApplyLayouts(const PrimFunc* func, const DictAttr* target, Workspace& workspace,
                             DiagnosticEngine& diagnostics);

}  // namespace iropt
