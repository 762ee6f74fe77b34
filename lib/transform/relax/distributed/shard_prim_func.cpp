#include "shard_prim_func.h"

#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

#include "buffer_axes.h"
#include "iropt/arith/analyzer.h"
#include "iropt/infer/prim_func_type.h"
#include "iropt/infer/sharding.h"
#include "iropt/ir/location.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/support/lookup.h"

namespace iropt {

namespace {

// Finds the operation by which a block combines a value with the element of its result.
class ReductionFinder : public tir::StmtExprVisitor {
 public:
  explicit ReductionFinder(const tir::Buffer* result) : result_(result) {}
  std::string_view kind;

 protected:
  void VisitBinary(const tir::BinaryExpr* expr) override {
    if (IsResult(expr->a) || IsResult(expr->b)) {
      switch (expr->kind) {
        case NodeKind::kAdd: kind = "sum"; break;
        case NodeKind::kMul: kind = "prod"; break;
        case NodeKind::kMin: kind = "min"; break;
        case NodeKind::kMax: kind = "max"; break;
        default: break;
      }
    }
    StmtExprVisitor::VisitBinary(expr);
  }

 private:
  bool IsResult(const PrimExpr* expr) const {
    const auto* load = As<tir::BufferLoad>(expr);
    return load && load->buffer == result_;
  }

  const tir::Buffer* result_;
};

class PrimFuncSharder : public tir::StmtExprMutator {
 public:
  PrimFuncSharder(const PrimFunc& func, std::span<const DTensorType* const> types, Workspace& workspace,
                  DiagnosticEngine& diagnostics)
      : StmtExprMutator(workspace), diagnostics_(diagnostics) {
    BufferAxes axes(func);
    for (size_t i = 0; i < types.size() && i < func.param_buffers.size(); ++i) {
      if (!types[i] || !func.param_buffers[static_cast<uint32_t>(i)]) continue;
      const Placement placement = PlacementOf(*types[i]);
      for (size_t dim = 0; dim < placement.size(); ++dim) {
        if (placement[dim] < 0) continue;
        const auto axis = static_cast<uint32_t>(placement[dim]);
        for (const BufferAxis& split : axes.TakeGroup({func.param_buffers[static_cast<uint32_t>(i)], axis}))
          parts_[split.buffer][split.axis] = types[i]->device_mesh->shape[static_cast<uint32_t>(dim)];
      }
    }
  }

  bool ok() const { return ok_; }
  std::string_view allreduce() const { return allreduce_; }

 protected:
  const tir::Buffer* VisitBufferDef(const tir::Buffer* buffer) override {
    const auto* parts = parts_.Find(buffer);
    if (!parts) return buffer;
    auto* part = workspace().New<tir::Buffer>(*buffer);
    part->id = workspace().NextVarId();
    std::vector<const PrimExpr*> shape(buffer->shape.begin(), buffer->shape.end());
    for (const auto& [axis, count] : *parts) {
      if (axis < shape.size()) shape[axis] = Divide(shape[axis], count, *buffer->data, buffer->name);
    }
    part->shape = workspace().Copy(shape);
    Remap(buffer, part);
    return part;
  }

  const tir::Stmt* VisitBlock(const tir::Block* block) override {
    FindSplitVars(*block);
    const auto* visited = To<tir::Block>(StmtExprMutator::VisitBlock(block));
    std::vector<const tir::IterVar*> iters(visited->iter_vars.begin(), visited->iter_vars.end());
    bool changed = false;
    for (const tir::IterVar*& iter : iters) {
      const auto* count = iter_parts_.Find(iter->var);
      if (!count || *count <= 1) continue;
      if (iter->iter_type == tir::IterVarType::kCommReduce) AddAllreduce(*block);
      const PrimExpr* extent = Divide(iter->dom->extent, *count, *iter->var, iter->var->name);
      const auto* dom = workspace().New<tir::Range>(iter->dom->min, extent);
      iter = workspace().New<tir::IterVar>(dom, iter->var, iter->iter_type, iter->thread_tag);
      changed = true;
    }
    if (!changed) return visited;
    auto* copy = workspace().New<tir::Block>(*visited);
    copy->iter_vars = workspace().Copy(iters);
    return copy;
  }

