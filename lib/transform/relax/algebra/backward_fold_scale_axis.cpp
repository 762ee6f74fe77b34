// BackwardFoldScaleAxis: moves multiplications of results by constants backward, into the weights that they come from.
//
//   a = R.nn.conv2d(x, w)                       a = R.nn.conv2d(x, w * s)
//   b = R.add(a, b)                             b = R.add(a, b * s)
//   y = R.multiply(b, s)               -->      y = b
//
// `s` is a constant with a number for each output channel, or one number, of floats. It passes through relu and
// leakyrelu if it is positive, through sums with constants that vary along the channels, through sums of two results of
// the same shape, through transposes, and reshapes that keep the axis, and through other such multiplications. It goes
// into the constant weights of conv1d, conv2d, conv3d, their transposes and matmul. Every tensor on the way must have
// one use. FoldConstant computes the new constants. Changed functions are cleaned up.
//
// Operations offer to take factors in, from the first to the last; those of multiplications are accepted from the last
// to the first; then the function is rewritten. O(nodes), and the elements of the factors.
//
// With constants_only; without, factors and weights may be computed at run time, as in Relay, see relay_scale_axis.h.
// That can cost more than it saves, if the weights are bigger than the data.
//
// Source: the pass of this name of Relay, TVM's former graph-level IR.
#include <array>
#include <utility>

#include "columns_of_reshapes.h"
#include "iropt/analysis/relax/overwritten_vars.h"
#include "iropt/infer/op_builder.h"
#include "iropt/infer/ops/arithmetic.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/location.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/op/ops/arithmetic.h"
#include "iropt/op/ops/axes.h"
#include "iropt/op/ops/reshape.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/transform/options/BackwardFoldScaleAxis.h"
#include "relay_scale_axis.h"
#include "scale_axis.h"
#include "transform/relax/util/apply_rules.h"
#include "transform/relax/util/tensor_axes.h"

namespace iropt {

namespace {

// Change to make to an operation.
struct BackwardStep {
  std::optional<WeightAxis> weights = {};      // the factors go into the weights
  std::array<bool, 2> takes = {false, false};  // the operands that take the factors in
  bool is_sum = false;
  Scale factor = nullptr;  // of a multiplication: the operand that does not take factors in
  bool folds = false;      // the multiplication disappears
};

class BackwardPlan {
 public:
  BackwardPlan(const Function& function, uint32_t num_vars)
      : graph_(function, num_vars), offers_(num_vars), steps_(num_vars), scales_(num_vars), origins_(num_vars) {
    const std::vector<const VarBinding*>& operations = graph_.operations();
    for (const VarBinding* operation : operations) Offer(*operation->var, *To<Call>(operation->value));
    for (size_t i = operations.size(); i-- > 0;) Accept(*operations[i]->var, *To<Call>(operations[i]->value));
  }

  bool found() const { return found_; }
  const BackwardStep& StepOf(const Var* var) const { return steps_[var->id]; }
  // By what the new value of the variable is the old one multiplied, along the axis; or null.
  const Scale& ScaleOf(const Var* var) const { return scales_[var->id]; }
  // Where the factors come from.
  SourceSpan OriginOf(const Var* var) const { return origins_[var->id]; }
  int64_t AxisOf(const Var* var) const { return offers_[var->id]->axis; }

 private:
  const ScaleMessage* OfferOf(const Expr* operand, const Call& user) const {
    const auto* var = As<Var>(operand);
    if (!var || !offers_[var->id] || graph_.Uses(var) != 1 || !TypeEqual(var->type, user.type)) return nullptr;
    return &*offers_[var->id];
  }

  void Offer(const Var& var, const Call& call) {
    BackwardStep& step = steps_[var.id];
    std::optional<ScaleMessage>& offer = offers_[var.id];
    step.weights = graph_.OutputAxis(call);
    const OpId op = To<Op>(call.op)->id;
    if (step.weights) {
      offer = ScaleMessage{.axis = step.weights->tensor};
    } else if (IsScalableActivation(op)) {
      const ScaleMessage* of_data = OfferOf(call.args[0], call);
      if (!of_data) return;
      offer = *of_data;
      offer->positive = true;
      step.takes[0] = true;
    } else if (IsSum(op)) {
      OfferSum(step, offer, call);
    } else if (op == op::kMultiply) {
      OfferProduct(step, offer, call);
    } else if (op == op::kReshape || op == op::kPermuteDims) {
      OfferMove(step, offer, call);
    }
  }

  // Of a tensor whose scaled axis stays an axis.
  void OfferMove(BackwardStep& step, std::optional<ScaleMessage>& offer, const Call& call) const {
    const auto* var = As<Var>(call.args[0]);
    if (!var || !offers_[var->id] || graph_.Uses(var) != 1) return;
    const std::optional<int64_t> axis = AxisAfter(call, offers_[var->id]->axis);
    if (!axis) return;
    offer = *offers_[var->id];
    offer->axis = *axis;
    step.takes[0] = true;
  }

