// DefuseOps: undoes FuseOps.
//
//   def main(x):                                         def main(x):
//       y = cls.fused_exp_add(x)               -->           lv = R.exp(x)
//       return y                                             y = R.add(lv, x)
//   def fused_exp_add(a):  # private                         return y
//       R.func_attr({"Primitive": 1})
//       lv = R.exp(a)
//       gv = R.add(lv, a)
//       return gv
//
// Calls of primitive functions, of the module or local ones, are inlined, and private ones removed. Functions for
// external compilers (attribute Codegen) stay. See ipo/module_inliner.h.
//
// Source: the pass of Relay of TVM 0.18 of this name.
#include "iropt/pass/pass_options.h"
#include "transform/relax/ipo/module_inliner.h"

namespace iropt {

Pass CreateDefuseOps(const PassOptions& options) {
  return CreateModulePass(options.info(), [](Module module, ModulePassContext& context) {
    const auto is_fused = [](const Function& function) {
      return IsPrimitive(function) && !function.attrs->Find(attr::kCodegen);
    };
    return InlineFunctions(std::move(module), context, {.inlines = is_fused, .local_primitives = true, .orders = true});
  });
}

}  // namespace iropt
