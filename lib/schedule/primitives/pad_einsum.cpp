// Padding the axes of a contraction to multiples of numbers.
//
//   for i, j, k in T.grid(127, 127, 127):            for i0, i1: A_pad[v0, v1] = T.if_then_else(v0 < 127 and ..., 0)
//       C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]  -->  ...
//                                                    for i, j, k in T.grid(128, 128, 128): C_pad[...] = ...
//                                                    for i0, i1: C[v0, v1] = C_pad[v0, v1]
//
// Source: TVM's src/tir/schedule/primitive/pad_einsum.cc.
#include <fmt/format.h>

#include <algorithm>

#include "axis_condition.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/support/lookup.h"
#include "schedule/checks.h"
#include "schedule/primitive_call.h"
#include "schedule/stmt_tools.h"

namespace iropt::schedule {

namespace {

using arith::Analyzer;

// The extents of padded axes, and of loops whose variables they are.
using Extents = LookupMap<const tir::Var*, const PrimExpr*>;

// Each buffer is accessed once, at elements whose indices are axes or constants.
bool IsEinsum(const tir::Block& block) {
  LookupSet<const tir::Buffer*> seen;
  for (const auto* regions : {&block.reads, &block.writes}) {
    for (const tir::BufferRegion* region : *regions) {
      if (!seen.insert(region->buffer)) return false;
      for (const tir::Range* range : region->region) {
        if (!arith::IsInt(range->extent, 1) || (!Is<tir::IntImm>(range->min) && !Is<tir::Var>(range->min)))
          return false;
      }
    }
  }
  return true;
}

bool IsIndexedBy(List<const PrimExpr*> indices, const tir::Var* axis) {
  return std::ranges::find(indices, static_cast<const PrimExpr*>(axis)) != indices.end();
}

// Returns whether the expression is zero where the elements that it loads are in the padding of the axis, which is
// zero.
bool IsZeroInPadding(const PrimExpr* expr, const tir::Var* axis) {
  if (const auto* load = As<tir::BufferLoad>(expr)) return IsIndexedBy(load->indices, axis);
  if (const auto* cast = As<tir::Cast>(expr)) return IsZeroInPadding(cast->value, axis);
  const auto* binary = As<tir::BinaryExpr>(expr);
  if (!binary) return false;
  const bool a = IsZeroInPadding(binary->a, axis), b = IsZeroInPadding(binary->b, axis);
  // Zero times infinity is not zero.
  if (expr->kind == NodeKind::kMul && !expr->dtype.is_floating()) return a || b;
  if (expr->kind == NodeKind::kMul) return a && b;
  return (expr->kind == NodeKind::kAdd || expr->kind == NodeKind::kSub) && a && b;
}

// Returns whether the block adds a value to the element that it stores to, and the value is zero in the padding of the
// axis.
bool AddsZeroInPadding(const tir::Block& block, const tir::Var* axis) {
  const auto* store = As<tir::BufferStore>(block.body);
  const auto* sum = store ? As<tir::Add>(store->value) : nullptr;
  if (!sum) return false;
  const auto is_own = [&](const PrimExpr* expr) {
    const auto* load = As<tir::BufferLoad>(expr);
    return load && load->buffer == store->buffer;
  };
  return (is_own(sum->a) && IsZeroInPadding(sum->b, axis)) || (is_own(sum->b) && IsZeroInPadding(sum->a, axis));
}

// The iterations in the padding must not change an element that the block stores to outside of it: they store to other
// elements, or add zero.
Status CheckPadding(State& state, const tir::Block& block, const Extents& extents) {
  for (const tir::IterVar* axis : block.iter_vars) {
    if (!extents.contains(axis->var)) continue;
    if (axis->iter_type == tir::IterVarType::kCommReduce) {
      if (AddsZeroInPadding(block, axis->var)) continue;
      return state.Refuse("the block {0} does not add products, so a reduction axis cannot be padded with zeros",
                          {&block});
    }
    const auto stores_elsewhere = [&](const tir::BufferRegion* region) {
      return std::ranges::any_of(region->region, [&](const tir::Range* range) { return range->min == axis->var; });
    };
    if (std::ranges::all_of(block.writes, stores_elsewhere)) continue;
    return state.Refuse(
        fmt::format("the block {{0}} does not store to different elements for the values of its axis {}, which "
                    "therefore cannot be padded",
                    axis->var->name),
        {&block});
  }
  return {};
}

// Replaces buffers, and the extents of axes and loops.
class EinsumPadder : public tir::StmtExprMutator {
 public:
  EinsumPadder(const Extents& extents, Workspace& workspace) : StmtExprMutator(workspace), extents_(extents) {}

