#include "iropt/analysis/relax/overwritten_vars.h"

#include <cstdint>
#include <utility>

#include "iropt/ir/relax/walk.h"
#include "iropt/op/op.h"
#include "iropt/op/op_attrs.h"

namespace iropt {

namespace {

struct Finder : WalkHandler {
  explicit Finder(size_t num_vars) : overwritten(num_vars, false) {}

  void OnCall(const Call& call) {
    for (const Var* var : OverwrittenOperands(call)) overwritten[var->id] = true;
  }
  void OnBinding(const Binding& binding) {
    const Expr* value = ValueOf(&binding);
    if (Is<Var>(value) || Is<Tuple>(value) || Is<TupleGetItem>(value)) names.push_back(&binding);
  }

  std::vector<bool> overwritten;
  std::vector<const Binding*> names;  // bindings that compute nothing
};

struct Marker : WalkHandler {
  explicit Marker(std::vector<bool>& v) : vars(v) {}
  void OnUse(const Var* var) { vars[var->id] = true; }
  std::vector<bool>& vars;
};

}  // namespace

std::vector<const Var*> OverwrittenOperands(const Call& call) {
  std::vector<const Var*> vars;
  const auto* operands = IsOp(call.op, OpId::kCallTirInplace) ? As<Tuple>(call.args[1]) : nullptr;
  if (!operands) return vars;
  for (const int64_t index : InplaceAttrs(call).inplace_indices().vector()) {
    const bool is_operand = index >= 0 && static_cast<size_t>(index) < operands->fields.size();
    const auto* var = is_operand ? As<Var>(operands->fields[static_cast<size_t>(index)]) : nullptr;
    if (var) vars.push_back(var);
  }
  return vars;
}

bool OverwritesVars(const Function& function) {
  struct InplaceCalls : WalkHandler {
    bool found = false;
    void OnCall(const Call& call) { found |= IsOp(call.op, OpId::kCallTirInplace); }
  };
  InplaceCalls calls;
  Walk(function, calls);
  return calls.found;
}

std::vector<bool> OverwrittenVars(const Function& function, size_t num_vars) {
  Finder finder(num_vars);
  Walk(function, finder);
  Marker marker(finder.overwritten);
  // Names come after what they name.
  for (size_t i = finder.names.size(); i-- > 0;) {
    const Binding& binding = *finder.names[i];
    if (finder.overwritten[binding.var->id]) Walk(ValueOf(&binding), marker);
  }
  return std::move(finder.overwritten);
}

}  // namespace iropt
