// Products and convolutions of integers of 8 bits as operators of Relax with sums in int32, of data without signs and
// weights with signs, as processors multiply bytes. What the zero points add is subtracted from the sums.
#pragma once

#include <optional>
#include <vector>

#include "iropt/infer/op_builder.h"
#include "iropt/ir/relax/expr.h"

namespace iropt {

// A tensor of int8 or uint8 and its zero point, which is that of all elements or a vector.
struct ZeroedTensor {
  const Expr* values = nullptr;
  const Expr* zero = nullptr;  // null: 0
};

struct ConvShape {
  std::vector<int64_t> strides, dilations, pads;  // of two axes; pads before both, then after both
  int64_t groups = 1;
};

// The static size of an axis, which counts from the last one if it is negative.
std::optional<int64_t> DimOf(const Expr* tensor, int axis);

class IntegerProducts {
 public:
  // The length of sums that is padded to a multiple of `steps`.
  IntegerProducts(OpBuilder calls, Workspace& workspace, int64_t steps)
      : calls_(calls), workspace_(workspace), steps_(steps) {}

  // The sums of (a - a.zero) * (b - b.zero), where the zero points are of all, of rows of a, or of columns of b. Null
  // if the types are not known.
  const Expr* Product(const ZeroedTensor& a, const ZeroedTensor& b);
  // The same of images of two axes, NCHW and OIHW. A zero point of the kernel may be one for each filter.
  const Expr* Convolution(const ZeroedTensor& x, const ZeroedTensor& w, const ConvShape& shape);

  // The sums times the factor, rounded, in the dtype with the zero point (null: 0).
  const Expr* Requantize(const Expr* sums, const Expr* factor, const Expr* zero, DataType dtype);
  const Expr* Cast(const Expr* x, DataType dtype);
  // A vector of channels as [1, C, 1, 1]; one number as it is.
  const Expr* AlongChannels(const Expr* vector);
  // A vector of rows as [M, 1]; others as they are.
  const Expr* AlongRows(const Expr* vector);

 private:
  // The same numbers in the other dtype of 8 bits, with another zero point in int32 (null: 0).
  ZeroedTensor WithSign(const ZeroedTensor& x, bool has_sign);
  // Over the axes, which stay with length 1, in int32.
  const Expr* Sum(const Expr* x, const std::vector<int64_t>& axes);
  const Expr* Pad(const Expr* x, const std::vector<int64_t>& widths, double value);
  // With so many zeros after the end of the axis.
  const Expr* PadWeight(const Expr* w, size_t axis, int64_t count);
  const Expr* WindowSums(const Expr* x, const Expr* w, const ConvShape& shape);
  const Expr* Scalar(double value) { return calls_.MakeScalar(value, DataType::Int(32)); }

  OpBuilder calls_;
  Workspace& workspace_;
  int64_t steps_;
};

}  // namespace iropt
