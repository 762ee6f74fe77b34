// The values of operands that constants alone decide.
#pragma once

#include <optional>

#include "iropt/ir/relax/builder.h"
#include "iropt/runtime/value.h"
#include "iropt/support/lookup.h"

namespace iropt::onnx {

// Many operators of ONNX take as operands what operators of Relax have as attributes: sizes, scales, pads. They are
// often computed from constants, and are evaluated when an operator asks for them.
class OperandFolder {
 public:
  explicit OperandFolder(BlockBuilder& builder) : builder_(builder) {}

  // The constant that an expression is, or a small one that the calls that a variable stands for compute from
  // constants; null for other values. Each variable is evaluated once, at a cost that is limited by a constant.
  const Constant* Find(const Expr* expr);

 private:
  std::optional<HostValue> Evaluate(const Expr* expr);
  std::optional<HostValue> EvaluateCall(const Call& call);
  std::optional<HostValue> EvaluateVar(const Var* var);

  BlockBuilder& builder_;
  LookupMap<const Var*, std::optional<HostValue>> values_;
  LookupMap<const Var*, const Constant*> constants_;
};

}  // namespace iropt::onnx
