// Gradients of operators that compute element by element, and of those that make tensors. Operands that are broadcast
// get the sum of the gradients of their copies.
//
// Source: the formulas are those of TVM 0.18; `y` is the result, `g` its gradient.
#include "iropt/op/ops/binary.h"
#include "iropt/op/ops/create.h"
#include "iropt/op/ops/exponential.h"
#include "iropt/op/ops/trigonometric.h"
#include "rules.h"

namespace iropt {

// ---- Binary

Partials GradAdd(const GradCall& c, GradBuilder& b) {
  return {b.FitShape(c.grad, c.arg(0)), b.FitShape(c.grad, c.arg(1))};
}

Partials GradSubtract(const GradCall& c, GradBuilder& b) {
  return {b.FitShape(c.grad, c.arg(0)), b.FitShape(b.Negative(c.grad), c.arg(1))};
}

Partials GradMultiply(const GradCall& c, GradBuilder& b) {
  return {b.FitShape(b.Multiply(c.grad, c.arg(1)), c.arg(0)), b.FitShape(b.Multiply(c.grad, c.arg(0)), c.arg(1))};
}

// g / x2 and -g * y / x2.
Partials GradDivide(const GradCall& c, GradBuilder& b) {
  const Expr* second = b.Divide(b.Multiply(b.Negative(c.grad), c.result), c.arg(1));
  return {b.FitShape(b.Divide(c.grad, c.arg(1)), c.arg(0)), b.FitShape(second, c.arg(1))};
}

// g * x2 * x1 ** (x2 - 1) and g * y * log(x1), which is defined for positive x1.
Partials GradPower(const GradCall& c, GradBuilder& b) {
  const Expr* lower = b.Call(op::kPower, {c.arg(0), b.Subtract(c.arg(1), b.Scalar(1, c.arg(1)))});
  const Expr* first = b.Multiply(b.Multiply(c.grad, c.arg(1)), lower);
  const Expr* second = b.Multiply(b.Multiply(c.grad, c.result), b.Call(op::kLog, {c.arg(0)}));
  return {b.FitShape(first, c.arg(0)), b.FitShape(second, c.arg(1))};
}

namespace {

// The result is one of two operands: each has the gradient except where the comparison with its OpId holds.
Partials GradChoice(OpId not_first, OpId not_second, const GradCall& c, GradBuilder& b) {
  const Expr* zero = b.Scalar(0, c.arg(0));
  const Expr* first = b.Where(b.Call(not_first, {c.arg(0), c.arg(1)}), zero, c.grad);
  const Expr* second = b.Where(b.Call(not_second, {c.arg(0), c.arg(1)}), zero, c.grad);
  return {b.FitShape(first, c.arg(0)), b.FitShape(second, c.arg(1))};
}

}  // namespace

// Of equal operands, the first has the gradient.
Partials GradMaximum(const GradCall& c, GradBuilder& b) { return GradChoice(op::kLess, op::kGreaterEqual, c, b); }

// Of equal operands, the second has the gradient.
Partials GradMinimum(const GradCall& c, GradBuilder& b) { return GradChoice(op::kGreaterEqual, op::kLess, c, b); }

Partials GradWhere(const GradCall& c, GradBuilder& b) {
  const Expr* first = b.Where(c.arg(0), c.grad, b.Scalar(0, c.arg(1)));
  const Expr* second = b.Where(c.arg(0), b.Scalar(0, c.arg(2)), c.grad);
  return {nullptr, b.FitKnownShape(first, c.arg(1)), b.FitKnownShape(second, c.arg(2))};
}

// ---- Create

Partials GradTriu(const GradCall& c, GradBuilder& b) { return {b.Call(op::kTriu, {c.grad, c.arg(1)})}; }

// ---- Unary

Partials GradAbs(const GradCall& c, GradBuilder& b) {
  const Expr* one = b.Scalar(1, c.arg(0));
  const Expr* is_negative = b.Call(op::kLess, {c.arg(0), b.Scalar(0, c.arg(0))});
  return {b.Multiply(c.grad, b.Where(is_negative, b.Negative(one), one))};
}

Partials GradAstype(const GradCall& c, GradBuilder& b) { return {b.Astype(c.grad, b.DTypeOf(c.arg(0)))}; }

Partials GradCos(const GradCall& c, GradBuilder& b) {
  return {b.Multiply(b.Negative(c.grad), b.Call(op::kSin, {c.arg(0)}))};
}

Partials GradExp(const GradCall& c, GradBuilder& b) { return {b.Multiply(c.grad, c.result)}; }

Partials GradLog(const GradCall& c, GradBuilder& b) { return {b.Divide(c.grad, c.arg(0))}; }

Partials GradNegative(const GradCall& c, GradBuilder& b) { return {b.Negative(c.grad)}; }

// g * y * (1 - y)
Partials GradSigmoid(const GradCall& c, GradBuilder& b) {
  return {b.Multiply(b.Multiply(c.grad, c.result), b.Subtract(b.Scalar(1, c.arg(0)), c.result))};
}

Partials GradSin(const GradCall& c, GradBuilder& b) { return {b.Multiply(c.grad, b.Call(op::kCos, {c.arg(0)}))}; }

// 0.5 * g / y
Partials GradSqrt(const GradCall& c, GradBuilder& b) {
  return {b.Divide(b.Multiply(b.Scalar(0.5, c.arg(0)), c.grad), c.result)};
}

// g * (1 - y * y)
Partials GradTanh(const GradCall& c, GradBuilder& b) {
  return {b.Multiply(c.grad, b.Subtract(b.Scalar(1, c.arg(0)), b.Multiply(c.result, c.result)))};
}

Partials GradNnRelu(const GradCall& c, GradBuilder& b) {
  const Expr* zero = b.Scalar(0, c.arg(0));
  return {b.Where(b.Call(op::kLess, {c.arg(0), zero}), zero, c.grad)};
}

// g * (s + y * (1 - s)) with s = sigmoid(x)
Partials GradNnSilu(const GradCall& c, GradBuilder& b) {
  const Expr* s = b.Call(op::kSigmoid, {c.arg(0)});
  const Expr* rest = b.Multiply(c.result, b.Subtract(b.Scalar(1, c.arg(0)), s));
  return {b.Multiply(c.grad, b.Add(s, rest))};
}

}  // namespace iropt
