// The form of matrix products in which the rules for GPUs schedule them, and what is inlined around them.
#include "matmul_form.h"

#include <fmt/format.h>

#include <array>

#include "block_info.h"
#include "iropt/ir/context.h"
#include "schedule/stmt_tools.h"

namespace iropt::schedule {

namespace {

// Kinds of axes of a product; kTrivial: it runs once.
enum class MatmulAxis : uint8_t { kBatch, kI, kJ, kK, kTrivial };

struct MatmulAxes {
  std::vector<std::pair<const tir::IterVar*, MatmulAxis>> axes;
  AxisSet a, b, c;  // that the operands depend on
};

std::optional<AxisSet> VarsOfAccess(const tir::BufferRegion& region) {
  AxisSet vars;
  for (const tir::Range* range : region.region) {
    if (!arith::IsInt(range->extent, 1)) return std::nullopt;
    for (const tir::Var* var : VarsOf(range->min)) vars.insert(var);
  }
  return vars;
}

std::optional<MatmulAxis> KindOfAxis(const tir::IterVar& axis, const MatmulAxes& uses) {
  const bool a = uses.a.contains(axis.var), b = uses.b.contains(axis.var), c = uses.c.contains(axis.var);
  if (arith::IsInt(axis.dom->extent, 1)) return MatmulAxis::kTrivial;
  if (axis.iter_type == tir::IterVarType::kDataPar) {
    if (a && b && c) return MatmulAxis::kBatch;
    if (a && c) return MatmulAxis::kI;
    if (b && c) return MatmulAxis::kJ;
  } else if (axis.iter_type == tir::IterVarType::kCommReduce && a && b && !c) {
    return MatmulAxis::kK;
  }
  return std::nullopt;
}

std::optional<MatmulAxes> DetectAxes(const tir::Block& block) {
  if (block.reads.size() != 2 || block.writes.size() != 1) return std::nullopt;
  auto a = VarsOfAccess(*block.reads[0]), b = VarsOfAccess(*block.reads[1]), c = VarsOfAccess(*block.writes[0]);
  if (!a || !b || !c) return std::nullopt;
  MatmulAxes result{{}, *std::move(a), *std::move(b), *std::move(c)};
  std::array<bool, 5> has{};
  for (const tir::IterVar* axis : block.iter_vars) {
    const auto kind = KindOfAxis(*axis, result);
    if (!kind) return std::nullopt;
    has[static_cast<size_t>(*kind)] = true;
    result.axes.emplace_back(axis, *kind);
  }
  for (const MatmulAxis kind : {MatmulAxis::kI, MatmulAxis::kJ, MatmulAxis::kK}) {
    if (!has[static_cast<size_t>(kind)]) return std::nullopt;
  }
  return result;
}

// The extent for an index map: its variables stand for those of the function by their names.
const PrimExpr* ExtentForMap(const PrimExpr* extent, const arith::PrimBuilder& make, Workspace& workspace) {
  if (arith::AsInt(extent)) return extent;
  tir::VarValues values;
  for (const tir::Var* var : VarsOf(extent)) values[var] = IRContext::Current().NewSymVar(var->name, var->dtype);
  return make.Cast(extent->dtype, tir::Substitute(extent, values, workspace));
}

// Fuses the axes of each kind, of those in `used` (null: all).
const IndexMapAttr* FuseByKind(const MatmulAxes& matmul, const AxisSet* used, std::initializer_list<MatmulAxis> kinds,
                               Workspace& workspace) {
  const arith::PrimBuilder make;
  std::vector<const tir::Var*> params;
  std::array<const PrimExpr*, 5> fused{};
  for (const auto& [axis, kind] : matmul.axes) {
    if (used && !used->contains(axis->var)) continue;
    const PrimExpr* extent = axis->dom->extent;
    params.push_back(IRContext::Current().NewSymVar(fmt::format("i{}", params.size()), extent->dtype));
    if (kind == MatmulAxis::kTrivial) continue;
    const PrimExpr*& sum = fused[static_cast<size_t>(kind)];
    sum = sum ? make.Add(make.Mul(sum, ExtentForMap(extent, make, workspace)), params.back()) : params.back();
  }
  std::vector<const PrimExpr*> results;
  for (const MatmulAxis kind : kinds) {
    const PrimExpr* sum = fused[static_cast<size_t>(kind)];
    results.push_back(sum ? sum : make.Const(0, params.empty() ? DataType::Int(32) : params[0]->dtype));
  }
  return IndexMapAttr::Get(params, results);
}

}  // namespace

std::optional<Name> FindOnlyReduction(RuleSchedule& sch, const Names& blocks) {
  std::optional<Name> found;
  for (const Name& block : blocks) {
    bool spatial = false, reduction = false;
    for (const tir::IterVar* axis : sch.Block(block).iter_vars) {
      spatial = spatial || axis->iter_type == tir::IterVarType::kDataPar;
      reduction = reduction || axis->iter_type == tir::IterVarType::kCommReduce;
      if (axis->iter_type != tir::IterVarType::kDataPar && axis->iter_type != tir::IterVarType::kCommReduce)
        return std::nullopt;
    }
    if (!spatial) return std::nullopt;
    if (reduction && found) return std::nullopt;
    if (reduction) found = block;
  }
  return found;
}

bool IsMatmul(const tir::Block& block) { return DetectAxes(block).has_value(); }

bool NormalizeMatmul(RuleSchedule& sch, const Name& main) {
  const Name a = sch.ReIndex({main, 0, Side::kRead});
  const Name b = sch.ReIndex({main, 1, Side::kRead});
  const Name c = sch.ReIndex({main, 0, Side::kWrite});
  if (!sch.ok()) return false;
  const auto axes = DetectAxes(sch.Block(main));
  if (!axes) return sch.Fail();
  using enum MatmulAxis;
  Workspace& workspace = sch.state().workspace();
  const IndexMapAttr* a_map = FuseByKind(*axes, &axes->a, {kBatch, kI, kK}, workspace);
  const IndexMapAttr* b_map = FuseByKind(*axes, &axes->b, {kBatch, kJ, kK}, workspace);
  const IndexMapAttr* c_map = FuseByKind(*axes, &axes->c, {kBatch, kI, kJ}, workspace);
  const IndexMapAttr* map = FuseByKind(*axes, nullptr, {kBatch, kI, kJ, kK}, workspace);
  sch.TransformLayout({a, 0, Side::kWrite, a_map});
  sch.TransformLayout({b, 0, Side::kWrite, b_map});
  sch.TransformLayout({c, 0, Side::kRead, c_map});
  sch.TransformBlockLayout({main, map});
  return sch.ok();
}

// ---- Inlining around the product

namespace {

void CollectAround(RuleSchedule& sch, const Name& block, bool producers, Names& found) {
  for (const Name& next : producers ? sch.GetProducers({block}) : sch.GetConsumers({block})) {
    found.push_back(next);
    CollectAround(sch, next, producers, found);
  }
}

void InlineConsumers(RuleSchedule& sch, const Name& block) {
  for (bool changed = true; changed && sch.ok();) {
    changed = false;
    Names consumers;
    CollectAround(sch, block, /*producers=*/false, consumers);
    for (const Name& consumer : consumers)
      changed = (sch.Exists(consumer) && sch.Try(args::ComputeInline<Named>{consumer})) || changed;
    for (const Name& consumer : consumers)
      changed = (sch.Exists(consumer) && sch.Try(args::ReverseComputeInline<Named>{consumer})) || changed;
  }
}

}  // namespace

void InlineProducers(RuleSchedule& sch, const Name& block) {
  for (bool changed = true; changed && sch.ok();) {
    changed = false;
    Names producers;
    CollectAround(sch, block, /*producers=*/true, producers);
    for (const Name& producer : producers)
      changed = (sch.Exists(producer) && sch.Try(args::ComputeInline<Named>{producer})) || changed;
  }
}

// Consumers that have other producers, too, get these inlined first.
void InlineConsumerChain(RuleSchedule& sch, const Name& block) {
  InlineConsumers(sch, block);
  const Names rest = sch.GetConsumers({block});
  if (rest.empty() || !sch.ok()) return;
  for (const Name& consumer : rest) {
    for (const Name& producer : sch.GetProducers({consumer})) {
      if (!sch.ok()) return;
      if (sch.RefOf(producer) == sch.RefOf(block)) continue;
      InlineProducers(sch, producer);
      sch.ComputeInline({producer});
    }
  }
  InlineConsumers(sch, block);
  if (!sch.GetConsumers({block}).empty()) sch.Fail();
}

}  // namespace iropt::schedule
