// Lowers loops over threads, loops that run once, and annotations that are pragmas.
#pragma once

#include <vector>

#include "iropt/arith/prim_builder.h"
#include "iropt/diag/diagnostic.h"
#include "iropt/ir/attr.h"
#include "iropt/ir/tir/mutator.h"

namespace iropt {

// Loops over threads become launches. A loop that runs once and has neither annotations nor jumps becomes its body.
// Pragmas become attributes of the loop variable; `keeps_unroll`: pragma_unroll stays an annotation.
class LoopLowerer : public tir::StmtExprMutator {
 public:
  LoopLowerer(tir::MutatorOptions options, bool keeps_unroll, Workspace& workspace, DiagnosticEngine& diagnostics);

 protected:
  const tir::Stmt* VisitFor(const tir::For* loop) override;
  // The statement with the pragmas as attributes of the node around it, the first key outermost.
  const tir::Stmt* AddPragmas(const PrimExpr* node, const std::vector<DictAttr::Entry>& pragmas, const tir::Stmt* stmt,
                              const Node& at);
  void Error(const Node& at, const std::string& message);
  const arith::PrimBuilder& make() const { return make_; }

 private:
  const bool keeps_unroll_;
  DiagnosticEngine& diagnostics_;
  const arith::PrimBuilder make_;
};

}  // namespace iropt
