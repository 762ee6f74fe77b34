// DecomposeOpsForInference: expands batch normalization, and conversions of tensors to shapes, into simpler operators.
//
//   bn = R.nn.batch_norm(x, gamma, beta, mean, var, axis=1)        lv = R.expand_dims(mean, axis=[0, 2, 3])
//   y = bn[0]                                                      lv1 = R.subtract(x, lv)
//                                                           -->    ...
//                                                                  lv8 = R.add(lv6, lv7)
//                                                                  bn = (lv8, mean, var)
//                                                                  y = bn[0]
//
// The moving mean and variance are taken as they are. `func_name` names one function; the default is all. O(nodes).
//
// Source: TVM 0.18's pass of this name.
#include "decompose.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/transform/options/DecomposeOpsForInference.h"

namespace iropt {

Pass CreateDecomposeOpsForInference(const PassOptions& options) {
  return CreateFunctionPass(options.info(),
                            [only = *pass_options::DecomposeOpsForInference(options).func_name](
                                const Function* function, FunctionPassContext& context) -> Result<const Function*> {
                              if (!only.empty() && context.var()->name != only) return function;
                              return DecomposeOps(function, context.module(), context.workspace(),
                                                  context.diagnostics());
                            });
}

}  // namespace iropt
