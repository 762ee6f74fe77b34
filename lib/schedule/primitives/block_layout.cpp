// Giving a block other axes.
//
//   for i, j in T.grid(8, 16):        lambda i, j: (i * 16 + j,)       for ax0 in range(128):
//       with T.block("B"):                     -->                        with T.block("B"):
//           vi, vj = ...                                                       v0 = T.axis.spatial(128, ax0)
//           B[vi, vj] = A[vi, vj]                                              B[v0 // 16, v0 % 16] = ...
//
// Source: TVM's TransformBlockLayout, and ReorderBlockIterVar.
#include <fmt/format.h>

#include <algorithm>

#include "axis_condition.h"
#include "schedule/access_simplifier.h"
#include "schedule/checks.h"
#include "schedule/index_map_tools.h"
#include "schedule/primitive_call.h"
#include "schedule/region_tools.h"
#include "schedule/stmt_tools.h"

namespace iropt::schedule {

namespace {

using arith::Analyzer;

// The type of the axes in the expression; nothing if they have several, or there are none.
std::optional<tir::IterVarType> AxisTypeOf(const PrimExpr* value, const tir::Block& block) {
  std::optional<tir::IterVarType> type;
  bool ok = true;
  for (const tir::Var* var : VarsOf(value)) {
    const auto axis = std::ranges::find(block.iter_vars, var, &tir::IterVar::var);
    if (axis == block.iter_vars.end()) continue;
    ok = ok && (!type || *type == (*axis)->iter_type);
    type = (*axis)->iter_type;
  }
  return ok ? type : std::nullopt;
}

// The condition of the block without the loops around it.
Result<const PrimExpr*> ConditionInAxes(State& state, const Ref* ref) {
  IROPT_ASSIGN_OR_RETURN(const std::vector<const PrimExpr*> parts, ConditionOfAxes(state, ref, nullptr));
  const PrimExpr* condition = state.make().Bool(true);
  for (const PrimExpr* part : parts) condition = state.make().Binary(NodeKind::kAnd, condition, part);
  return condition;
}

// The axes of a block: the variables, the extents, and both as ranges.
struct OldAxes {
  std::vector<const PrimExpr*> vars, extents;
  arith::IterRanges domains;
};

Result<OldAxes> ReadAxes(State& state, const tir::Block& block) {
  OldAxes axes;
  for (const tir::IterVar* axis : block.iter_vars) {
    if (!arith::IsInt(axis->dom->min, 0))
      return state.Refuse(fmt::format("the domain of the axis {} of {{0}} does not begin with 0", axis->var->name),
                          {&block});
    axes.vars.push_back(axis->var);
    axes.extents.push_back(axis->dom->extent);
    axes.domains.insert_or_assign(axis->var, *axis->dom);
  }
  return axes;
}

// The axes that take the place of those of a block, and variables of loops for them.
struct NewAxes {
  std::vector<const tir::IterVar*> axes;
  std::vector<const PrimExpr*> vars, loop_vars;
};

// `values` are those of the new axes in the old ones, `shape` the extents.
Result<NewAxes> MakeAxes(State& state, const tir::Block& block, std::span<const PrimExpr* const> values,
                         std::span<const PrimExpr* const> shape) {
  Workspace& workspace = state.workspace();
  const arith::PrimBuilder& make = state.make();
  NewAxes added;
  for (size_t i = 0; i < values.size(); ++i) {
    const auto type = arith::IsInt(shape[i], 1) ? tir::IterVarType::kDataPar : AxisTypeOf(values[i], block);
    if (!type || *type == tir::IterVarType::kOpaque)
      return state.Refuse(fmt::format("the new axis {} of {{0}} is made of axes of several kinds: expected data "
                                      "parallel ones, or those of a reduction",
                                      i),
                          {&block});
    const DataType dtype = values[i]->dtype;
    const tir::Var* var = workspace.NewPrimVar(fmt::format("v{}", i), dtype);
    const auto* dom = workspace.New<tir::Range>(make.Const(0, dtype), make.Cast(dtype, shape[i]));
    added.axes.push_back(workspace.New<tir::IterVar>(dom, var, *type));
    added.vars.push_back(var);
    added.loop_vars.push_back(workspace.NewPrimVar(fmt::format("ax{}", i), dtype));
  }
  return added;
}

// The loops, which are replaced, have nothing in them but the block.
Status CheckOnlyInLoops(State& state, const Ref* block, const std::vector<Ref*>& loops) {
  const tir::Stmt* inner = state.RealizeOf(block);
  for (auto loop = loops.rbegin(); loop != loops.rend(); inner = (*loop++)->stmt) {
    if ((*loop)->loop().body != inner)
      return state.Refuse("the block {0} is not all that is in the loop {1}", {block->stmt, (*loop)->stmt});
  }
  return {};
}

}  // namespace

Status ApplyTransformBlockLayout(PrimitiveCall& call, const args::TransformBlockLayout<Resolved>& args) {
  State& state = call.state();
  Workspace& workspace = state.workspace();
  Ref* ref = args.block;
  const tir::Block& block = ref->block();
  const IndexMapAttr& map = *args.index_map;
  Analyzer analyzer(state.make(), Analyzer::SymVars::kAny);
  const arith::PrimBuilder& make = analyzer.make();
  BindShapes(*state.func(), analyzer);
  const std::vector<Ref*> loops = state.LoopsOf(ref);
  for (const Ref* loop : loops) IROPT_RETURN_IF_ERROR(CheckStartsWithZero(state, loop, analyzer));
  IROPT_RETURN_IF_ERROR(CheckOnlyInLoops(state, ref, loops));
  IROPT_RETURN_IF_ERROR(CheckTrivialBinding(state, ref));
  if (map.params.size() != block.iter_vars.size())
    return state.Refuse(
        fmt::format("the index map {} has a wrong number of parameters for the axes of {{0}}: expected {}, not {}",
                    ToPython(map), map.params.size(), block.iter_vars.size()),
        {&block});
  IROPT_ASSIGN_OR_RETURN(const OldAxes old, ReadAxes(state, block));
  const std::vector<const PrimExpr*> values = MapIndices(map, old.vars, analyzer);
  const auto shape = MapShape(map, old.extents, analyzer, workspace);
  const auto not_bijective = [&] {
    return state.Refuse(fmt::format("the index map {} is not an affine bijection", ToPython(map)));
  };
  if (!shape) return not_bijective();
  IROPT_ASSIGN_OR_RETURN(const NewAxes added, MakeAxes(state, block, values, *shape));
  const std::vector<const PrimExpr*> raw = ApplyMap(map, old.vars, make);
  std::vector<const PrimExpr*> outputs = added.vars;
  const auto inverse =
      arith::InverseIterMap(raw, outputs, old.domains,
                            {.level = arith::IterMapLevel::kBijective, .simplify_trivial_iterators = false}, analyzer);
  if (!inverse) return not_bijective();
  tir::VarValues old_axes;
  for (const tir::IterVar* axis : block.iter_vars)
    old_axes[axis->var] = make.Cast(axis->var->dtype, analyzer.Simplify(inverse->values.at(axis->var)));
  const auto* substituted = To<tir::Block>(tir::Substitute(&block, old_axes, workspace));
  const tir::Block* new_block =
      CopyBlock(*substituted, workspace, [&](tir::Block& copy) { copy.iter_vars = workspace.Copy(added.axes); });
  new_block = SimplifyAccesses(new_block, analyzer, workspace);
  tir::VarValues of_loops;
  for (size_t i = 0; i < added.vars.size(); ++i) of_loops[To<tir::Var>(added.vars[i])] = added.loop_vars[i];
  IROPT_ASSIGN_OR_RETURN(const PrimExpr* condition, ConditionInAxes(state, ref));
  condition = tir::Substitute(tir::Substitute(condition, old_axes, workspace), of_loops, workspace);
  const tir::Stmt* stmt = MakeRealize(added.loop_vars, analyzer.Simplify(condition), new_block, workspace);
  for (size_t i = added.loop_vars.size(); i > 0; --i)
    stmt = MakeLoop(To<tir::Var>(added.loop_vars[i - 1]), (*shape)[i - 1], stmt, workspace);
  const BlockReuse reuse = PairBlocks(&block, new_block);
  if (loops.empty() && !added.loop_vars.empty())
    return state.Refuse(fmt::format("the index map {} adds axes to a block without loops", ToPython(map)));
  if (!loops.empty())
    state.Replace(loops[0], stmt, reuse);
  else
    state.Replace(ref, new_block, reuse);
  return {};
}

Status ApplyReorderBlockIterVar(PrimitiveCall& call, const args::ReorderBlockIterVar<Resolved>& args) {
  State& state = call.state();
  Workspace& workspace = state.workspace();
  Ref* ref = args.block;
  const tir::Block& block = ref->block();
  const std::vector<int64_t> order = args.new_order;
  std::vector<int64_t> sorted = order;
  std::ranges::sort(sorted);
  bool ok = sorted.size() == block.iter_vars.size();
  for (size_t i = 0; i < sorted.size(); ++i) ok = ok && sorted[i] == static_cast<int64_t>(i);
  if (!ok)
    return state.Refuse(
        fmt::format("invalid order [{}] of the axes of {{0}}: expected a permutation of their positions",
                    fmt::join(order, ", ")),
        {&block});
  const tir::BlockRealize* realize = state.RealizeOf(ref);
  std::vector<const tir::IterVar*> axes;
  std::vector<const PrimExpr*> values;
  for (const int64_t i : order) {
    axes.push_back(block.iter_vars[static_cast<size_t>(i)]);
    values.push_back(realize->iter_values[static_cast<size_t>(i)]);
  }
  const tir::Block* new_block =
      CopyBlock(block, workspace, [&](tir::Block& copy) { copy.iter_vars = workspace.Copy(axes); });
  const PrimExpr* predicate = realize->predicate;
  state.Replace(ref, new_block, {{&block, new_block}});
  state.ReplaceRealize(ref, MakeRealize(values, predicate, new_block, workspace));
  return {};
}

}  // namespace iropt::schedule
