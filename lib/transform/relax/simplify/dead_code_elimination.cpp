// DeadCodeElimination: removes bindings without uses or effects, and unreachable functions.
//
//   def main(x):                                    def main(x):
//       with R.dataflow():                              with R.dataflow():
//           lv = R.add(x, x)                                gv = R.nn.relu(x)
//           lv1 = R.multiply(lv, x)         -->             R.output(gv)
//           gv = R.nn.relu(x)                           return gv
//           R.output(gv)
//       return gv
//   def helper(x): ...  # private, never called
//
// A binding is kept if a live binding uses its variable, or if its value has effects: an impure call, a conditional or
// a function with one in it, a match_cast (which checks at run time). Since definitions come before uses, one backward
// walk sees every use before the definition; it is exact also for chains of dead bindings, dead conditionals and
// functions that only call themselves. O(bindings).
//
// A function is kept if it has a global symbol, is an external function, is named in `entry_functions`, or is referred
// to by a function that is kept. No function is removed if the module refers to a function that it does not have,
// because then it is only a part of a module and the rest may refer to any function.
//
// Source: liveness by backward marking, as in any textbook; the rules are those of TVM 0.18's pass of this name.
#include "iropt/transform/relax/simplify/dead_code_elimination.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "iropt/analysis/relax/called_functions.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/location.h"
#include "iropt/ir/prefetched_range.h"
#include "iropt/ir/relax/rewriter.h"
#include "iropt/ir/relax/type_walk.h"
#include "iropt/ir/rewrite_limit.h"
#include "iropt/op/op.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/pass/remark.h"
#include "iropt/pass/statistic.h"
#include "iropt/support/debug_output.h"
#include "iropt/support/edit_distance.h"
#include "iropt/transform/options/DeadCodeElimination.h"
#include "transform/relax/util/operand_order.h"
#include "transform/relax/util/rewrite_functions.h"

namespace iropt {

namespace {

constexpr Statistic kRemovedDeadBindings("DeadCodeElimination", "removed-bindings", "dead bindings that were removed");
constexpr Statistic kRemovedFunctions("DeadCodeElimination", "removed-functions",
                                      "unreachable functions that were removed");

constexpr DebugChannel kDceDebug("dce");

// Tells whether values have effects. Results for conditionals are cached, so that nested ones are visited once.
class EffectAnalysis {
 public:
  EffectAnalysis(const Module* module, uint32_t num_vars) : module_(module), num_vars_(num_vars) {}

  bool HasEffect(const Var* var, const Expr* value) {
    switch (value->kind) {
      case NodeKind::kCall: return IsImpureCall(value, module_);
      case NodeKind::kIf: return IfHasEffect(var, static_cast<const If*>(value));
      case NodeKind::kFunction: return SeqHasEffect(static_cast<const Function*>(value)->body);
      default: return false;
    }
  }

 private:
  enum State : uint8_t { kUnknown, kPure, kImpure };

  bool IfHasEffect(const Var* var, const If* branch) {
    if (states_.empty()) states_.resize(num_vars_, kUnknown);
    if (states_[var->id] == kUnknown) {
      const bool impure =
          WithStack([&] { return SeqHasEffect(branch->true_branch) || SeqHasEffect(branch->false_branch); });
      states_[var->id] = impure ? kImpure : kPure;
    }
    return states_[var->id] == kImpure;
  }

  bool SeqHasEffect(const Expr* body) {
    for (const BindingBlock* block : To<SeqExpr>(body)->blocks) {
      for (const Binding* binding : block->bindings) {
        const Expr* value = ValueOf(binding);
        // The effects of a local function happen when it is called.
        if (value->kind != NodeKind::kFunction && HasEffect(binding->var, value)) return true;
      }
    }
    return false;
  }

  const Module* module_;
  uint32_t num_vars_;
  std::vector<State> states_;  // by Var::id of the conditional's variable; empty if there is none
};

// Marks the uses of each expression as live and leaves out dead bindings, from back to front.
class DeadBindingRemover : private ExprRewriter<DeadBindingRemover> {
 public:
  DeadBindingRemover(const Module* module, Workspace& workspace, TypeInferrer& inferrer)
      : ExprRewriter(workspace, &inferrer),
        effects_(module, workspace.num_vars()),
        live_(workspace.num_vars(), false) {}

  const Function* Run(const Function* function) { return Rebuild(*function, VisitExpr(function->body)); }
  uint64_t removed() const { return removed_; }

 private:
  friend class ExprRewriter<DeadBindingRemover>;

  const Expr* VisitVar(const Var* var) {
    live_[var->id] = true;
    return var;
  }

