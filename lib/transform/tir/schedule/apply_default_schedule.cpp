// dl.ApplyDefaultSchedule: schedules functions by rules for the target, without search.
//
//   for i, j in T.grid(64, 64):              for ax0_ax1_fused_0 in T.thread_binding(4, thread="blockIdx.x"):
//       with T.block("B"):            -->        for ax0_ax1_fused_1 in T.thread_binding(1024, thread="threadIdx.x"):
//           vi, vj = ...                             with T.block("B"):
//           B[vi, vj] = A[vi, vj]                        ...
//
// Of the rules that the option names, the first that applies schedules a function for its own target, or that of the
// context; functions that no rule applies to stay. A rule that begins and finds out that a primitive refuses does not
// apply, either; a remark says why. With `mark`, scheduled functions get the attribute
// tir.is_scheduled, as TVM's pass gives it; functions that have it are left alone. The cost is that of the rules'
// primitives.
//
// Source: TVM's dlight (python/tvm/s_tir/dlight/base/transform.py).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>
#include <memory>
#include <string>
#include <vector>

#include "iropt/ir/location.h"
#include "iropt/pass/applied_trace.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/pass/remark.h"
#include "iropt/schedule/rules.h"
#include "iropt/schedule/schedule.h"
#include "iropt/support/edit_distance.h"
#include "iropt/transform/options/ApplyDefaultSchedule.h"
#include "transform/tir/schedule/run_schedule.h"

namespace iropt {

namespace {

bool IsScheduled(const PrimFunc& func) {
  const auto* mark = As<IntAttr>(func.attrs->Find(attr::kIsScheduled));
  return mark && mark->value == 1;
}

// The target of the function; null without one.
const TargetAttr* TargetOf(const PrimFunc& func, const TargetAttr* default_target) {
  const Attr* own = func.attrs->Find(attr::kTarget);
  if (const auto* config = As<DictAttr>(own)) return TargetAttr::Get(config);
  return own ? As<TargetAttr>(own) : default_target;
}

// Rules make vectors of the width that a target states. Others than those of processors would be lowered to very many
// instructions.
Status CheckVectorWidth(const TargetAttr& target, const PrimFunc& func, DiagnosticEngine& diagnostics) {
  constexpr int64_t kLeast = 32, kMost = 4096;
  const Attr* given = target.config->Find("vector-width");
  if (!given) return {};
  const auto* bits = As<IntAttr>(given);
  if (bits && bits->value >= kLeast && bits->value <= kMost && std::has_single_bit(static_cast<uint64_t>(bits->value)))
    return {};
  diagnostics.Error(
      Location(func), "bad-target",
      fmt::format("the option 'vector-width' of the target is not a power of two from {} to {}", kLeast, kMost));
  return Failure{ErrorCode::PassFailed};
}

// Schedules the function by the first rule that applies, if any does. Returns whether one did.
bool ScheduleFunction(Module& module, const ModuleEntry& entry, const TargetAttr* target,
                      const std::vector<const schedule::Rule*>& rules, TensorIntrinsics& intrinsics,
                      DiagnosticEngine& diagnostics) {
  const std::string name(entry.var->name);
  std::vector<std::string> failures;
  for (const schedule::Rule* rule : rules) {
    schedule::Schedule sch(module, &intrinsics, name);
    schedule::Refusal refusal;
    switch (schedule::ApplyRule(*rule, sch, name, target, refusal)) {
      case schedule::RuleResult::kApplied:
        if (WantsTraces())
          ReportTrace(fmt::format("the function '{}' by {}", name, rule->name), schedule::ToPython(sch.trace()));
        for (std::string& failure : failures)
          RemarkMissed("schedule", Location(*entry.func), fmt::format("{}; {} applies", failure, rule->name));
        module = sch.Finish();
        return true;
      case schedule::RuleResult::kNotApplied: break;
      case schedule::RuleResult::kFailed:
        failures.push_back(fmt::format("the rule {} does not apply to '{}': {}", rule->name, name, TextOf(refusal)));
    }
  }
  if (!failures.empty())
    RemarkMissed(diagnostics, "schedule", Location(*entry.func), fmt::format("{}", fmt::join(failures, "; ")));
  return false;
}

Module MarkScheduled(Module module, const GlobalVar* var) {
  const auto index = static_cast<size_t>(module.IndexOf(var));
  const auto* func = To<PrimFunc>(module.functions()[index].func);
  Workspace workspace(module, module.functions()[index].storage);
  auto* marked = workspace.New<PrimFunc>(*func);
  marked->attrs = func->attrs->With(attr::kIsScheduled, IntAttr::Bool(true));
  module.SetAt(index, marked, workspace.Finish());
  return module;
}

}  // namespace

Pass CreateApplyDefaultSchedule(const PassOptions& options) {
  const pass_options::ApplyDefaultSchedule given(options);
  std::vector<const schedule::Rule*> rules;
  for (const std::string& name : *given.rules) {
    const schedule::Rule* rule = schedule::FindRule(name);
    if (!rule) {
      std::vector<std::string_view> names;
      for (const schedule::Rule& known : schedule::Rules()) names.push_back(known.name);
      options.Refuse(given.rules, fmt::format("has no rule '{}'{}", name, DidYouMean(name, names)));
    }
    rules.push_back(rule);
  }
  const auto intrinsics = std::make_shared<TensorIntrinsics>(options.reader());
  return CreateModulePass(
      options.info(),
      [rules, intrinsics, mark = *given.mark](Module module, ModulePassContext& context) -> Result<Module> {
        std::vector<const GlobalVar*> vars;
        for (const ModuleEntry& entry : module.functions()) {
          const auto* func = As<PrimFunc>(entry.func);
          if (func && !IsScheduled(*func)) vars.push_back(entry.var);
        }
        for (const GlobalVar* var : vars) {
          const ModuleEntry entry = module.functions()[static_cast<size_t>(module.IndexOf(var))];
          const TargetAttr* target = TargetOf(*To<PrimFunc>(entry.func), context.context.target);
          if (!target) continue;
          IROPT_RETURN_IF_ERROR(CheckVectorWidth(*target, *To<PrimFunc>(entry.func), context.diagnostics));
          const bool scheduled = ScheduleFunction(module, entry, target, rules, *intrinsics, context.diagnostics);
          if (scheduled && mark) module = MarkScheduled(std::move(module), var);
        }
        return module;
      });
}

}  // namespace iropt
