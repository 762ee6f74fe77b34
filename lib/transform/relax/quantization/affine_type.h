// Quantized tensors: the parameters of their quantization, and the forms of it: R.quantize and R.dequantize, and what
// the reader of Relay makes of qnn.quantize and qnn.dequantize.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "iropt/ir/module.h"
#include "iropt/ir/relax/expr.h"
#include "iropt/ir/relax/pattern.h"

namespace iropt {

// real = scale * (quantized - zero_point). Scale and zero point have rank 0, or are vectors along the axis.
struct AffineType {
  const Expr* scale = nullptr;
  const Expr* zero_point = nullptr;
  DataType dtype;  // of the quantized tensor
  int64_t axis = -1;
};

// The operand and the parameters of a quantization or of a dequantization.
struct Quantization {
  const Expr* data = nullptr;
  AffineType type;
};

// R.dequantize to float32, or R.multiply(R.astype(R.subtract(R.astype(data, "int32"), zero_point), "float32"), scale),
// also without what a zero point of 0 leaves out.
std::optional<Quantization> MatchDequantize(const Expr* real, const Definitions& definitions, Workspace& workspace);
// R.quantize of float32, or R.astype(R.clip(R.add(R.round(R.divide(data, scale)), zero_point), least, most), dtype),
// where `least` and `most` are the range of the dtype; also without a zero point of 0.
std::optional<Quantization> MatchQuantize(const Expr* quantized, const Definitions& definitions, Workspace& workspace);

// The elements of a constant; nothing if the expression is not one.
std::optional<std::vector<double>> NumbersOf(const Expr* expr);
// A constant of rank 0, a vector of the elements, or a tensor of them, rounded to the dtype.
const Constant* MakeNumber(double value, DataType dtype, Workspace& workspace);
const Constant* MakeVector(const std::vector<double>& values, DataType dtype, Workspace& workspace);
const Constant* MakeTensor(const std::vector<double>& values, std::span<const int64_t> shape, DataType dtype,
                           Workspace& workspace);
// The least and the greatest value of a dtype of integers.
std::pair<double, double> RangeOf(DataType dtype);
// Returns whether all scales are positive constants, so that the numbers have the order of their integers.
bool KeepsOrder(const AffineType& type);
// A literal number; nothing for other scalars.
std::optional<double> NumberOfScalar(const Expr* scalar);

// Constants whose elements differ by less than 1e-5 of their size, or the same expression.
bool AreClose(const Expr* a, const Expr* b);
// Close parameters and the same dtype.
bool AreClose(const AffineType& a, const AffineType& b);
// Parameters that are equal, bit by bit.
bool AreEqual(const AffineType& a, const AffineType& b);

}  // namespace iropt
