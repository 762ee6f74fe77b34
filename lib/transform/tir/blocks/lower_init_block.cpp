// tir.LowerInitBlock: turns the initialization of a reduction block into a conditional at the start of its body.
//
//   with T.init():                                    if vk == 0:
//       C[vi] = T.float32(0)                  -->         C[vi] = T.float32(0)
//   C[vi] = C[vi] + A[vi, vk]                         C[vi] = C[vi] + A[vi, vk]
//
// It runs where all reduction axes have their least values; if the block has no reduction axis, always. Functions of
// the older scheduler stay. O(nodes).
//
// Source: TVM 0.18's pass of this name.
#include <array>

#include "iropt/arith/prim_builder.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "transform/tir/util/prim_func_pass.h"

namespace iropt {

namespace {

class InitLowerer : public tir::StmtExprMutator {
 public:
  explicit InitLowerer(Workspace& workspace) : StmtExprMutator(workspace, tir::kRewriteBuffers) {}

 protected:
  const PrimExpr* VisitExpr(const PrimExpr* expr) override { return expr; }  // there are no blocks in expressions

  const tir::Stmt* VisitBlock(const tir::Block* block) override {
    if (!block->init) return StmtExprMutator::VisitBlock(block);
    tir::Block copy = *block;
    const std::array<const tir::Stmt*, 2> stmts = {Guard(block->init, block->iter_vars), VisitStmt(block->body)};
    copy.init = nullptr;
    copy.body = MakeFlatSeq(workspace(), stmts);
    return workspace().New<tir::Block>(copy);
  }

 private:
  // The statement, only for the least values of the reduction axes.
  const tir::Stmt* Guard(const tir::Stmt* init, List<const tir::IterVar*> axes) {
    const arith::PrimBuilder make(workspace().arena());
    const PrimExpr* condition = nullptr;
    for (const tir::IterVar* axis : axes) {
      if (axis->iter_type != tir::IterVarType::kCommReduce) continue;
      const PrimExpr* at_start = make.Binary(NodeKind::kEQ, axis->var, axis->dom->min);
      condition = condition ? make.Binary(NodeKind::kAnd, condition, at_start) : at_start;
    }
    return condition ? workspace().New<tir::IfThenElse>(condition, init, nullptr) : init;
  }
};

}  // namespace

Pass CreateLowerInitBlock(const PassOptions& options) {
  return CreateMutatorPass<InitLowerer>(options.info(), kSkipLegacy);
}

}  // namespace iropt