  // Operands are marked; they never change.
  const Expr* VisitCall(const Call* call) {
    UseType(call->type);
    UseType(call->type_args);
    VisitOperand(call->op);
    for (const Expr* arg : call->args) VisitOperand(arg);
    return call;
  }
  const Expr* VisitTupleGetItem(const TupleGetItem* item) {
    VisitOperand(item->tuple);
    return item;
  }
  const Expr* VisitTuple(const Tuple* tuple) {
    for (const Expr* field : tuple->fields) VisitOperand(field);
    return tuple;
  }

  const Expr* VisitFunction(const Function* function) {
    for (const Var* param : function->params) UseType(param->type);
    return ExprRewriter::VisitFunction(function);
  }

  const Expr* VisitIf(const If* branch) {
    const Expr* true_branch = VisitExpr(branch->true_branch);
    const Expr* false_branch = VisitExpr(branch->false_branch);
    VisitExpr(branch->cond);
    return Rebuild(*branch, branch->cond, true_branch, false_branch);
  }

  const Expr* VisitSeqExpr(const SeqExpr* seq) {
    VisitExpr(seq->body);
    // The blocks are rewritten from back to front, into a copy of the list.
    List<const BindingBlock*> blocks = seq->blocks;
    std::span<const BindingBlock*> copy;
    for (uint32_t i = seq->blocks.size(); i-- > 0;) {
      const BindingBlock* block = SweepBlock(*seq->blocks[i]);
      if (block == seq->blocks[i]) continue;
      if (copy.empty()) blocks = copy = workspace().arena().Copy(seq->blocks.span());
      copy[i] = block;
    }
    return Rebuild(*seq, blocks, seq->body);
  }

  const BindingBlock* SweepBlock(const BindingBlock& block) {
    const size_t first_change = changed_.size();
    uint32_t num_dead = 0;
    ForEachBackward(block.bindings, [&](const Binding* binding) {
      const Expr* value = ValueOf(binding);
      if (const auto* cast = As<MatchCast>(binding)) {
        UseType(cast->match_type);
      } else if (!live_[binding->var->id] && !effects_.HasEffect(binding->var, value) &&
                 AllowRewrite("removed-binding", *binding)) {
        ++num_dead;
        if (WantsRemarks()) {
          RemarkPassed("removed-binding", Location(*binding), fmt::format("'{}' is not used", binding->var->name()));
        }
        IROPT_DEBUG(kDceDebug, "'{}' is removed: it is not used", binding->var->name());
        return;
      } else if (!live_[binding->var->id]) {
        IROPT_DEBUG(kDceDebug, "'{}' is not used, and stays for its effects", binding->var->name());
      }
      live_[binding->var->id] = true;
      UseType(binding->var->type);
      const Expr* swept = VisitExpr(value);
      if (swept != value) changed_.push_back(Rebuild(*binding, binding->var, swept));
    });
    removed_ += num_dead;
    if (num_dead == 0 && changed_.size() == first_change) return &block;
    return LiveBindings(block, block.bindings.size() - num_dead, first_change);
  }

  // Every binding that is kept has a live variable by now. The changed ones are in reverse order.
  const BindingBlock* LiveBindings(const BindingBlock& block, uint32_t count, size_t first_change) {
    const auto bindings = workspace().arena().NewArray<const Binding*>(count);
    size_t next = 0;
    for (const Binding* binding : block.bindings) {
      if (!live_[binding->var->id]) continue;
      const bool is_changed = changed_.size() > first_change && changed_.back()->var == binding->var;
      bindings[next++] = is_changed ? changed_.back() : binding;
      if (is_changed) changed_.pop_back();
    }
    return Rebuild(block, bindings);
  }

  void UseType(const Type* type) {
    ForEachShapeVar(type, [&](const Var* var) { live_[var->id] = true; });
  }

  EffectAnalysis effects_;
  std::vector<uint8_t> live_;            // by Var::id; a byte each, because single bits cost more than they save here
  uint64_t removed_ = 0;                 // the number of bindings
  std::vector<const Binding*> changed_;  // bindings of open blocks whose values changed
};

// ---- Functions

// Marks the functions that can be reached from the marked ones.
class Reachability {
 public:
  Reachability(const Module& module, AnalysisManager& analyses, std::vector<bool> reached)
      : module_(module), analyses_(analyses), reached_(std::move(reached)) {
    for (size_t i = 0; i < reached_.size(); ++i) {
      if (reached_[i]) to_visit_.push_back(i);
    }
  }

  // False if something refers to a function that the module does not have.
  bool Run() {
    while (!to_visit_.empty() && complete_) {
      const ModuleEntry& entry = module_.functions()[to_visit_.back()];
      to_visit_.pop_back();
      for (const GlobalVar* called : *analyses_.Get<CalledFunctions>(entry)) Reach(called);
    }
    return complete_;
  }
  const std::vector<bool>& reached() const { return reached_; }

