#include "iropt/observe/module_changes.h"

#include <utility>

#include "iropt/ir/structural.h"
#include "iropt/support/check.h"

namespace iropt {

namespace {

bool SameAttributes(const Module& a, const Module& b) {
  Module bare_a;
  bare_a.set_attrs(a.attrs());
  bare_a.mutable_global_infos() = a.global_infos();
  Module bare_b;
  bare_b.set_attrs(b.attrs());
  bare_b.mutable_global_infos() = b.global_infos();
  return StructuralEqual(bare_a, bare_b);
}

}  // namespace

ModuleChanges FindChanges(const Module& before, const Module& after) {
  ModuleChanges changes;
  for (const ModuleEntry& entry : after.functions()) {
    const ModuleEntry* old = before.Find(entry.var->name);
    if (old && (old->func == entry.func || StructuralEqual(old->func, entry.func))) continue;
    changes.functions.emplace_back(entry.var->name);
  }
  for (const ModuleEntry& entry : before.functions()) {
    if (!after.Find(entry.var->name)) changes.functions.emplace_back(entry.var->name);
  }
  changes.attributes = !SameAttributes(before, after);
  return changes;
}

Status ChangeInstrument::EnterPassContext() {
  running_.clear();
  return {};
}

Status ChangeInstrument::RunBeforePass(const Module& module, const PassInfo& info) {
  if (!info.is_composite()) running_.push_back(module);
  return {};
}

Status ChangeInstrument::RunAfterPass(const Module& module, const PassInfo& info, PassOutcome outcome) {
  if (info.is_composite()) return {};
  IROPT_CHECK(!running_.empty(), "pass '{}' ends, but none has begun", info.name);
  const Module before = std::move(running_.back());
  running_.pop_back();
  if (outcome == PassOutcome::Failed) return {};
  return OnResult(before, module, info,
                  outcome == PassOutcome::Changed ? FindChanges(before, module) : ModuleChanges());
}

}  // namespace iropt
