#include "module_inliner.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "iropt/analysis/relax/call_graph.h"
#include "iropt/analysis/relax/called_functions.h"
#include "iropt/analysis/relax/free_vars.h"
#include "iropt/analysis/relax/references.h"
#include "iropt/infer/call_binding.h"
#include "iropt/infer/substitute.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/clone.h"
#include "iropt/ir/location.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/ir/relax/walk.h"
#include "iropt/ir/rewrite_limit.h"
#include "iropt/pass/remark.h"
#include "iropt/pass/statistic.h"
#include "iropt/support/debug_output.h"
#include "iropt/support/lookup.h"
#include "iropt/transform/relax/simplify/canonicalize_bindings.h"
#include "iropt/transform/relax/simplify/dead_code_elimination.h"
#include "transform/relax/util/operand_order.h"
#include "transform/relax/util/rewrite_functions.h"

namespace iropt {

namespace {

// A chain of functions each of which calls the next twice has exponentially many bindings after inlining. The limit of
// a function: a multiple of the bindings of the module, or a fixed number if that is more.
constexpr uint64_t kMostGrowth = 16;
constexpr uint64_t kAlwaysAllowed = 65'536;

constexpr DebugChannel kInlineDebug("inline");

constexpr Statistic kInlinedCalls("InlinePrivateFunctions", "inlined-calls", "calls that were replaced by the body");
constexpr Statistic kRemovedFunctions("InlinePrivateFunctions", "removed-functions",
                                      "functions without callers that were removed");

// Turns variables into outputs if they are used outside of the dataflow block that binds them.
class EscapeFixer : public ExprMutator {
 public:
  explicit EscapeFixer(Workspace& workspace) : ExprMutator(workspace) {}

  const Function* Run(const Function* function) {
    EscapeFinder finder(workspace().num_vars());
    finder.VisitExpr(function);
    if (!finder.found) return function;
    escapes_ = std::move(finder.escapes);
    return To<Function>(VisitExpr(function));
  }

 protected:
  const Var* VisitVarDef(const Var* var) override {
    if (!var->is_dataflow() || !escapes_[var->id]) return ExprMutator::VisitVarDef(var);
    const Var* visible = NewVarLike(workspace(), *var, /*is_dataflow=*/false, var->type);
    Remap(var, visible);
    return visible;
  }

 private:
  struct EscapeFinder : ExprVisitor {
    explicit EscapeFinder(size_t num_vars) : blocks(num_vars, nullptr), escapes(num_vars, false) {}

    void VisitBlock(const BindingBlock* inner) override {
      const BindingBlock* outer = std::exchange(block, inner);
      ExprVisitor::VisitBlock(inner);
      block = outer;
    }
    void VisitVarDef(const Var* var) override { blocks[var->id] = block; }
    void VisitDataflowVar(const DataflowVar* var) override {
      if (blocks[var->id] != block) found = escapes[var->id] = true;
    }

    const BindingBlock* block = nullptr;
    std::vector<const BindingBlock*> blocks;  // by Var::id: the one that binds it
    std::vector<bool> escapes;
    bool found = false;
  };

  std::vector<bool> escapes_;  // by Var::id
};

// The calls of one function to inline.
struct InlineOptions {
  const std::vector<bool>& functions;  // by index: calls of it
  bool local_primitives = false;       // calls of primitive functions that are bound to variables
  bool forced_pure = false;            // bodies that are only declared to be pure: the caller is, too
};

class Inliner : public ExprMutator {
 public:
  Inliner(const Module& module, const InlineOptions& options, Workspace& workspace, TypeInferrer& inferrer,
          DiagnosticEngine& diagnostics)
      : ExprMutator(workspace, &inferrer), module_(module), options_(options), diagnostics_(diagnostics) {}

  bool failed() const { return failed_ || ExprMutator::failed(); }
  uint64_t inlined_calls() const { return inlined_calls_; }

 protected:
  const Expr* VisitCall(const Call* old) override {
    const auto* call = To<Call>(ExprMutator::VisitCall(old));
    if (const Function* local = LocalPrimitive(*call)) {
      return AllowRewrite("inlined-call", *old) ? BodyFor(*local, *call) : call;
    }
    const int index = CalleeIndex(module_, *call);
    if (index < 0 || !options_.functions[static_cast<size_t>(index)]) return call;
    const ModuleEntry& callee = module_.functions()[static_cast<size_t>(index)];
    const auto* function = To<Function>(callee.func);
    if (function->params.size() != call->args.size() || (IsForcedPure(*function) && !options_.forced_pure)) {
      IROPT_DEBUG(kInlineDebug, "a call of '{}' stays: other operands, or an impure function", callee.var->name);
      return call;
    }
    if (!AllowRewrite("inlined-call", *old)) return call;
    IROPT_DEBUG(kInlineDebug, "a call of '{}' is inlined", callee.var->name);
    const Expr* body = BodyFor(*function, *call);
    if (WantsRemarks() && !failed_) {
      RemarkPassed("inlined-call", Location(*old), fmt::format("the call of '{}' is inlined", callee.var->name));
    }
    return body;
  }

