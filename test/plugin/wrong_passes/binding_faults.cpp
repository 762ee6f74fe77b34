// Wrong changes of bindings, branches and results.
#include <map>
#include <string>
#include <vector>

#include "faults.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/call.h"

namespace iropt::wrong {

namespace {

bool IsPrint(const Expr* expr) {
  const auto* call = As<Call>(expr);
  const auto* op = call ? As<Op>(call->op) : nullptr;
  return op && op->info->id == op::kPrint;
}

class TrueBranch : public ExprMutator {
 public:
  using ExprMutator::ExprMutator;

 protected:
  // The bindings of the branch become bindings of the function.
  const Expr* VisitIf(const If* branch) override {
    return builder().Normalize(ExprMutator::VisitExpr(branch->true_branch));
  }
};

class OutputReorderer : public ExprMutator {
 public:
  using ExprMutator::ExprMutator;

 protected:
  const Expr* VisitTuple(const Tuple* tuple) override {
    if (tuple->fields.size() != 2 || tuple->fields[0]->type != tuple->fields[1]->type)
      return ExprMutator::VisitTuple(tuple);
    const std::vector<const Expr*> fields = {VisitExpr(tuple->fields[1]), VisitExpr(tuple->fields[0])};
    return workspace().New<Tuple>(workspace().Copy(fields), tuple->type);
  }
};

class PrintDropper : public ExprMutator {
 public:
  using ExprMutator::ExprMutator;

 protected:
  void VisitVarBinding(const VarBinding* binding) override {
    if (!IsPrint(binding->value)) ExprMutator::VisitVarBinding(binding);
  }
};

// As if printing were pure: the second of two prints of the same value takes the result of the first.
class PrintMerger : public ExprMutator {
 public:
  using ExprMutator::ExprMutator;

 protected:
  void VisitVarBinding(const VarBinding* binding) override {
    if (!IsPrint(binding->value)) return ExprMutator::VisitVarBinding(binding);
    const auto* call = To<Call>(binding->value);
    const auto [known, is_new] = prints_.try_emplace(call->args[call->args.size() - 1], binding->var);
    if (is_new) return ExprMutator::VisitVarBinding(binding);
    Remap(binding->var, known->second);
  }

 private:
  std::map<const Expr*, const Var*> prints_;
};

// Prints at the end of a block, the last one first.
class PrintReverser : public ExprMutator {
 public:
  using ExprMutator::ExprMutator;

 protected:
  const BindingBlock* VisitBlock(const BindingBlock* block) override {
    std::vector<const Binding*> bindings;
    std::vector<const Binding*> prints;
    for (const Binding* binding : block->bindings) {
      const auto* value = As<VarBinding>(binding);
      (value && IsPrint(value->value) ? prints : bindings).push_back(binding);
    }
    bindings.insert(bindings.end(), prints.rbegin(), prints.rend());
    builder().BeginBindingBlock();
    for (const Binding* binding : bindings) VisitBinding(binding);
    return builder().EndBlock();
  }
};

template <class Mutator>
GraphFault MutateGraph(const char* name, const char* summary) {
  return {name, summary, [](const Function* function, Workspace& workspace, TypeInferrer& inferrer) {
            return To<Function>(Mutator(workspace, &inferrer).VisitExpr(function));
          }};
}

}  // namespace

std::span<const GraphFault> BindingFaults() {
  static const std::vector<GraphFault> faults = {
      MutateGraph<TrueBranch>("TrueBranch", "replace conditionals by their true branch"),
      MutateGraph<OutputReorderer>("ReorderOutputs", "reorder results of the same type"),
      MutateGraph<PrintDropper>("DropPrint", "drop prints"),
      MutateGraph<PrintMerger>("MergePrints", "merge equal prints"),
      MutateGraph<PrintReverser>("ReversePrints", "reverse the order of prints"),
  };
  return faults;
}

}  // namespace iropt::wrong
