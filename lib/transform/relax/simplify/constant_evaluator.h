// Evaluation of calls with constant operands for FoldConstant: within the limits, and only if the result fits the type
// of the call.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "iropt/eval/evaluator.h"
#include "iropt/op/op.h"
#include "iropt/runtime/value.h"
#include "iropt/transform/relax/simplify/fold_constant.h"

namespace iropt {

class ConstantEvaluator {
 public:
  // For calls of that function, as it is before any is folded.
  ConstantEvaluator(const Function& function, const Module& module, const FoldOptions& options)
      : function_(function), module_(module), options_(options) {}

  // Returns whether calls of the operator can be folded at all: it has a kernel and no effects.
  static bool IsFoldable(const OpInfo& op);
  // The same, under the options.
  bool MayFold(const OpInfo& op) const;

  // The value of a call of the operator; nullopt if it must not be folded.
  std::optional<HostValue> EvalOperator(const Call& call, const OpInfo& op, std::span<const HostValue> args);
  // The value of a call_tir of `callee` with the given operands and integers.
  std::optional<HostValue> EvalCallTir(const Call& call, const Expr* callee, std::span<const HostValue> args,
                                       std::span<const int64_t> tir_vars);

  // Returns whether a call of a packed function may be folded: it is one of ONNX's operators on tensors, which run
  // without effects, and does not stay for runtimes. The operands of EvalPacked are those after the name.
  static bool MayFoldPacked(const Call& call);
  std::optional<HostValue> EvalPacked(const Call& call, std::span<const HostValue> args);

  // The calls that were not folded because of a limit.
  struct Declined {
    size_t count = 0;
    const Call* first = nullptr;
    std::string reason;  // of the first
  };
  const Declined& declined() const { return declined_; }

 private:
  // Returns the rest of the limits for an evaluation whose unit of work costs as much as `work_of_step` units of a
  // kernel.
  EvalLimits Limits(std::span<const HostValue> args, uint64_t work_of_step);
  // Declines a call that would read a big operand from a file; false for other calls.
  bool DeclineBigFile(const Call& call, std::span<const HostValue> args);
  // Records why there is no value.
  std::nullopt_t Decline(const Call& call, const Error& error);
  std::optional<HostValue> Accept(HostValue value, const Type* type);

  // The limit for all results together.
  size_t MaxTotalBytes();

  const Function& function_;
  const Module& module_;
  FoldOptions options_;
  std::optional<size_t> max_total_bytes_;
  size_t total_bytes_ = 0;
  uint64_t total_work_ = 0;
  Declined declined_;
};

// The type of a constant that replaces an expression of type `type`: that type if it is complete.
const Type* ConstantType(const NDArray& tensor, const Type* type);

}  // namespace iropt
