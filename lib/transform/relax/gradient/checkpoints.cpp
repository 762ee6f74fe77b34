#include "checkpoints.h"

#include <fmt/format.h>

#include "iropt/ir/relax/normalizer.h"
#include "iropt/ir/relax/tuple_leaves.h"
#include "iropt/ir/relax/visitor.h"
#include "iropt/op/ops/grad.h"
#include "prim_func_gradient.h"

namespace iropt {

namespace {

// The value with f(leaf) for each operand.
template <class F>
const Expr* MapLeafOperands(const Expr* value, Rebuilder& rebuilder, F&& f) {
  if (IsLeaf(value)) return f(value);
  return MapOperands(value, rebuilder, [&](const Expr* operand) { return MapLeaves(operand, rebuilder, f); });
}

}  // namespace

Checkpoints::Checkpoints(const Function& function, const DataflowBlock& block, GradBuilder& builder)
    : kept_(builder.workspace().num_vars()), ends_stage_(builder.workspace().num_vars()) {
  for (const Var* param : function.params) kept_[param->id] = true;
  Rebuilder rebuilder(builder.workspace(), nullptr, Retype::kNever);
  bindings_.reserve(block.bindings.size());
  for (const Binding* binding : block.bindings) Add(*To<VarBinding>(binding), builder, rebuilder);
}

const Var* Checkpoints::Resolve(const Var* var) const {
  const Var* found = stands_for_.Find(var);
  return found ? found : var;
}

void Checkpoints::Add(const VarBinding& binding, GradBuilder& builder, Rebuilder& rebuilder) {
  const auto* call = As<Call>(binding.value);
  if (call && (IsOp(call->op, op::kGradStartCheckpoint) || IsOp(call->op, op::kGradEndCheckpoint)))
    return RemoveMarker(binding, *call, builder);
  const Expr* value = binding.value;
  if (DependsOnKept(value)) kept_[binding.var->id] = true;
  if (has_markers_) {
    value = MapLeafOperands(value, rebuilder, [this](const Expr* leaf) -> const Expr* {
      const auto* var = As<Var>(leaf);
      return var ? Resolve(var) : leaf;
    });
  }
  bindings_.push_back(To<VarBinding>(rebuilder.Rebuild(binding, binding.var, value)));
}

void Checkpoints::RemoveMarker(const VarBinding& binding, const Call& marker, GradBuilder& builder) {
  has_markers_ = true;
  const auto* marked = As<Var>(marker.args[0]);
  if (!marked) {
    builder.set_location(marker);
    return builder.Fail("the operand of a checkpoint must be a variable");
  }
  const Var* original = Resolve(marked);
  if (IsOp(marker.op, op::kGradStartCheckpoint)) {
    kept_[original->id] = true;
  } else {
    ends_stage_[binding.var->id] = true;
  }
  // An output of the block that stands for a variable within it remains, as a copy.
  if (!binding.var->is_dataflow() && original->is_dataflow()) {
    bindings_.push_back(NewLike<VarBinding>(builder.workspace(), binding, binding.var, original));
  } else {
    stands_for_.Set(binding.var, original);
  }
}

bool Checkpoints::DependsOnKept(const Expr* value) const {
  bool all_kept = true;
  PostOrderVisit(value, [&](const Expr* expr) {
    if (const auto* var = As<Var>(expr)) all_kept &= kept_[var->id] || ends_stage_[var->id];
  });
  return all_kept;
}

Recomputation::Recomputation(const Function& function, const Checkpoints& checkpoints, GradBuilder& builder)
    : builder_(builder), rebuilder_(builder.workspace(), nullptr, Retype::kNever) {
  for (const Var* param : function.params) computed_.Set(param, param);
  for (const VarBinding* binding : checkpoints.bindings()) {
    binding_of_.Set(binding->var, binding);
    if (checkpoints.IsKept(binding->var)) computed_.Set(binding->var, binding->var);
  }
}

Recomputation::Computed Recomputation::Of(const VarBinding& binding) {
  const Expr* value = MapLeafOperands(binding.value, rebuilder_, [this](const Expr* leaf) -> const Expr* {
    const auto* var = As<Var>(leaf);
    return var ? VarOf(var) : leaf;
  });
  if (const Var* var = computed_.Find(binding.var)) return {var, value};
  const auto* call = As<Call>(value);
  const Expr* copy = call ? WithoutGradient(*builder_.workspace().New<Call>(*call), builder_.workspace()) : value;
  const Var* var = builder_.block().Emit(copy, fmt::format("{}_cp", binding.var->name()));
  computed_.Set(binding.var, var);
  return {var, value};
}

const Var* Recomputation::VarOf(const Var* var) {
  if (const Var* computed = computed_.Find(var)) return computed;
  return WithStack([&] { return Of(*binding_of_.Find(var)).var; });
}

}  // namespace iropt
