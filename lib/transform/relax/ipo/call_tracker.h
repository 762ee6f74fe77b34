// A base for passes that simplify a call by the calls that computed its operands.
#pragma once

#include <algorithm>
#include <vector>

#include "iropt/analysis/relax/overwritten_vars.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/ir/relax/tuple_leaves.h"
#include "iropt/pass/pass.h"
#include "transform/relax/util/apply_rules.h"

namespace iropt {

// A mutator that knows which call computed a variable.
class CallTracker : public ExprMutator {
 public:
  using ExprMutator::ExprMutator;

 protected:
  void VisitVarBinding(const VarBinding* binding) override {
    ExprMutator::VisitVarBinding(binding);
    Record(*builder().current_bindings().back());
  }

  // The call that computed the operand, as it was rewritten, also through aliases; null if there is none, or if some of
  // its operands are not visible here.
  const Call* CallOf(const Expr* operand) const {
    const auto* var = As<Var>(operand);
    if (!var || var->id >= calls_.size()) return nullptr;
    const Computation& computation = calls_[var->id];
    return var->is_dataflow() || !computation.is_local ? computation.call : nullptr;
  }

 private:
  struct Computation {
    const Call* call = nullptr;
    // Some operands are variables of a dataflow block. An output of the block may be used where they are not visible.
    bool is_local = false;
  };

  static bool UsesDataflowVar(List<const Expr*> operands) {
    return std::ranges::any_of(operands, [](const Expr* e) { return AnyLeaf(e, &Is<DataflowVar>); });
  }

  void Record(const Binding& binding) {
    const auto* var_binding = As<VarBinding>(&binding);
    const Expr* value = var_binding ? var_binding->value : nullptr;
    Computation computation;
    if (const auto* call = As<Call>(value)) computation = {call, UsesDataflowVar(call->args)};
    if (const auto* source = As<Var>(value); source && source->id < calls_.size()) computation = calls_[source->id];
    if (!computation.call) return;
    const uint32_t id = binding.var->id;
    if (id >= calls_.size()) calls_.resize(std::max<size_t>(workspace().num_vars(), id + size_t{1}));
    calls_[id] = computation;
  }

  std::vector<Computation> calls_;  // by Var::id
};

// Option to merge equal calls in changed functions, besides removing new aliases and unused calls.
enum class MergeEqualCalls : uint8_t { kNo, kYes };

// A function pass that rewrites calls by a CallTracker, and cleans up in changed functions. Primitive functions are not
// changed, nor are those that overwrite operands.
template <class Tracker>
Pass CreateCallPass(const PassInfo& info, MergeEqualCalls merge = MergeEqualCalls::kNo) {
  return CreateFunctionPass(info,
                            [merge](const Function* old, FunctionPassContext& context) -> Result<const Function*> {
                              const Module& module = context.module();
                              if (IsPrimitive(*old) || OverwritesVars(*old, &module)) return old;
                              Workspace& workspace = context.workspace();
                              OpTypeInferrer inferrer(&module, workspace.arena(), &context.diagnostics());
                              Tracker tracker(module, workspace, inferrer);
                              const auto* function = To<Function>(tracker.VisitExpr(old));
                              if (tracker.failed()) return Failure{ErrorCode::PassFailed};
                              if (function == old) return old;
                              return CleanUpFunction(function, context, merge == MergeEqualCalls::kYes);
                            });
}

}  // namespace iropt
