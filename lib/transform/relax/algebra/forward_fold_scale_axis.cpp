// ForwardFoldScaleAxis: moves multiplications of data by constants forward, into the weights that they reach.
//
//   a = R.multiply(x, s)                        a = R.add(x, b / s)
//   b = R.add(a, b)                             y = R.nn.conv2d(a, w * s)
//   y = R.nn.conv2d(b, w)              -->
//
// `s` is a constant with a number for each input channel, or one number, of floats. It passes through relu and
// leakyrelu if it is positive, through sums with constants that vary along the channels if it is not zero, and through
// other such multiplications. It goes into the constant weights of conv1d, conv2d, conv3d (with one group, or
// depthwise), their transposes and matmul. All uses of the product must lead there. FoldConstant computes the new
// constants. Changed functions are cleaned up.
//
// Uses ask for factors, from the last operation to the first; then the function is rewritten. O(nodes), and the
// elements of the factors.
//
// With constants_only; without, factors and weights may be computed at run time, as in Relay, see relay_scale_axis.h.
// That can cost more than it saves, if the weights are bigger than the data.
//
// Source: the pass of this name of Relay, TVM's former graph-level IR.
#include <utility>

#include "iropt/analysis/relax/overwritten_vars.h"
#include "iropt/infer/op_builder.h"
#include "iropt/infer/ops/arithmetic.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/location.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/op/ops/arithmetic.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/transform/options/ForwardFoldScaleAxis.h"
#include "relay_scale_axis.h"
#include "scale_axis.h"
#include "transform/relax/util/apply_rules.h"
#include "transform/relax/util/tensor_axes.h"

namespace iropt {

namespace {

// Change to make to an operation.
struct ForwardStep {
  int data = -1;                           // the operand that carries factors
  Scale folded = nullptr;                  // the other operand, a factor that is carried on
  std::optional<WeightAxis> weights = {};  // the factors end here
};

// Finds the factors that the operations of a function can take in, and carry on.
class ForwardPlan {
 public:
  ForwardPlan(const Function& function, uint32_t num_vars)
      : graph_(function, num_vars), requests_(num_vars), steps_(num_vars) {
    const std::vector<const VarBinding*>& operations = graph_.operations();
    for (size_t i = operations.size(); i-- > 0;) Visit(*operations[i]->var, *To<Call>(operations[i]->value));
  }

  // Returns whether there is a multiplication to move.
  bool found() const { return found_; }
  const ForwardStep& StepOf(const Var* var) const { return steps_[var->id]; }
  // Returns the form that a factor of the variable must have.
  const ScaleMessage& MessageOf(const Var* var) const { return requests_[var->id].message; }

 private:
  struct Request {
    ScaleMessage message = {};
    uint32_t num_uses = 0;  // that agree
  };

  void Ask(const Expr* operand, const ScaleMessage& message) {
    const auto* var = As<Var>(operand);
    if (!var) return;
    Request& request = requests_[var->id];
    if (request.num_uses == 0) request.message = message;
    if (request.message.axis != message.axis) return;
    ++request.num_uses;
    request.message.positive |= message.positive;
    request.message.nonzero |= message.nonzero;
  }

  void Visit(const Var& var, const Call& call) {
    ForwardStep& step = steps_[var.id];
    step.weights = graph_.InputAxis(call);
    if (step.weights) {
      step.data = 0;
      return Ask(call.args[0], {.axis = step.weights->tensor});
    }
    const Request& request = requests_[var.id];
    if (request.num_uses == 0 || request.num_uses != graph_.Uses(&var)) return;
    const OpId op = To<Op>(call.op)->id;
    ScaleMessage message = request.message;
    if (IsScalableActivation(op)) {
      step.data = 0;
      message.positive = true;
    } else if (IsSum(op)) {
      step.data = graph_.VariesAlong(call.args[1], call.type, message.axis)   ? 0
                  : graph_.VariesAlong(call.args[0], call.type, message.axis) ? 1
                                                                              : -1;
      message.nonzero = true;
    } else if (op == op::kMultiply) {
      FindFactor(step, call, message);
    }
    if (step.data < 0 || !TypeEqual(call.args[static_cast<uint32_t>(step.data)]->type, call.type)) {
      step = {};
      return;
    }
    found_ |= step.folded != nullptr;
    Ask(call.args[static_cast<uint32_t>(step.data)], message);
  }

  void FindFactor(ForwardStep& step, const Call& call, const ScaleMessage& message) {
    for (const int factor : {1, 0}) {
      const Scale scale = graph_.ScaleOf(call.args[static_cast<uint32_t>(factor)], call.type, message.axis);
      if (!scale) continue;
      step.data = 1 - factor;
      if (Fits(scale, message)) step.folded = scale;
      break;
    }
  }

