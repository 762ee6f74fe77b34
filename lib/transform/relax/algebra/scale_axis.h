// Support for ForwardFoldScaleAxis and BackwardFoldScaleAxis: products of tensors with constants along one axis, and
// the operators that such products can be moved through or into.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "iropt/diag/source.h"
#include "iropt/ir/ndarray.h"
#include "iropt/op/op_id.h"
#include "iropt/pass/pass.h"

namespace iropt {

// Form that a factor along an axis of a tensor must have to be moved through the operators between the product and the
// weights.
struct ScaleMessage {
  int64_t axis = 0;
  bool positive = false;  // for activations
  bool nonzero = false;   // for summands, which are divided by it
};

// The factor: a number, or as many as the axis is long.
using Scale = std::shared_ptr<const NDArray>;
// Both factors as one, rounded; `a` may be null.
Scale Product(const Scale& a, const Scale& b);
// Returns whether the numbers are what the message asks for.
bool Fits(const Scale& scale, const ScaleMessage& message);
// The factor as a constant that multiplies a tensor of this rank along the axis.
const Expr* ScaleAlong(const Scale& scale, int64_t rank, int64_t axis, Workspace& workspace);

// The axis of a tensor whose elements are multiplied by the elements along an axis of constant weights.
struct WeightAxis {
  int64_t tensor = 0;
  int64_t weight = 0;
  // If the axis of the weights is as long as that of the tensor in each of several groups: the axis of the weights that
  // is divided into these.
  int64_t groups = 1;
  int64_t group_axis = 0;
};

// The factor as a constant that multiplies weights of this type along the axis.
const Expr* ScaleOfWeights(const Scale& scale, const TensorType& weight, const WeightAxis& axis, Workspace& workspace);

// The call, which comes from where the old one did and from `more` as well.
const Expr* FromPlaces(const Expr* made, const Call& old, SourceSpan more, Workspace& workspace);
// Of two.
SourceSpan JoinPlaces(SourceSpan a, SourceSpan b);

// The calls of operators of a function.
class ScaleGraph {
 public:
  ScaleGraph(const Function& function, uint32_t num_vars);

  // Variables that are bound to such calls, in program order.
  const std::vector<const VarBinding*>& operations() const { return operations_; }
  uint32_t Uses(const Var* var) const { return uses_[var->id]; }
  // Returns whether the expression is computed from constants only.
  bool IsConstant(const Expr* expr) const;

  // The axes of a convolution, or of a matrix product, of floats with constant weights: of its data along the
  // input channels, of its result along the output channels.
  std::optional<WeightAxis> InputAxis(const Call& call) const;
  std::optional<WeightAxis> OutputAxis(const Call& call) const;
  // The factor that an operand is for a tensor of this type, if it is a constant with one number, or one for each
  // position along the axis; else null.
  Scale ScaleOf(const Expr* operand, const Type* tensor, int64_t axis) const;
  // Returns whether an operand that is computed from constants is repeated along all axes of the tensor but this one.
  bool VariesAlong(const Expr* operand, const Type* tensor, int64_t axis) const;

 private:
  const NDArray* LiteralOf(const Expr* expr) const;
  bool HasFloatWeights(const Call& call) const;

  std::vector<const VarBinding*> operations_;
  std::vector<uint32_t> uses_;            // by Var::id
  std::vector<bool> is_constant_;         // by Var::id
  std::vector<const Constant*> literal_;  // by Var::id: the constant that it is bound to
};

// An activation f with f(s * x) = s * f(x) for positive s.
bool IsScalableActivation(OpId op);
// An addition or a subtraction.
bool IsSum(OpId op);

}  // namespace iropt
