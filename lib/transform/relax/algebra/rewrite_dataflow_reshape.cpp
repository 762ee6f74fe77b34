// RewriteDataflowReshape: turns calls of PrimFuncs that reshape a tensor into reshape operators.
//
//   lv = R.call_tir(cls.reshape, (x,), out_sinfo=R.Tensor((8, 2), "float32"))
//                                                           -->    lv = R.reshape(x, R.shape([8, 2]))
//
// A virtual machine then shares the memory instead of copying it. Only local variables of dataflow blocks are
// rewritten, because others may leave the function. Of the arguments, exactly one may be used. Dtype and number of
// elements must stay the same. O(nodes), and an analysis of each PrimFunc that is called.
//
// Source: TVM 0.18's pass of this name.
#include <optional>
#include <unordered_map>

#include "iropt/analysis/tir/reshape_pattern.h"
#include "iropt/arith/analyzer.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/relax/rewriter.h"
#include "iropt/op/op.h"
#include "iropt/transform/passes.h"

namespace iropt {

namespace {

class ReshapeRewriter : private ExprRewriter<ReshapeRewriter> {
 public:
  ReshapeRewriter(const Module& module, Workspace& workspace, TypeInferrer& inferrer)
      : ExprRewriter(workspace, &inferrer), module_(module) {}

  const Function* Run(const Function* function) { return Rebuild(*function, VisitExpr(function->body)); }

 private:
  friend class ExprRewriter<ReshapeRewriter>;

  const Binding* VisitBinding(const Binding* binding) {
    const auto* bound = As<VarBinding>(binding);
    const Call* call = bound && bound->var->is_dataflow() ? CallOf(bound->value, OpId::kCallTir) : nullptr;
    if (!call) return ExprRewriter::VisitBinding(binding);
    const Expr* reshape = ReshapeOf(*call);
    return reshape ? Rebuild(*binding, binding->var, reshape) : binding;
  }

  // The reshape that the call is; null if it is something else.
  const Expr* ReshapeOf(const Call& call) {
    const auto* callee = As<GlobalVar>(call.args[0]);
    const auto* args = As<Tuple>(call.args[1]);
    const ModuleEntry* entry = callee ? module_.Find(callee) : nullptr;
    const auto* function = entry ? As<PrimFunc>(entry->func) : nullptr;
    if (!args || !function) return nullptr;
    const std::optional<size_t> used = ReshapedArgument(*function, args->fields.size());
    if (!used) return nullptr;
    const Expr* arg = args->fields[*used];
    const auto* from = As<TensorType>(arg->type);
    const auto* to = As<TensorType>(call.type);
    if (!from || !to || !from->known || !to->known || from->dtype.is_void() || from->dtype != to->dtype) return nullptr;
    if (!arith::ProveEqual(NumElements(*from), NumElements(*to))) return nullptr;
    const Expr* shape = workspace().New<ShapeExpr>(to->dims, ShapeType::Get(to->dims.span()));
    const Expr* const operands[] = {arg, shape};
    return NewLike<Call>(workspace(), call, GetOp(OpId::kReshape),
                         workspace().Copy(std::span<const Expr* const>(operands)), nullptr, nullptr, to);
  }

  // The only argument that a function that reshapes uses; nothing for another function.
  std::optional<size_t> ReshapedArgument(const PrimFunc& function, size_t num_args) {
    const auto [known, is_new] = reshaped_.try_emplace(&function);
    if (is_new && HasReshapePattern(function)) {
      const std::vector<size_t> used = UsedBufferParams(function, num_args);
      if (used.size() == 1) known->second = used.front();
    }
    return known->second;
  }

  static const PrimExpr* NumElements(const TensorType& type) {
    const arith::PrimBuilder make;
    const PrimExpr* count = make.Int(1);
    for (const PrimExpr* dim : type.dims) count = make.Mul(count, dim);
    return count;
  }

  const Module& module_;
  std::unordered_map<const PrimFunc*, std::optional<size_t>> reshaped_;  // looked up, never iterated
};

}  // namespace

Pass CreateRewriteDataflowReshape(const PassOptions& options) {
  return CreateFunctionPass(options.info(),
                            [](const Function* function, FunctionPassContext& context) -> Result<const Function*> {
                              const Module& module = context.module();
                              OpTypeInferrer inferrer(&module, context.workspace().arena(), &context.diagnostics());
                              return ReshapeRewriter(module, context.workspace(), inferrer).Run(function);
                            });
}

}  // namespace iropt
