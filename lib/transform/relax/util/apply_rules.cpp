#include "apply_rules.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "iropt/analysis/relax/overwritten_vars.h"
#include "iropt/analysis/relax/use_count.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/location.h"
#include "iropt/ir/structural.h"
#include "iropt/pass/remark.h"
#include "iropt/transform/relax/simplify/canonicalize_bindings.h"
#include "iropt/transform/relax/simplify/dead_code_elimination.h"
#include "iropt/transform/relax/simplify/eliminate_common_subexpr.h"
#include "operand_order.h"

namespace iropt {

namespace {

// Each round but the last one is there because cleaning up made rules apply.
constexpr int kMaxRounds = 8;

void RemarkApplied(const RuleSet& rules, const std::vector<uint64_t>& applied, const Function& function) {
  for (size_t i = 0; i < applied.size(); ++i) {
    if (applied[i] == 0) continue;
    RemarkPassed("applied-rule", Location(function),
                 fmt::format("the rule '{}' is applied {} time{}", rules.rules()[i].name, applied[i],
                             applied[i] == 1 ? "" : "s"));
  }
}

}  // namespace

Result<const Function*> CleanUpFunction(const Function* function, FunctionPassContext& context, bool merges) {
  const Module* module = &context.module();
  Workspace& workspace = context.workspace();
  for (int round = 0; round < kMaxRounds; ++round) {
    const Function* before = function;
    IROPT_ASSIGN_OR_RETURN(function, CanonicalizeBindings(function, module, workspace, context.diagnostics()));
    if (merges) function = EliminateCommonSubexpr(function, module, workspace);
    function = RemoveDeadBindings(function, module, workspace);
    if (function == before) break;
  }
  return function;
}

Result<const Function*> ApplyRules(const Function* function, const RuleSet& rules, FunctionPassContext& context) {
  if (IsPrimitive(*function) || OverwritesVars(*function, &context.module())) return function;
  Workspace& workspace = context.workspace();
  const Function* const original = function;
  bool was_stopped = false;
  for (int round = 0; round < kMaxRounds; ++round) {
    OpTypeInferrer inferrer(&context.module(), workspace.arena(), &context.diagnostics());
    std::vector<uint32_t> uses;
    if (rules.counts_uses()) uses = UseCounts(*function, workspace.num_vars());
    RuleRewriter rewriter(rules, workspace, inferrer, std::move(uses));
    const Function* rewritten = rewriter.Run(function);
    if (rewriter.failed()) return Failure{ErrorCode::PassFailed};
    if (rewritten == function) break;
    was_stopped |= rewriter.was_stopped();
    if (WantsRemarks()) RemarkApplied(rules, rewriter.applied(), *function);
    IROPT_ASSIGN_OR_RETURN(function, CleanUpFunction(rewritten, context));
  }
  if (!was_stopped) return function;
  RemarkMissed(context.diagnostics(), "no-fixpoint", Location(*original),
               fmt::format("the rules were stopped after {} rewrites of one binding", RuleRewriter::kMaxRewrites));
  // Rules that undo each other may have ended where they began.
  return StructuralEqual(original, function) ? original : function;
}

Pass CreateRulePass(const PassInfo& info, std::shared_ptr<const RuleSet> rules) {
  return CreateFunctionPass(info, [rules = std::move(rules)](const Function* function, FunctionPassContext& context) {
    return ApplyRules(function, *rules, context);
  });
}

Pass CreateOrderedRulePass(const PassInfo& info, std::shared_ptr<const RuleSet> rules) {
  return CreateFunctionPass(
      info,
      [rules = std::move(rules)](const Function* function, FunctionPassContext& context) -> Result<const Function*> {
        IROPT_ASSIGN_OR_RETURN(const Function* changed, ApplyRules(function, *rules, context));
        return changed == function ? function : SortByOperands(changed, context.workspace());
      });
}

Pass CreateRulePass(const PassInfo& info, std::function<RuleSet(const Function&, TextVersion)> make_rules) {
  return CreateFunctionPass(
      info, [make_rules = std::move(make_rules)](const Function* function, FunctionPassContext& context) {
        if (IsPrimitive(*function)) return Result<const Function*>(function);
        return ApplyRules(function, make_rules(*function, context.module().version()), context);
      });
}

}  // namespace iropt
