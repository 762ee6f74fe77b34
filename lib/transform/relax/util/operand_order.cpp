#include "operand_order.h"

#include <algorithm>
#include <vector>

#include "iropt/analysis/relax/use_order.h"
#include "iropt/ir/relax/rewriter.h"
#include "iropt/transform/relax/simplify/dead_code_elimination.h"

namespace iropt {

namespace {

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
  const UseOrder order(*function, workspace.num_vars());
  return UseSorter(order, workspace).Run(function);
}

const Function* SortIfSorted(const Function* function, const Function* before, const Module* module,
                             Workspace& workspace) {
  if (function == before) return function;
  const Function* used = RemoveDeadBindings(before, module, workspace);
  return SortByOperands(used, workspace) == used ? SortByOperands(function, workspace) : function;
}

}  // namespace iropt
