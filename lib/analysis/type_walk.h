// The symbolic variables in scalar expressions.
#pragma once

#include <type_traits>

#include "analysis/tir/operands.h"
#include "iropt/ir/relax/type_walk.h"
#include "iropt/support/lookup.h"
#include "iropt/support/stack.h"

namespace iropt {

// Calls f(const tir::Var*) for the variables in a scalar expression over symbolic variables. An expression that shares
// operands is small as a graph and may be huge as a tree, so beyond a size no node is visited twice.
template <class F>
class SymVarWalk {
 public:
  explicit SymVarWalk(F& f) : f_(f) {}

  void Visit(const PrimExpr* e) {
    if (e->kind == NodeKind::kIntImm) return;
    if (const auto* var = As<tir::Var>(e)) return f_(var);
    if (++num_steps_ > kTreeSteps && !visited_.insert(e)) return;
    WithStack([&] { ForEachOperand(*e, [&](const PrimExpr* operand) { Visit(operand); }); });
  }

 private:
  static constexpr size_t kTreeSteps = 100;  // most dimensions have less than ten operands

  F& f_;
  size_t num_steps_ = 0;
  LookupSet<const PrimExpr*> visited_;
};

template <class F>
void ForEachSymVar(const PrimExpr* e, F&& f) {
  SymVarWalk<std::remove_reference_t<F>>(f).Visit(e);
}

}  // namespace iropt
