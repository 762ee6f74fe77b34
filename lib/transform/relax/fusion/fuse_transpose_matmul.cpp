// FuseTransposeMatmul: multiplies by a transposed matrix without computing the transposition.
//
//   wT = R.permute_dims(w, [1, 0])     -->    o = R.call_tir(cls.NT_matmul, (x, w), out_sinfo=R.Tensor(...))
//   o = R.matmul(x, wT)
//
// In dataflow blocks. The axes other than the last two must stay where they are, the transposition must have no other
// use, and all shapes must be known. As in TVM, the functions that FuseOpsByPattern makes of both operators on the way
// stay in the module, private and unused. O(nodes).
//
// Source: TVM 0.18's pass of this name.
#include <utility>

#include "composite_functions.h"
#include "fuse_ops_by_pattern.h"
#include "iropt/legalize/topi.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/axes.h"
#include "iropt/op/ops/matmul.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "transform/relax/util/prim_func_calls.h"
#include "transform/relax/util/tensor_axes.h"

namespace iropt {

namespace {

constexpr std::string_view kName = "transpose_matmul_fuse";

bool ExchangesLastTwo(const Expr* expr) {
  const auto& permute = *To<Call>(expr);
  const TensorType* tensor = TensorTypeOf(permute.args[0]);
  return tensor && tensor->known && tensor->ndim >= 2 && PermutationOf(permute) == ExchangeLastTwo(tensor->ndim);
}

// One transposition may be both factors.
bool HasKnownFactors(const Expr* expr) {
  const auto& matmul = *To<Call>(expr);
  const TensorType* result = TensorTypeOf(&matmul);
  return HasTensorsOfKnownShape(matmul) && result && result->known && matmul.args[0] != matmul.args[1];
}

FusionPattern TransposeMatmul() {
  const Pattern transposed = IsCall(GetOp(op::kPermuteDims), {Wildcard()}).UsedOnce().Where(&ExchangesLastTwo);
  return {std::string(kName), IsCall(GetOp(op::kMatmul), {Wildcard(), transposed}).Where(&HasKnownFactors)};
}

// An operand of a function of the pattern in its caller; null for what the function computes.
const Expr* InCaller(const Expr* operand, const Function& function, const Call& call) {
  if (Is<Constant>(operand)) return operand;
  for (uint32_t i = 0; i < function.params.size(); ++i) {
    if (function.params[i] == operand) return call.args[i];
  }
  return nullptr;
}

const Expr* MultiplyTransposed(LegalizeCall& call) {
  const Function* function = CompositeCallee(call.module().module(), call.call());
  if (!function || function->StringAttr(attr::kComposite) != kName) return &call.call();
  const Expr* x = nullptr;
  const Expr* w = nullptr;
  const auto* body = As<SeqExpr>(function->body);
  for (uint32_t i = 0; body && i < body->blocks.size(); ++i) {
    for (const Binding* binding : body->blocks[i]->bindings) {
      const auto* operation = As<Call>(ValueOf(binding));
      if (operation && IsOp(operation->op, op::kPermuteDims)) w = InCaller(operation->args[0], *function, call.call());
      if (operation && IsOp(operation->op, op::kMatmul)) x = InCaller(operation->args[0], *function, call.call());
    }
  }
  if (!x || !w) return &call.call();
  // A constant of the function may outlive it here.
  call.builder().workspace().Adopt(call.module().module().Find(To<GlobalVar>(call.call().op))->storage);
  TeCall te(call, "NT_matmul");
  const te::Tensor left = te.Input(x);
  return te.Finish({topi::Matmul(left, te.Input(w), true, call.result()->dtype, "NT_matmul")});
}

}  // namespace

Pass CreateFuseTransposeMatmul(const PassOptions& options) {
  return CreateModulePass(options.info(), [](Module module, ModulePassContext& context) {
    module = FusePattern(std::move(module), TransposeMatmul(), {}, Constants::kBind);
    return ReplaceByPrimFuncs(std::move(module), &MultiplyTransposed, context.diagnostics);
  });
}

}  // namespace iropt
