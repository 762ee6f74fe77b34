#include "operand_order.h"

#include <algorithm>
#include <vector>

#include "iropt/ir/relax/rewriter.h"
#include "iropt/ir/relax/visitor.h"
#include "iropt/transform/relax/simplify/dead_code_elimination.h"

namespace iropt {

namespace {

// Positions of variables in a traversal of values before their users.
class UseOrder : private ExprVisitor {
 public:
  UseOrder(const Function* function, uint32_t num_vars) : values_(num_vars), place_(num_vars, kNone) {
    VisitExpr(function);
    std::vector<const Var*> roots;
    AppendVars(function, roots);
    for (const Var* root : roots) Traverse(root);
  }

  static constexpr uint32_t kNone = UINT32_MAX;
  uint32_t PlaceOf(const Var* var) const { return place_[var->id]; }

 private:
  struct Visit {
    const Var* var;
    std::vector<const Var*> operands;
    size_t next = 0;
  };

  void VisitBinding(const Binding* binding) override {
    values_[binding->var->id] = ValueOf(binding);
    ExprVisitor::VisitBinding(binding);
  }

  // The variables of a value in order; of nested sequences, those of their results.
  static void AppendVars(const Expr* value, std::vector<const Var*>& vars) {
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
    if (place_[var->id] != kNone || values_[var->id] == nullptr) return;
    place_[var->id] = 0;  // visited; its place comes after those of its operands
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
      place_[visit.var->id] = ++last_place_;
      stack.pop_back();
    }
  }

  std::vector<const Expr*> values_;  // by Var::id
  std::vector<uint32_t> place_;      // by Var::id
  uint32_t last_place_ = 0;
};

class UseSorter : private ExprRewriter<UseSorter> {
 public:
  UseSorter(const UseOrder& order, Workspace& workspace)
      : ExprRewriter(workspace, nullptr, Retype::kNever), order_(order) {}

  const Function* Run(const Function* function) {
    return rebuilder().RebuildBody(*function, VisitExpr(function->body));
  }

 private:
  friend class ExprRewriter<UseSorter>;

  const BindingBlock* VisitBlock(const BindingBlock* block) {
    const BindingBlock* visited = ExprRewriter::VisitBlock(block);
    const auto is_cast = [](const Binding* binding) { return Is<MatchCast>(binding); };
    if (!block->is_dataflow() || std::ranges::any_of(visited->bindings, is_cast)) return visited;
    std::vector<const Binding*> sorted(visited->bindings.begin(), visited->bindings.end());
    std::ranges::stable_sort(sorted, {}, [this](const Binding* binding) { return order_.PlaceOf(binding->var); });
    if (std::ranges::equal(sorted, visited->bindings)) return visited;
    return Rebuild(*visited, workspace().Copy(sorted));
  }

  // Operands do not contain blocks.
  static const Expr* VisitCall(const Call* call) { return call; }
  static const Expr* VisitTuple(const Tuple* tuple) { return tuple; }

  const UseOrder& order_;
};

}  // namespace

const Function* SortByOperands(const Function* function, Workspace& workspace) {
  const UseOrder order(function, workspace.num_vars());
  return UseSorter(order, workspace).Run(function);
}

const Function* SortIfSorted(const Function* function, const Function* before, const Module* module,
                             Workspace& workspace) {
  if (function == before) return function;
  const Function* used = RemoveDeadBindings(before, module, workspace);
  return SortByOperands(used, workspace) == used ? SortByOperands(function, workspace) : function;
}

}  // namespace iropt
