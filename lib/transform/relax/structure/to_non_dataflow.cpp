// ToNonDataflow: turns dataflow blocks into ordinary blocks, and dataflow variables into ordinary ones.
//
//   with R.dataflow():                      lv = R.add(x, x)
//       lv = R.add(x, x)           -->      gv = R.nn.relu(lv)
//       gv = R.nn.relu(lv)                  return gv
//       R.output(gv)
//   return gv
//
// Later lowering (allocation, reuse of memory) introduces effects, which dataflow blocks must not have. The bindings
// keep their order. O(nodes).
//
// Source: the rules are those of TVM 0.18's pass of this name.
#include "iropt/transform/relax/structure/to_non_dataflow.h"

#include <vector>

#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/relax/rewriter.h"
#include "iropt/ir/substitute.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"

namespace iropt {

namespace {

class DataflowRemover : private ExprRewriter<DataflowRemover> {
 public:
  DataflowRemover(Workspace& workspace, TypeInferrer& inferrer) : ExprRewriter(workspace, &inferrer) {
    visible_.resize(workspace.num_vars(), nullptr);
  }

  const Function* Run(const Function* function) {
    return rebuilder().RebuildBody(*function, VisitExpr(function->body));
  }

 private:
  friend class ExprRewriter<DataflowRemover>;

  const BindingBlock* VisitBlock(const BindingBlock* block) {
    if (!block->is_dataflow()) return ExprRewriter::VisitBlock(block);
    return NewLike<BindingBlock>(workspace(), *block, VisitBindings(block->bindings));
  }

  const Binding* VisitBinding(const Binding* binding) {
    const Expr* value = VisitExpr(ValueOf(binding));
    const Var* var = rebuilder().RetypeVar(binding->var, VisitTypeOrNull(binding->var->type));
    if (var->is_dataflow()) var = rebuilder().CloneVarWith(var, false, var->type);
    if (var != binding->var) visible_[var->id] = var;
    const auto* cast = As<MatchCast>(binding);
    return Rebuild(*binding, var, value, cast ? VisitType(cast->match_type) : nullptr);
  }

  const Var* VisitVar(const Var* var) const { return visible_[var->id] ? visible_[var->id] : var; }

  // Types change if a variable in them is the shape of a tensor.
  const Type* VisitType(const Type* type) {
    if (!type->has_shape_var()) return type;
    return MapShapeVars(type, workspace().arena(), [this](const Expr* var) { return VisitExpr(var); });
  }

  std::vector<const Var*> visible_;  // by Var::id: the replacement of a dataflow variable
};

}  // namespace

const Function* ToNonDataflow(const Function* function, const Module* module, Workspace& workspace) {
  OpTypeInferrer inferrer(module, workspace.arena(), nullptr);
  return DataflowRemover(workspace, inferrer).Run(function);
}

Pass CreateToNonDataflow(const PassOptions& options) {
  return CreateFunctionPass(options.info(), [](const Function* function, FunctionPassContext& context) {
    return Result<const Function*>(ToNonDataflow(function, &context.module(), context.workspace()));
  });
}

}  // namespace iropt
