// Checkpoints: the parts of a function that its gradient computes a second time instead of keeping their results.
//
// Source: Chen et al., Training deep nets with sublinear memory cost, 2016; the rules are those of TVM 0.18.
#pragma once

#include <vector>

#include "grad_builder.h"
#include "iropt/ir/relax/rebuild.h"
#include "iropt/ir/var_map.h"

namespace iropt {

// The bindings of a dataflow block, which has no match_cast, without start_checkpoint and end_checkpoint. The operands
// of start_checkpoint, the parameters, and what is computed from these and from results of end_checkpoint alone is
// kept; the rest is computed again where a gradient needs it.
class Checkpoints {
 public:
  Checkpoints(const Function& function, const DataflowBlock& block, GradBuilder& builder);

  std::span<const VarBinding* const> bindings() const { return bindings_; }
  // The variable that a marked one stands for; other variables stand for themselves.
  const Var* Resolve(const Var* var) const;
  bool IsKept(const Var* var) const { return kept_[var->id]; }

 private:
  void Add(const VarBinding& binding, GradBuilder& builder, Rebuilder& rebuilder);
  void RemoveMarker(const VarBinding& binding, const Call& marker, GradBuilder& builder);
  bool DependsOnKept(const Expr* value) const;

  std::vector<const VarBinding*> bindings_;
  VarMap<Var> stands_for_;  // the operand of each marker
  bool has_markers_ = false;
  std::vector<bool> kept_;        // by Var::id
  std::vector<bool> ends_stage_;  // by Var::id: results of end_checkpoint
};

// Computes values of the function again, each once, as part of the block that is being built.
class Recomputation {
 public:
  Recomputation(const Function& function, const Checkpoints& checkpoints, GradBuilder& builder);

  // The variable and its value, with operands that are kept or computed again.
  struct Computed {
    const Var* var = nullptr;
    const Expr* value = nullptr;
  };
  Computed Of(const VarBinding& binding);

 private:
  const Var* VarOf(const Var* var);

  GradBuilder& builder_;
  Rebuilder rebuilder_;
  VarMap<Var> computed_;
  VarMap<VarBinding> binding_of_;
};

}  // namespace iropt