  const ScaleGraph graph_;
  std::vector<Request> requests_;   // by Var::id
  std::vector<ForwardStep> steps_;  // by Var::id
  bool found_ = false;
};

class ForwardFolder : public ExprMutator {
 public:
  ForwardFolder(const ForwardPlan& plan, uint32_t num_vars, Workspace& workspace, TypeInferrer& inferrer)
      : ExprMutator(workspace, &inferrer), plan_(plan), scales_(num_vars), origins_(num_vars) {}

 protected:
  void VisitVarBinding(const VarBinding* binding) override {
    const auto* call = As<Call>(binding->value);
    const ForwardStep& step = plan_.StepOf(binding->var);
    if (!call || step.data < 0) return ExprMutator::VisitVarBinding(binding);
    const Expr* data = call->args[static_cast<uint32_t>(step.data)];
    const auto* data_var = As<Var>(data);
    const Scale carried = data_var ? scales_[data_var->id] : nullptr;
    const SourceSpan origin = data_var ? origins_[data_var->id] : SourceSpan();
    if (step.folded) {
      const Scale product = Product(carried, step.folded);
      // The product of two factors may be too large or too small.
      if (Fits(product, plan_.MessageOf(binding->var))) {
        scales_[binding->var->id] = product;
        origins_[binding->var->id] = JoinPlaces(origin, Location(*call));
        return ReEmitBinding(binding, VisitExpr(data));
      }
    }
    if (!carried) return ExprMutator::VisitVarBinding(binding);
    if (step.weights) {
      const Expr* made = WithWeights(*call, *step.weights, carried);
      return ReEmitBinding(binding, FromPlaces(made, *call, origin, workspace()));
    }
    scales_[binding->var->id] = carried;
    origins_[binding->var->id] = origin;
    if (!IsSum(To<Op>(call->op)->id)) return ExprMutator::VisitVarBinding(binding);
    ReEmitBinding(binding, WithSummand(*call, step.data, plan_.MessageOf(binding->var).axis, carried));
  }

 private:
  const Expr* WithWeights(const Call& call, const WeightAxis& axis, const Scale& scale) {
    OpBuilder calls(builder());
    const Expr* weight = VisitExpr(call.args[1]);
    weight = op::Multiply(calls, weight, ScaleAlong(scale, TensorTypeOf(weight)->ndim, axis.weight, workspace()));
    return builder().Normalize(calls.Make(To<Op>(call.op)->id, {VisitExpr(call.args[0]), weight}, call.attrs));
  }

  const Expr* WithSummand(const Call& call, int data, int64_t axis, const Scale& scale) {
    OpBuilder calls(builder());
    const Expr* divisor = ScaleAlong(scale, TensorTypeOf(&call)->ndim, axis, workspace());
    const Expr* other = op::Divide(calls, VisitExpr(call.args[static_cast<uint32_t>(1 - data)]), divisor);
    const Expr* scaled = VisitExpr(call.args[static_cast<uint32_t>(data)]);
    const OpId op = To<Op>(call.op)->id;
    return builder().Normalize(data == 0 ? calls.Make(op, {scaled, other}) : calls.Make(op, {other, scaled}));
  }

  const ForwardPlan& plan_;
  std::vector<Scale> scales_;        // by Var::id: the old value divided by the new one; or null
  std::vector<SourceSpan> origins_;  // by Var::id: where these factors come from
};

Result<const Function*> FoldForward(const Function* function, FunctionPassContext& context) {
  if (IsPrimitive(*function) || OverwritesVars(*function, &context.module())) return function;
  Workspace& workspace = context.workspace();
  const uint32_t num_vars = workspace.num_vars();
  const ForwardPlan plan(*function, num_vars);
  if (!plan.found()) return function;
  OpTypeInferrer inferrer(&context.module(), workspace.arena(), &context.diagnostics());
  ForwardFolder folder(plan, num_vars, workspace, inferrer);
  const auto* folded = To<Function>(folder.VisitExpr(function));
  if (folder.failed()) return Failure{ErrorCode::PassFailed};
  return CleanUpFunction(folded, context);
}

}  // namespace

Pass CreateForwardFoldScaleAxis(const PassOptions& options) {
  return CreateFunctionPass(
      options.info(), *pass_options::ForwardFoldScaleAxis(options).constants_only ? &FoldForward : &FoldForwardAsRelay);
}

}  // namespace iropt