  const tir::Stmt* VisitFor(const tir::For* loop) override {
    const auto* visited = To<tir::For>(StmtExprMutator::VisitFor(loop));
    const auto* found = extents_.Find(loop->loop_var);
    if (!found) return visited;
    auto* copy = workspace().New<tir::For>(*visited);
    copy->extent = *found;
    return copy;
  }
  const tir::Stmt* VisitBlock(const tir::Block* block) override {
    const auto* visited = To<tir::Block>(StmtExprMutator::VisitBlock(block));
    return CopyBlock(*visited, workspace(), [&](tir::Block& copy) {
      std::vector<const tir::IterVar*> axes(copy.iter_vars.begin(), copy.iter_vars.end());
      for (const tir::IterVar*& axis : axes) {
        const auto* found = extents_.Find(axis->var);
        if (!found) continue;
        const auto* dom = workspace().New<tir::Range>(axis->dom->min, *found);
        axis = workspace().New<tir::IterVar>(dom, axis->var, axis->iter_type, axis->thread_tag);
      }
      copy.iter_vars = workspace().Copy(axes);
    });
  }

 private:
  const Extents& extents_;
};

class PaddedCopies {
 public:
  PaddedCopies(State& state, const Extents& extents)
      : workspace_(state.workspace()),
        make_(state.make()),
        analyzer_(make_, Analyzer::SymVars::kAny),
        extents_(extents) {}

  BufferMap buffers;
  std::vector<const tir::Buffer*> allocated;

  // The statements that copy to, or from, the padded buffers of the regions.
  std::vector<const tir::Stmt*> Make(List<const tir::BufferRegion*> regions, bool is_read) {
    std::vector<const tir::Stmt*> copies;
    for (const tir::BufferRegion* region : regions) {
      const auto is_padded = [&](const tir::Range* range) {
        const auto* var = As<tir::Var>(range->min);
        return var && extents_.contains(var);
      };
      if (std::ranges::none_of(region->region, is_padded)) continue;
      const tir::Buffer* padded = PadBuffer(*region);
      buffers[region->buffer] = padded;
      allocated.push_back(padded);
      copies.push_back(is_read ? MakeCopy(region->buffer, padded, padded) : MakeCopy(padded, region->buffer, padded));
    }
    return copies;
  }

 private:
  const tir::Buffer* PadBuffer(const tir::BufferRegion& region) {
    std::vector<const PrimExpr*> shape;
    for (size_t i = 0; i < region.region.size(); ++i) {
      const PrimExpr* begin = region.region[i]->min;
      const auto* var = As<tir::Var>(begin);
      const auto* found = var ? extents_.Find(var) : nullptr;
      if (!var)
        shape.push_back(make_.Const(1, begin->dtype));
      else
        shape.push_back(!found ? region.buffer->shape[i] : *found);
    }
    return CopyBuffer(*region.buffer, {.name = fmt::format("{}_pad", region.buffer->name), .shape = &shape},
                      workspace_);
  }

