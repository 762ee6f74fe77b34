// ToNonDataflow: dataflow blocks become ordinary blocks, their local variables ordinary ones.
//
//   with R.dataflow():                      lv = R.add(x, x)
//       lv = R.add(x, x)           -->      gv = R.nn.relu(lv)
//       gv = R.nn.relu(lv)                  return gv
//       R.output(gv)
//   return gv
//
// What is lowered afterwards (allocation, reuse of memory) has effects, which dataflow blocks may not have. The
// bindings keep their order. O(nodes).
//
// Source: the rules are those of TVM 0.18's pass of this name.
#include <vector>

#include "iropt/ir/streamed.h"
#include "iropt/ir/substitute.h"
#include "iropt/transform/passes.h"
#include "transform/relax/util/rewrite.h"

namespace iropt {

namespace {

class DataflowRemover : private ExprRewriter<DataflowRemover>, private TypeMapper {
 public:
  DataflowRemover(const Module* module, Workspace& workspace)
      : ExprRewriter(module, workspace), TypeMapper(&workspace.arena()) {
    visible_.resize(workspace.num_vars(), nullptr);
  }

  const Function* Run(const Function* function) { return make_.WithBody(*function, Visit(function->body)); }

 private:
  friend class ExprRewriter<DataflowRemover>;

  const BindingBlock* VisitBlock(const BindingBlock& block) {
    ListEditor bindings(block.bindings, bindings_);
    for (const Binding* binding : Streamed(block.bindings)) bindings.Replace(VisitBinding(*binding));
    const List<const Binding*> list = bindings.Finish(make_.workspace());
    if (!block.is_dataflow()) return make_.With(block, list);
    auto* ordinary = make_.workspace().New<BindingBlock>(list);
    ordinary->set_span(block.span());
    return ordinary;
  }

  const Binding* VisitBinding(const Binding& binding) {
    const Expr* value = Visit(ValueOf(&binding));
    const Var* var = make_.WithType(binding.var, MapType(binding.var->type));
    if (var->is_dataflow()) var = make_.LikeVar(var, false, var->type);
    if (var != binding.var) visible_[var->id] = var;
    const auto* cast = As<MatchCast>(&binding);
    return make_.With(binding, var, value, cast ? MapType(cast->match_type) : nullptr);
  }

  const Expr* VisitCall(const Call& call) {
    const Expr* op = Visit(call.op);
    const List<const Expr*> args = VisitList(call.args);
    const auto* type_args = static_cast<const TupleType*>(MapType(call.type_args));
    return make_.With(call, op, args, type_args, MapType(call.type) != call.type);
  }

  const Var* ReplacementOf(const Var* var) const { return visible_[var->id] ? visible_[var->id] : var; }

  // Types change where a variable is the shape of a tensor.
  const Type* MapType(const Type* type) { return type && type->has_shape_var() ? TypeMapper::Map(type) : type; }
  const Expr* MapShapeVar(const Expr* var) override { return Visit(var); }

  std::vector<const Var*> visible_;  // by Var::id: what stands for a dataflow variable
};

const Function* ToNonDataflow(const Function* function, const Module* module, Workspace& workspace) {
  return DataflowRemover(module, workspace).Run(function);
}

}  // namespace

Pass CreateToNonDataflow(const PassOptions& options) {
  return CreateFunctionPass(options.info(), [](const Function* function, FunctionPassContext& context) {
    return Result<const Function*>(ToNonDataflow(function, &context.module(), context.workspace()));
  });
}

}  // namespace iropt
