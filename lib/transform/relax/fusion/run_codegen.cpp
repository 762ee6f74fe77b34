// RunCodegen: has functions for other compilers compiled, by the code generators of plugins.
//
//   def main(x):                                 I.module_attrs({"external_mods": ["..."]})
//       y = cls.fused_relu(x)                    def main(x):
//       return y                         -->         y = R.call_dps_packed("fused_relu", (x,), out_sinfo=...)
//   def fused_relu(a):                               return y
//       R.func_attr({"Codegen": "my_company"})
//       ...
//
// The functions with the attribute Codegen of one compiler are compiled together; what the generator gives becomes part
// of the module attribute external_mods. Calls of the functions become calls by their symbols, and the functions are
// removed, with other dead code. A function that is used otherwise than in calls is an error, as is a compiler without
// generator. O(nodes), and what the generators take.
//
// Source: TVM 0.18's pass of this name.
#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "iropt/infer/infer.h"
#include "iropt/ir/location.h"
#include "iropt/ir/relax/rewriter.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/call_packed.h"
#include "iropt/pass/code_generator.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/edit_distance.h"
#include "iropt/support/lookup.h"
#include "iropt/transform/options/RunCodegen.h"
#include "iropt/transform/relax/simplify/dead_code_elimination.h"
#include "transform/relax/util/rewrite_functions.h"

namespace iropt {

namespace {

using Symbols = LookupMap<const GlobalVar*, std::string_view>;

struct CodegenOptions {
  OptionValue targets;  // options by compilers
  std::vector<std::string> entry_functions;
  SourceSpan entry_span;
};

class CompiledCaller : private ExprRewriter<CompiledCaller> {
 public:
  CompiledCaller(const Symbols& symbols, Workspace& workspace, DiagnosticEngine& diagnostics)
      : ExprRewriter(workspace, nullptr, Retype::kNever), symbols_(symbols), diagnostics_(diagnostics) {}

  const Function* Run(const Function* function) { return To<Function>(VisitFunction(function)); }
  bool ok() const { return ok_; }

 private:
  friend class ExprRewriter<CompiledCaller>;

  const Expr* VisitCall(const Call* call) {
    const auto* callee = symbols_.Find(As<GlobalVar>(call->op));
    if (!callee) return ExprRewriter::VisitCall(call);
    std::vector<const Type*> types;
    for (const Expr* arg : call->args) types.push_back(arg->type);
    const Expr* operands = workspace().New<Tuple>(call->args, TupleType::Get(workspace().arena(), types));
    const Expr* symbol = workspace().New<ExternFunc>(*callee, DictAttr::Empty(), PackedFuncType());
    const Type* const results[] = {call->type};
    return NewLike<Call>(workspace(), *call, GetOp(op::kCallDpsPacked),
                         List<const Expr*>(workspace().arena().Copy<const Expr*>({symbol, operands})), nullptr,
                         TupleType::Get(workspace().arena(), results), call->type);
  }

  const Expr* VisitGlobalVar(const GlobalVar* name) {
    if (!symbols_.contains(name)) return name;
    diagnostics_.Error(Location(*name), "pass-failed",
                       fmt::format("function '{}', which is for another compiler, can only be called", name->name));
    ok_ = false;
    return name;
  }