  const tir::Stmt* MakeCopy(const tir::Buffer* from, const tir::Buffer* to, const tir::Buffer* padded) {
    std::vector<const tir::IterVar*> axes;
    std::vector<const PrimExpr*> loop_vars, indices;
    std::vector<const tir::Range*> point;
    const PrimExpr* inside = make_.Bool(true);
    for (size_t i = 0; i < to->shape.size(); ++i) {
      const PrimExpr* dim = to->shape[i];
      const auto* dom = workspace_.New<tir::Range>(make_.Const(0, dim->dtype), dim);
      const tir::Var* var = workspace_.NewPrimVar(fmt::format("v{}", i), dim->dtype);
      axes.push_back(workspace_.New<tir::IterVar>(dom, var, tir::IterVarType::kDataPar));
      loop_vars.push_back(workspace_.NewPrimVar(fmt::format("i{}", i), dim->dtype));
      indices.push_back(var);
      point.push_back(workspace_.New<tir::Range>(var, make_.Const(1, dim->dtype)));
      if (to == padded && !analyzer_.CanProveEqual(from->shape[i], dim))
        inside = make_.Binary(NodeKind::kAnd, inside, make_.Binary(NodeKind::kLT, var, from->shape[i]));
    }
    const PrimExpr* value = workspace_.New<tir::BufferLoad>(from->dtype, from, workspace_.Copy(indices));
    if (to == padded)
      value = Intrinsic(op::kTirIfThenElse, from->dtype, {inside, value, make_.Const(0, from->dtype)}, workspace_);
    const tir::Stmt* store = workspace_.New<tir::BufferStore>(to, value, workspace_.Copy(indices));
    const auto* block = workspace_.New<tir::Block>(
        workspace_.Copy(axes), workspace_.Copy(std::vector{MakeRegion(from, point, workspace_)}),
        workspace_.Copy(std::vector{MakeRegion(to, point, workspace_)}), padded->name, List<const tir::Buffer*>(),
        List<const tir::MatchBufferRegion*>(), DictAttr::Empty(), nullptr, store);
    const tir::Stmt* stmt = MakeRealize(loop_vars, make_.Bool(true), block, workspace_);
    for (size_t i = axes.size(); i > 0; --i)
      stmt = MakeLoop(To<tir::Var>(loop_vars[i - 1]), axes[i - 1]->dom->extent, stmt, workspace_);
    return stmt;
  }

