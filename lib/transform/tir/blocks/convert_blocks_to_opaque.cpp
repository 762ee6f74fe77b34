// tir.ConvertBlocksToOpaque: removes the axes of blocks by replacing them by their values.
//
//   for i in range(16):                               for i in range(16):
//       with T.block("C"):                                with T.block("C"):
//           vi = T.axis.spatial(16, i)        -->             T.reads(A[i])
//           T.reads(A[vi])                                    T.writes(C[i])
//           T.writes(C[vi])                                   C[i] = A[i]
//           C[vi] = A[vi]
//
// A value that would be too long, as those of blocks in each other do if they use several axes, is bound before the
// block under the name of the axis. Refuses blocks with an initialization, see tir.LowerInitBlock. Functions of the
// older scheduler stay. O(nodes).
//
// Source: TVM 0.18's pass of this name.
#include <vector>

#include "iropt/arith/prim_builder.h"
#include "iropt/ir/tir/copy_stmt.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/ir/tir/written_values.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "transform/tir/util/prim_func_pass.h"

namespace iropt {

namespace {

class OpaqueBlockConverter : public tir::StmtExprMutator {
 public:
  explicit OpaqueBlockConverter(Workspace& workspace) : StmtExprMutator(workspace, tir::kRewriteBuffers) {}

 protected:
  const tir::Stmt* VisitBlockRealize(const tir::BlockRealize* realize) override {
    const tir::Block& block = *realize->block;
    const PrimExpr* predicate = VisitExpr(realize->predicate);
    std::vector<const PrimExpr*> values;
    const arith::PrimBuilder make(workspace());
    for (uint32_t i = 0; i < realize->iter_values.size(); ++i)
      values.push_back(make.Cast(block.iter_vars[i]->var->dtype, VisitExpr(realize->iter_values[i])));
    std::vector<size_t> bound;
    for (size_t i = 0; i < values.size(); ++i) {
      if (tir::WrittenValues::NumParts(values[i]) > tir::WrittenValues::kMaxParts) {
        bound.push_back(i);
        continue;
      }
      Remap(block.iter_vars[i]->var, values[i]);
      if (DefinesVars(values[i])) defining_.insert(block.iter_vars[i]->var);
    }
    const auto* opaque = To<tir::Block>(VisitBlock(&block));
    if (values.empty() && predicate == realize->predicate && opaque == &block) return realize;
    tir::BlockRealize copy = *realize;
    copy.iter_values = {};
    copy.predicate = predicate;
    copy.block = opaque;
    const tir::Stmt* stmt = workspace().New<tir::BlockRealize>(copy);
    for (size_t i = bound.size(); i > 0; --i)
      stmt = workspace().New<tir::LetStmt>(block.iter_vars[bound[i - 1]]->var, values[bound[i - 1]], stmt);
    return stmt;
  }

  // Each place defines the variables in the value of an axis itself.
  const PrimExpr* VisitVar(const tir::Var* var) override {
    const PrimExpr* value = StmtExprMutator::VisitVar(var);
    return !defining_.empty() && defining_.contains(var) ? CopyExpr(value, workspace()) : value;
  }

  const tir::Stmt* VisitBlock(const tir::Block* block) override {
    if (block->iter_vars.empty()) return StmtExprMutator::VisitBlock(block);
    tir::Block without_axes = *block;
    without_axes.iter_vars = {};
    const tir::Stmt* visited = StmtExprMutator::VisitBlock(&without_axes);
    return visited == &without_axes ? workspace().New<tir::Block>(without_axes) : visited;
  }

 private:
  static bool DefinesVars(const PrimExpr* value) {
    bool found = false;
    tir::PostOrderVisit(value, [&](const Node* node) { found = found || Is<tir::Let>(node); });
    return found;
  }

  LookupSet<const tir::Var*> defining_;  // the axes of which the value defines variables
};

}  // namespace

Pass CreateConvertBlocksToOpaque(const PassOptions& options) {
  return CreateMutatorPass<OpaqueBlockConverter>(options.info(), kSkipLegacy);
}

}  // namespace iropt
