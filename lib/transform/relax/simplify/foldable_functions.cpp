#include "foldable_functions.h"

#include <algorithm>

#include "iropt/ir/relax/walk.h"
#include "iropt/op/op.h"
#include "iropt/support/stack.h"

namespace iropt {

namespace {

// Returns whether nothing of the value is only known when the program runs.
bool IsOfConstants(const Expr* value) {
  const auto* call = As<Call>(value);
  const auto* tuple = As<Tuple>(value);
  if (call == nullptr && tuple == nullptr) return Is<Constant>(value);
  if (call != nullptr && !Is<Op>(call->op)) return false;
  return std::ranges::all_of(call ? call->args : tuple->fields, [](const Expr* part) {
    return Is<Tuple>(part) ? WithStack([&] { return IsOfConstants(part); }) : !Is<Var>(part);
  });
}

}  // namespace

size_t CountFoldable(const Module& module) {
  struct Handler : WalkHandler {
    void OnBinding(const Binding& binding) { found |= IsOfConstants(ValueOf(&binding)); }
    bool found = false;
  };
  return static_cast<size_t>(std::ranges::count_if(module.functions(), [](const ModuleEntry& entry) {
    const auto* function = As<Function>(entry.func);
    Handler handler;
    if (function != nullptr) Walk(*function, handler);
    return handler.found;
  }));
}

}  // namespace iropt
