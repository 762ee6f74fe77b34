#include "random_calls.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "iropt/ir/relax/walk.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/call.h"
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

bool IsClosure(const Expr* value) {
  const auto* call = As<Call>(value);
  return call && IsOp(call->op, op::kMakeClosure);
}

struct CallWalk : WalkHandler {
  CallWalk(RandomCalls& calls, const Module* module, const LookupMap<const Var*, const Expr*>& callees,
           const LookupSet<const Function*>& silent)
      : calls(calls), module(module), callees(callees), silent(silent) {}

  void OnBinding(const Binding& binding) { calls.NoteCallee(binding.var, ValueOf(&binding)); }
  void OnCall(const Call& call) {
    const Expr* callee = IsOp(call.op, op::kInvokePureClosure) ? call.args[0] : call.op;
    const auto* var = As<Var>(callee);
    draws = draws || DrawsItself(call) || (var && !callees.contains(var));
  }
  // A function that is passed on may be called there.
  void OnUse(const Var* var) {
    const Expr* value = callees.Lookup(var);
    if (value && used.insert(value)) reached.push_back(value);
  }
  void OnGlobal(const GlobalVar* var) {
    const ModuleEntry* entry = module ? module->Find(var) : nullptr;
    const auto* function = entry ? As<Function>(entry->func) : nullptr;
    if (function && !silent.contains(function) && used.insert(function)) reached.push_back(function);
  }
  bool EnterFunction(const Function& function) { return !silent.contains(&function); }

  RandomCalls& calls;
  const Module* module;
  const LookupMap<const Var*, const Expr*>& callees;
  const LookupSet<const Function*>& silent;
  LookupSet<const Expr*> used;
  std::vector<const Expr*> reached;
  bool draws = false;
};

}  // namespace

void RandomCalls::NoteCallee(const Var* var, const Expr* value) {
  const bool is_alias =
      Is<Var>(value) && (Is<FuncType>(var->type) || callees_.contains(static_cast<const Var*>(value)));
  if (Is<Function>(value) || Is<GlobalVar>(value) || IsClosure(value) || is_alias)
    callees_.insert_or_assign(var, value);
}

bool RandomCalls::Draws(const Expr* value) {
  if (value->kind == NodeKind::kFunction) return false;  // until it is called
  CallWalk walk(*this, module_, callees_, silent_);
  Walk(value, walk);
  for (size_t i = 0; i < walk.reached.size() && !walk.draws; ++i) Walk(walk.reached[i], walk);
  if (walk.draws) return true;
  for (const Expr* reached : walk.reached) {
    if (const auto* function = As<Function>(reached)) silent_.insert(function);
  }
  return false;
}

}  // namespace iropt
