#include "iropt/analysis/relax/use_order.h"

#include <utility>

#include "iropt/ir/relax/visitor.h"
#include "iropt/support/stack.h"

namespace iropt {

class UseOrderFinder : private ExprVisitor {
 public:
  explicit UseOrderFinder(UseOrder& order) : order_(order), values_(order.places_.size()) {}

  void Run(const Function& function) {
    VisitExpr(&function);
    std::vector<const Var*> roots;
    AppendVars(function.body, roots);
    for (const Var* root : roots) Traverse(root);
  }

 private:
  struct Visit {
    const Var* var;
    std::vector<const Var*> operands;
    size_t next = 0;
  };

  void VisitBinding(const Binding* binding) override {
    const Expr* value = ValueOf(binding);
    values_[binding->var->id] = value;
    if (Is<Function>(value)) open_.insert(binding->var);
    ExprVisitor::VisitBinding(binding);
    open_.erase(binding->var);
  }
  void VisitVar(const Var* var) override {
    if (open_.contains(var)) order_.recursive_.insert(var);
  }

  // The variables of a value in order; of nested sequences, those of their results.
  static void AppendVars(const Expr* value, std::vector<const Var*>& vars) {
    WithStack([&] { AppendVarsOf(value, vars); });
  }
  static void AppendVarsOf(const Expr* value, std::vector<const Var*>& vars) {
    if (const auto* var = As<Var>(value)) {
      vars.push_back(var);
    } else if (const auto* call = As<Call>(value)) {
      AppendVars(call->op, vars);
      for (const Expr* arg : call->args) AppendVars(arg, vars);
    } else if (const auto* tuple = As<Tuple>(value)) {
      for (const Expr* field : tuple->fields) AppendVars(field, vars);
    } else if (const auto* item = As<TupleGetItem>(value)) {
      AppendVars(item->tuple, vars);
    } else if (const auto* conditional = As<If>(value)) {
      for (const Expr* part : {conditional->cond, conditional->true_branch, conditional->false_branch})
        AppendVars(part, vars);
    } else if (const auto* seq = As<SeqExpr>(value)) {
      AppendVars(seq->body, vars);
    } else if (const auto* function = As<Function>(value)) {
      AppendVars(function->body, vars);
    }
  }

  void Enter(const Var* var, std::vector<Visit>& stack) {
    uint32_t& place = order_.places_[var->id];
    if (place != UseOrder::kNone || !values_[var->id]) return;
    place = 0;  // visited; its place comes after those of its operands
    Visit visit{var, {}};
    AppendVars(values_[var->id], visit.operands);
    stack.push_back(std::move(visit));
  }

  void Traverse(const Var* root) {
    std::vector<Visit> stack;
    Enter(root, stack);
    while (!stack.empty()) {
      Visit& visit = stack.back();
      if (visit.next < visit.operands.size()) {
        Enter(visit.operands[visit.next++], stack);
        continue;
      }
      order_.places_[visit.var->id] = ++last_place_;
      stack.pop_back();
    }
  }

  UseOrder& order_;
  std::vector<const Expr*> values_;  // by Var::id
  LookupSet<const Var*> open_;       // functions that are being visited
  uint32_t last_place_ = 0;
};

UseOrder::UseOrder(const Function& function, uint32_t num_vars) : places_(num_vars, kNone) {
  UseOrderFinder(*this).Run(function);
}

}  // namespace iropt
