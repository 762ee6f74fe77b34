#include "iropt/analysis/relax/overwritten_vars.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>

#include "iropt/ir/relax/tuple_leaves.h"
#include "iropt/ir/relax/walk.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/call.h"
#include "iropt/op/ops/call_packed.h"
#include "iropt/op/ops/call_tir.h"
#include "iropt/support/lookup.h"
#include "iropt/support/stack.h"

namespace iropt {

namespace {

// Calls f(const Var*) for the variables whose memory the value may be, or have: what it is another name, a field or a
// tuple of, the results of branches, what a call overwrites, and all that a call of a local function has.
template <class F>
void ForEachSource(const Expr* value, F&& f) {
  if (!value) return;
  switch (value->kind) {
    case NodeKind::kVar:
    case NodeKind::kDataflowVar: return f(static_cast<const Var*>(value));
    case NodeKind::kTupleGetItem:
      return WithStack([&] { ForEachSource(static_cast<const TupleGetItem*>(value)->tuple, f); });
    case NodeKind::kTuple:
      return WithStack([&] {
        for (const Expr* field : static_cast<const Tuple*>(value)->fields) ForEachSource(field, f);
      });
    case NodeKind::kIf:
      return WithStack([&] {
        ForEachSource(static_cast<const If*>(value)->true_branch, f);
        ForEachSource(static_cast<const If*>(value)->false_branch, f);
      });
    case NodeKind::kSeqExpr: return WithStack([&] { ForEachSource(static_cast<const SeqExpr*>(value)->body, f); });
    case NodeKind::kCall: {
      const auto& call = *static_cast<const Call*>(value);
      for (const Var* var : OverwrittenOperands(call)) f(var);
      if (!Is<Var>(call.op)) return;
      f(To<Var>(call.op));
      for (const Expr* arg : call.args) ForEachSource(arg, f);
      return;
    }
    default: return;
  }
}

// A walk that knows when the value of a binding was walked over.
struct BindingWalk : WalkHandler {
  void OnBinding(const Binding& binding) { open.push_back(&binding); }
  // The binding of the variable, which is defined now; null for a parameter.
  const Binding* Close(const Var* var) {
    if (open.empty() || open.back()->var != var) return nullptr;
    const Binding* binding = open.back();
    open.pop_back();
    return binding;
  }

