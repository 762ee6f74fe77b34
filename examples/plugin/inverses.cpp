// A plugin with one pass. CancelInverses removes operators that are their own inverse:
//
//   lv = R.negative(x)                    lv = R.negative(x)
//   lv1 = R.negative(lv)           -->    lv1 = x
//   gv = R.add(lv1, y)                    gv = R.add(lv1, y)
//
// CanonicalizeBindings and DeadCodeElimination remove what is left. O(bindings).
#include <algorithm>
#include <string>
#include <vector>

#include "iropt/ir/relax/mutator.h"
#include "iropt/pass/plugin.h"

namespace {

using namespace iropt;

class InverseCanceller : public ExprMutator {
 public:
  InverseCanceller(Workspace& workspace, const std::vector<std::string>& operators)
      : ExprMutator(workspace), operators_(operators) {}

 protected:
  void VisitVarBinding(const VarBinding* binding) override {
    // Ids are dense, so a vector maps variables to values.
    if (binding->var->id >= values_.size()) values_.resize(binding->var->id + 1);
    values_[binding->var->id] = As<Call>(binding->value);
    ExprMutator::VisitVarBinding(binding);
  }

  const Expr* VisitCall(const Call* call) override {
    if (const Expr* operand = OperandUnder(*call)) return VisitExpr(operand);
    return ExprMutator::VisitCall(call);
  }

 private:
  // The operand of two nested calls of the operator, or null.
  const Expr* OperandUnder(const Call& outer) const {
    const auto* var = outer.args.size() == 1 ? As<Var>(outer.args[0]) : nullptr;
    if (var == nullptr || var->id >= values_.size() || !IsSelfInverse(outer.op)) return nullptr;
    const Call* inner = values_[var->id];
    if (inner == nullptr || inner->op != outer.op) return nullptr;
    const Expr* operand = inner->args[0];
    // The variables of a dataflow block, other than its outputs, are not visible after it.
    return Is<DataflowVar>(operand) && !Is<DataflowVar>(var) ? nullptr : operand;
  }

  bool IsSelfInverse(const Expr* op) const {
    return Is<Op>(op) && std::ranges::find(operators_, To<Op>(op)->name) != operators_.end();
  }

  const std::vector<std::string>& operators_;
  std::vector<const Call*> values_;  // Var::id -> its value, if that is a call
};

Pass CreateCancelInverses(const PassOptions& options) {
  return CreateFunctionPass(options.info(),
                            [operators = options.StringList("operators")](
                                const Function* function, FunctionPassContext& context) -> Result<const Function*> {
                              InverseCanceller canceller(context.workspace(), operators);
                              return To<Function>(canceller.VisitExpr(function));
                            });
}

Status Register(PassRegistry& registry) {
  const OptionValue::List operators = {"relax.negative", "relax.logical_not", "relax.bitwise_not"};
  return registry.Add({.info = {.name = "CancelInverses", .opt_level = 1, .kind = PassKind::Function},
                       .options = {{"operators", OptionType::StringList, operators, "operators that undo themselves"}},
                       .summary = "take away operators that undo each other",
                       .create = &CreateCancelInverses});
}

}  // namespace

IROPT_PASS_PLUGIN("inverses", "1.0", Register)
