// AttachAttrLayoutFreeBuffers: tells PrimFuncs which of their arguments may have any layout.
//
//   R.func_attr({"num_input": 1})                                def matmul1(A: ..., B: ..., C: ...):
//   lv = R.call_tir(cls.matmul, (x, w), out_sinfo=...)    -->        T.func_attr({"layout_free_buffers": [1]})
//                                                                ...
//                                                                lv = R.call_tir(cls.matmul1, (x, w), out_sinfo=...)
//
// These are constants, and the parameters after the first num_input ones, which are weights: a schedule may change
// their layout, which SplitLayoutRewritePreproc then makes part of the preparation of the weights. Each kind of call
// gets a PrimFunc of its own; afterwards dead code is removed. O(nodes), and of each PrimFunc once for each call.
//
// Source: the pass of this name in TVM 0.19.
#include <utility>
#include <vector>

#include "iropt/ir/clone.h"
#include "iropt/ir/module_builder.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/call_tir.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "iropt/transform/relax/simplify/dead_code_elimination.h"
#include "transform/relax/lowering/relax_functions.h"
#include "transform/relax/params/num_input.h"

namespace iropt {

namespace {

class LayoutFreeAttacher : public ExprMutator {
 public:
  LayoutFreeAttacher(Workspace& workspace, ModuleBuilder& builder, DiagnosticEngine& diagnostics)
      : ExprMutator(workspace), module_(builder), diagnostics_(diagnostics) {}

  // Null after an error.
  const Function* Run(const ModuleEntry& entry) {
    const auto* function = To<Function>(entry.func);
    const NumInput num_input = ReadNumInput(*function, entry.var->name, diagnostics_);
    if (num_input.is_wrong) return nullptr;
    for (size_t i = num_input.value.value_or(function->params.size()); i < function->params.size(); ++i) {
      weights_.insert(function->params[i]);
    }
    return To<Function>(VisitExpr(function));
  }

 protected:
  const Expr* VisitCall(const Call* call) override {
    const auto* name = IsOp(call->op, op::kCallTir) ? As<GlobalVar>(call->args[0]) : nullptr;
    const auto* args = name ? As<Tuple>(call->args[1]) : nullptr;
    const ModuleEntry* callee = args ? module_.module().Find(name) : nullptr;
    if (!callee || !Is<PrimFunc>(callee->func)) return ExprMutator::VisitCall(call);
    std::vector<const Attr*> layout_free;
    for (uint32_t i = 0; i < args->fields.size(); ++i) {
      const Expr* arg = args->fields[i];
      if (Is<Constant>(arg) || weights_.contains(arg)) layout_free.push_back(IntAttr::Get(i));
    }
    std::vector<const Expr*> operands(call->args.begin(), call->args.end());
    operands[0] = Attach(*callee, ListAttr::Get(layout_free));
    return NewLike<Call>(workspace(), *call, call->op, workspace().Copy(operands), call->attrs, call->type_args,
                         call->type);
  }

 private:
  // The name of the function with this attribute.
  const GlobalVar* Attach(const ModuleEntry& callee, const ListAttr* layout_free) {
    if (AttrEqual(callee.func->attrs->Find(attr::kLayoutFreeBuffers), layout_free)) return callee.var;
    const GlobalVar*& name = attached_[callee.var][layout_free];
    if (name) return name;
    Workspace copy(module_.module());
    auto* func = copy.New<PrimFunc>(*To<PrimFunc>(CloneFunction(callee.func, copy)));
    func->attrs = func->attrs->Without(attr::kGlobalSymbol)->With(attr::kLayoutFreeBuffers, layout_free);
    return name = module_.AddFunction(func, copy.Finish(), callee.var->name);
  }

  ModuleBuilder& module_;
  DiagnosticEngine& diagnostics_;
  LookupSet<const Expr*> weights_;
  LookupMap<const GlobalVar*, LookupMap<const Attr*, const GlobalVar*>> attached_;
};

Result<Module> AttachLayoutFreeBuffers(Module module, ModulePassContext& context) {
  ModuleBuilder builder(std::move(module));
  for (const GlobalVar* name : RelaxFunctions(builder.module())) {
    const ModuleEntry entry = *builder.module().Find(name);
    Workspace workspace(builder.module(), entry.storage);
    const Function* function = LayoutFreeAttacher(workspace, builder, context.diagnostics).Run(entry);
    if (!function) return Failure{ErrorCode::PassFailed};
    if (function != entry.func) builder.UpdateFunction(name, function, workspace.Finish());
  }
  return DeadCodeElimination(builder.Finish(), {}, context.context.threads, context.diagnostics,
                             context.context.analyses());
}

}  // namespace

Pass CreateAttachAttrLayoutFreeBuffers(const PassOptions& options) {
  return CreateModulePass(options.info(), &AttachLayoutFreeBuffers);
}

}  // namespace iropt
