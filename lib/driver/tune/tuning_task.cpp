#include "tuning_task.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "driver/cut/binding_range.h"
#include "driver/run/arguments.h"
#include "driver/run/scheduled_loops.h"
#include "driver/session/module_part.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/execution/call_entry.h"
#include "iropt/execution/compiled_loops.h"
#include "iropt/execution/outputs.h"
#include "iropt/execution/tolerance.h"
#include "iropt/ir/relax/expr.h"
#include "iropt/op/op_id.h"
#include "iropt/op/ops/call_tir.h"
#include "iropt/pass/timing.h"
#include "iropt/runtime/compare.h"
#include "iropt/support/lookup.h"

namespace iropt {

namespace {

// ---- Tasks

bool HasNumbersOnly(const PrimFunc& func) {
  for (const tir::Buffer* buffer : func.param_buffers) {
    if (!buffer) return false;
    if (!std::ranges::all_of(buffer->shape, [](const PrimExpr* dim) { return arith::AsInt(dim) != nullptr; }))
      return false;
  }
  return true;
}

bool CanTune(const PrimFunc& func) {
  return schedule::State::CanSchedule(func) && !func.attrs->Find(attr::kIsScheduled) && HasNumbersOnly(func);
}

// The first call of each PrimFunc, and how many calls there are.
struct CallSite {
  const ModuleEntry* caller = nullptr;
  BindingRange range;
  size_t count = 0;
};
using CallSites = LookupMap<const GlobalVar*, CallSite>;

void AddCalls(const ModuleEntry& entry, CallSites& sites) {
  const auto* function = As<Function>(entry.func);
  const auto* body = function ? As<SeqExpr>(function->body) : nullptr;
  if (!body) return;
  size_t index = 0;
  for (const BindingBlock* block : body->blocks) {
    for (const Binding* binding : block->bindings) {
      const auto* bound = As<VarBinding>(binding);
      const Call* call = bound ? CallOf(bound->value, op::kCallTir) : nullptr;
      const auto* callee = call ? As<GlobalVar>(call->args[0]) : nullptr;
      if (callee) {
        CallSite& site = sites[callee];
        if (site.count++ == 0) {
          site.caller = &entry;
          site.range = {body, index, index};
        }
      }
      ++index;
    }
  }
}

// The function of the call, which is public: otherwise passes remove it.
void AddCaller(const CallSite& site, const Module& module, TuningTask& task) {
  const PieceFunction made = MakePiece(*site.caller, site.range, module);
  task.entry = GlobalVar::Get(task.piece.UniqueName("main"));
  Workspace workspace(module, made.storage);
  auto* function = workspace.New<Function>(*made.function);
  function->attrs = function->attrs->With(attr::kGlobalSymbol, StrAttr::Get(task.entry->name));
  task.piece.Set(task.entry, function, workspace.Finish());
}

// ---- Runs

// Adds up the time of the PrimFuncs of a call.
class PrimFuncTimes : public RunObserver {
 public:
  double Take() { return std::exchange(seconds_, 0.0); }
  void OnBinding(const Function&, const Var&, const HostValue&) override {}
  void OnCall(CalleeKind kind, std::string_view, double seconds) override {
    if (kind == CalleeKind::kPrimFunc) seconds_ += seconds;
  }

