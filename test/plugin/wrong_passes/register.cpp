// The plugin with the wrong passes.
#include <map>
#include <string>

#include "faults.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/pass/plugin.h"

namespace iropt::wrong {

namespace {

// A factory of passes knows no more than the name.
Pass CreateGraphPass(const PassOptions& options) {
  const GraphFault* fault = nullptr;
  for (const auto& faults : {CallFaults(), BindingFaults()}) {
    for (const GraphFault& one : faults) {
      if (options.info().name == std::string("wrong.") + one.name) fault = &one;
    }
  }
  return CreateFunctionPass(
      options.info(), [fault](const Function* function, FunctionPassContext& context) -> Result<const Function*> {
        OpTypeInferrer inferrer(&context.module(), context.workspace().arena(), &context.diagnostics());
        return fault->rewrite(function, context.workspace(), inferrer);
      });
}

Pass CreateLoopPass(const PassOptions& options) {
  const LoopFault* fault = nullptr;
  for (const auto& faults : {ExprFaults(), StmtFaults(), OrderFaults()}) {
    for (const LoopFault& one : faults) {
      if (options.info().name == std::string("wrong.") + one.name) fault = &one;
    }
  }
  return CreatePrimFuncPass(options.info(),
                            [fault](const PrimFunc* function, FunctionPassContext& context) -> Result<const PrimFunc*> {
                              return fault->rewrite(function, context.workspace());
                            });
}

Status Register(PassRegistry& registry) {
  for (const auto& faults : {CallFaults(), BindingFaults()}) {
    for (const GraphFault& fault : faults) {
      IROPT_RETURN_IF_ERROR(
          registry.Add({.info = {.name = std::string("wrong.") + fault.name, .kind = PassKind::Function},
                        .summary = fault.summary,
                        .create = &CreateGraphPass}));
    }
  }
  for (const auto& faults : {ExprFaults(), StmtFaults(), OrderFaults()}) {
    for (const LoopFault& fault : faults) {
      IROPT_RETURN_IF_ERROR(
          registry.Add({.info = {.name = std::string("wrong.") + fault.name, .kind = PassKind::PrimFunc},
                        .summary = fault.summary,
                        .create = &CreateLoopPass}));
    }
  }
  return {};
}

}  // namespace

}  // namespace iropt::wrong

IROPT_PASS_PLUGIN("wrong-passes", "1.0", iropt::wrong::Register)
