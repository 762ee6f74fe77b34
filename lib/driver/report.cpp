#include "report.h"

#include <fmt/format.h>

#include "iropt/ir/relax/walk.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/support/check.h"

namespace iropt {

namespace {

struct Counter : WalkHandler {
  explicit Counter(ModuleCounts& c) : counts(c) {}
  void OnDefine(const Var*) { ++counts.bindings; }
  void OnCall(const Call&) { ++counts.calls; }
  // Parameters are definitions, too, but not bindings.
  bool EnterFunction(const Function& function) {
    counts.bindings -= function.params.size();
    return true;
  }

  ModuleCounts& counts;
};

std::string Plural(size_t n, std::string_view noun) { return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s"); }

// "8 -> 6 calls", or just the number if it did not change.
std::string Change(size_t before, size_t after, std::string_view noun) {
  return before == after ? Plural(after, noun) : fmt::format("{} -> {}", before, Plural(after, noun));
}

std::string Describe(const ModuleCounts& before, const ModuleCounts& after) {
  std::string text = Change(before.bindings, after.bindings, "binding");
  text += ", " + Change(before.calls, after.calls, "call");
  if (before.relax_functions != after.relax_functions) {
    text += ", " + Change(before.relax_functions, after.relax_functions, "Relax function");
  }
  if (before.prim_funcs != after.prim_funcs) {
    text += ", " + Change(before.prim_funcs, after.prim_funcs, "PrimFunc");
  }
  return text;
}

}  // namespace

ModuleCounts CountModule(const Module& module) {
  ModuleCounts counts;
  Counter counter(counts);
  for (const ModuleEntry& entry : module.functions()) {
    if (const auto* function = As<Function>(entry.func)) {
      ++counts.relax_functions;
      Walk(*function, counter);
    } else if (Is<PrimFunc>(entry.func)) {
      ++counts.prim_funcs;
    }
  }
  return counts;
}

void Report::Line(std::string_view what, std::string_view text, TimeSpent time) {
  out_.Append(fmt::format("{:<24}{:<48}{:>10.2f} ms\n", what, text, 1e3 * time.wall_seconds));
  static_cast<void>(out_.Flush());
}

void Report::Read(std::string_view name, const Module& module, TimeSpent time) {
  const ModuleCounts counts = CountModule(module);
  std::string text = Plural(counts.relax_functions, "Relax function");
  if (counts.prim_funcs != 0) text += ", " + Plural(counts.prim_funcs, "PrimFunc");
  text += ", " + Describe(counts, counts);
  out_.Append(fmt::format("{}\n", name));
  Line("read", text, time);
}

void Report::Step(std::string_view what, TimeSpent time) { Line(what, "", time); }

Status Report::EnterPassContext() {
  running_.clear();
  return {};
}

Status Report::RunBeforePass(const Module& module, const PassInfo& info) {
  if (info.is_composite()) return {};
  const ModuleCounts counts = CountModule(module);
  running_.push_back({counts, Stopwatch()});
  return {};
}

Status Report::RunAfterPass(const Module& module, const PassInfo& info, PassOutcome outcome) {
  if (info.is_composite()) return {};
  IROPT_CHECK(!running_.empty(), "pass '{}' ends, but none has begun", info.name);
  const Running run = running_.back();
  const TimeSpent time = run.watch.Read();
  running_.pop_back();
  switch (outcome) {
    case PassOutcome::Failed: Line(info.name, "failed", time); break;
    case PassOutcome::Unchanged: Line(info.name, "unchanged", time); break;
    case PassOutcome::Changed: Line(info.name, Describe(run.before, CountModule(module)), time); break;
  }
  return {};
}

}  // namespace iropt
