// Wrong changes of bindings, branches and results.
#include <map>
#include <string>
#include <vector>

#include "bugs.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/call.h"
#include "iropt/op/ops/dropout.h"

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

// Moves the prints of blocks.
class PrintMover : public ExprMutator {
 public:
  using ExprMutator::ExprMutator;

 protected:
  using Bindings = std::vector<const Binding*>;

  virtual Bindings Ordered(const Bindings& prints, const Bindings& others) = 0;

  const BindingBlock* VisitBlock(const BindingBlock* block) override {
    Bindings prints;
    Bindings others;
    for (const Binding* binding : block->bindings) {
      const auto* value = As<VarBinding>(binding);
      (value && IsPrint(value->value) ? prints : others).push_back(binding);
    }
    builder().BeginBindingBlock();
    for (const Binding* binding : Ordered(prints, others)) VisitBinding(binding);
    return builder().EndBlock();
  }
};

// To the end of a block, the last one first.
class PrintReverser : public PrintMover {
 public:
  using PrintMover::PrintMover;

 protected:
  Bindings Ordered(const Bindings& prints, const Bindings& others) override {
    Bindings ordered = others;
    ordered.insert(ordered.end(), prints.rbegin(), prints.rend());
    return ordered;
  }
};

// To the beginning of a block, also before assertions that fail.
class PrintHoister : public PrintMover {
 public:
  using PrintMover::PrintMover;

 protected:
  Bindings Ordered(const Bindings& prints, const Bindings& others) override {
    Bindings ordered = prints;
    ordered.insert(ordered.end(), others.begin(), others.end());
    return ordered;
  }
};

// As if drawing random numbers were pure: the second of two dropouts of the same value takes the result of the first.
class DropoutMerger : public ExprMutator {
 public:
  using ExprMutator::ExprMutator;

 protected:
  void VisitVarBinding(const VarBinding* binding) override {
    const auto* call = As<Call>(binding->value);
    const auto* op = call ? As<Op>(call->op) : nullptr;
    if (!op || op->info->id != op::kNnDropout) return ExprMutator::VisitVarBinding(binding);
    const auto [known, is_new] = dropouts_.try_emplace(call->args[0], binding->var);
    if (is_new) return ExprMutator::VisitVarBinding(binding);
    Remap(binding->var, known->second);
  }

 private:
  std::map<const Expr*, const Var*> dropouts_;
};

template <class Mutator>
GraphBug MutateGraph(const char* name, const char* summary) {
  return {name, summary, [](const Function* function, Workspace& workspace, TypeInferrer& inferrer) {
            return To<Function>(Mutator(workspace, &inferrer).VisitExpr(function));
          }};
}

}  // namespace

std::span<const GraphBug> BindingBugs() {
  static const std::vector<GraphBug> bugs = {
      MutateGraph<TrueBranch>("TrueBranch", "replace conditionals by their true branch"),
      MutateGraph<OutputReorderer>("ReorderOutputs", "reorder results of the same type"),
      MutateGraph<PrintDropper>("DropPrint", "drop prints"),
      MutateGraph<PrintMerger>("MergePrints", "merge equal prints"),
      MutateGraph<DropoutMerger>("MergeDropouts", "merge dropouts of the same value"),
      MutateGraph<PrintHoister>("HoistPrint", "print before an assertion instead of after it"),
      MutateGraph<PrintReverser>("ReversePrints", "reverse the order of prints"),
  };
  return bugs;
}

}  // namespace iropt::wrong
