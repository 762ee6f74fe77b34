// Building the expressions of gradients.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/relax/builder.h"
#include "iropt/op/op_attrs.h"

namespace iropt {

// Makes calls without types, which BlockBuilder infers when they are bound, at the location of the call that is
// differentiated. After an error, which is reported there, what it makes has no meaning, but nothing
// is null.
class GradBuilder {
 public:
  GradBuilder(BlockBuilder& builder, DiagnosticEngine& diagnostics) : builder_(builder), diagnostics_(diagnostics) {}

  BlockBuilder& block() { return builder_; }
  Workspace& workspace() { return builder_.workspace(); }
  bool failed() const { return failed_ || builder_.failed(); }
  // The location of errors and of new calls.
  void set_location(const Node& node) { location_ = node.span(); }
  void Fail(std::string message);

  const Expr* Call(OpId op, std::initializer_list<const Expr*> args, const Attr* attrs = nullptr);
  const Expr* Add(const Expr* a, const Expr* b);
  const Expr* Subtract(const Expr* a, const Expr* b);
  const Expr* Multiply(const Expr* a, const Expr* b);
  const Expr* Divide(const Expr* a, const Expr* b);
  const Expr* Negative(const Expr* x);
  const Expr* Where(const Expr* cond, const Expr* a, const Expr* b);
  const Expr* Matmul(const Expr* a, const Expr* b);
  const Expr* Reshape(const Expr* x, const Expr* shape);
  const Expr* BroadcastTo(const Expr* x, const Expr* shape);
  const Expr* PermuteDims(const Expr* x, std::span<const int64_t> axes);
  const Expr* ExpandDims(const Expr* x, std::span<const int64_t> axes);
  const Expr* Squeeze(const Expr* x, std::span<const int64_t> axes);
  // The sum over the axes, over all without a list, which stay with length 1.
  const Expr* SumKeepingDims(const Expr* x, std::optional<std::span<const int64_t>> axes);
  const Expr* Astype(const Expr* x, DataType dtype);
  // For a tuple type, a tuple of zeros.
  const Expr* Zeros(const Type* type);

  // A constant of rank 0 with the dtype of the tensor.
  const Expr* Scalar(double value, const Expr* like);
  const Expr* Shape(std::span<const PrimExpr* const> dims);
  const Expr* IntTuple(std::span<const PrimExpr* const> values);

  // The shape of the tensor, which must have one: a ShapeExpr or a variable.
  const Expr* ShapeOf(const Expr* tensor);
  // The dimensions of the tensor, which must be known; empty after an error.
  std::span<const PrimExpr* const> DimsOf(const Expr* tensor);
  // The dimension of this axis, from the end if negative, which must be a number; 1 after an error.
  int64_t StaticDim(const Expr* tensor, int64_t axis);
  // The product of the lengths of the axes, of all without a list. They must be numbers.
  int64_t NumElements(const Expr* tensor, std::optional<IntList> axes);
  DataType DTypeOf(const Expr* tensor) const;
  int NumDims(const Expr* tensor);

  // The gradient of an operand that was broadcast: `grad` summed to the shape of the operand. Both shapes must be
  // known.
  const Expr* FitShape(const Expr* grad, const Expr* operand);
  // The gradient of an operand as FitShape makes it if both shapes are known, else `grad`.
  const Expr* FitKnownShape(const Expr* grad, const Expr* operand);

 private:
  const Expr* SumTo(const Expr* grad, std::span<const PrimExpr* const> from, const Expr* operand);

  BlockBuilder& builder_;
  DiagnosticEngine& diagnostics_;
  Span location_;
  bool failed_ = false;
};

}  // namespace iropt