 private:
  // The primitive function that the call refers to by a variable, if it is to be inlined; else null.
  const Function* LocalPrimitive(const Call& call) {
    const auto* var = options_.local_primitives ? As<Var>(call.op) : nullptr;
    const auto* function = var ? As<Function>(builder().LookupBinding(var)) : nullptr;
    return function && IsPrimitive(*function) && function->params.size() == call.args.size() ? function : nullptr;
  }

  const Expr* BodyFor(const Function& function, const Call& call) {
    // The copy has new variables, symbolic ones included.
    const auto* copy = To<Function>(CloneFunction(&function, workspace(), {.fresh_sym_vars = true}));
    SymVarMap symbolic = BindSymVars(TypesOf(copy->params), TypesOf(call.args, module_));
    std::vector<BoundParam> params;
    LookupSet<const tir::Var*> cast;
    for (uint32_t i = 0; i < copy->params.size(); ++i) {
      const Var* param = copy->params[i];
      params.emplace_back(param, Argument(*param, call.args[i], symbolic, cast));
    }
    const Function* bound = Substitute(copy, symbolic, params, &module_, workspace(), diagnostics_);
    if (bound) {
      ++inlined_calls_;
      return Splice(*To<SeqExpr>(bound->body));
    }
    failed_ = true;
    return &call;
  }

  // Appends the bindings, with their calls inlined, to the current block if that is of their kind.
  const Expr* Splice(const SeqExpr& body) {
    const bool is_dataflow = builder().current_block_is_dataflow();
    const auto fits = [&](const BindingBlock* block) { return block->is_dataflow() == is_dataflow; };
    if (!std::ranges::all_of(body.blocks, fits)) return VisitExpr(&body);
    for (const BindingBlock* block : body.blocks) {
      for (const Binding* binding : block->bindings) VisitBinding(binding);
    }
    return VisitExpr(body.body);
  }

  // The replacement of the parameter: the argument, or a variable for an argument that is not allowed everywhere or
  // whose type defines symbolic variables.
  const Expr* Argument(const Var& param, const Expr* arg, const SymVarMap& symbolic, LookupSet<const tir::Var*>& cast) {
    bool defines = false;
    for (const tir::Var* var : DefinedSymVars(param.type)) defines |= !symbolic.Find(var) && cast.insert(var);
    if (defines) {
      const Type* type = SubstituteSymVars(param.type, symbolic, &workspace().arena());
      return builder().EmitMatchCast(arg, type, param.name());
    }
    return Is<Var>(arg) || Is<Constant>(arg) ? arg : builder().Emit(arg, param.name());
  }

  const Module& module_;
  const InlineOptions options_;
  DiagnosticEngine& diagnostics_;
  bool failed_ = false;
  uint64_t inlined_calls_ = 0;
};

// Counts the bindings of a function, and its calls of each function.
struct Counter : WalkHandler {
  explicit Counter(const Module& m) : module(m) {}
  void OnDefine(const Var*) { ++bindings; }
  void OnCall(const Call& call) {
    if (const int index = CalleeIndex(module, call); index >= 0) calls.push_back(static_cast<size_t>(index));
  }

  const Module& module;
  uint64_t bindings = 0;
  std::vector<size_t> calls;
};

class ModuleInliner {
 public:
  ModuleInliner(Module module, ModulePassContext& context, const InlineChoice& choice)
      : module_(std::move(module)),
        context_(context),
        local_primitives_(choice.local_primitives),
        orders_(choice.orders),
        graph_(MakeCallGraph(module_, context.AnalysisSource<CalledFunctions>())) {
    for (size_t i = 0; i < module_.size(); ++i) {
      const auto* function = As<Function>(module_.functions()[i].func);
      inlined_.push_back(function && choice.inlines(*function) && !graph_.recursive[i]);
    }
  }

