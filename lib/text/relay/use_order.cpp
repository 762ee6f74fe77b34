#include "use_order.h"

#include <utility>
#include <vector>

#include "iropt/ir/relax/visitor.h"
#include "iropt/support/lookup.h"
#include "iropt/support/stack.h"

namespace iropt::relay {

namespace {

class PlaceFinder : private ExprVisitor {
 public:
  UseOrder Run(const Function& function) {
    VisitExpr(&function);
    std::vector<const Expr*> roots;
    AppendVars(function.body, roots);
    for (const Expr* root : roots) Traverse(root);
    return std::move(order_);
  }

 private:
  struct Visit {
    const Expr* var;
    std::vector<const Expr*> operands;
    size_t next = 0;
  };

  void VisitBinding(const Binding* binding) override {
    const Expr* value = ValueOf(binding);
    values_[binding->var] = value;
    if (Is<Function>(value)) open_.insert(binding->var);
    ExprVisitor::VisitBinding(binding);
    open_.erase(binding->var);
  }
  void VisitVar(const Var* var) override {
    if (open_.contains(var)) order_.recursive.insert(var);
  }

  // The variables of a value in order; of nested sequences, those of their results.
  static void AppendVars(const Expr* value, std::vector<const Expr*>& vars) {
    WithStack([&] { AppendVarsOf(value, vars); });
  }
  static void AppendVarsOf(const Expr* value, std::vector<const Expr*>& vars) {
    if (Is<Var>(value) || Is<DataflowVar>(value)) {
      vars.push_back(value);
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

  void Enter(const Expr* var, std::vector<Visit>& stack) {
    const auto* value = values_.Find(var);
    if (!value || !order_.places.try_emplace(var, 0).second) return;
    Visit visit{var, {}};
    AppendVars(*value, visit.operands);
    stack.push_back(std::move(visit));
  }

  void Traverse(const Expr* root) {
    std::vector<Visit> stack;
    Enter(root, stack);
    while (!stack.empty()) {
      Visit& visit = stack.back();
      if (visit.next < visit.operands.size()) {
        Enter(visit.operands[visit.next++], stack);
        continue;
      }
      order_.places[visit.var] = ++last_place_;
      stack.pop_back();
    }
  }

  LookupMap<const Expr*, const Expr*> values_;
  LookupSet<const Expr*> open_;  // functions that are being visited
  UseOrder order_;
  uint32_t last_place_ = 0;
};

}  // namespace

UseOrder UseOrderOf(const Function& function) { return PlaceFinder().Run(function); }

}  // namespace iropt::relay
