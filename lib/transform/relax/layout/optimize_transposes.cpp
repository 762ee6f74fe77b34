// OptimizeTransposes: lets operators compute on transposed tensors where that needs fewer transposes.
//
//   lv = R.permute_dims(x, axes=[0, 2, 3, 1])
//   lv1 = R.nn.relu(lv)                               lv = R.nn.relu(x)
//   lv2 = R.permute_dims(lv1, axes=[0, 3, 1, 2])  --> gv = R.nn.conv2d(lv, w)
//   gv = R.nn.conv2d(lv2, w)
//
// For each permutation that a dataflow block has, it is decided which operators compute in the order before it and
// which in the order after it, so that the fewest tensors are transposed between them (transpose_plan.h). The layout
// rules of transpose_rules.h say how an operator does: elementwise operators, softmax, reductions, concatenations,
// slices and others follow, what has a layout of its own does not. Vectors that are added get axes of length 1;
// transposes of constants are free, as FoldConstant folds them. Nothing changes if the number of transposes would not
// shrink. Code outside of dataflow blocks and inner functions are not changed. O(nodes * transposes) for each
// permutation.
//
// The aim is that of ONNX Runtime's transpose optimizer, which moves one transpose at a time by a cost estimate.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "iropt/infer/infer.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/op/ops/axes.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/pass/statistic.h"
#include "layout_rewriter.h"
#include "transform/relax/util/tensor_axes.h"
#include "transpose_plan.h"
#include "transpose_rules.h"

namespace iropt {

namespace {

class TransposeMover : public LayoutRewriter {
 public:
  TransposeMover(Workspace& workspace, TypeInferrer& inferrer, const ValueLayout& layout)
      : LayoutRewriter(workspace, &inferrer), layout_(layout) {}

 protected:
  const BindingBlock* VisitBlock(const BindingBlock* block) override {
    if (!block->is_dataflow()) return LayoutRewriter::VisitBlock(block);
    roles_ = PlanTransposes(*To<DataflowBlock>(block), layout_);
    if (roles_.empty()) return block;
    const BindingBlock* visited = LayoutRewriter::VisitBlock(block);
    roles_ = {};
    conversions_.clear();
    return visited;
  }

  const Expr* VisitFunction(const Function* function) override {
    if (std::exchange(in_function_, true)) return function;
    return LayoutRewriter::VisitFunction(function);
  }

  void VisitVarBinding(const VarBinding* binding) override {
    const Expr* value = binding->value;
    switch (roles_.Lookup(binding, TransposeRole::kStays)) {
      case TransposeRole::kBegins: return Begin(binding, *To<Call>(value));
      case TransposeRole::kEnds: return End(binding, *To<Call>(value));
      case TransposeRole::kFollows: return Follow(binding, *To<Call>(value));
      case TransposeRole::kStays: break;
    }
    if (const auto* item = As<TupleGetItem>(value)) return VisitItemBinding(binding, *item);
    LayoutRewriter::VisitVarBinding(binding);
  }

  // Once for all uses in the block.
  const Expr* ConvertItem(const Expr* item, const ValueLayout* from, const ValueLayout* to) override {
    const Expr*& converted = conversions_[{item, OrderOf(to, from).Reorder(kAxisLetters)}];
    if (!converted) converted = builder().Emit(LayoutRewriter::ConvertItem(item, from, to));
    return converted;
  }

 private:
  // The variable stands for the value from now on, which is stored in the layout.
  void Store(const VarBinding* binding, const Expr* stored, const ValueLayout* layout) {
    if (binding->var->is_dataflow()) {
      Remap(binding->var, stored);
      return SetLayout(binding->var, layout);
    }
    if (!layout) return ReEmitBinding(binding, stored);
    ReEmitBinding(binding, builder().Normalize(LayoutRewriter::ConvertItem(stored, layout, nullptr)));
    // Uses in the block need not transpose it again.
    const Expr* output = Substitute(binding->var);
    conversions_[{output, layout->order.Reorder(kAxisLetters)}] = stored;
  }

  void Begin(const VarBinding* binding, const Call& call) {
    Store(binding, ConvertTo(Substitute(call.args[0]), LayoutOf(call.args[0]), nullptr), &layout_);
  }

