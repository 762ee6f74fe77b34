#include "iropt/analysis/relax/overwritten_vars.h"

#include <cstdint>
#include <utility>

#include "iropt/ir/relax/tuple_leaves.h"
#include "iropt/ir/relax/walk.h"
#include "iropt/op/op.h"
#include "iropt/op/op_attrs.h"
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

struct Finder : BindingWalk {
  explicit Finder(size_t num_vars) : overwritten(num_vars, false) {}

  void OnCall(const Call& call) {
    for (const Var* var : OverwrittenOperands(call)) overwritten[var->id] = true;
  }
  void OnDefine(const Var* var) {
    if (const Binding* binding = Close(var)) bindings.push_back(binding);
  }

  std::vector<bool> overwritten;
  std::vector<const Binding*> bindings;  // each after those in its value
};

// The operands that calls overwrite, and the sources of these among values for which is_name(value) holds.
template <class F>
std::vector<bool> AddSources(const Function& function, size_t num_vars, F&& is_name) {
  Finder finder(num_vars);
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
  return op && IsOneOf(*op, OpId::kCallTirInplace, OpId::kCallInplacePacked);
}

std::vector<const Var*> OverwrittenOperands(const Call& call) {
  std::vector<const Var*> vars;
  if (!OverwritesOperands(call)) return vars;
  // The operands of a packed function follow it.
  const bool is_packed = IsOp(call.op, OpId::kCallInplacePacked);
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

bool OverwritesVars(const Function& function) {
  struct InplaceCalls : WalkHandler {
    bool found = false;
    void OnCall(const Call& call) { found |= OverwritesOperands(call); }
  };
  InplaceCalls calls;
  Walk(function, calls);
  return calls.found;
}

std::vector<bool> OverwrittenVars(const Function& function, size_t num_vars) {
  return AddSources(function, num_vars,
                    [](const Expr* value) { return Is<Var>(value) || Is<Tuple>(value) || Is<TupleGetItem>(value); });
}

std::vector<bool> ChangingVars(const Function& function, size_t num_vars) {
  std::vector<bool> vars = AddSources(function, num_vars, [](const Expr*) { return true; });
  Sharers sharers(vars);
  Walk(function, sharers);
  return vars;
}

}  // namespace iropt