 private:
  void Reach(const GlobalVar* var) {
    const int index = module_.IndexOf(var);
    if (index < 0) {
      complete_ = false;
    } else if (!reached_[static_cast<size_t>(index)]) {
      reached_[static_cast<size_t>(index)] = true;
      to_visit_.push_back(static_cast<size_t>(index));
    }
  }

  const Module& module_;
  AnalysisManager& analyses_;
  std::vector<bool> reached_;
  std::vector<size_t> to_visit_;
  bool complete_ = true;
};

// `entries` marks the functions of the module that are always kept.
void RemoveUnreachable(Module& module, AnalysisManager& analyses, std::vector<bool>& entries) {
  if (std::ranges::find(entries, false) == entries.end()) return;
  Reachability reachability(module, analyses, entries);
  if (!reachability.Run()) return;
  const std::vector<bool>& reached = reachability.reached();
  const auto first = std::ranges::find(reached, false);
  if (first == reached.end()) return;
  // Those that are not needed may need each other.
  if (!AllowRewrite("removed-functions", *module.functions()[static_cast<size_t>(first - reached.begin())].func))
    return;
  RemarkRemovedFunctions(module, reached, "no entry function needs it");
  module.Filter(reached);
  size_t kept = 0;
  for (size_t i = 0; i < reached.size(); ++i) {
    if (reached[i]) entries[kept++] = entries[i];
  }
  entries.resize(kept);
}

std::vector<bool> VisibleFunctions(const Module& module) {
  std::vector<bool> visible;
  for (const ModuleEntry& entry : module.functions()) {
    visible.push_back(entry.func->kind == NodeKind::kExternFunc || entry.func->attrs->Find(attr::kGlobalSymbol));
  }
  return visible;
}

// Marks the functions that are kept without references to them; false after an error.
bool EntryFunctions(const Module& module, std::span<const std::string> names, SourceSpan names_span,
                    DiagnosticEngine& diagnostics, std::vector<bool>& entries) {
  entries = VisibleFunctions(module);
  bool ok = true;
  for (const std::string& name : names) {
    if (const ModuleEntry* entry = module.Find(name)) {
      entries[static_cast<size_t>(module.IndexOf(entry->var))] = true;
      continue;
    }
    std::vector<std::string_view> known;
    for (const ModuleEntry& entry : module.functions()) known.push_back(entry.var->name);
    diagnostics.Error(
        names_span, "pass-failed",
        fmt::format("the module has no entry function '{}'{}", name, DidYouMeanOr("; it has ", name, known)));
    ok = false;
  }
  return ok;
}

}  // namespace

const Function* RemoveDeadBindings(const Function* function, const Module* module, Workspace& workspace,
                                   uint64_t* removed) {
  OpTypeInferrer inferrer(module, workspace.arena(), nullptr);
  DeadBindingRemover remover(module, workspace, inferrer);
  const Function* result = remover.Run(function);
  if (removed) *removed += remover.removed();
  return result;
}

Result<Module> DeadCodeElimination(Module module, std::span<const std::string> entry_functions, int threads,
                                   DiagnosticEngine& diagnostics, AnalysisManager& analyses, SourceSpan names_span) {
  std::vector<bool> entries;
  if (!EntryFunctions(module, entry_functions, names_span, diagnostics, entries)) return Failure{ErrorCode::PassFailed};
  const size_t functions = module.size();
  // Once before, to reduce the work; once after, because calls may have been removed.
  RemoveUnreachable(module, analyses, entries);
  RewriteRelaxFunctions(module, threads, [&](const Function* function, Workspace& workspace) {
    uint64_t removed = 0;
    const Function* result = RemoveDeadBindings(function, &module, workspace, &removed);
    kRemovedDeadBindings.Add(removed);
    return result;
  });
  RemoveUnreachable(module, analyses, entries);
  kRemovedFunctions.Add(functions - module.size());
  return module;
}

Pass CreateDeadCodeElimination(const PassOptions& options) {
  const pass_options::DeadCodeElimination given(options);
  return CreateModulePass(
      options.info(),
      [entries = *given.entry_functions, span = given.entry_functions.span(), inline_once = *given.inline_once](
          Module module, ModulePassContext& context) -> Result<Module> {
        const int threads = context.context.threads;
        IROPT_ASSIGN_OR_RETURN(module, DeadCodeElimination(std::move(module), entries, threads, context.diagnostics,
                                                           context.context.analyses(), span));
        if (inline_once) RewriteRelaxFunctions(module, threads, &SortByOperands);
        return module;
      });
}

}  // namespace iropt
