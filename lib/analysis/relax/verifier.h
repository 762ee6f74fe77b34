// The verifier of Relax functions; see well_formed.h for the rules.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/scope.h"
#include "iropt/diag/diagnostic.h"
#include "iropt/infer/infer.h"
#include "iropt/ir/location.h"
#include "iropt/ir/module.h"
#include "iropt/op/op.h"

namespace iropt {

// The inline functions run for every binding or operand, those with Report in their name only for errors.
class RelaxVerifier {
 public:
  RelaxVerifier(const Module& module, bool check_types, DiagnosticEngine& diagnostics)
      : module_(module), check_types_(check_types), diagnostics_(diagnostics), infer_(&module, arena_, &diagnostics) {}

  void Verify(const ModuleEntry& entry);
  // The symbolic variables that the function verified last defines.
  std::vector<const tir::Var*> TakeSymVars() { return sym_vars_.TakeOwned(); }

 private:
  // The state that changes when a nested function is entered.
  struct FunctionState {
    const Function* pure = nullptr;  // the function, if impure calls in it are errors
    uint32_t dataflow_block = 0;     // the number of the current dataflow block, 0 outside
  };

  // Functions, sequences and bindings.
  void VisitFunction(const Function& f);
  void CheckResultType(const Function& f);
  void VisitParams(const Function& f);
  void VisitBody(const Expr* body, const Node& owner, std::string_view what);
  void VisitBlock(const BindingBlock& block);
  void VisitBinding(const VarBinding& binding);
  void VisitBinding(const MatchCast& cast);
  void CheckBoundType(const VarBinding& binding);
  void Define(const Var* var) {
    if (vars_.life(var) == Life::kUnseen && (state_.dataflow_block != 0 || !var->is_dataflow())) {
      if (VarScope<Var>::Slot* slot = vars_.Define(var)) {
        slot->place = state_.dataflow_block;
        return;
      }
    }
    ReportDefinition(var);
  }
  void ReportDefinition(const Var* var);

  // Expressions. Those that return bool return whether the expression has a type as far as types are checked.
  void VisitValue(const Expr* value);
  void VisitIf(const If& branch);
  bool VisitLeaf(const Expr* leaf, const Node& at, std::string_view what) {
    if (!Var::ClassOf(leaf->kind)) return VisitOtherLeaf(leaf, at, what);
    UseVar(static_cast<const Var*>(leaf), at);
    return CheckType(leaf->type, at);
  }
  bool VisitOtherLeaf(const Expr* leaf, const Node& at, std::string_view what);
  bool VisitTuple(const Tuple& tuple);
  void VisitProjection(const TupleGetItem& item);
  void VisitShape(const ShapeExpr& shape);
  void UseVar(const Var* var, const Node& at) {
    const VarScope<Var>::Slot* slot = vars_.Find(var);
    const bool in_place = !var->is_dataflow() || (slot && slot->place == state_.dataflow_block);
    if (!slot || slot->life != Life::kVisible || !in_place) ReportUse(var, slot, at);
  }
  void ReportUse(const Var* var, const VarScope<Var>::Slot* slot, const Node& at);
  void UseGlobal(const GlobalVar* var, const Node& at);

  // Calls; the second half is in call_verifier.cpp.
  void VisitCall(const Call& call);
  void CheckPurity(const Call& call);
  void CheckAttributes(const Call& call, const OpInfo& op);
  void CheckCallType(const Call& call);
  void CheckInspection(const Call& call);
  void CheckCallTir(const Call& call, bool inplace);

  // Types.
  bool CheckType(const Type* type, const Node& at) {
    if (type && (type->flags == 0 || !check_types_)) return true;
    return CheckOtherType(type, at);
  }
  bool CheckOtherType(const Type* type, const Node& at);
  void UseType(const Type* type, const Node& at);
  void UseTypeSlow(const Type* type, const Node& at);
  void UseSymVars(const PrimExpr* e, const Node& at);
  void DefineSymVars(const Type* type, bool owned = true);

  // The location of a report: that of the node, or of the enclosing node if it has none.
  SourceSpan At(const Node& node) const;
  DiagnosticBuilder Error(const Node& at, DiagId kind, std::string message) {
    return diagnostics_.Error(At(at), kind, std::move(message));
  }

  // Returns whether the last error was another one: an error that occurs twice in an expression is reported once.
  bool IsNewError(const Node& at, const Node* var) {
    return std::exchange(last_error_, std::pair(&at, var)) != std::pair(&at, var);
  }

  const Module& module_;
  const bool check_types_;
  DiagnosticEngine& diagnostics_;
  Arena arena_;  // for inferred types with shape variables
  InferContext infer_;
  VarScope<Var> vars_;
  SymVarScope sym_vars_;
  FunctionState state_;
  uint32_t num_dataflow_blocks_ = 0;
  std::pair<const Node*, const Node*> last_error_;
  const Node* around_ = nullptr;    // the current binding
  const Node* function_ = nullptr;  // the current function
};

}  // namespace iropt