  void End(const VarBinding* binding, const Call& call) {
    Store(binding, ConvertTo(Substitute(call.args[0]), LayoutOf(call.args[0]), &layout_), nullptr);
  }

  void Follow(const VarBinding* binding, const Call& original) {
    const Call& call = IsBroadcasting(original) ? WithFullRanks(original) : original;
    const std::vector<const ValueLayout*> following = FollowingLayouts(call, &layout_, arena());
    LayoutCall decision(call, following, {}, arena(), kTransposeRulesVersion);
    IROPT_CHECK(DecideToFollow(decision, &layout_), "the call follows as it was planned");
    std::vector<const ValueLayout*> layouts;
    for (const Expr* arg : call.args) layouts.push_back(LayoutOf(arg));
    const Expr* value = NewCall(call, *binding->var, layouts, &decision);
    if (binding->var->is_dataflow()) {
      ReEmitBinding(binding, value);
      return SetLayout(binding->var, decision.result());
    }
    Store(binding, decision.result() ? builder().Emit(value) : value, decision.result());
  }

  // The call with new axes in front of operands of a lower rank, but not of those of rank 0.
  const Call& WithFullRanks(const Call& call) {
    const List<const Expr*> args = MapList(call.args, workspace(), [&](const Expr* arg) -> const Expr* {
      const TensorType* tensor = TensorTypeOf(arg);
      if (!tensor || tensor->ndim == 0 || tensor->ndim == layout_.order.ndim()) return arg;
      return ExpandDims(ConvertTo(Substitute(arg), LayoutOf(arg), nullptr), layout_.order.ndim() - tensor->ndim);
    });
    return args == call.args ? call
                             : *NewLike<Call>(workspace(), call, call.op, args, call.attrs, call.type_args, call.type);
  }

  const ValueLayout& layout_;
  bool in_function_ = false;
  TransposeRoles roles_;                                                    // in the current block
  std::map<std::pair<const Expr*, std::string>, const Expr*> conversions_;  // of a value to an order, in this block
};

// The orders in which the operands of R.permute_dims are their results, as they come first. That of the inverse is
// another one: then it is the tensors between the two permutations that may be stored in another order.
class OrderCollector : public ExprVisitor {
 public:
  std::vector<ValueLayout> layouts;

 protected:
  void VisitFunction(const Function* function) override {
    if (!std::exchange(in_function_, true)) ExprVisitor::VisitFunction(function);
  }
  void VisitCall(const Call* call) override {
    if (!IsOp(call->op, op::kPermuteDims)) return;
    const std::vector<int64_t> axes = PermutationOf(*call);
    if (axes.empty() || axes.size() > AxisOrder::kMaxRank) return;
    AxisOrder order;
    for (int64_t axis = 0; axis < std::ssize(axes); ++axis)
      order.push_back(static_cast<int>(std::ranges::find(axes, axis) - axes.begin()));
    const auto is_known = [&](const ValueLayout& layout) { return layout.order == order; };
    if (!order.is_identity() && std::ranges::none_of(layouts, is_known)) layouts.push_back({order, {}});
  }

 private:
  bool in_function_ = false;
};

constexpr Statistic kChanged("OptimizeTransposes", "changed", "functions with fewer transposes");

const Function* OptimizeTransposes(const Function* function, FunctionPassContext& context) {
  OrderCollector orders;
  orders.VisitExpr(function);
  const Function* result = function;
  for (const ValueLayout& layout : orders.layouts) {
    OpTypeInferrer inferrer(&context.module(), context.workspace().arena(), &context.diagnostics());
    TransposeMover mover(context.workspace(), inferrer, layout);
    result = To<Function>(mover.VisitExpr(result));
    if (mover.failed()) return nullptr;
  }
  if (result != function) kChanged.Add(1);
  return result;
}

}  // namespace

Pass CreateOptimizeTransposes(const PassOptions& options) {
  return CreateFunctionPass(options.info(),
                            [](const Function* function, FunctionPassContext& context) -> Result<const Function*> {
                              const Function* result = OptimizeTransposes(function, context);
                              if (!result) return Failure{ErrorCode::PassFailed};
                              return result;
                            });
}

}  // namespace iropt