  std::vector<const Binding*> open;
};

bool IsFunctionOrObject(const Type* type) { return type && (Is<FuncType>(type) || Is<ObjectType>(type)); }

// Returns whether the expression is a function or closure, or a tuple that has one.
bool MayHoldFunction(const Expr* e, const Module* module) {
  if (const auto* global = As<GlobalVar>(e)) {
    const ModuleEntry* entry = module ? module->Find(global) : nullptr;
    return entry && Is<Function>(entry->func);
  }
  if (Is<Function>(e)) return true;
  bool found = false;
  if (const auto* tuple = As<Tuple>(e)) {
    WithStack([&] {
      for (const Expr* field : tuple->fields) found = found || MayHoldFunction(field, module);
    });
    return found;
  }
  return Is<Var>(e) && IsFunctionOrObject(e->type);
}

// Returns whether the call may call a function that is one of its operands.
bool CallsOperand(const Call& call, const Module* module) {
  const auto* op = As<Op>(call.op);
  if (op && IsOneOf(*op, op::kInvokeClosure, op::kInvokePureClosure)) return true;
  for (const Expr* arg : call.args) {
    // Most operands are variables.
    if (Is<Var>(arg) ? IsFunctionOrObject(arg->type) : MayHoldFunction(arg, module)) return true;
  }
  return false;
}

// Effects of a function together with those of the module that it refers to.
struct Effects {
  bool overwrites = false;    // they have calls that work in place
  bool calls_values = false;  // they may call functions that are values: parameters, closures, results
};

Effects FindEffects(const Function& function, const Module* module) {
  struct Calls : WalkHandler {
    explicit Calls(const Module* m) : module(m) {}
    void OnBinding(const Binding& binding) {
      const Expr* value = ValueOf(&binding);
      if (value && (Is<Function>(value) || Is<GlobalVar>(value))) known.insert(binding.var);
    }
    void OnCall(const Call& call) {
      effects.overwrites |= OverwritesOperands(call);
      const auto* callee = As<Var>(call.op);
      if (!effects.calls_values)
        effects.calls_values = (callee && !known.contains(callee)) || CallsOperand(call, module);
    }
    void OnGlobal(const GlobalVar* global) { globals.push_back(global); }
    const Module* const module;
    Effects effects;
    LookupSet<const Var*> known;  // names of functions that are walked over
    std::vector<const GlobalVar*> globals;
  };
  Calls calls(module);
  Walk(function, calls);
  LookupSet<const GlobalVar*> reached;
  while (!calls.effects.overwrites && module && !calls.globals.empty()) {
    const GlobalVar* global = calls.globals.back();
    calls.globals.pop_back();
    const ModuleEntry* entry = reached.insert(global) ? module->Find(global) : nullptr;
    if (const auto* callee = entry ? As<Function>(entry->func) : nullptr) Walk(*callee, calls);
  }
  return calls.effects;
}

// Returns whether the function has local functions that overwrite something, or refers to such functions of the module
// otherwise than to call them.
bool HasOverwritingValues(const Function& function, const Module* module) {
  struct Values : WalkHandler {
    explicit Values(const Module* m) : module(m) {}
    void OnBinding(const Binding& binding) {
      const Expr* value = ValueOf(&binding);
      const auto* local = value ? As<Function>(value) : nullptr;
      found = found || (local && FindEffects(*local, module).overwrites);
    }
    void OnGlobal(const GlobalVar* global) { ++uses[global]; }
    void OnCall(const Call& call) {
      if (const auto* callee = As<GlobalVar>(call.op)) --uses[callee];
    }
    const Module* const module;
    std::unordered_map<const GlobalVar*, int64_t> uses;  // those that are not calls
    bool found = false;
  };
  Values values(module);
  Walk(function, values);
  if (values.found || !module) return values.found;
  return std::ranges::any_of(values.uses, [&](const auto& use) {
    const ModuleEntry* entry = use.second > 0 ? module->Find(use.first) : nullptr;
    const auto* value = entry ? As<Function>(entry->func) : nullptr;
    return value && FindEffects(*value, module).overwrites;
  });
}

// Returns whether a function of the module has values that overwrite. They may be given to any other function.
bool HasOverwritingValues(const Module& module) {
  return std::ranges::any_of(module.functions(), [&](const ModuleEntry& entry) {
    const auto* function = As<Function>(entry.func);
    return function && HasOverwritingValues(*function, &module);
  });
}

struct Finder : BindingWalk {
  Finder(const Function& function, size_t num_vars, const Module* m)
      : overwritten(num_vars, false),
        module(m),
        values_may(HasOverwritingValues(function, m) || (m && HasOverwritingValues(*m))) {}

  void OnCall(const Call& call) {
    for (const Var* var : OverwrittenOperands(call)) overwritten[var->id] = true;
    if (!MayOverwrite(call.op) && !(values_may && CallsOperand(call, module))) return;
    for (const Expr* arg : call.args) ForEachSource(arg, [&](const Var* var) { overwritten[var->id] = true; });
  }
  // The function that a variable stands for is not known: if any function that is a value may overwrite something, all
  // variables are taken for it.
  bool MayOverwrite(const Expr* callee) {
    if (Is<Var>(callee)) return values_may;
    const auto* global = As<GlobalVar>(callee);
    const ModuleEntry* entry = global && module ? module->Find(global) : nullptr;
    const auto* function = entry ? As<Function>(entry->func) : nullptr;
    if (!function) return false;
    const auto [known, is_new] = callees.try_emplace(global, false);
    if (is_new) known = OverwritesVars(*function, module);
    return known;
  }
  void OnDefine(const Var* var) {
    if (const Binding* binding = Close(var)) bindings.push_back(binding);
  }

