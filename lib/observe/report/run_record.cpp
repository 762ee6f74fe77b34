#include "iropt/observe/report/run_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "iropt/ir/relax/walk.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/observe/operator_counts.h"
#include "iropt/pass/pipeline.h"
#include "iropt/support/check.h"
#include "observe/module_size.h"
#include "observe/process_memory.h"

namespace iropt {

namespace {

struct SizeCounter : WalkHandler {
  explicit SizeCounter(ModuleRecord& r) : record(r) {}
  void OnBinding(const Binding&) { ++record.bindings; }

  ModuleRecord& record;
};

ModuleRecord RecordOf(std::string_view name, const Module& module) {
  ModuleRecord record{.name = std::string(name),
                      .node_bytes = ArenaBytes(module),
                      .operators = CountOperators(module),
                      .cost = CostOf(module)};
  record.cost_after = record.cost;
  for (const auto& [callee, calls] : record.operators) record.calls += calls;
  SizeCounter counter(record);
  for (const ModuleEntry& entry : module.functions()) {
    if (const auto* function = As<Function>(entry.func)) {
      ++record.relax_functions;
      Walk(*function, counter);
    } else if (Is<PrimFunc>(entry.func)) {
      ++record.prim_funcs;
    }
  }
  return record;
}

bool SameFunctions(const Module& a, const Module& b) {
  return std::ranges::equal(a.functions(), b.functions(), {}, &ModuleEntry::func, &ModuleEntry::func);
}

}  // namespace

TimeSpent RunRecorder::Now() const {
  TimeSpent now = watch_.Read();
  now -= lost_;
  return now;
}

void RunRecorder::LoseTimeSince(TimeSpent begin) {
  TimeSpent spent = Now();
  spent -= begin;
  lost_ += spent;
}

void RunRecorder::OnRead(std::string_view name, const Module& module, std::optional<uint64_t> nodes) {
  const TimeSpent begin = Now();
  BeginModule(name, module);
  modules_.back().nodes_read = nodes;
  LoseTimeSince(begin);
}

void RunRecorder::OnWritten(std::optional<uint64_t> nodes) {
  if (!modules_.empty()) modules_.back().nodes_written = nodes;
}

void RunRecorder::BeginModule(std::string_view name, const Module& module) {
  modules_.push_back(RecordOf(name, module));
  if (texts_) texts_->Begin(static_cast<uint32_t>(modules_.size() - 1), module);
  last_ = module;
}

void RunRecorder::OnStep(RunStep step, TimeSpent time) {
  const size_t module = modules_.empty() ? 0 : modules_.size() - 1;
  steps_.push_back({RunStepName(step), static_cast<uint32_t>(module), Now().wall_seconds - time.wall_seconds, time});
}

std::optional<size_t> RunRecorder::running_pass() const {
  return running_.empty() ? std::nullopt : std::optional(running_.back().pass);
}

Status RunRecorder::EnterPassContext() {
  running_.clear();
  return {};
}

Status RunRecorder::RunBeforePass(const Module& module, const PassInfo& info) {
  const TimeSpent begin = Now();
  // A check of the driver may run the passes again.
  if (running_.empty() && (modules_.empty() || !SameFunctions(module, last_))) {
    const std::string name = modules_.empty() ? "module" : modules_.back().name;
    BeginModule(name, module);
  }
  PassRecord record{.name = info.name, .title = TitleOf(info)};
  record.module = static_cast<uint32_t>(modules_.size() - 1);
  record.depth = static_cast<uint32_t>(running_.size());
  record.composite = info.is_composite();
  record.begin_seconds = begin.wall_seconds;
  running_.push_back({passes_.size(), record.composite ? Module() : module, begin});
  passes_.push_back(std::move(record));
  LoseTimeSince(begin);
  return {};
}

Status RunRecorder::RunAfterPass(const Module& module, const PassInfo& info, PassOutcome outcome) {
  const TimeSpent end = Now();
  IROPT_CHECK(!running_.empty(), "pass '{}' ends, but none has begun", info.name);
  EndPass(module, outcome, end);
  LoseTimeSince(end);
  return {};
}

void RunRecorder::EndPass(const Module& module, PassOutcome outcome, TimeSpent end) {
  const Running run = std::move(running_.back());
  running_.pop_back();
  PassRecord& record = passes_[run.pass];
  record.outcome = outcome;
  record.time = end;
  record.time -= run.begin;
  record.node_bytes = ArenaBytes(module);
  record.resident_bytes = ResidentBytes();
  if (running_.empty()) modules_[record.module].cost_after = CostOf(module);
  if (record.composite) return;
  if (outcome == PassOutcome::Changed) RecordEffect(run, module, record);
  last_ = module;
  if (on_pass_) on_pass_(record);
}

void RunRecorder::RecordEffect(const Running& run, const Module& module, PassRecord& record) {
  const ModuleChanges changes = FindChanges(run.before, module);
  record.effect = EffectOf(run.before, module, changes);
  if (texts_) record.texts = texts_->Update(module, changes);
}

}  // namespace iropt