 private:
  double seconds_ = 0;
};

}  // namespace

std::vector<TuningTask> FindTuningTasks(const Module& module) {
  CallSites sites;
  for (const ModuleEntry& entry : module.functions()) AddCalls(entry, sites);
  std::vector<TuningTask> tasks;
  schedule::Database known;
  LookupMap<size_t, size_t> by_workload;
  for (const ModuleEntry& entry : module.functions()) {
    const auto* func = As<PrimFunc>(entry.func);
    if (!func || !CanTune(*func)) continue;
    const CallSite* site = sites.Find(entry.var);
    const double work = schedule::WorkOf(*func) * static_cast<double>(site ? site->count : 1);
    Workspace workspace(module, entry.storage);
    const PrimFunc* normalized = schedule::NormalizeWorkload(*func, workspace);
    schedule::Workload workload{GlobalVar::Get("main"), normalized, workspace.Finish()};
    const auto [index, is_new] = by_workload.try_emplace(known.AddWorkload(workload), tasks.size());
    if (!is_new) {
      tasks[index].work += work;
      continue;
    }
    TuningTask& task = tasks.emplace_back();
    task.var = task.entry = entry.var;
    task.piece = PartOf(module, {entry.var});
    task.workload = std::move(workload);
    task.work = work;
    if (site) AddCaller(*site, module, task);
  }
  std::ranges::stable_sort(tasks, std::greater(), &TuningTask::work);
  return tasks;
}

TaskRunner::TaskRunner(const TuningTask& task, const PassContext& context, CompilerInstance& compiler,
                       std::shared_ptr<codegen::LoopCompiler> loops, const ProgramOptions& options)
    : task_(task),
      diagnostics_(&messages_),
      context_(context),
      compiler_(compiler),
      loops_(std::move(loops)),
      options_(options) {
  context_.diagnostics = &diagnostics_;
  options_.inputs.clear();
  options_.random_inputs = true;
}

Result<double> TaskRunner::RunUnscheduled() {
  IROPT_ASSIGN_OR_RETURN(Measured measured, Run(task_.piece));
  expected_ = std::move(measured.outputs);
  return measured.seconds;
}

Result<double> TaskRunner::RunScheduled(const PrimFunc& scheduled, const FuncStorageRef& storage) {
  Module module = task_.piece;
  Workspace workspace(module, storage);
  auto* func = workspace.New<PrimFunc>(scheduled);
  const BaseFunc& original = *task_.piece.Find(task_.var)->func;
  func->attrs = original.attrs->With(attr::kIsScheduled, IntAttr::Bool(true));
  func->type = original.type;
  module.Set(task_.var, func, workspace.Finish());
  IROPT_ASSIGN_OR_RETURN(module, Prepare(std::move(module)));
  IROPT_ASSIGN_OR_RETURN(const Measured measured, Run(module));
  if (!IsSame(measured.outputs)) return Error{ErrorCode::SemanticCheck, "the results differ"};
  return measured.seconds;
}

std::string TaskRunner::Explain(const Error& error) const {
  const bool is_told = error.message.empty() && !messages_.diagnostics().empty();
  return is_told ? messages_.diagnostics().back().message : error.message;
}

Result<Module> TaskRunner::Prepare(Module module) {
  if (task_.entry != task_.var) {
    IROPT_ASSIGN_OR_RETURN(module,
                           RunPasses("SplitLayoutRewritePreproc<operators=true>,FoldConstant,DeadCodeElimination",
                                     std::move(module), context_, compiler_));
  }
  return LowerScheduledLoops(std::move(module), context_, compiler_);
}

Result<TaskRunner::Measured> TaskRunner::Run(const Module& module) {
  constexpr int kMostCalls = 10;
  constexpr double kEnoughSeconds = 0.2;
  const ModuleEntry* function = module.Find(task_.entry);
  if (!function) return Error{ErrorCode::PassFailed, "the function was removed"};
  const Entry entry = Entry::Of(*function);
  const EvalLimits limits{.max_bytes = PhysicalMemory()};
  CompilingExecutor executor(module, loops_, limits);
  executor.Expect(CalledPrimFuncs(module, *task_.entry));
  PrimFuncTimes times;
  const RunOptions run{.limits = limits, .seed = options_.seed, .prim_funcs = &executor, .observer = &times};
  IROPT_ASSIGN_OR_RETURN(const std::vector<HostValue> inputs,
                         ArgumentReader(entry, options_, compiler_).Read(limits, executor.tracking()));
  IROPT_ASSIGN_OR_RETURN(const HostValue first, CallEntry(module, entry, inputs, diagnostics_, run));
  times.Take();
  Measured measured{FlattenOutputs(first), std::numeric_limits<double>::infinity()};
  double total = 0;
  for (int call = 0; call < kMostCalls && total < kEnoughSeconds; ++call) {
    IROPT_RETURN_IF_ERROR(CallEntry(module, entry, inputs, diagnostics_, run));
    const double seconds = times.Take();
    measured.seconds = std::min(measured.seconds, seconds);
    total += seconds;
  }
  return measured;
}

bool TaskRunner::IsSame(const std::vector<NamedTensor>& outputs) const {
  if (outputs.size() != expected_.size()) return false;
  double elements = 0;
  for (const NamedTensor& output : expected_) elements += static_cast<double>(output.tensor->num_elements());
  const RunPrecision precision{.accumulation = std::max(1.0, task_.work / std::max(1.0, elements))};
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Tolerance tolerance = ToleranceFor(*expected_[i].tensor, precision, options_.tolerance);
    if (!CompareTensors(*outputs[i].tensor, *expected_[i].tensor, tolerance).ok()) return false;
  }
  return true;
}

}  // namespace iropt
