// Reductions of the code of Relax functions.
#include <vector>

#include "binding_remover.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/infer/infer.h"
#include "iropt/infer/substitute.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/relax/mutator.h"
#include "reductions.h"

namespace iropt {

namespace {

// The first operand of the type of the variable, fields of tuples included, that is visible where the variable is.
const Expr* OperandLike(const Binding& binding) {
  const Var& var = *binding.var;
  const auto fits = [&](const Expr* operand) {
    const auto* source = As<Var>(operand);
    return source && TypeEqual(source->type, var.type) && (var.is_dataflow() || !source->is_dataflow());
  };
  const auto* call = As<Call>(ValueOf(&binding));
  if (!call) return nullptr;
  for (const Expr* arg : call->args) {
    if (fits(arg)) return arg;
    const auto* tuple = As<Tuple>(arg);
    if (!tuple) continue;
    for (const Expr* field : tuple->fields) {
      if (fits(field)) return field;
    }
  }
  return nullptr;
}

// Finds other results that a function may return: a field of the tuple that it returns, or its last variable instead of
// one that it does not compute.
std::vector<const Var*> OtherResults(const Function& function) {
  const auto* seq = As<SeqExpr>(function.body);
  if (!seq) return {};
  const Expr* result = seq->body;
  const Var* last = nullptr;
  for (const BindingBlock* block : seq->blocks) {
    for (const Binding* binding : block->bindings) {
      last = binding->var;
      if (last == seq->body) result = ValueOf(binding);
    }
  }
  if (Is<Var>(result) && result == seq->body && last) return {last};
  std::vector<const Var*> fields;
  if (const auto* tuple = As<Tuple>(result)) {
    for (const Expr* field : tuple->fields) {
      if (const auto* var = As<Var>(field)) fields.push_back(var);
    }
  }
  return fields;
}

// Replaces conditionals by one of their branches.
class BranchInliner : public ExprMutator {
 public:
  BranchInliner(Edits& edits, Workspace& workspace, TypeInferrer& inferrer)
      : ExprMutator(workspace, &inferrer), edits_(edits) {}

 protected:
  void VisitVarBinding(const VarBinding* binding) override {
    const auto* branches = As<If>(binding->value);
    if (!branches) return ExprMutator::VisitVarBinding(binding);
    const bool takes_true = edits_.Take(branches, 0);
    const bool takes_false = edits_.Take(branches, 1);
    if (takes_true) return ReEmitBinding(binding, VisitExpr(branches->true_branch));
    if (takes_false) return ReEmitBinding(binding, VisitExpr(branches->false_branch));
    ExprMutator::VisitVarBinding(binding);
  }

 private:
  Edits& edits_;
};

// Turns dataflow blocks into plain ones, whose variables are all visible.
class DataflowOpener : private ExprRewriter<DataflowOpener> {
 public:
  DataflowOpener(Edits& edits, Workspace& workspace, TypeInferrer& inferrer)
      : ExprRewriter(workspace, &inferrer), edits_(edits) {}

  const Function* Run(const Function* function) {
    return rebuilder().RebuildBody(*function, VisitExpr(function->body));
  }

 private:
  friend class ExprRewriter<DataflowOpener>;

  const BindingBlock* VisitBlock(const BindingBlock* block) {
    if (!block->is_dataflow() || !edits_.Take(block)) return ExprRewriter::VisitBlock(block);
    for (const Binding* binding : block->bindings) {
      const Var* var = binding->var;
      if (var->is_dataflow()) opened_.Set(var, NewVarLike(workspace(), *var, /*is_dataflow=*/false, var->type));
    }
    return NewLike<BindingBlock>(workspace(), *block, VisitBindings(block->bindings));
  }

  const Binding* VisitBinding(const Binding* binding) {
    return Rebuild(*binding, OpenedOf(binding->var), VisitExpr(ValueOf(binding)));
  }
  const Expr* VisitVar(const Var* var) { return OpenedOf(var); }

  const Var* OpenedOf(const Var* var) const {
    const Var* opened = opened_.Find(var);
    return opened ? opened : var;
  }

  Edits& edits_;
  VarMap<Var> opened_;
};

// Calls f(inferrer, ...) for each Relax function, with the type rules.
void RewriteWithTypes(Module& module, FunctionRef<const Function*(const Function*, Workspace&, OpTypeInferrer&)> f) {
  RewriteRelaxFunctions(module, [&](const Function* function, size_t, Workspace& workspace) {
    OpTypeInferrer inferrer(&module, workspace.arena(), nullptr);
    return f(function, workspace, inferrer);
  });
}

}  // namespace

void RemoveBindings(Candidate& candidate, Edits& edits) {
  const auto removes = [&](const Binding& binding) { return edits.Take(&binding); };
  RemoveFromAll(candidate.module, {.removes = removes});
}

void ForwardOperands(Candidate& candidate, Edits& edits) {
  const auto forwards = [&](const Binding& binding) -> const Expr* {
    const Expr* operand = OperandLike(binding);
    return operand && edits.Take(&binding) ? operand : nullptr;
  };
  RemoveFromAll(candidate.module, {.forwards = forwards});
}

void RemoveConstants(Candidate& candidate, Edits& edits) {
  const auto frees = [&](const Constant& constant) { return edits.Take(&constant); };
  RemoveFromAll(candidate.module, {.frees = frees});
}

void NarrowResults(Candidate& candidate, Edits& edits) {
  const std::vector<bool> called = CalledInModule(candidate.module);
  RewriteRelaxFunctions(candidate.module, [&](const Function* function, size_t i, Workspace& workspace) {
    if (called[i]) return function;
    const Var* result = nullptr;
    for (const Var* other : OtherResults(*function)) {
      if (edits.Take(function, other->id) && !result) result = other;
    }
    if (!result) return function;
    const BindingRemoval removal{.result = result};
    return RemoveFrom(function, removal, candidate.module.functions()[i], candidate.module, workspace);
  });
}

void InlineBranches(Candidate& candidate, Edits& edits) {
  RewriteWithTypes(candidate.module, [&](const Function* function, Workspace& workspace, OpTypeInferrer& inferrer) {
    return To<Function>(BranchInliner(edits, workspace, inferrer).VisitExpr(function));
  });
}

void OpenDataflowBlocks(Candidate& candidate, Edits& edits) {
  RewriteWithTypes(candidate.module, [&](const Function* function, Workspace& workspace, OpTypeInferrer& inferrer) {
    return DataflowOpener(edits, workspace, inferrer).Run(function);
  });
}

void BindSymbolicVars(Candidate& candidate, Edits& edits) {
  const PrimExpr* one = arith::PrimBuilder().Int(1);
  RewriteRelaxFunctions(candidate.module, [&](const Function* function, size_t, Workspace& workspace) {
    SymVarMap values;
    for (const Var* param : function->params) {
      ForEachDefinedSymVar(param->type, [&](const tir::Var* var) {
        if (!values.Find(var) && edits.Take(var)) values.Set(var, one);
      });
    }
    if (values.empty()) return function;
    DiagnosticBuffer unused;
    DiagnosticEngine diagnostics(&unused);
    const Function* bound = Substitute(function, values, {}, &candidate.module, workspace, diagnostics);
    return bound ? bound : function;
  });
}

}  // namespace iropt