  // Callers first: functions that they still refer to stay, too. Removed functions are not rewritten, only their copies
  // are.
  Result<Module> Run() {
    const bool inlines = std::ranges::find(inlined_, true) != inlined_.end();
    if (!inlines && !local_primitives_) return module_;
    LimitGrowth();
    for (size_t i = 0; i < module_.size(); ++i) {
      IROPT_DEBUG(kInlineDebug, "'{}': {}", module_.functions()[i].var->name, inlined_[i] ? "is inlined" : "stays");
    }
    std::vector<bool> kept(module_.size());
    for (size_t i = 0; i < kept.size(); ++i)
      kept[i] = !inlined_[i] || module_.functions()[i].func->attrs->Find(attr::kGlobalSymbol);
    std::vector<std::pair<const Function*, FuncStorageRef>> results(module_.size());
    for (size_t at = module_.size(); at-- > 0;) {
      const size_t i = graph_.post_order[at];
      const ModuleEntry& entry = module_.functions()[i];
      if (!kept[i] || !Is<Function>(entry.func)) continue;
      IROPT_ASSIGN_OR_RETURN(results[i].first, Inline(entry, results[i].second));
      for (const GlobalVar* callee : CalledFunctions::Compute(*results[i].first, *results[i].second)) {
        if (const int index = module_.IndexOf(callee); index >= 0) kept[static_cast<size_t>(index)] = true;
      }
    }
    for (size_t i = 0; i < module_.size(); ++i) {
      if (!results[i].first || (!inlines && results[i].first == module_.functions()[i].func)) continue;
      module_.SetAt(i, results[i].first, std::move(results[i].second));
      IROPT_RETURN_IF_ERROR(CleanUp(i));
    }
    const auto removed = std::ranges::find(kept, false);
    if (removed == kept.end()) return module_;
    const BaseFunc* first = module_.functions()[static_cast<size_t>(removed - kept.begin())].func;
    if (!AllowRewrite("removed-functions", *first)) return module_;
    kRemovedFunctions.Add(static_cast<uint64_t>(std::ranges::count(kept, false)));
    RemarkRemovedFunctions(module_, kept, "no calls of it are left");
    module_.Filter(kept);
    return module_;
  }

 private:
  // Decides what stays a function because of its size.
  void LimitGrowth() {
    std::vector<Counter> counters;
    uint64_t all = 0;
    for (const ModuleEntry& entry : module_.functions()) {
      Counter& counter = counters.emplace_back(module_);
      if (const auto* function = As<Function>(entry.func)) Walk(*function, counter);
      all += counter.bindings;
    }
    const uint64_t most = std::max(kAlwaysAllowed, kMostGrowth * all);
    std::vector<uint64_t> sizes(module_.size());  // of the functions with what they call in them
    for (const size_t i : graph_.post_order) sizes[i] = SizeOf(i, counters[i], sizes, most);
  }

  // The biggest callees are not inlined as long as the function would have more than `most` bindings with them.
  uint64_t SizeOf(size_t caller, const Counter& counter, const std::vector<uint64_t>& sizes, uint64_t most) {
    std::map<size_t, uint64_t> added;  // by callee
    uint64_t total = counter.bindings;
    for (const size_t callee : counter.calls) {
      if (!inlined_[callee]) continue;
      added[callee] += sizes[callee];
      total += sizes[callee];
    }
    while (total > most) {
      const auto biggest = std::ranges::max_element(added, {}, &std::pair<const size_t, uint64_t>::second);
      Keep(biggest->first, caller, most);
      total -= biggest->second;
      added.erase(biggest);
    }
    return total;
  }

  void Keep(size_t callee, size_t caller, uint64_t most) {
    inlined_[callee] = false;
    const ModuleEntry& entry = module_.functions()[callee];
    const std::string_view name = module_.functions()[caller].var->name;
    const RemarkFunction in_function(name);
    RemarkMissed(context_.diagnostics, "inline-limit", Location(*entry.func),
                 fmt::format("function '{}' is not inlined: '{}' would have more than {} bindings", entry.var->name,
                             name, most));
  }

  // The function with its calls inlined, and its storage; the same pointer if there are none to inline.
  Result<const Function*> Inline(const ModuleEntry& entry, FuncStorageRef& storage) {
    const auto* function = To<Function>(entry.func);
    const RemarkFunction in_function(entry.var->name);
    Workspace workspace(module_, entry.storage);
    OpTypeInferrer inferrer(&module_, workspace.arena(), &context_.diagnostics);
    Inliner inliner(module_, {inlined_, local_primitives_, IsForcedPure(*function)}, workspace, inferrer,
                    context_.diagnostics);
    const auto* result = To<Function>(inliner.VisitExpr(function));
    kInlinedCalls.Add(inliner.inlined_calls());
    if (inliner.failed()) return Failure{ErrorCode::PassFailed};
    if (result != function) result = EscapeFixer(workspace).Run(result);
    storage = result == function ? entry.storage : workspace.Finish();
    return result;
  }

  Status CleanUp(size_t i) {
    const ModuleEntry entry = module_.functions()[i];
    const RemarkFunction in_function(entry.var->name);
    Workspace workspace(module_, entry.storage);
    IROPT_ASSIGN_OR_RETURN(const Function* function,
                           CanonicalizeBindings(To<Function>(entry.func), &module_, workspace, context_.diagnostics));
    function = RemoveDeadBindings(function, &module_, workspace);
    if (orders_) function = SortByOperands(function, workspace);
    if (function != entry.func) module_.SetAt(i, function, workspace.Finish());
    return {};
  }

  Module module_;
  ModulePassContext& context_;
  const bool local_primitives_;
  const bool orders_;
  CallGraph graph_;
  std::vector<bool> inlined_;  // by index: its calls are inlined
};

}  // namespace

Result<Module> InlineFunctions(Module module, ModulePassContext& context, const InlineChoice& choice) {
  return ModuleInliner(std::move(module), context, choice).Run();
}

}  // namespace iropt
