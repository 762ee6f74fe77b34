// A plugin with an operator of its own, R.my_company.scale(x, factor=2.0), and everything that belongs to it: a type
// rule, a kernel, by which FoldConstant computes it, a legalization, by which LegalizeOps makes a PrimFunc of it, and a
// pass that replaces it by operators of TVM.
//
//   y = R.my_company.scale(x, factor=3.0)        -->        y = R.multiply(x, R.const(3.0, "float32"))
//
// The pass says what it does in remarks, whose kind the plugin declares, and it runs at the end of the default
// pipelines.
#include <fmt/format.h>

#include "iropt/eval/evaluator.h"
#include "iropt/infer/infer.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/location.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/legalize/legalize.h"
#include "iropt/legalize/topi.h"
#include "iropt/op/op_attrs.h"
#include "iropt/op/ops/arithmetic.h"
#include "iropt/pass/plugin.h"
#include "iropt/runtime/value.h"

namespace {

using namespace iropt;

constexpr std::string_view kName = "my_company.scale";
constexpr std::string_view kLowered = "my-company-lowered";

double FactorOf(const Attr* attrs) { return op_attrs::ToDouble(To<ObjectAttr>(attrs)->Find("factor")); }

const Type* InferScale(const Call& call, InferContext& ctx) {
  const auto* x = call.args.size() == 1 ? As<TensorType>(call.args[0]->type) : nullptr;
  if (x == nullptr) return ctx.Error(call, "the operand must be a tensor");
  if (!x->dtype.is_floating()) return ctx.Error(call, 0, "the operand must have a floating-point dtype");
  return x;
}

Result<HostValue> EvalScale(const Attr* attrs, std::span<const HostValue> args, const EvalLimits& limits) {
  const NDArray* x = args[0].tensor();
  if (x == nullptr) return Error{ErrorCode::SemanticCheck, "the operand is not a tensor"};
  const Tensor factor = MakeScalarTensor(Scalar::Float(FactorOf(attrs), x->dtype()));
  return EvalOp(OpInfoOf(op::kMultiply), nullptr, std::vector<HostValue>{args[0], factor}, limits);
}

const Expr* LegalizeScale(LegalizeCall& call) {
  TeCall te(call, "scale");
  const te::Tensor x = te.Arg(0);
  const te::Value factor = te.Const(FactorOf(call.call().attrs), x.dtype());
  return te.Finish({topi::Map(x, [&](te::Value value) { return value * factor; })});
}

class ScaleLowering : public ExprMutator {
 public:
  ScaleLowering(Workspace& workspace, TypeInferrer& inferrer, DiagnosticEngine& diagnostics)
      : ExprMutator(workspace, &inferrer), diagnostics_(diagnostics) {}

 protected:
  const Expr* VisitCall(const Call* call) override {
    const auto* op = As<Op>(call->op);
    if (op == nullptr || op->info->script.substr(2) != kName) return ExprMutator::VisitCall(call);
    const double factor = FactorOf(call->attrs);
    diagnostics_.Remark(Location(*call), DiagId::Dynamic(kLowered),
                        fmt::format("a multiplication by {} takes its place", factor));
    // A constant is a node that refers to a tensor; a new call gets its type from the type inferrer.
    const Tensor tensor = MakeScalarTensor(Scalar::Float(factor, To<TensorType>(call->type)->dtype));
    return builder().MakeCall(GetOp(op::kMultiply), {VisitExpr(call->args[0]), MakeConstant(tensor, workspace())});
  }

 private:
  DiagnosticEngine& diagnostics_;
};

Pass CreateLowerScale(const PassOptions& options) {
  return CreateFunctionPass(
      options.info(), [](const Function* function, FunctionPassContext& context) -> Result<const Function*> {
        OpTypeInferrer inferrer(&context.module(), context.workspace().arena(), &context.diagnostics());
        ScaleLowering lowering(context.workspace(), inferrer, context.diagnostics());
        return To<Function>(lowering.VisitExpr(function));
      });
}

Status Register(PassRegistry& registry) {
  IROPT_RETURN_IF_ERROR(
      registry.AddDiagnosticKind({kLowered, Severity::Remark, "an operator of my company is lowered"}));
  IROPT_RETURN_IF_ERROR(registry.AddOperator({.name = kName,
                                              .args = {{"x", "x", ArgKind::kTensor}},
                                              .attrs = {{"factor", AttrKind::kDouble, OpDefault::Float(2.0)}},
                                              .functions = {&InferScale, &EvalScale, &LegalizeScale},
                                              .pattern = OpPattern::kElemWise}));
  IROPT_RETURN_IF_ERROR(
      registry.Add({.info = {.name = "my_company.LowerScale", .opt_level = 1, .kind = PassKind::Function},
                    .summary = "replace R.my_company.scale by a multiplication",
                    .create = &CreateLowerScale}));
  IROPT_RETURN_IF_ERROR(registry.AddPipeline({.name = "my_company",
                                              .lowest_level = 1,
                                              .highest_level = 4,
                                              .passes = "FoldConstant,my_company.LowerScale",
                                              .summary = "fold and lower operators of my company"}));
  return registry.ExtendPipeline({.name = "default",
                                  .lowest_level = 1,
                                  .highest_level = 4,
                                  .passes = "my_company.LowerScale",
                                  .summary = "lower operators of my company"});
}

}  // namespace

IROPT_PASS_PLUGIN("scale-operator", "1.0", Register)
