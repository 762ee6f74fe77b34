// Evaluation of calls whose operands are known, for FoldConstant: within the limits, and only to what the type of the
// call promises.
#pragma once

#include <optional>
#include <span>

#include "iropt/op/op.h"
#include "iropt/runtime/value.h"
#include "iropt/transform/relax/simplify/fold_constant.h"

namespace iropt {

class ConstantEvaluator {
 public:
  ConstantEvaluator(const Module& module, const FoldOptions& options) : module_(module), options_(options) {}

  // Whether calls of the operator can be folded at all: there is a kernel, and there are no effects.
  static bool IsFoldable(const OpInfo& op);

  // The value of a call of the operator; nullopt where it is not to be folded.
  std::optional<HostValue> EvalOperator(const Call& call, const OpInfo& op, std::span<const HostValue> args);
  // The value of a call_tir of `callee` with the given operands and integers.
  std::optional<HostValue> EvalCallTir(const Call& call, const Expr* callee, std::span<const HostValue> args,
                                       std::span<const int64_t> tir_vars);

 private:
  std::optional<HostValue> Accept(HostValue value, const Type* type);

  const Module& module_;
  FoldOptions options_;
  size_t total_bytes_ = 0;
};

// The type of a constant that takes the place of an expression of type `type`: that type where it says everything.
const Type* ConstantType(const NDArray& tensor, const Type* type);

}  // namespace iropt
