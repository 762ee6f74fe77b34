// Inline: inlines calls of functions that ask for it.
//
//   def main(x):                                         def main(x):
//       y = cls.f(x)                           -->           y = R.add(x, x)
//       return y                                             return y
//   def f(a):  # private
//       R.func_attr({"Inline": 1})
//       return R.add(a, a)
//
// These are functions with the attribute Inline. Those that are private are removed; recursive ones stay. Functions for
// external compilers (attribute Compiler) are not inlined. See module_inliner.h.
//
// Source: the pass of Relay of TVM 0.18 of this name, which also removes functions that are not private.
#include "iropt/pass/pass_options.h"
#include "module_inliner.h"

namespace iropt {

Pass CreateInline(const PassOptions& options) {
  return CreateModulePass(options.info(), [](Module module, ModulePassContext& context) {
    const auto asks = [](const Function& function) {
      const auto* value = As<IntAttr>(function.attrs->Find(attr::kInline));
      return value && value->value != 0 && !function.attrs->Find(attr::kCompiler);
    };
    return InlineFunctions(std::move(module), context, {.inlines = asks});
  });
}

}  // namespace iropt
