// InlinePrivateFunctions: inlines calls of private functions, and removes the functions.
//
//   def main(x: R.Tensor((16, 4))):                    def main(x: R.Tensor((16, 4))):
//       y = double(x)                                      y: R.Tensor((32, 4)) = R.concat((x, x), axis=0)
//       return y                              -->          return y
//   def double(a: R.Tensor(("n", 4))):  # private
//       return R.concat((a, a), axis=0)
//
// Recursive functions are not inlined, nor are functions with uses other than direct calls. See module_inliner.h.
#include "iropt/pass/pass_options.h"
#include "module_inliner.h"

namespace iropt {

Pass CreateInlinePrivateFunctions(const PassOptions& options) {
  return CreateModulePass(options.info(), [](Module module, ModulePassContext& context) {
    const auto is_private = [](const Function& function) { return !function.attrs->Find(attr::kGlobalSymbol); };
    return InlineFunctions(std::move(module), context, {.inlines = is_private});
  });
}

}  // namespace iropt
