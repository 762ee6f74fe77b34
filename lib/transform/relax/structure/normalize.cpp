// Normalize: brings functions into A-normal form.
//
//   def f(x):                                           def f(x):
//       return R.nn.relu(R.add(x, R.exp(x)))    -->         gv = R.exp(x)
//                                                           gv1 = R.add(x, gv)
//                                                           gv2 = R.nn.relu(gv1)
//                                                           return gv2
//
//   - Nested operands are bound to variables before the call in the order of evaluation; tuples of leaves are leaves.
//   - Bodies of functions and branches are sequences. Sequences as values become part of the enclosing one.
//   - Empty blocks are removed, neighbours of one kind are joined.
//   - Uses of a variable of type R.Tuple() are replaced by R.tuple().
//   - The operands of call_tir are written as a tuple; an R.inspect with a known result is replaced by the value.
//   - Missing types are inferred.
//
// Nearly always there is nothing to do, which one walk without allocations detects; otherwise the block builder
// rewrites the function. O(nodes).
//
// Source: A-normal form is that of Flanagan, Sabry, Duba and Felleisen (1993); the rules are those of TVM 0.18's pass.
#include "iropt/transform/relax/structure/normalize.h"

#include <algorithm>

#include "iropt/analysis/relax/normal_form.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/ir/relax/tuple_leaves.h"
#include "iropt/op/op.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"

namespace iropt {

namespace {

// Brings calls of a function in A-normal form into the form that their operators require.
class OperatorNormalizer : public ExprMutator {
 public:
  using ExprMutator::ExprMutator;

 protected:
  const Expr* VisitCall(const Call* old) override {
    const Expr* visited = ExprMutator::VisitCall(old);
    // The required form depends on the type, which a call with new operands does not have yet.
    if (visited != old) visited = builder().Normalize(visited);
    const auto* call = As<Call>(visited);
    if (!call || !NeedsOpNormalization(*call)) return visited;
    if (const auto* type = As<PrimType>(call->type)) return NewLike<PrimValue>(workspace(), *call, type->value, type);
    const Expr* operands = InlineTuple(call->args[1]);
    if (!operands) return call;
    const std::span<const Expr*> args = workspace().arena().Copy(call->args.span());
    args[1] = operands;
    return NewLike<Call>(workspace(), *call, call->op, args, call->attrs, call->type_args, call->type);
  }

 private:
  // The tuple that the expression is known to be, else a tuple of its fields; null if it is not a tuple.
  const Expr* InlineTuple(const Expr* expr) {
    const Expr* known = expr;
    while (const auto* var = As<Var>(known)) {
      known = builder().LookupBinding(var);
      if (!known) break;
    }
    const auto is_local = [](const Expr* field) { return Is<DataflowVar>(field) || Is<Tuple>(field); };
    const auto* tuple = As<Tuple>(known);
    // The fields of a tuple that left its dataflow block may not be visible.
    if (tuple && (Is<DataflowVar>(expr) || std::ranges::none_of(tuple->fields, is_local))) return tuple;
    const auto* type = As<TupleType>(expr->type);
    if (!type) return nullptr;
    std::vector<const Expr*> fields;
    for (uint32_t i = 0; i < type->fields.size(); ++i) fields.push_back(TupleItem(expr, i, workspace()));
    return workspace().New<Tuple>(workspace().Copy(fields), type);
  }
};

const Function* WithReturnType(const Function& function, TypeInferrer& inferrer, Workspace& workspace) {
  const Type* returned = FunctionReturnType(function.params, function.body->type, function.ret_type, workspace.arena());
  if (TypeEqual(returned, function.ret_type) && function.type) return &function;
  return Rebuilder(workspace, &inferrer, Retype::kIfNeeded)
      .RebuildSignature(function, function.params, function.body, returned, function.attrs);
}

}  // namespace

Result<const Function*> Normalize(const Function* function, const Module* module, Workspace& workspace,
                                  DiagnosticEngine& diagnostics) {
  const NormalFormInfo::Result facts = NormalFormInfo::Of(*function);
  if (facts.is_normal && !facts.needs_op_normalization) return function;
  OpTypeInferrer inferrer(module, workspace.arena(), &diagnostics);
  const Function* result = function;
  if (!facts.is_normal) {
    BlockBuilder builder(workspace, &inferrer);
    result = To<Function>(builder.Normalize(function));
    if (builder.failed()) return Failure{ErrorCode::PassFailed};
  }
  if (NormalFormInfo::Of(*result).needs_op_normalization) {
    OperatorNormalizer normalizer(workspace, &inferrer);
    result = To<Function>(normalizer.VisitExpr(result));
    if (normalizer.failed()) return Failure{ErrorCode::PassFailed};
  }
  return result == function ? function : WithReturnType(*result, inferrer, workspace);
}

Pass CreateNormalize(const PassOptions& options) {
  using FunctionResult = Result<const Function*>;
  return CreateFunctionPass(options.info(), [](const Function* function, FunctionPassContext& context) {
    const auto facts = context.Analysis<NormalFormInfo>();
    if (facts->is_normal && !facts->needs_op_normalization) return FunctionResult(function);
    return Normalize(function, &context.module(), context.workspace(), context.diagnostics());
  });
}

}  // namespace iropt
