// FastMathTransform: replaces expensive functions by calls of PrimFuncs that approximate them.
//
//   y = R.exp(x)    -->    y = R.call_tir(cls.fast_exp, (x,), out_sinfo=R.Tensor((16,), "float32"))
//
// It replaces R.exp, R.erf, R.tanh and R.nn.softmax. The approximations are for float32, that of erf also for float16;
// for other dtypes the PrimFuncs compute the functions themselves. Tensors of unknown shape stay as they are.
//
// O(nodes). Source: TVM 0.18's pass of this name, with the approximations of its topi, which are from Eigen and Cephes.
#include "iropt/legalize/topi.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/exponential.h"
#include "iropt/op/ops/softmax.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "transform/relax/util/prim_func_calls.h"

namespace iropt {

namespace {

const Expr* Approximate(LegalizeCall& call) {
  const auto* op = As<Op>(call.call().op);
  if (!op || call.num_args() != 1 || !HasTensorsOfKnownShape(call.call())) return &call.call();
  const auto finish = [&](std::string_view name, te::Tensor (*function)(const te::Tensor&)) {
    TeCall te(call, name);
    return te.Finish({function(te.Arg(0))});
  };
  switch (op->id) {
    case op::kErf: return finish("fast_erf", &topi::FastErf);
    case op::kExp: return finish("fast_exp", &topi::FastExp);
    case op::kTanh: return finish("fast_tanh", &topi::FastTanh);
    case op::kNnSoftmax: {
      TeCall te(call, "fast_softmax");
      return te.Finish({topi::FastSoftmax(te.Arg(0), SoftmaxAttrs(call.call()).axis())});
    }
    default: return &call.call();
  }
}

}  // namespace

Pass CreateFastMathTransform(const PassOptions& options) {
  return CreateModulePass(options.info(), [](Module module, ModulePassContext& context) {
    return ReplaceByPrimFuncs(std::move(module), &Approximate, context.diagnostics);
  });
}

}  // namespace iropt
