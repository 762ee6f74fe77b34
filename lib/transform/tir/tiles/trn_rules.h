// Rules that turn tile operations into instructions of Trainium: T.nki.* in loops over partitions and free dimensions.
#pragma once

#include "iropt/arith/analyzer.h"
#include "iropt/ir/module.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/support/result.h"
#include "transform/tir/tiles/tile_call.h"

namespace iropt {

// The analyzer knows the ranges of the loops around the call.
struct TrnContext {
  const TileCall& call;
  arith::Analyzer& analyzer;
  Workspace& workspace;
};

// The statement that computes the operation. Fails if Trainium has no instruction for it or for these layouts.
Result<const tir::Stmt*> LowerTrnTile(const TrnContext& context);

// ---- By kind of operation, see LowerTrnTile.
Result<const tir::Stmt*> LowerTrnBinary(const TrnContext& context);
Result<const tir::Stmt*> LowerTrnUnary(const TrnContext& context);
Result<const tir::Stmt*> LowerTrnActivation(const TrnContext& context);
Result<const tir::Stmt*> LowerTrnSelect(const TrnContext& context);
Result<const tir::Stmt*> LowerTrnReduction(const TrnContext& context);
Result<const tir::Stmt*> LowerTrnCopy(const TrnContext& context);
Result<const tir::Stmt*> LowerTrnGemm(const TrnContext& context);

}  // namespace iropt
