// The plan of CanonicalizeBindings for the variables of a function. A binding may have to change because of a much
// later use, so the whole function is analyzed before anything is rewritten.
#pragma once

#include <cstdint>
#include <vector>

#include "iropt/ir/module.h"
#include "iropt/ir/relax/expr.h"
#include "iropt/ir/relax/tuple_leaves.h"
#include "iropt/ir/tir/expr.h"

namespace iropt {

class BindingPlan {
 public:
  // The variable that is bound instead of `var`. Null if the binding stays.
  const Var* definition(const Var* var) const { return Find(definitions_, var); }
  // The replacement of the uses of a variable whose binding is dropped; null if the binding stays. The variable itself
  // if it is the `definition` of another one.
  const Var* alias(const Var* var) const { return Find(aliases_, var); }
  // The constant that replaces the uses of the variable, or null.
  const Constant* constant(const Var* var) const;

  // Returns whether the binding is dropped because its value replaces the variable's only use.
  bool moves(const Var* var) const { return facts_[var->id].moves; }

  bool empty() const { return aliases_.empty() && definitions_.empty() && !has_constants_ && !has_moves_; }
  // Returns whether a match_cast gives the value of a symbolic variable.
  bool has_symbolic_values() const { return has_symbolic_values_; }

 private:
  friend class BindingPlanner;

  // The facts about a variable.
  struct VarFacts {
    const Expr* value = nullptr;  // its value, through aliases and projections of known tuples
    uint32_t block = 0;           // number of the block that binds it; 0 for parameters
    uint32_t uses = 0;
    bool used_outside = false;  // used outside of its dataflow block
    bool is_cast = false;       // bound by a match_cast
    bool is_killed = false;     // by R.memory.kill_tensor and so on
    bool moves = false;
  };

  static const Var* Find(const std::vector<const Var*>& table, const Var* var) {
    return table.empty() ? nullptr : table[var->id];
  }

  std::vector<VarFacts> facts_;  // by Var::id, as the next two, which are empty until first needed
  std::vector<const Var*> definitions_;
  std::vector<const Var*> aliases_;
  bool has_constants_ = false;
  bool has_moves_ = false;
  bool has_symbolic_values_ = false;
};

// O(operands). Variables that are made for the plan have the numbers of those that they replace.
BindingPlan PlanBindings(const Function& function, Workspace& workspace);

// The values that a match_cast of a value of type `actual` to the type `cast` gives to symbolic variables: f(variable,
// value) for each dimension that is a variable, in order.
template <class F>
void ForEachSymbolicValue(const Type* cast, const Type* actual, F&& f);

// ---- Implementation

// The dimensions of a tensor or shape, null if they are not known.
const List<const PrimExpr*>* KnownDims(const Type* type);

template <class F>
void ForEachSymbolicValue(const Type* cast, const Type* actual, F&& f) {
  if (!cast->has_sym_var() || !actual) return;
  const auto bind = [&](const PrimExpr* dim, const PrimExpr* value) {
    if (const auto* var = As<tir::Var>(dim)) f(var, value);
  };
  ForEachLeafPair(cast, actual, [&](const Type* leaf, const Type* actual_leaf) {
    if (leaf->kind != actual_leaf->kind) return;
    if (const auto* prim = As<PrimType>(leaf)) {
      const PrimExpr* value = To<PrimType>(actual_leaf)->value;
      if (prim->value && value) bind(prim->value, value);
      return;
    }
    const auto* dims = KnownDims(leaf);
    const auto* values = dims ? KnownDims(actual_leaf) : nullptr;
    if (!values || values->size() != dims->size()) return;
    for (uint32_t i = 0; i < dims->size(); ++i) bind((*dims)[i], (*values)[i]);
  });
}

}  // namespace iropt
