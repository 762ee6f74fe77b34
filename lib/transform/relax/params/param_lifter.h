// Takes out of functions what depends on weights only, into a function that is run once for all of their runs.
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
  uint32_t num_inputs;  // how many parameters are no weights
};

// Of one function, or of several with the same weights, of which what all compute is lifted. The function that makes
// the weights ready has copies of everything, in storage of its own.
class ParamLifter {
 public:
  // The targets are the functions as they are in the module, which stays until the end.
  ParamLifter(const Module& module, std::vector<LiftTarget> targets, DiagnosticEngine& diagnostics);

  // These are called in this order; false and null are errors that were reported.
  bool Plan(bool shared);
  const Function* MakeTransform();
  const Function* MakeRuntime(size_t i, Workspace& workspace);
  // The storage of the transform, once that is all.
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
  std::vector<std::unordered_set<const Var*>> shared_;  // by target: variables of what all targets compute
  // Of the transform:
  std::vector<const Var*> params_;
  std::vector<const Binding*> lifted_;
  std::vector<const tir::Var*> dims_;
  std::vector<const Var*> outputs_;
};

}  // namespace iropt
