// tir.LowerInitBlock: turns the initialization of a reduction block into a conditional at the start of its body.
//
//   with T.init():                                    if vk == 0:
//       C[vi] = T.float32(0)                  -->         C[vi] = T.float32(0)
//   C[vi] = C[vi] + A[vi, vk]                         C[vi] = C[vi] + A[vi, vk]
//
// It runs where all reduction axes have their least values; if the block has no reduction axis, always. A reduction
// whose extent may turn out to be 0 never gets there, so its results are initialized before it then. Functions of the
// older scheduler stay. O(nodes).
//
// Source: TVM 0.18's pass of this name, which leaves the results of such reductions as they are.
#include <fmt/format.h>

#include <array>
#include <vector>

#include "iropt/arith/prim_builder.h"
#include "iropt/ir/structural.h"
#include "iropt/ir/tir/copy_stmt.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/reduction_nest.h"
#include "iropt/ir/tir/substitute.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "transform/tir/util/constant_conditions.h"
#include "transform/tir/util/prim_func_pass.h"

namespace iropt {

namespace {

class InitLowerer : public tir::StmtExprMutator {
 public:
  explicit InitLowerer(Workspace& workspace) : StmtExprMutator(workspace, tir::kRewriteBuffers) {}

 protected:
  const PrimExpr* VisitExpr(const PrimExpr* expr) override { return expr; }  // there are no blocks in expressions

  const tir::Stmt* VisitFor(const tir::For* loop) override {
    const int64_t* extent = arith::AsInt(loop->extent);
    std::vector<tir::ReductionNest> nests;
    if (!extent || *extent <= 0) nests = tir::FindReductionNests(*loop);
    const tir::Stmt* lowered = StmtExprMutator::VisitFor(loop);
    if (nests.empty()) return lowered;
    std::vector<const tir::Stmt*> inits;
    for (const tir::ReductionNest& nest : nests) inits.push_back(Initialization(nest));
    const arith::PrimBuilder make(workspace());
    const PrimExpr* is_empty = make.Binary(NodeKind::kLE, loop->extent, make.Const(0, loop->extent->dtype));
    const std::array<const tir::Stmt*, 2> stmts = {
        workspace().New<tir::IfThenElse>(is_empty, MakeFlatSeq(workspace(), inits), nullptr), lowered};
    return MakeFlatSeq(workspace(), stmts);
  }

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
    const arith::PrimBuilder make(workspace());
    const PrimExpr* condition = nullptr;
    for (const tir::IterVar* axis : axes) {
      if (axis->iter_type != tir::IterVarType::kCommReduce) continue;
      const PrimExpr* at_start = make.Binary(NodeKind::kEQ, axis->var, axis->dom->min);
      condition = condition ? make.Binary(NodeKind::kAnd, condition, at_start) : at_start;
    }
    return condition ? workspace().New<tir::IfThenElse>(condition, init, nullptr) : init;
  }

  // The condition of the initialization for all iterations of the loops.
  const PrimExpr* Condition(const tir::ReductionNest& nest) {
    const arith::PrimBuilder make(workspace());
    const PrimExpr* condition = nullptr;
    const auto add = [&](const PrimExpr* clause) {
      condition = condition ? make.Binary(NodeKind::kAnd, condition, clause) : clause;
    };
    tir::VarValues first;
    for (const tir::For* loop : nest.loops) {
      if (nest.IsReduction(*loop)) first[loop->loop_var] = loop->min;
    }
    for (const PrimExpr* clause : nest.conditions) add(tir::Substitute(clause, first, workspace()));
    for (const tir::IterVar* axis : nest.outer_axes) {
      const PrimExpr* value = nest.ValueOf(axis);
      if (!DeepEqual(value, axis->dom->min)) add(make.Binary(NodeKind::kEQ, value, axis->dom->min));
    }
    return condition ? condition : True(workspace());
  }

  // The loops and axes that are not of the reduction, around the initialization.
  const tir::Stmt* Initialization(const tir::ReductionNest& nest) {
    const tir::Block& block = *nest.realize->block;
    tir::VarValues vars;
    const auto copy = [&](const tir::Var* var) { return workspace().NewPrimVar(var->name, var->dtype); };
    std::vector<const tir::IterVar*> axes;
    std::vector<const PrimExpr*> values;
    for (size_t i = 0; i < block.iter_vars.size(); ++i) {
      const tir::IterVar& axis = *block.iter_vars[i];
      if (axis.iter_type == tir::IterVarType::kCommReduce) {
        vars[axis.var] = axis.dom->min;
        continue;
      }
      const tir::Var* var = copy(axis.var);
      vars[axis.var] = var;
      axes.push_back(workspace().New<tir::IterVar>(axis.dom, var, axis.iter_type, axis.thread_tag));
      values.push_back(nest.realize->iter_values[i]);
    }
    std::vector<const tir::BufferRegion*> writes;
    for (const tir::BufferRegion* write : block.writes) writes.push_back(tir::Substitute(write, vars, workspace()));
    // One of two copies has statements of its own.
    const tir::Stmt* init =
        StmtCopier(workspace()).Copy(tir::Substitute(block.init, vars, workspace()), {}, OwnDefinitions::kRenew);
    const auto* init_block = workspace().New<tir::Block>(
        workspace().Copy(axes), List<const tir::BufferRegion*>(), workspace().Copy(writes),
        workspace().arena().CopyString(fmt::format("{}_init", block.name_hint)), List<const tir::Buffer*>(),
        List<const tir::MatchBufferRegion*>(), DictAttr::Empty(), nullptr, init);
    const tir::Stmt* stmt = workspace().New<tir::BlockRealize>(workspace().Copy(values), Condition(nest), init_block);
    for (size_t i = nest.loops.size(); i > 0; --i) {
      const tir::For& loop = *nest.loops[i - 1];
      if (nest.IsReduction(loop)) continue;
      const tir::Var* var = copy(loop.loop_var);
      stmt = workspace().New<tir::For>(var, loop.min, loop.extent, loop.for_kind,
                                       tir::Substitute(stmt, {{loop.loop_var, var}}, workspace()), loop.thread_binding,
                                       DictAttr::Empty());
    }
    return stmt;
  }
};

}  // namespace

Pass CreateLowerInitBlock(const PassOptions& options) {
  return CreateMutatorPass<InitLowerer>(options.info(), kSkipLegacy);
}

}  // namespace iropt
