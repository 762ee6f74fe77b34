// A plugin with a wrong pass, which no check of types finds: it replaces the relus of one function by their operands.
#include <string>

#include "iropt/ir/relax/mutator.h"
#include "iropt/pass/plugin.h"

namespace {

using namespace iropt;

class ReluDropper : public ExprMutator {
 public:
  using ExprMutator::ExprMutator;

 protected:
  const Expr* VisitCall(const Call* call) override {
    const auto* op = As<Op>(call->op);
    return op && op->name == "relax.nn.relu" ? VisitExpr(call->args[0]) : ExprMutator::VisitCall(call);
  }
};

Pass CreateDropRelus(const PassOptions& options) {
  return CreateFunctionPass(options.info(),
                            [name = options.String("function")](
                                const Function* function, FunctionPassContext& context) -> Result<const Function*> {
                              if (context.var()->name != name) return function;
                              ReluDropper dropper(context.workspace());
                              return To<Function>(dropper.VisitExpr(function));
                            });
}

Status AddPass(PassRegistry& registry, const char* name, bool is_mandatory) {
  return registry.Add({.info = {.name = name, .is_mandatory = is_mandatory, .kind = PassKind::Function},
                       .options = {{"function", OptionType::String, std::string(), "the function"}},
                       .summary = "replace the relus of one function by their operands",
                       .create = &CreateDropRelus});
}

Status Register(PassRegistry& registry) {
  IROPT_RETURN_IF_ERROR(AddPass(registry, "test.DropRelus", /*is_mandatory=*/false));
  return AddPass(registry, "test.MustDropRelus", /*is_mandatory=*/true);
}

}  // namespace

IROPT_PASS_PLUGIN("drop-relus", "1.0", Register)
