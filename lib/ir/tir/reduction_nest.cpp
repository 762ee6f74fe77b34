#include "iropt/ir/tir/reduction_nest.h"

#include <algorithm>

#include "iropt/ir/tir/uses_any_of.h"
#include "iropt/support/lookup.h"

namespace iropt::tir {

bool ReductionNest::IsReduction(const For& loop) const {
  bool is_used = false;
  for (size_t i = 0; i < realize->iter_values.size(); ++i) {
    if (!UsesVar(realize->iter_values[i], loop.loop_var)) continue;
    if (realize->block->iter_vars[i]->iter_type != IterVarType::kCommReduce) return false;
    is_used = true;
  }
  return is_used;
}

std::optional<ReductionNest> FindReductionNest(const For& loop) {
  ReductionNest nest{{}, nullptr};
  LookupSet<const Var*> vars;
  const Stmt* stmt = &loop;
  while (const auto* inner = As<For>(stmt)) {
    if (inner->thread_binding || inner->step || UsesAnyOf(vars, inner->min) || UsesAnyOf(vars, inner->extent))
      return std::nullopt;
    nest.loops.push_back(inner);
    vars.insert(inner->loop_var);
    stmt = inner->body;
  }
  nest.realize = As<BlockRealize>(stmt);
  if (!nest.realize) return std::nullopt;
  const Block& block = *nest.realize->block;
  const auto* predicate = As<IntImm>(nest.realize->predicate);
  if (!block.init || !predicate || predicate->value != 1 || !block.match_buffers.empty() ||
      !block.alloc_buffers.empty() || nest.realize->iter_values.size() != block.iter_vars.size())
    return std::nullopt;
  return nest.IsReduction(loop) ? std::optional(std::move(nest)) : std::nullopt;
}

}  // namespace iropt::tir
