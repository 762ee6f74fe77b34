#include "static_rewriter.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "affine_type.h"
#include "iropt/infer/op_builder.h"
#include "iropt/infer/ops/quantize.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/op/op_attrs.h"
#include "iropt/op/ops/axes.h"
#include "iropt/runtime/value.h"
#include "transform/relax/util/tensor_axes.h"

namespace iropt {

namespace {

class LayerRewriter : public ExprMutator {
 public:
  LayerRewriter(const StaticPlan& plan, const StaticScales& scales, Workspace& workspace, TypeInferrer& inferrer)
      : ExprMutator(workspace, &inferrer), scales_(scales) {
    for (const QuantizedTensor& tensor : plan.tensors) tensors_.try_emplace(tensor.var, &tensor);
    for (const StaticLayer& layer : plan.layers) {
      by_call_.try_emplace(layer.site.call, &layer);
      if (layer.add) by_add_.try_emplace(layer.add, &layer);
    }
  }

  const Function* Run(const Function* function) {
    params_ = function->params;
    return To<Function>(VisitExpr(function));
  }

 protected:
  // In branches, layers quantize what comes from outside: not all of them have any.
  const Expr* VisitIf(const If* conditional) override {
    const bool outer = std::exchange(in_branch_, true);
    const Expr* visited = ExprMutator::VisitIf(conditional);
    in_branch_ = outer;
    return visited;
  }

  const BindingBlock* VisitBlock(const BindingBlock* block) override {
    if (!block->is_dataflow()) return ExprMutator::VisitBlock(block);
    enters_block_ = true;
    const BindingBlock* visited = ExprMutator::VisitBlock(block);
    // What is visible outside of the block stays as it is there.
    for (const auto& [var, now] : std::exchange(visible_, {})) Remap(var, now);
    return visited;
  }

  void VisitBinding(const Binding* binding) override {
    if (std::exchange(enters_block_, false) && !in_branch_) {
      for (const Var* param : params_) {
        if (tensors_.Find(param)) Quantize(param, param);
      }
    }
    ExprMutator::VisitBinding(binding);
  }

  void VisitVarBinding(const VarBinding* binding) override {
    const auto* tensor = builder().current_block_is_dataflow() ? tensors_.Find(binding->var) : nullptr;
    if (tensor == nullptr) return ExprMutator::VisitVarBinding(binding);
    if ((*tensor)->is_activation) {
      // The integers have no numbers below 0, and none beyond the greatest one.
      const Expr* operand = VisitExpr(To<Call>(binding->value)->args[0]);
      return Quantize(binding->var, operand);
    }
    ExprMutator::VisitVarBinding(binding);
    const Expr* now = RemapOf(binding->var);
    Quantize(binding->var, now ? now : binding->var);
  }

  const Expr* VisitCall(const Call* call) override {
    if (const auto* layer = by_call_.Find(call)) {
      const auto* now = To<Call>(ExprMutator::VisitCall(call));
      const Expr* args[] = {QuantizedData(**layer, now->args[0]), Weight(**layer)};
      return NewLike<Call>(workspace(), *call, call->op, workspace().Copy(std::span<const Expr* const>(args)),
                           call->attrs, call->type_args, call->type);
    }
    if (const auto* layer = by_add_.Find(call)) {
      const Expr* sum = VisitExpr((*layer)->site.result);
      const Expr* args[] = {sum, Bias(**layer)};
      return NewLike<Call>(workspace(), *call, call->op, workspace().Copy(std::span<const Expr* const>(args)),
                           call->attrs, call->type_args, call->type);
    }
    return ExprMutator::VisitCall(call);
  }

 private:
  const TensorScale& ScaleOfTensor(const Var* var) const { return *scales_.tensors.Find((*tensors_.Find(var))->like); }

  // From now on, uses of the variable are of integers of its value.
  void Quantize(const Var* var, const Expr* value) {
    const TensorScale& scale = ScaleOfTensor(var);
    OpBuilder ops(builder());
    const Expr* factor = MakeNumber(static_cast<double>(scale.scale), DataType::Float(32), workspace());
    const Expr* zero = MakeNumber(scale.zero, scales_.dtype, workspace());
    const Expr* integers = builder().Emit(op::Quantize(ops, value, factor, zero, {.out_dtype = scales_.dtype}));
    const Var* real = builder().Emit(op::Dequantize(ops, integers, factor, zero, {.out_dtype = DataType::Float(32)}));
    const bool is_param = std::ranges::find(params_, var) != params_.end();
    if (is_param || !var->is_dataflow()) visible_.emplace_back(var, value);
    Remap(var, real);
    reals_.insert(real);
  }

