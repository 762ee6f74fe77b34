#include "binding_remover.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "iropt/analysis/relax/called_functions.h"
#include "iropt/analysis/relax/use_count.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/relax/rewriter.h"
#include "iropt/ir/var_map.h"
#include "iropt/op/op.h"
#include "iropt/op/op_attrs.h"
#include "iropt/op/ops/create.h"

namespace iropt {

namespace {

bool IsZeros(const Expr* value) {
  const auto* call = As<Call>(value);
  return call && call->op == GetOp(op::kZeros);
}

class BindingRemover : private ExprRewriter<BindingRemover> {
 public:
  BindingRemover(const BindingRemoval& removal, const ModuleEntry& entry, Workspace& workspace,
                 OpTypeInferrer& inferrer)
      : ExprRewriter(workspace, &inferrer), removal_(removal), entry_(entry) {}

  const Function* Run(const Function& function) {
    outer_ = As<SeqExpr>(function.body);
    if (outer_ && !removal_.keep_signature) ChooseResult();
    const Expr* body = VisitExpr(function.body);
    if (removal_.keep_signature) return rebuilder().RebuildBody(function, body);
    if (body == function.body) return &function;
    std::vector<const Var*> params(function.params.begin(), function.params.end());
    params.insert(params.end(), new_params_.begin(), new_params_.end());
    const List<const Var*> list = workspace().Copy(params);
    return rebuilder().RebuildSignature(function, list, body, inferrer()->ReturnType(list, body->type), function.attrs);
  }

 private:
  friend class ExprRewriter<BindingRemover>;

  void ChooseResult() {
    const Var* last = nullptr;
    bool keeps_result = false;
    for (const BindingBlock* block : outer_->blocks) {
      for (const Binding* binding : block->bindings) {
        const bool removed = Removes(*binding);
        if (!removed) last = binding->var;
        keeps_result |= !removed && IsInResult(binding->var);
        has_removed_result_ |= removed && IsInResult(binding->var);
      }
    }
    if (removal_.result) last = removal_.result;
    if (!last || (!removal_.result && (keeps_result || !has_removed_result_))) return;
    result_ = last->is_dataflow() ? NewVarLike(workspace(), *last, /*is_dataflow=*/false, last->type) : last;
    if (result_ != last) replaced_.Set(last, result_);
  }

  bool IsInResult(const Var* var) const {
    const auto* tuple = As<Tuple>(outer_->body);
    if (!tuple) return outer_->body == var;
    return std::ranges::find(tuple->fields, static_cast<const Expr*>(var)) != tuple->fields.end();
  }

  const Expr* VisitSeqExpr(const SeqExpr* seq) {
    if (seq != outer_ || !result_) return ExprRewriter::VisitSeqExpr(seq);
    const auto blocks = MapList(seq->blocks, workspace(), [this](const BindingBlock* b) { return VisitBlock(b); });
    return Rebuild(*seq, blocks, result_);
  }

  // Null to remove it.
  const Binding* VisitBinding(const Binding* binding) {
    if (const Expr* operand = removal_.forwards ? removal_.forwards(*binding) : nullptr) {
      replaced_.Set(binding->var, VisitExpr(operand));
      return nullptr;
    }
    if (Removes(*binding)) return Remove(*binding);
    const Expr* value = VisitExpr(ValueOf(binding));
    const Expr* var = replaced_.Find(binding->var);
    return Rebuild(*binding, var ? To<Var>(var) : binding->var, value);
  }

  bool Removes(const Binding& binding) {
    if (!removal_.removes || (removal_.keep_signature && !IsRemovable(binding))) return false;
    return removal_.removes(binding);
  }

  const Binding* Remove(const Binding& binding) {
    if (!removal_.keep_signature) {
      freed_.Set(binding.var, binding.var);
      return nullptr;
    }
    return UseCountOf(binding.var) == 0 ? nullptr
                                        : Rebuild(binding, binding.var, Zeros(*As<TensorType>(binding.var->type)));
  }