  Workspace& workspace_;
  const arith::PrimBuilder make_;
  Analyzer analyzer_;
  const Extents& extents_;
};

// The buffers are copied whole, so the block has to access all of their elements.
Status CheckAccessesAll(State& state, const Ref* ref, const PaddedCopies& copies) {
  const tir::Block& block = ref->block();
  Analyzer analyzer(state.make(), Analyzer::SymVars::kAny);
  for (const auto* regions : {&block.reads, &block.writes}) {
    for (const tir::BufferRegion* region : *regions) {
      for (size_t i = 0; copies.buffers.contains(region->buffer) && i < region->region.size(); ++i) {
        const auto axis = std::ranges::find(block.iter_vars, region->region[i]->min, &tir::IterVar::var);
        const tir::Range& accessed = axis == block.iter_vars.end() ? *region->region[i] : *(*axis)->dom;
        if (arith::IsInt(accessed.min, 0) && analyzer.CanProveEqual(accessed.extent, region->buffer->shape[i]))
          continue;
        return state.Refuse(fmt::format("the block {{0}} does not access all elements of {}", region->buffer->name),
                            {&block});
      }
    }
  }
  std::vector<const PrimExpr*> axes;
  for (const tir::IterVar* axis : block.iter_vars) axes.push_back(axis->var);
  if (TakeAllValues(state, ref, axes, nullptr)) return {};
  return state.Refuse("the loops around the block {0}, or its condition, may leave out values of its axes", {&block});
}

// The extents of the axes, rounded up, and of their loops.
Result<Extents> PadExtents(State& state, const Ref* ref, const std::vector<int64_t>& padding) {
  const arith::PrimBuilder make = state.make();
  Analyzer analyzer(make, Analyzer::SymVars::kAny);
  const tir::BlockRealize& realize = *state.RealizeOf(ref);
  Extents extents;
  for (size_t i = 0; i < padding.size(); ++i) {
    const tir::IterVar& axis = *realize.block->iter_vars[i];
    const PrimExpr* extent = axis.dom->extent;
    const int64_t* known = arith::AsInt(extent);
    int64_t rounded = padding[i];
    if ((known && __builtin_mul_overflow((*known - 1) / padding[i] + 1, padding[i], &rounded)) ||
        !arith::FitsIn(rounded, extent->dtype))
      return state.Refuse(
          fmt::format("the axis {} of the block {{0}}, padded to a multiple of {}, is out of range for {}",
                      axis.var->name, padding[i], extent->dtype.ToString()),
          {realize.block});
    const PrimExpr* factor = make.Const(padding[i], extent->dtype);
    const PrimExpr* padded = analyzer.Simplify(make.Mul(make.CeilDiv(extent, factor), factor));
    if (analyzer.CanProveEqual(padded, extent)) continue;
    const auto* loop_var = As<tir::Var>(realize.iter_values[i]);
    if (!loop_var)
      return state.Refuse(
          fmt::format("the axis {} of the block {{0}} is not a loop, which could be padded", axis.var->name),
          {realize.block});
    extents[axis.var] = padded;
    extents[loop_var] = padded;
  }
  return extents;
}

bool IsInLoops(const Ref* ref, const Extents& extents) {
  for (ref = ref->parent; ref; ref = ref->parent) {
    if (ref->is_loop() && extents.contains(ref->loop().loop_var)) return true;
  }
  return false;
}

}  // namespace

Status ApplyPadEinsum(PrimitiveCall& call, const args::PadEinsum<Resolved>& args) {
  State& state = call.state();
  Workspace& workspace = state.workspace();
  Ref* ref = args.block;
  const tir::Block& block = ref->block();
  const std::vector<int64_t> padding = args.padding;
  IROPT_ASSIGN_OR_RETURN(Ref * scope, RequireScope(state, ref, /*stage_pipeline=*/true));
  const auto is_invalid = [](int64_t value) { return value <= 0; };
  if (padding.size() != block.iter_vars.size() || std::ranges::any_of(padding, is_invalid))
    return state.Refuse(fmt::format("invalid padding of the block {{0}}: expected {} positive integers, not [{}]",
                                    block.iter_vars.size(), fmt::join(padding, ", ")),
                        {&block});
  if (!IsEinsum(block)) return state.Refuse("the block {0} is not an einsum", {&block});
  IROPT_ASSIGN_OR_RETURN(const Extents extents, PadExtents(state, ref, padding));
  IROPT_RETURN_IF_ERROR(CheckPadding(state, block, extents));
  PaddedCopies copies(state, extents);
  const std::vector<const tir::Stmt*> before = copies.Make(block.reads, /*is_read=*/true);
  const std::vector<const tir::Stmt*> after = copies.Make(block.writes, /*is_read=*/false);
  IROPT_RETURN_IF_ERROR(CheckAccessesAll(state, ref, copies));
  const tir::Block* old_scope = &scope->block();
  BlockReuse reuse;
  std::vector<const tir::Stmt*> statements;
  for (const tir::Stmt* stmt : StatementsOf(BelowDeclarations(old_scope->body))) {
    const std::vector<const tir::Block*> blocks = BlocksOf(stmt);
    if (std::ranges::find(blocks, &block) == blocks.end()) {
      statements.push_back(stmt);
      continue;
    }
    for (const tir::Block* other : blocks) {
      const auto shares = [&](const tir::BufferRegion* region) {
        return UsesBuffer(other->reads, region->buffer) || UsesBuffer(other->writes, region->buffer);
      };
      if (other == &block) continue;
      if (std::ranges::any_of(block.reads, shares) || std::ranges::any_of(block.writes, shares))
        return state.Refuse("the block {0} in the loops around the block {1} accesses the same buffers",
                            {other, &block});
      if (IsInLoops(state.RefOf(other), extents))
        return state.Refuse("the block {0} is in loops of the block {1} that are padded", {other, &block});
    }
    statements.insert(statements.end(), before.begin(), before.end());
    const tir::Stmt* padded =
        ReplaceBuffers(EinsumPadder(extents, workspace).VisitStmt(stmt), copies.buffers, workspace);
    reuse = PairBlocks(stmt, padded);
    statements.push_back(padded);
    statements.insert(statements.end(), after.begin(), after.end());
  }
  const tir::Block* new_scope = CopyBlock(*old_scope, workspace, [&](tir::Block& copy) {
    copy.body = WithBelowDeclarations(old_scope->body, tir::MakeSeq(workspace, statements), workspace);
    for (const tir::Buffer* buffer : copies.allocated) copy.alloc_buffers = With(copy.alloc_buffers, buffer, workspace);
  });
  reuse.emplace_back(old_scope, new_scope);
  state.Replace(scope, new_scope, reuse);
  return {};
}

}  // namespace iropt::schedule