  const Symbols& symbols_;
  DiagnosticEngine& diagnostics_;
  bool ok_ = true;
};

void ReportUnknownCompiler(const ModuleEntry& entry, std::string_view compiler, DiagnosticEngine& diagnostics) {
  const std::vector<std::string_view> known = CodeGeneratorNames();
  diagnostics.Error(Location(*entry.func), "pass-failed",
                    fmt::format("no plugin has a code generator '{}', which function '{}' is for{}", compiler,
                                entry.var->name, DidYouMean(compiler, known)));
}

// The results of the generators, in the order of the names of the compilers.
Result<std::vector<const Attr*>> Compile(const Module& module, const OptionValue& targets, Symbols& symbols,
                                         DiagnosticEngine& diagnostics) {
  std::map<std::string_view, std::map<std::string_view, ModuleEntry>> functions;  // by compiler and name
  for (const ModuleEntry& entry : module.functions()) {
    const std::string_view compiler = Is<Function>(entry.func) ? entry.func->StringAttr(attr::kCodegen) : "";
    if (compiler.empty()) continue;
    functions[compiler].emplace(entry.var->name, entry);
    symbols.try_emplace(entry.var, SymbolOf(entry));
  }
  std::vector<const Attr*> compiled;
  for (const auto& [compiler, by_name] : functions) {
    const CodeGenerator* generate = FindCodeGenerator(compiler);
    if (!generate) {
      ReportUnknownCompiler(by_name.begin()->second, compiler, diagnostics);
      return Failure{ErrorCode::PassFailed};
    }
    std::vector<ModuleEntry> entries;
    for (const auto& [name, entry] : by_name) entries.push_back(entry);
    const OptionValue* own = targets.Find(compiler);
    IROPT_ASSIGN_OR_RETURN(const std::string text,
                           (*generate)({module, entries, own ? *own : OptionValue(), diagnostics}));
    compiled.push_back(StrAttr::Get(text));
  }
  return compiled;
}

// The module without the attributes that keep compiled functions.
void Release(Module& module, const Symbols& symbols) {
  for (size_t i = 0; i < module.size(); ++i) {
    const ModuleEntry entry = module.functions()[i];
    if (!symbols.contains(entry.var)) continue;
    Workspace workspace(module, entry.storage);
    const auto* old = To<Function>(entry.func);
    const DictAttr* attrs = old->attrs->Without(attr::kGlobalSymbol)->Without(attr::kCodegen);
    const Function* released =
        NewLike<Function>(workspace, *old, old->params, old->body, old->ret_type, old->is_pure, attrs, old->type);
    module.SetAt(i, released, workspace.Finish());
  }
}

Result<Module> RunCodegen(Module module, const CodegenOptions& options, ModulePassContext& context) {
  Symbols symbols;
  IROPT_ASSIGN_OR_RETURN(std::vector<const Attr*> compiled,
                         Compile(module, options.targets, symbols, context.diagnostics));
  if (symbols.empty()) return module;
  IROPT_RETURN_IF_ERROR(TryRewriteRelaxFunctions(
      module, context,
      [&](const ModuleEntry& entry, Workspace& workspace, DiagnosticEngine& diagnostics) -> Result<const Function*> {
        const auto* function = To<Function>(entry.func);
        if (symbols.contains(entry.var)) return function;
        CompiledCaller caller(symbols, workspace, diagnostics);
        const Function* result = caller.Run(function);
        if (!caller.ok()) return Failure{ErrorCode::PassFailed};
        return result;
      }));
  Release(module, symbols);
  if (const auto* earlier = As<ListAttr>(module.attrs()->Find(attr::kExternalMods)))
    compiled.insert(compiled.begin(), earlier->values.begin(), earlier->values.end());
  module.set_attrs(module.attrs()->With(attr::kExternalMods, ListAttr::Get(compiled)));
  return DeadCodeElimination(std::move(module), options.entry_functions, context.context.threads, context.diagnostics,
                             context.context.analyses(), options.entry_span);
}

}  // namespace

Pass CreateRunCodegen(const PassOptions& options) {
  const pass_options::RunCodegen given(options);
  CodegenOptions codegen{.targets = *given.target_options,
                         .entry_functions = *given.entry_functions,
                         .entry_span = given.entry_functions.span()};
  if (!codegen.targets.is_dict() && !codegen.targets.is_null())
    options.Refuse(given.target_options, "must be an object of options by compilers");
  return CreateModulePass(options.info(), [codegen](Module module, ModulePassContext& context) {
    return RunCodegen(std::move(module), codegen, context);
  });
}

}  // namespace iropt