  void OfferSum(BackwardStep& step, std::optional<ScaleMessage>& offer, const Call& call) const {
    const std::array<const ScaleMessage*, 2> own = {OfferOf(call.args[0], call), OfferOf(call.args[1], call)};
    if (own[0] && own[1]) {
      if (own[0]->axis != own[1]->axis) return;
      offer = *own[0];
      offer->positive |= own[1]->positive;
      step.takes = {true, true};
    }
    for (size_t i = 0; i < 2; ++i) {
      if (offer || !own[i] || !graph_.VariesAlong(call.args[static_cast<uint32_t>(1 - i)], call.type, own[i]->axis)) {
        continue;
      }
      offer = *own[i];
      step.takes[i] = true;
    }
    step.is_sum = offer.has_value();
  }

  void OfferProduct(BackwardStep& step, std::optional<ScaleMessage>& offer, const Call& call) const {
    for (size_t i = 0; i < 2; ++i) {
      const ScaleMessage* own = OfferOf(call.args[static_cast<uint32_t>(i)], call);
      if (!own) continue;
      step.factor = graph_.ScaleOf(call.args[static_cast<uint32_t>(1 - i)], call.type, own->axis);
      if (!step.factor) continue;
      step.folds = Fits(step.factor, *own);
      offer = *own;
      step.takes[i] = true;
      return;
    }
  }

  void Accept(const Var& var, const Call& call) {
    BackwardStep& step = steps_[var.id];
    Scale scale = scales_[var.id];
    SourceSpan origin = origins_[var.id];
    if (step.folds) {
      const Scale product = Product(scale, step.factor);
      // The product of two factors may be too large.
      step.folds = Fits(product, *offers_[var.id]);
      found_ |= step.folds;
      if (step.folds) {
        scale = product;
        origin = JoinPlaces(origin, Location(call));
      }
    }
    for (uint32_t i = 0; i < 2 && scale; ++i) {
      if (!step.takes[i]) continue;
      scales_[To<Var>(call.args[i])->id] = scale;
      origins_[To<Var>(call.args[i])->id] = origin;
    }
  }

  const ScaleGraph graph_;
  std::vector<std::optional<ScaleMessage>> offers_;  // by Var::id
  std::vector<BackwardStep> steps_;                  // by Var::id
  std::vector<Scale> scales_;                        // by Var::id
  std::vector<SourceSpan> origins_;                  // by Var::id
  bool found_ = false;
};

class BackwardFolder : public ExprMutator {
 public:
  BackwardFolder(const BackwardPlan& plan, Workspace& workspace, TypeInferrer& inferrer)
      : ExprMutator(workspace, &inferrer), plan_(plan) {}

 protected:
  void VisitVarBinding(const VarBinding* binding) override {
    const BackwardStep& step = plan_.StepOf(binding->var);
    const Scale& scale = plan_.ScaleOf(binding->var);
    if (step.folds) {
      const auto* product = To<Call>(binding->value);
      return ReEmitBinding(binding, VisitExpr(product->args[step.takes[0] ? 0 : 1]));
    }
    const auto* call = As<Call>(binding->value);
    if (scale && step.weights) {
      const TensorType& weight = *TensorTypeOf(call->args[1]);
      const Expr* factor = ScaleOfWeights(scale, weight, *step.weights, workspace());
      ReEmitBinding(binding, Multiplied(*call, 1, factor, plan_.OriginOf(binding->var)));
    } else if (scale && step.is_sum && step.takes[0] != step.takes[1]) {
      const int64_t rank = TensorTypeOf(call)->ndim;
      const Expr* factor = ScaleAlong(scale, rank, plan_.AxisOf(binding->var), workspace());
      ReEmitBinding(binding, Multiplied(*call, step.takes[0] ? 1 : 0, factor, plan_.OriginOf(binding->var)));
    } else {
      ExprMutator::VisitVarBinding(binding);
    }
  }

 private:
  // The call with one operand multiplied by the factor.
  const Expr* Multiplied(const Call& call, uint32_t operand, const Expr* factor, SourceSpan origin) {
    OpBuilder calls(builder());
    std::array<const Expr*, 2> args = {VisitExpr(call.args[0]), VisitExpr(call.args[1])};
    args[operand] = op::Multiply(calls, args[operand], factor);
    const Expr* made = calls.Make(To<Op>(call.op)->id, args, call.attrs);
    return FromPlaces(builder().Normalize(made), call, origin, workspace());
  }

  const BackwardPlan& plan_;
};

Result<const Function*> FoldBackward(const Function* function, FunctionPassContext& context) {
  if (IsPrimitive(*function) || OverwritesVars(*function, &context.module())) return function;
  Workspace& workspace = context.workspace();
  const BackwardPlan plan(*function, workspace.num_vars());
  if (!plan.found()) return function;
  OpTypeInferrer inferrer(&context.module(), workspace.arena(), &context.diagnostics());
  BackwardFolder folder(plan, workspace, inferrer);
  const auto* folded = To<Function>(folder.VisitExpr(function));
  if (folder.failed()) return Failure{ErrorCode::PassFailed};
  return CleanUpFunction(folded, context);
}

}  // namespace

Pass CreateBackwardFoldScaleAxis(const PassOptions& options) {
  return CreateFunctionPass(options.info(), *pass_options::BackwardFoldScaleAxis(options).constants_only
                                                ? &FoldBackward
                                                : &FoldBackwardAsRelay);
}

}  // namespace iropt
