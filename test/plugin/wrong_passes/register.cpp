// The plugin with the wrong passes.
#include <map>
#include <optional>
#include <string>

#include "bugs.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/pass/plugin.h"
#include "iropt/support/file.h"
#include "iropt/text/script/parser.h"

namespace iropt::wrong {

namespace {

// A factory of passes knows no more than the name.
Pass CreateGraphPass(const PassOptions& options) {
  const GraphBug* bug = nullptr;
  for (const auto& bugs : {CallBugs(), BindingBugs()}) {
    for (const GraphBug& one : bugs) {
      if (options.info().name == std::string("wrong.") + one.name) bug = &one;
    }
  }
  return CreateFunctionPass(
      options.info(), [bug](const Function* function, FunctionPassContext& context) -> Result<const Function*> {
        OpTypeInferrer inferrer(&context.module(), context.workspace().arena(), &context.diagnostics());
        return bug->rewrite(function, context.workspace(), inferrer);
      });
}

Pass CreateLoopPass(const PassOptions& options) {
  const LoopBug* bug = nullptr;
  for (const auto& bugs : {ExprBugs(), StmtBugs(), OrderBugs()}) {
    for (const LoopBug& one : bugs) {
      if (options.info().name == std::string("wrong.") + one.name) bug = &one;
    }
  }
  return CreatePrimFuncPass(options.info(),
                            [bug](const PrimFunc* function, FunctionPassContext& context) -> Result<const PrimFunc*> {
                              return bug->rewrite(function, context.workspace());
                            });
}

// A rewrite that is known by an example only: the module becomes that of a file.
Pass CreateReplaceModule(const PassOptions& options) {
  return CreateModulePass(options.info(),
                          [path = options.String("file")](const Module&, ModulePassContext& context) -> Result<Module> {
                            IROPT_ASSIGN_OR_RETURN(const auto file, ReadFile(path));
                            std::optional<Module> module = ParseModule(file->text(), 1, {}, context.diagnostics);
                            if (!module) return Error{ErrorCode::PassFailed, path + " is not a module"};
                            return *std::move(module);
                          });
}

Status Register(PassRegistry& registry) {
  IROPT_RETURN_IF_ERROR(
      registry.Add({.info = {.name = "test.ReplaceModule", .kind = PassKind::Module},
                    .options = {{"file", OptionType::String, std::string(), "the text of the other module"}},
                    .summary = "replace the module by another one",
                    .create = &CreateReplaceModule}));
  for (const auto& bugs : {CallBugs(), BindingBugs()}) {
    for (const GraphBug& bug : bugs) {
      IROPT_RETURN_IF_ERROR(
          registry.Add({.info = {.name = std::string("wrong.") + bug.name, .kind = PassKind::Function},
                        .summary = bug.summary,
                        .create = &CreateGraphPass}));
    }
  }
  for (const auto& bugs : {ExprBugs(), StmtBugs(), OrderBugs()}) {
    for (const LoopBug& bug : bugs) {
      IROPT_RETURN_IF_ERROR(
          registry.Add({.info = {.name = std::string("wrong.") + bug.name, .kind = PassKind::PrimFunc},
                        .summary = bug.summary,
                        .create = &CreateLoopPass}));
    }
  }
  return {};
}

}  // namespace

}  // namespace iropt::wrong

IROPT_PASS_PLUGIN("wrong-passes", "1.0", iropt::wrong::Register)
