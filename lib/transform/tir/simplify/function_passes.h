// The passes of this topic that others run after themselves, as functions. Each returns the same pointer if nothing
// changes.
#pragma once

#include "buffer_facts.h"
#include "iropt/arith/analyzer.h"
#include "iropt/ir/module.h"
#include "iropt/pass/context.h"

namespace iropt {

// tir.Simplify and tir.RemoveNoOp, with the configuration of the context.
const PrimFunc* SimplifyStatements(const PrimFunc* func, const PassContext& config, Workspace& workspace);
const PrimFunc* RemoveNoOps(const PrimFunc* func, const PassContext& config, Workspace& workspace);
// tir.RemoveNoOp on a statement of a function, by what the analyzer knows about the place of the statement, and by the
// facts about buffers there, unless null.
const tir::Stmt* RemoveNoOps(const tir::Stmt* stmt, arith::Analyzer& analyzer, const BufferFacts::State* facts,
                             Workspace& workspace);

}  // namespace iropt