  // Returns whether the binding is unused, or its value can be replaced by zeros.
  bool IsRemovable(const Binding& binding) {
    if (UseCountOf(binding.var) == 0) return true;
    const auto* type = As<TensorType>(binding.var->type);
    return type && type->known && !type->dtype.is_void() && binding.kind == NodeKind::kVarBinding &&
           !IsZeros(ValueOf(&binding));
  }

  uint32_t UseCountOf(const Var* var) {
    if (use_counts_.empty()) use_counts_ = UseCounts(*To<Function>(entry_.func), *entry_.storage);
    return use_counts_[var->id];
  }

  const Expr* Zeros(const TensorType& type) {
    const Expr* shape =
        workspace().New<ShapeExpr>(workspace().Copy(type.dims.span()), ShapeType::Get(type.dims.span()));
    return workspace().New<Call>(GetOp(op::kZeros), workspace().Copy(std::span<const Expr* const>(&shape, 1)),
                                 MakeOpAttrs(op::kZeros, InitAttrs::Values{.dtype = type.dtype}), nullptr, &type);
  }

  const Expr* VisitVar(const Var* var) {
    if (const Expr* replacement = replaced_.Find(var)) return replacement;
    return freed_.Find(var) ? FreeAs(var, NewVarLike(workspace(), *var, /*is_dataflow=*/false, var->type)) : var;
  }

  const Expr* FreeAs(const Var* var, const Var* param) {
    replaced_.Set(var, param);
    new_params_.push_back(param);
    return param;
  }

  const Expr* VisitConstant(const Constant* constant) {
    if (removal_.keep_signature || !removal_.frees || !removal_.frees(*constant)) return constant;
    const Var* param = workspace().NewVar("c", constant->type);
    new_params_.push_back(param);
    return param;
  }

  const BindingRemoval& removal_;
  const ModuleEntry& entry_;
  const SeqExpr* outer_ = nullptr;
  const Var* result_ = nullptr;  // the new one
  bool has_removed_result_ = false;
  VarMap<Expr> replaced_;
  VarMap<Var> freed_;  // variables without a binding
  std::vector<const Var*> new_params_;
  std::vector<uint32_t> use_counts_;
};

}  // namespace

const Function* RemoveFrom(const Function* function, const BindingRemoval& removal, const ModuleEntry& entry,
                           const Module& module, Workspace& workspace) {
  OpTypeInferrer inferrer(&module, workspace.arena(), nullptr);
  return BindingRemover(removal, entry, workspace, inferrer).Run(*function);
}

std::vector<bool> CalledInModule(const Module& module) {
  std::vector<bool> called(module.size());
  for (const ModuleEntry& entry : module.functions()) {
    const std::shared_ptr<const CalledFunctions::Result> callees = ComputeCalledFunctions(entry);
    for (const GlobalVar* callee : *callees) {
      const int index = module.IndexOf(callee);
      if (index >= 0) called[static_cast<size_t>(index)] = true;
    }
  }
  return called;
}

void RewriteRelaxFunctions(Module& module, FunctionRef<const Function*(const Function*, size_t, Workspace&)> f) {
  for (size_t i = 0; i < module.size(); ++i) {
    const ModuleEntry entry = module.functions()[i];
    const auto* function = As<Function>(entry.func);
    if (!function) continue;
    Workspace workspace(module, entry.storage);
    const Function* rewritten = f(function, i, workspace);
    if (rewritten != function) module.SetAt(i, rewritten, workspace.Finish());
  }
}

void RemoveFromAll(Module& module, BindingRemoval removal) {
  const std::vector<bool> called = CalledInModule(module);
  RewriteRelaxFunctions(module, [&](const Function* function, size_t i, Workspace& workspace) {
    removal.keep_signature = called[i];
    return RemoveFrom(function, removal, module.functions()[i], module, workspace);
  });
}

}  // namespace iropt
