// Moves computations that depend only on weights out of functions, into a transform function that runs once.
#pragma once

#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "iropt/analysis/relax/lift_plan.h"
#include "iropt/diag/diagnostic.h"
#include "iropt/ir/clone.h"
#include "iropt/ir/module.h"
#include "iropt/ir/tir/expr.h"

namespace iropt {

struct LiftTarget {
  size_t index;         // of the function in the module
  uint32_t num_inputs;  // the number of parameters that are not weights
};

// Lifts from one function, or from several with the same weights, where only the computations common to all are lifted.
// The transform function has copies of all nodes, in storage of its own.
class ParamLifter {
 public:
  // The targets are functions of the module, which must outlive the lifter.
  ParamLifter(const Module& module, std::vector<LiftTarget> targets, DiagnosticEngine& diagnostics);

  // To be called in this order; false and null mean a reported error.
  bool Plan(bool shared);
  const Function* MakeTransform();
  const Function* MakeRuntime(size_t i, Workspace& workspace);
  // The storage of the transform; called last.
  FuncStorageRef FinishTransform() { return workspace_.Finish(); }

 private:
  const ModuleEntry& Entry(size_t i) const { return module_.functions()[targets_[i].index]; }
  const Function& FunctionAt(size_t i) const { return *To<Function>(Entry(i).func); }
  std::span<const Var* const> Weights(size_t i) const {
    return FunctionAt(i).params.span().subspan(targets_[i].num_inputs);
  }
  const Var* CopyOf(size_t i, const Var* var) { return To<Var>(cloners_[i]->Clone(static_cast<const Expr*>(var))); }
  const tir::Var* CopyOf(size_t i, const tir::Var* dim) {
    return To<tir::Var>(cloners_[i]->Clone(static_cast<const PrimExpr*>(dim)));
  }
  bool MatchWeights(size_t i);
  void FindShared();
  void FindOutputs(bool shared);
  const Function* Checked(const Function* function, size_t i);

  const Module& module_;
  std::vector<LiftTarget> targets_;
  DiagnosticEngine& diagnostics_;
  Workspace workspace_;
  std::vector<std::unique_ptr<Cloner>> cloners_;        // by target
  std::vector<LiftPlan> plans_;                         // by target
  std::vector<std::unordered_set<const Var*>> shared_;  // by target: variables of the values that all targets compute
  // Of the transform:
  std::vector<const Var*> params_;
  std::vector<const Binding*> lifted_;
  std::vector<const tir::Var*> dims_;
  std::vector<const Var*> outputs_;
};

}  // namespace iropt
