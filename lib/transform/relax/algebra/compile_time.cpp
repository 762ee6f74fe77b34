#include "compile_time.h"

#include <algorithm>

#include "iropt/analysis/relax/lift_plan.h"
#include "iropt/op/ops/matmul.h"
#include "transform/relax/params/num_input.h"

namespace iropt {

CompileTimeVars::CompileTimeVars(const Function& function) {
  const NumInput num_input = NumInputOf(function);
  const auto* body = As<SeqExpr>(function.body);
  if (!num_input.value || !body) return;
  const auto mark = [&](const Var* var) {
    if (var->id >= known_.size()) known_.resize(var->id + known_.size() / 2 + 1);
    known_[var->id] = true;
  };
  const auto is_known = [&](const Var* var) { return var->id < known_.size() && known_[var->id]; };
  for (size_t i = *num_input.value; i < function.params.size(); ++i) mark(function.params[i]);
  for (const BindingBlock* block : body->blocks) {
    for (const Binding* binding : block->bindings) {
      if (std::ranges::all_of(OperandsOf(ValueOf(binding)).vars, is_known)) mark(binding->var);
    }
  }
}

bool CompileTimeVars::Contains(const Expr* operand, const Match& match) const {
  const auto* var = As<Var>(operand);
  return var && !match.definitions().ValueOf(var) && var->id < known_.size() && known_[var->id];
}

bool AccumulatesInOwnDtype(const Call& matmul) {
  const DataType out = MatmulAttrs(matmul).out_dtype();
  if (out.is_void()) return true;
  return std::ranges::all_of(matmul.args, [&](const Expr* arg) {
    const auto* tensor = As<TensorType>(arg->type);
    return tensor && tensor->dtype == out;
  });
}

}  // namespace iropt
