// What CanonicalizeBindings is going to do to the variables of a function. A binding may have to change because of a
// use that comes much later, so the function is looked at as a whole before anything is rewritten.
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
  // Of the variable's binding: what is bound in its place. Null where it stays.
  const Var* definition(const Var* var) const { return Find(definitions_, var); }
  // What uses of the variable mean, whose binding is dropped; null where the binding stays. The variable itself where
  // it is the `definition` of another one.
  const Var* alias(const Var* var) const { return Find(aliases_, var); }
  // The constant that stands for uses of the variable, or null.
  const Constant* constant(const Var* var) const;

  // Whether the binding is dropped because its value takes the place of the variable's only use.
  bool moves(const Var* var) const { return facts_[var->id].moves; }

  bool empty() const { return aliases_.empty() && definitions_.empty() && !has_constants_ && !has_moves_; }
  // Whether a match_cast tells the value of a symbolic variable.
  bool has_symbolic_values() const { return has_symbolic_values_; }

 private:
  friend class BindingPlanner;

  // What is known of a variable.
  struct VarFacts {
    const Expr* value = nullptr;  // what it is bound to, through aliases and projections of known tuples
    uint32_t block = 0;           // number of the block that binds it; 0 for parameters
    uint32_t uses = 0;
    bool used_outside = false;  // used elsewhere than in its dataflow block
    bool is_cast = false;       // bound by a match_cast
    bool moves = false;
  };

  static const Var* Find(const std::vector<const Var*>& table, const Var* var) {
    return table.empty() ? nullptr : table[var->id];
  }

  std::vector<VarFacts> facts_;  // by Var::id, as are the next two, which are empty while there is nothing in them
  std::vector<const Var*> definitions_;
  std::vector<const Var*> aliases_;
  bool has_constants_ = false;
  bool has_moves_ = false;
  bool has_symbolic_values_ = false;
};

// O(operands). Variables that are made for the plan have the numbers of those that they replace.
BindingPlan PlanBindings(const Function& function, Workspace& workspace);

// What a match_cast of a value of type `actual` to the type `cast` says about symbolic variables: f(variable, value)
// for each dimension that is a variable, in order.
template <class F>
void ForEachSymbolicValue(const Type* cast, const Type* actual, F&& f);

// ---- Implementation

// The dimensions of a tensor or shape, null where they are not known.
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
