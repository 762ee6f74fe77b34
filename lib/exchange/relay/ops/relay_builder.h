// Short names for operators of Relay, so that the expansion of an operator reads like the formula.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "op_table.h"

namespace iropt::relay {

class RelayBuilder {
 public:
  using Value = const Expr*;

  explicit RelayBuilder(OpCall& call) : call_(call) {}

  // ---- Operators. All give null for a null operand.
  Value Add(Value a, Value b) { return call_.Relay("add", {a, b}); }
  Value Subtract(Value a, Value b) { return call_.Relay("subtract", {a, b}); }
  Value Multiply(Value a, Value b) { return call_.Relay("multiply", {a, b}); }
  Value Divide(Value a, Value b) { return call_.Relay("divide", {a, b}); }
  Value Less(Value a, Value b) { return call_.Relay("less", {a, b}); }
  Value GreaterEqual(Value a, Value b) { return call_.Relay("greater_equal", {a, b}); }
  Value Equal(Value a, Value b) { return call_.Relay("equal", {a, b}); }
  Value LogicalOr(Value a, Value b) { return call_.Relay("logical_or", {a, b}); }
  Value LeftShift(Value a, Value b) { return call_.Relay("left_shift", {a, b}); }
  Value RightShift(Value a, Value b) { return call_.Relay("right_shift", {a, b}); }
  Value Where(Value condition, Value a, Value b) { return call_.Relay("where", {condition, a, b}); }
  Value Unary(std::string_view name, Value a) { return call_.Relay(name, {a}); }
  // Also where the value has the dtype already.
  Value Cast(Value a, DataType dtype) { return call_.Relay("cast", {a}, {{"dtype", call_.DTypeValue(dtype)}}); }
  Value Clip(Value a, double least, double most) {
    return call_.Relay("clip", {a}, {{"a_min", least}, {"a_max", most}});
  }
  Value Sum(Value a, std::initializer_list<int64_t> axes, bool keepdims) {
    return call_.Relay("sum", {a}, {{"axis", call_.ListOf(axes)}, {"keepdims", keepdims}});
  }
  Value Max(Value a, int64_t axis) {
    return call_.Relay("max", {a}, {{"axis", call_.ListOf({axis})}, {"keepdims", true}});
  }
  Value Reshape(Value a, std::initializer_list<int64_t> shape) {
    return call_.Relay("reshape", {a}, {{"newshape", call_.ListOf(shape)}});
  }
  Value Repeat(Value a, int64_t repeats, int64_t axis) {
    return call_.Relay("repeat", {a}, {{"repeats", repeats}, {"axis", axis}});
  }
  // A vector with axes of size 1 after its own, so that it broadcasts along an axis of a tensor of the rank.
  Value AlongAxis(Value vector, int64_t axis, int rank);

  // ---- Constants
  Value Int(int64_t value, DataType dtype = DataType::Int(32)) { return call_.Scalar(value, dtype); }
  Value Float(double value, DataType dtype = DataType::Float(32)) { return call_.Scalar(value, dtype); }
  Value Vector(std::span<const double> values, DataType dtype);
  Value Vector(std::span<const int64_t> values, DataType dtype) { return call_.IntTensor(values, dtype); }

  OpCall& call() { return call_; }

 private:
  OpCall& call_;
};

// The elements of a constant of any dtype; nothing if the expression is not one.
std::optional<std::vector<double>> ConstantNumbers(const Expr* expr);
// The first element of a constant of any dtype.
std::optional<double> ConstantNumber(const Expr* expr);
// A constant of rank 0.
bool IsConstantScalar(const Expr* expr);
// Both are constants of rank 0, of one dtype and value.
bool AreEqualScalars(const Expr* a, const Expr* b);

}  // namespace iropt::relay
