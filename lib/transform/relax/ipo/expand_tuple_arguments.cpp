// ExpandTupleArguments: expands tuple parameters of private functions into one parameter for each field.
//
//   def main(x, y):                            def main(x, y):
//       z = f((x, y))                              z = f(x, y)
//       return z                       -->         return z
//   def f(p):  # private                       def f(p_0, p_1):
//       return R.add(p[0], p[1])                   return R.add(p_0, p_1)
//
// Nested tuples are expanded, too. A function with uses other than direct calls keeps its parameters.
// CanonicalizeBindings and DeadCodeElimination run afterwards. O(nodes).
//
// Source: TVM 0.18's pass of this name.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "iropt/analysis/relax/references.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/ir/relax/tuple_leaves.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/stack.h"
#include "transform/relax/util/change_signatures.h"

namespace iropt {

namespace {

bool HasTupleParam(const Function& function) {
  return std::ranges::any_of(function.params, [](const Var* param) { return Is<TupleType>(param->type); });
}

// The parameters of a function with tuples expanded, and bindings that rebuild the tuples.
class ParamExpander {
 public:
  explicit ParamExpander(Rebuilder& rebuilder) : rebuilder_(rebuilder), workspace_(rebuilder.workspace()) {}

  const Function* Expand(const Function& function) {
    for (const Var* param : function.params) ExpandParam(param);
    const auto& body = *To<SeqExpr>(function.body);
    std::vector<const BindingBlock*> blocks = {workspace_.New<BindingBlock>(workspace_.Copy(bindings_))};
    blocks.insert(blocks.end(), body.blocks.begin(), body.blocks.end());
    const Expr* new_body = rebuilder_.Rebuild(body, workspace_.Copy(blocks), body.body);
    return rebuilder_.RebuildSignature(function, params_, new_body, function.ret_type);
  }

 private:
  void ExpandParam(const Var* param) {
    const auto* tuple = As<TupleType>(param->type);
    if (!tuple) return params_.push_back(param);
    std::vector<const Expr*> fields;
    WithStack([&] {
      for (uint32_t i = 0; i < tuple->fields.size(); ++i) {
        const Var* field = workspace_.NewVar(fmt::format("{}_{}", param->name(), i), tuple->fields[i]);
        fields.push_back(field);
        ExpandParam(field);
      }
    });
    const auto* value = workspace_.New<Tuple>(workspace_.Copy(fields), tuple);
    bindings_.push_back(workspace_.New<VarBinding>(param, value));
  }

  Rebuilder& rebuilder_;
  Workspace& workspace_;
  std::vector<const Var*> params_;
  std::vector<const Binding*> bindings_;
};

// Passes the fields of tuples to the functions whose parameters were expanded.
class CallExpander : public ExprMutator {
 public:
  CallExpander(const Module& before, const std::vector<bool>& expanded, Workspace& workspace, TypeInferrer& inferrer)
      : ExprMutator(workspace, &inferrer), before_(before), expanded_(expanded) {}

 protected:
  const Expr* VisitCall(const Call* call) override {
    const int index = CalleeIndex(before_, *call);
    if (index < 0 || !expanded_[static_cast<size_t>(index)]) return ExprMutator::VisitCall(call);
    const auto& function = *To<Function>(before_.functions()[static_cast<size_t>(index)].func);
    std::vector<const Expr*> args;
    for (uint32_t i = 0; i < call->args.size(); ++i) {
      ForEachItem(VisitExpr(call->args[i]), function.params[i]->type, workspace(),
                  [&](const Expr* item) { args.push_back(item); });
    }
    return builder().MakeCall(call->op, args, call->attrs, call->type_args);
  }

 private:
  const Module& before_;
  const std::vector<bool>& expanded_;
};

Result<Module> ExpandTupleArguments(Module module, ModulePassContext& context) {
  const Module before = module;
  const auto accepts = [&](size_t callee, const Call& call) {
    const auto& function = *To<Function>(before.functions()[callee].func);
    for (uint32_t i = 0; i < call.args.size(); ++i) {
      if (!HasFieldsOf(call.args[i]->type, function.params[i]->type)) return false;
    }
    return true;
  };
  std::vector<bool> expanded = FunctionsWithOnlyDirectCalls(module, context.AnalysisSource<CalledFunctions>(), accepts);
  for (size_t i = 0; i < module.size(); ++i) {
    expanded[i] = expanded[i] && HasTupleParam(*To<Function>(module.functions()[i].func));
  }
  ChangeFunctions(
      module, expanded, context.context.threads,
      [&](size_t, const Function& function, Rebuilder& rebuilder) { return ParamExpander(rebuilder).Expand(function); },
      [&](const Function* function, Workspace& workspace, TypeInferrer& inferrer) {
        return To<Function>(CallExpander(before, expanded, workspace, inferrer).VisitExpr(function));
      });
  return CleanUp(std::move(module), context);
}

}  // namespace

Pass CreateExpandTupleArguments(const PassOptions& options) {
  return CreateModulePass(options.info(), ExpandTupleArguments);
}

}  // namespace iropt
