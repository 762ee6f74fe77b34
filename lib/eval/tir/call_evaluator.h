// Calls of intrinsics that are more than operations on scalars: on pointers, descriptors, packed functions.
#pragma once

#include "buffer_evaluator.h"

namespace iropt::eval {

class CallEvaluator : public BufferEvaluator {
 public:
  using BufferEvaluator::BufferEvaluator;

  // An intrinsic that is more than an operation on scalars.
  struct Builtin {
    OpId id;
    size_t arity;
    bool (CallEvaluator::*run)(const tir::Call& call, int lane, Scalar* result);
  };
  static constexpr size_t kAnyArity = SIZE_MAX;
  static const Builtin* FindBuiltin(const OpInfo& op);

 protected:
  bool CallBuiltin(const tir::Call& call, std::string_view name, int lane, Scalar* result) override;

 private:
  bool EvalAccessPtr(const tir::Call& call, int lane, Scalar* result);
  bool EvalAddressOf(const tir::Call& call, int lane, Scalar* result);
  bool EvalAtomicAdd(const tir::Call& call, int lane, Scalar* result);
  bool EvalCallPacked(const tir::Call& call, int lane, Scalar* result);
  bool EvalHint(const tir::Call& call, int lane, Scalar* result);
  bool EvalIsNull(const tir::Call& call, int lane, Scalar* result);
  bool EvalMakeArray(const tir::Call& call, int lane, Scalar* result);
  bool EvalMakeShape(const tir::Call& call, int lane, Scalar* result);
  bool EvalOnlyStatement(const tir::Call& call, int lane, Scalar* result);
  bool EvalStructGet(const tir::Call& call, int lane, Scalar* result);
  bool EvalSync(const tir::Call& call, int lane, Scalar* result);
  bool EvalUndef(const tir::Call& call, int lane, Scalar* result);
  // The argument of a packed function.
  bool EvalPackedArg(const PrimExpr* arg, HostValue* value);
  bool MakeTensor(const ArrayRecord& array, HostValue* value);
};

}  // namespace iropt::eval
