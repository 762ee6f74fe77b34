// Evaluation of scalar expressions of TIR, given values of their variables.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "iropt/eval/taken_branches.h"
#include "iropt/ir/tir/expr.h"
#include "iropt/runtime/value.h"
#include "iropt/support/lookup.h"
#include "iropt/support/result.h"

namespace iropt {

// Values of variables. Those of a function have dense ids; symbolic variables of the context are few.
class ScalarEnv {
 public:
  void Bind(const tir::Var* var, Scalar value);
  // Null if the variable has no value.
  const Scalar* Find(const tir::Var* var) const;
  // Removes the value at the end of the scope of the variable.
  void Unbind(const tir::Var* var);

 private:
  struct Slot {
    bool bound = false;
    Scalar value;
  };
  std::vector<Slot> locals_;
  std::unordered_map<const tir::Var*, Scalar> symbols_;
};

// Computes expressions with the semantics of their dtypes (see evaluator.h). A vector is computed lane by lane.
// Evaluation is lazy if that only makes more expressions defined: the branch of a Select that is not taken may be
// undefined.
class ScalarEvaluator {
 public:
  virtual ~ScalarEvaluator() = default;

  ScalarEnv& env() { return variables_.scalars; }
  // The value of lane `lane` (of an expression with several; else 0). False after an error, of which the first is kept.
  bool Eval(const PrimExpr* expr, Scalar* result, int lane = 0);
  bool EvalInt(const PrimExpr* expr, int64_t* result, int lane = 0);
  bool EvalBool(const PrimExpr* expr, bool* result, int lane = 0);
  // One of two values, by the condition.
  bool EvalChoice(const PrimExpr* condition, const PrimExpr* yes, const PrimExpr* no, int lane, Scalar* result);
  // A call of an intrinsic that computes each lane from those of its operands.
  bool EvalIntrinsic(const tir::Call& call, int lane, Scalar* result);
  // Records the error unless there is one already; false.
  bool Fail(std::string message, ErrorCode code = ErrorCode::SemanticCheck);

  // Returns whether calls of the intrinsic are operations on scalars, or on the lanes of vectors.
  static bool IsEvaluated(const OpInfo& op);

  bool failed() const { return failed_; }
  const Error& error() const { return error_; }

 protected:
  // Reads an element of a buffer. Fails for expressions outside of functions.
  virtual bool Load(const tir::BufferLoad& load, int lane, Scalar* result);
  // Calls a function of the module. Fails for expressions outside of functions.
  virtual bool CallFunction(const tir::Call& call, const GlobalVar& callee, Scalar* result);
  // Calls an intrinsic that is more than an operation on scalars: one on memory, or on threads.
  virtual bool CallBuiltin(const tir::Call& call, std::string_view name, int lane, Scalar* result);
  // Called once per node; false (after Fail) ends the evaluation.
  virtual bool Step() { return true; }
  // Binds the variable of a let, all lanes of a vector. UnbindLet removes the value.
  bool BindLet(const tir::Var* var, const PrimExpr* value);
  void UnbindLet(const tir::Var* var);

  // Variables with their values. Threads have their own.
  struct Variables {
    ScalarEnv scalars;
    LookupMap<const tir::Var*, std::vector<Scalar>> vectors;
  };
  Variables& variables() { return variables_; }
  // From now on, `overflows` becomes true if a sum, difference or product of signed integers of 32 or 64 bits does not
  // fit its dtype.
  void WatchOverflow(bool* overflows) { overflows_ = overflows; }
  // From now on, `branches` receives the ways that conditions go; null: none.
  void WatchBranches(TakenBranches* branches) { branches_ = branches; }
  // Notes that the condition was evaluated.
  void NoteBranch(const PrimExpr* condition, bool value) {
    if (branches_) branches_->Add(condition, value);
  }

 private:
  bool Dispatch(const PrimExpr* expr, int lane, Scalar* result);
  bool EvalVar(const tir::Var* var, int lane, Scalar* result);
  bool EvalBinary(const tir::BinaryExpr& expr, int lane, Scalar* result);
  bool EvalComparison(const tir::BinaryExpr& expr, int lane, Scalar* result);
  bool EvalLogic(const tir::BinaryExpr& expr, int lane, Scalar* result);
  bool EvalCast(const tir::Cast& expr, int lane, Scalar* result);
  bool EvalLet(const tir::Let& expr, int lane, Scalar* result);
  bool EvalRamp(const tir::Ramp& expr, int lane, Scalar* result);
  bool EvalShuffle(const tir::Shuffle& expr, int lane, Scalar* result);
  bool EvalCall(const tir::Call& call, int lane, Scalar* result);

  Variables variables_;
  bool* overflows_ = nullptr;          // null: it is not watched
  TakenBranches* branches_ = nullptr;  // null: they are not noted
  bool failed_ = false;
  Error error_{ErrorCode::SemanticCheck, {}};
};

// One element as a scalar, from and to memory. The dtype must be an element type.
Scalar LoadScalar(DataType dtype, const std::byte* place);
void StoreScalar(const Scalar& value, std::byte* place);
// The value in another dtype; false if it is undefined.
bool CastScalar(const Scalar& value, DataType dtype, Scalar* result);
// Converts the argument of a parameter; false if the dtype does not hold it, as an integer must keep its value.
bool ConvertArgument(const Scalar& value, DataType dtype, Scalar* result);

}  // namespace iropt
