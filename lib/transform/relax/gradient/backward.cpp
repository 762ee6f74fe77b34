#include "backward.h"

#include <fmt/format.h>

#include <algorithm>

#include "iropt/infer/infer.h"
#include "iropt/ir/relax/tuple_leaves.h"
#include "iropt/op/ops/call_tir.h"
#include "iropt/op/ops/create.h"
#include "rules.h"

namespace iropt {

BackwardPass::BackwardPass(const Function& function, const Checkpoints& checkpoints, const Module& module,
                           GradBuilder& builder)
    : checkpoints_(checkpoints), module_(module), builder_(builder), recomputation_(function, checkpoints, builder) {}

void BackwardPass::Run(const Var* target) {
  const auto* type = To<TensorType>(target->type);
  const Attr* attrs = MakeOpAttrs(op::kOnes, InitAttrs::Values{.dtype = type->dtype});
  builder_.set_location(*target);
  Update(target, builder_.Call(op::kOnes, {builder_.Shape(type->dims)}, attrs));
  const std::span<const VarBinding* const> bindings = checkpoints_.bindings();
  for (size_t i = bindings.size(); i-- > 0 && !builder_.failed();) VisitBinding(*bindings[i]);
}

const Var* BackwardPass::EmitOutput(const Var* var) {
  const Var* resolved = checkpoints_.Resolve(var);
  builder_.set_location(*var);
  // The target does not depend on a variable without an adjoint.
  if (!adjoints_.Find(resolved)) {
    const Expr* zeros = builder_.Zeros(resolved->type);
    if (builder_.failed()) return var;
    Update(resolved, zeros);
  }
  return builder_.block().EmitOutput(adjoints_.Find(resolved), fmt::format("{}_adjoint_out", resolved->name()));
}

void BackwardPass::VisitBinding(const VarBinding& binding) {
  const Var* adjoint = adjoints_.Find(binding.var);
  if (!adjoint) return;
  builder_.block().ForgetOperands();
  const Expr* value = binding.value;
  builder_.set_location(*value);
  switch (value->kind) {
    case NodeKind::kCall: return VisitCall(binding, *To<Call>(value), adjoint);
    case NodeKind::kTupleGetItem: return VisitItem(*To<TupleGetItem>(value), adjoint);
    case NodeKind::kTuple:
    case NodeKind::kVar:
    case NodeKind::kDataflowVar: return Update(value, adjoint);
    case NodeKind::kConstant: return;
    default: return builder_.Fail("cannot differentiate a binding of this kind of value");
  }
}

void BackwardPass::VisitCall(const VarBinding& binding, const Call& call, const Var* adjoint) {
  const auto* op = As<Op>(call.op);
  if (!op) return builder_.Fail(fmt::format("cannot differentiate a call of {}: inline it first", CalleeName(call)));
  if (op->id == op::kCallTirWithGrad) {
    const Recomputation::Computed computed = recomputation_.Of(binding);
    return VisitCallTirWithGrad(call, *To<Call>(computed.value), adjoint);
  }
  const GradRule rule = FindGradRule(op->id);
  if (!rule) return builder_.Fail(fmt::format("cannot differentiate {}: it has no gradient", CalleeName(call)));
  const Recomputation::Computed computed = recomputation_.Of(binding);
  const Partials partials = rule({computed.var, To<Call>(computed.value), adjoint}, builder_);
  for (uint32_t i = 0; i < std::min<size_t>(call.args.size(), kMaxPartials); ++i) {
    if (builder_.failed()) return;
    if (partials[i]) Update(call.args[i], partials[i]);
  }
}

void BackwardPass::VisitCallTirWithGrad(const Call& call, const Call& computed, const Var* adjoint) {
  const auto* args = As<Tuple>(call.args[1]);
  const GlobalVar* gradient = FindGradientFunc(computed, module_, builder_);
  if (!gradient || !args) return;
  const Var* partials = builder_.block().Emit(CallGradient(computed, *gradient, *adjoint, builder_));
  if (args->fields.size() == 1) return Update(args->fields[0], partials);
  for (uint32_t i = 0; i < args->fields.size() && !builder_.failed(); ++i)
    Update(args->fields[i], TupleItem(partials, i, builder_.workspace()));
}

void BackwardPass::VisitItem(const TupleGetItem& item, const Var* adjoint) {
  const auto* tuple = To<Var>(item.tuple);
  const auto index = static_cast<uint32_t>(item.index);
  if (const Var* old = adjoints_.Find(tuple)) return EmitAdjoint(tuple, AddToField(old, index, adjoint));
  std::vector<const Expr*> fields;
  const List<const Type*> types = To<TupleType>(tuple->type)->fields;
  for (uint32_t i = 0; i < types.size(); ++i) fields.push_back(i == index ? adjoint : builder_.Zeros(types[i]));
  EmitAdjoint(tuple, builder_.workspace().New<Tuple>(builder_.workspace().Copy(fields), nullptr));
}

void BackwardPass::Update(const Expr* operand, const Expr* partial) {
  partial = builder_.block().Normalize(partial);
  if (!builder_.failed()) UpdateLeaves(operand, partial);
}

void BackwardPass::UpdateLeaves(const Expr* operand, const Expr* partial) {
  if (const auto* tuple = As<Tuple>(operand)) {
    return WithStack([&] {
      for (uint32_t i = 0; i < tuple->fields.size(); ++i)
        UpdateLeaves(tuple->fields[i], TupleItem(partial, i, builder_.workspace()));
    });
  }
  if (Is<Constant>(operand)) return;
  const auto* var = As<Var>(operand);
  if (!var) return builder_.Fail("cannot differentiate: an operand is neither a variable nor a constant");
  const Expr* value = builder_.block().Normalize(partial);
  const Var* old = adjoints_.Find(var);
  EmitAdjoint(var, old ? Sum(old, value) : value);
}

const Expr* BackwardPass::Sum(const Expr* a, const Expr* b) {
  Workspace& workspace = builder_.workspace();
  const auto* tuple = As<TupleType>(a->type);
  if (!tuple) return builder_.Add(a, b);
  return WithStack([&]() -> const Expr* {
    std::vector<const Expr*> fields;
    for (uint32_t i = 0; i < tuple->fields.size(); ++i)
      fields.push_back(Sum(TupleItem(a, i, workspace), TupleItem(b, i, workspace)));
    return workspace.New<Tuple>(workspace.Copy(fields), nullptr);
  });
}

const Expr* BackwardPass::AddToField(const Expr* tuple, uint32_t index, const Expr* increment) {
  Workspace& workspace = builder_.workspace();
  std::vector<const Expr*> fields;
  for (uint32_t i = 0; i < To<TupleType>(tuple->type)->fields.size(); ++i) {
    const Expr* field = TupleItem(tuple, i, workspace);
    fields.push_back(i == index ? Sum(field, increment) : field);
  }
  return workspace.New<Tuple>(workspace.Copy(fields), nullptr);
}

void BackwardPass::EmitAdjoint(const Var* var, const Expr* value) {
  if (builder_.failed()) return;
  adjoints_.Set(var, builder_.block().Emit(value, fmt::format("{}_adjoint", var->name())));
}

}  // namespace iropt
