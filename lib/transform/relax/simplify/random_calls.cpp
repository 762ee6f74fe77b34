#include "random_calls.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "iropt/ir/relax/walk.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/call_packed.h"
#include "iropt/op/ops/dropout.h"

namespace iropt {

namespace {

bool DrawsItself(const Call& call) {
  if (IsOp(call.op, op::kNnDropout)) return true;
  const auto* callee = IsOp(call.op, op::kCallPurePacked) ? As<ExternFunc>(call.args[0]) : nullptr;
  if (!callee || !callee->global_symbol.starts_with("onnx.")) return false;
  constexpr std::string_view kWords[] = {"Random", "Multinomial", "Bernoulli", "Dropout"};
  return std::ranges::any_of(
      kWords, [&](std::string_view word) { return callee->global_symbol.find(word) != std::string_view::npos; });
}

struct CallWalk : WalkHandler {
  CallWalk(const Module* module, const LookupMap<const Var*, const Function*>& local,
           const LookupSet<const Function*>& silent)
      : module(module), local(local), silent(silent) {}

  void OnCall(const Call& call) { draws |= DrawsItself(call); }
  void OnUse(const Var* var) { Reach(local.Lookup(var)); }
  // A function that is passed on may be called by whoever gets it.
  void OnGlobal(const GlobalVar* var) {
    const ModuleEntry* entry = module ? module->Find(var) : nullptr;
    Reach(entry ? As<Function>(entry->func) : nullptr);
  }
  void Reach(const Function* function) {
    if (function && !silent.contains(function) && seen.insert(function)) reached.push_back(function);
  }

  const Module* module;
  const LookupMap<const Var*, const Function*>& local;
  const LookupSet<const Function*>& silent;
  LookupSet<const Function*> seen;
  std::vector<const Function*> reached;
  bool draws = false;
};

}  // namespace

bool RandomCalls::Draws(const Expr* value) {
  if (value->kind == NodeKind::kFunction) return false;  // until it is called
  CallWalk walk(module_, local_, silent_);
  Walk(value, walk);
  for (size_t i = 0; i < walk.reached.size() && !walk.draws; ++i) Walk(*walk.reached[i], walk);
  if (!walk.draws) silent_.InsertAll(walk.seen);
  return walk.draws;
}

}  // namespace iropt