  const tir::Stmt* VisitBlockRealize(const tir::BlockRealize* realize) override {
    const tir::Stmt* visited = StmtExprMutator::VisitBlockRealize(realize);
    for (uint32_t i = 0; i < realize->iter_values.size(); ++i) {
      const auto* count = iter_parts_.Find(realize->block->iter_vars[i]->var);
      if (!count || *count <= 1) continue;
      if (const auto* loop = As<tir::Var>(realize->iter_values[i])) {
        loop_parts_[loop] = *count;
      } else {
        Fail(*realize, fmt::format("variable '{}' of block '{}' is not that of a loop",
                                   realize->block->iter_vars[i]->var->name, realize->block->name_hint));
      }
    }
    return visited;
  }

  const tir::Stmt* VisitFor(const tir::For* loop) override {
    const auto* visited = To<tir::For>(StmtExprMutator::VisitFor(loop));
    const auto* count = loop_parts_.Find(loop->loop_var);
    if (!count) return visited;
    auto* copy = workspace().New<tir::For>(*visited);
    copy->extent = Divide(visited->extent, *count, *loop, loop->loop_var->name);
    return copy;
  }

 private:
  // The variables of the block whose ranges must be divided so that it accesses parts of buffers only.
  void FindSplitVars(const tir::Block& block) {
    if (block.iter_vars.empty()) return;
    const arith::IterRanges ranges = RangesOf(block);
    arith::Analyzer analyzer{arith::PrimBuilder(workspace())};
    for (const BufferAccess& access : AccessesIn(block)) {
      const auto* parts = parts_.Find(access.buffer);
      if (!parts) continue;
      for (const auto& [axis, count] : *parts) {
        const tir::Var* var =
            axis < access.indices.size() ? SplittingVar(access.indices[axis], ranges, analyzer) : nullptr;
        if (!var) {
          return Fail(block, fmt::format("no variable of block '{}' runs over axis {} of buffer '{}'", block.name_hint,
                                         axis, access.buffer->name));
        }
        const auto [known, is_new] = iter_parts_.try_emplace(var, count);
        if (!is_new && known != count)
          return Fail(block, fmt::format("variable '{}' would be split in different ways", var->name));
      }
    }
  }

  void AddAllreduce(const tir::Block& block) {
    if (block.writes.size() != 1 || !allreduce_.empty())
      return Fail(block, fmt::format("the reduction in block '{}' cannot be split", block.name_hint));
    ReductionFinder finder(block.writes[0]->buffer);
    finder.VisitStmt(block.body);
    allreduce_ = finder.kind;
    if (allreduce_.empty()) Fail(block, fmt::format("the reduction in block '{}' is not known", block.name_hint));
  }

  const PrimExpr* Divide(const PrimExpr* length, int64_t count, const Node& at, std::string_view name) {
    const arith::PrimBuilder make(workspace());
    arith::Analyzer analyzer(make);
    const PrimExpr* divisor = make.Const(count, length->dtype);
    if (!analyzer.CanProveEqual(make.FloorMod(length, divisor), make.Const(0, length->dtype))) {
      Fail(at, fmt::format("the length of '{}' cannot be divided by {}", name, count));
      return length;
    }
    return make.FloorDiv(length, divisor);
  }

  void Fail(const Node& at, std::string message) {
    if (ok_) diagnostics_.Error(Location(at), "pass-failed", std::move(message));
    ok_ = false;
  }

  DiagnosticEngine& diagnostics_;
  bool ok_ = true;
  std::string_view allreduce_;
  // Numbers of parts that axes of buffers, variables of blocks and loops are divided into.
  LookupMap<const tir::Buffer*, std::map<uint32_t, int64_t>> parts_;
  LookupMap<const tir::Var*, int64_t> iter_parts_;
  LookupMap<const tir::Var*, int64_t> loop_parts_;
};

}  // namespace

std::optional<ShardedPrimFunc> ShardPrimFunc(const PrimFunc& func, std::span<const DTensorType* const> types,
                                             Workspace& workspace, DiagnosticEngine& diagnostics) {
  PrimFuncSharder sharder(func, types, workspace, diagnostics);
  auto* sharded = workspace.New<PrimFunc>(*sharder.VisitPrimFunc(&func));
  if (!sharder.ok()) return std::nullopt;
  sharded->type = PrimFuncType(sharded);
  return ShardedPrimFunc{sharded, sharder.allreduce()};
}

}  // namespace iropt