  std::vector<bool> overwritten;
  const Module* const module;
  const bool values_may;  // a function that is a value may overwrite its operands
  LookupMap<const GlobalVar*, bool> callees;
  std::vector<const Binding*> bindings;  // each after those in its value
};

// The operands that calls overwrite, and the sources of these among values for which is_name(value) holds.
template <class F>
std::vector<bool> AddSources(const Function& function, size_t num_vars, const Module* module, F&& is_name) {
  Finder finder(function, num_vars, module);
  Walk(function, finder);
  // Names come after what they name.
  for (size_t i = finder.bindings.size(); i-- > 0;) {
    const Binding& binding = *finder.bindings[i];
    if (!finder.overwritten[binding.var->id] || !is_name(ValueOf(&binding))) continue;
    ForEachSource(ValueOf(&binding), [&](const Var* var) { finder.overwritten[var->id] = true; });
  }
  return std::move(finder.overwritten);
}

// Adds the variables that have memory of the given ones.
struct Sharers : BindingWalk {
  explicit Sharers(std::vector<bool>& v) : vars(v) {}

  bool EnterFunction(const Function& function) {
    const Var* var = open.empty() ? nullptr : open.back()->var;
    functions.push_back(defined && ValueOf(defined) == &function ? defined->var : var);
    return true;
  }
  void LeaveFunction(const Function&) {
    const Var* var = functions.back();
    functions.pop_back();
    if (var) OnUse(var);
  }
  // A local function has what it uses.
  void OnUse(const Var* var) {
    if (vars[var->id] && !functions.empty() && functions.back()) vars[functions.back()->id] = true;
  }
  void OnDefine(const Var* var) {
    defined = Close(var);
    if (!defined) return;
    ForEachSource(ValueOf(defined), [&](const Var* source) {
      if (vars[source->id]) vars[var->id] = true;
    });
  }

  std::vector<bool>& vars;
  std::vector<const Var*> functions;  // the variables of the local functions around; null for the function itself
  const Binding* defined = nullptr;   // the last one
};

}  // namespace

bool OverwritesOperands(const Call& call) {
  const auto* op = As<Op>(call.op);
  return op && IsOneOf(*op, op::kCallTirInplace, op::kCallInplacePacked);
}

std::vector<const Var*> OverwrittenOperands(const Call& call) {
  std::vector<const Var*> vars;
  if (!OverwritesOperands(call)) return vars;
  // The operands of a packed function follow it.
  const bool is_packed = IsOp(call.op, op::kCallInplacePacked);
  const auto* tuple = is_packed ? nullptr : As<Tuple>(call.args[1]);
  if (!is_packed && !tuple) return vars;
  const List<const Expr*> operands = is_packed ? call.args : tuple->fields;
  for (const int64_t index : InplaceAttrs(call).inplace_indices().vector()) {
    if (index < 0) continue;  // a new output
    const size_t place = static_cast<size_t>(index) + (is_packed ? 1 : 0);
    if (place >= operands.size()) continue;
    ForEachLeaf(operands[static_cast<uint32_t>(place)], [&](const Expr* leaf) {
      if (const auto* var = As<Var>(leaf)) vars.push_back(var);
    });
  }
  return vars;
}

bool OverwritesVars(const Function& function, const Module* module) {
  const Effects effects = FindEffects(function, module);
  return effects.overwrites || (effects.calls_values && module && HasOverwritingValues(*module));
}

std::vector<bool> OverwrittenVars(const Function& function, size_t num_vars, const Module* module) {
  return AddSources(function, num_vars, module,
                    [](const Expr* value) { return Is<Var>(value) || Is<Tuple>(value) || Is<TupleGetItem>(value); });
}

std::vector<bool> ChangingVars(const Function& function, size_t num_vars, const Module* module) {
  std::vector<bool> vars = AddSources(function, num_vars, module, [](const Expr*) { return true; });
  Sharers sharers(vars);
  Walk(function, sharers);
  return vars;
}

}  // namespace iropt