  // The operand of a layer, which is that of integers already unless it comes from outside of a branch.
  const Expr* QuantizedData(const StaticLayer& layer, const Expr* now) {
    if (reals_.contains(now) || !builder().current_block_is_dataflow()) return now;
    const auto* data = To<Var>(layer.site.data);
    Quantize(data, now);
    return RemapOf(data);
  }

  const Expr* Weight(const StaticLayer& layer) {
    const QuantizedMatrix& matrix = *scales_.weights.Find(layer.site.call);
    OpBuilder ops(builder());
    const bool outputs_first = layer.site.weight.outputs_first;
    const Expr* zero = MakeNumber(0, DataType::Int(32), workspace());
    const Call* real =
        op::Dequantize(ops, MakeConstant(matrix.codes, workspace()), MakeConstant(matrix.scales, workspace()), zero,
                       {.out_dtype = DataType::Float(32), .axis = outputs_first ? 0 : 1});
    const Expr* weight = builder().Emit(real);
    if (!layer.site.is_matmul || !outputs_first) return weight;
    return builder().Emit(
        ops.Make(op::kPermuteDims, {weight}, MakeOpAttrs(op::kPermuteDims, PermuteDimsAttrs::Values{})));
  }

  // int32 with the scales of the products.
  const Expr* Bias(const StaticLayer& layer) {
    const auto factors = layer.site.weight.outputs();
    const float data_scale = ScaleOfTensor(To<Var>(layer.site.data)).scale;
    const std::span<const float> weight_scales = scales_.weights.Find(layer.site.call)->scales->As<float>();
    std::vector<double> numbers;
    std::vector<double> scales;
    for (int64_t i = 0; i < factors; ++i) {
      const float scale = data_scale * weight_scales[weight_scales.size() == 1 ? 0 : static_cast<size_t>(i)];
      const double number = std::nearbyint(static_cast<double>(layer.bias->As<float>()[static_cast<size_t>(i)]) /
                                           static_cast<double>(scale));
      scales.push_back(static_cast<double>(scale));
      constexpr auto kMost = static_cast<double>(std::numeric_limits<int32_t>::max());
      numbers.push_back(std::clamp(number, -kMost, kMost));
    }
    OpBuilder ops(builder());
    const Expr* real = builder().Emit(op::Dequantize(
        ops, MakeVector(numbers, DataType::Int(32), workspace()), MakeVector(scales, DataType::Float(32), workspace()),
        MakeNumber(0, DataType::Int(32), workspace()), {.out_dtype = DataType::Float(32)}));
    if (layer.site.is_matmul) return real;
    std::vector<int64_t> axes = {0};
    for (int64_t i = 2; i < TensorTypeOf(layer.site.call)->ndim; ++i) axes.push_back(i);
    return builder().Emit(
        ops.Make(op::kExpandDims, {real}, MakeOpAttrs(op::kExpandDims, ExpandDimsAttrs::Values{.axis = axes})));
  }

  const StaticScales& scales_;
  List<const Var*> params_;
  LookupMap<const Var*, const QuantizedTensor*> tensors_;
  LookupMap<const Call*, const StaticLayer*> by_call_;
  LookupMap<const Call*, const StaticLayer*> by_add_;
  LookupSet<const Expr*> reals_;                             // what integers stand for
  std::vector<std::pair<const Var*, const Expr*>> visible_;  // what variables are outside of the block
  bool enters_block_ = false;
  bool in_branch_ = false;
};

}  // namespace

const Function* RewriteStatically(const Function* function, const StaticPlan& plan, const StaticScales& scales,
                                  Workspace& workspace, TypeInferrer& inferrer) {
  LayerRewriter rewriter(plan, scales, workspace, inferrer);
  const Function* rewritten = rewriter.Run(function);
  return rewriter.failed() ? nullptr : rewritten;
}

}  // namespace iropt
