// Elementwise tensor expressions, and what others need of shapes.
#include <algorithm>

#include "iropt/legalize/topi.h"
#include "iropt/op/intrinsic_ids.h"

namespace iropt::topi {

// ---- Scalars

Value Exp(Value x) { return te::Call(op::kTirExp, {x}); }
Value Erf(Value x) { return te::Call(op::kTirErf, {x}); }
Value Log(Value x) { return te::Call(op::kTirLog, {x}); }
Value Sqrt(Value x) { return te::Call(op::kTirSqrt, {x}); }
Value Rsqrt(Value x) { return te::Call(op::kTirRsqrt, {x}); }
Value Sigmoid(Value x) { return te::Call(op::kTirSigmoid, {x}); }
Value Tanh(Value x) { return te::Call(op::kTirTanh, {x}); }
Value Pow(Value x, Value y) { return te::Call(op::kTirPow, {x, y}); }
Value Floor(Value x) { return x.dtype().is_integer() ? x : te::Call(op::kTirFloor, {x}); }
Value Ceil(Value x) { return x.dtype().is_integer() ? x : te::Call(op::kTirCeil, {x}); }
Value Round(Value x) { return x.dtype().is_integer() ? x : te::Call(op::kTirRound, {x}); }

Value Abs(Value x) {
  if (x.dtype().is_uint()) return x;
  if (x.dtype().is_int()) return te::Select(x >= 0, x, x * -1);
  return te::Call(op::kTirFabs, {x});
}

Value Sign(Value x) {
  te::Builder& te = *x.te();
  const Value zero = te.Const(0, x.dtype());
  // The condition of a Select counts in int64.
  const bool narrow = x.dtype().is_int() && x.dtype().bits < 64;
  const Value wide = narrow ? te::Cast(DataType::Int(64), x) : x;
  const Value origin = narrow ? te.Int(0) : zero;
  const Value negative = te::Select(wide < origin, te.Const(-1, x.dtype()), zero);
  return te::Select(wide > origin, te.Const(1, x.dtype()), negative);
}

// ---- Shapes

BroadcastShapes Broadcast(te::Builder& te, Values a, Values b) {
  BroadcastShapes result;
  result.shape.resize(std::max(a.size(), b.size()));
  result.repeats_a.resize(a.size());
  result.repeats_b.resize(b.size());
  for (size_t i = 1; i <= result.shape.size(); ++i) {
    Value& dim = result.shape[result.shape.size() - i];
    if (i > a.size() || i > b.size()) {
      dim = i > a.size() ? b[b.size() - i] : a[a.size() - i];
      continue;
    }
    const Value x = a[a.size() - i];
    const Value y = b[b.size() - i];
    if (te.Equal(x, y)) {
      dim = x;
    } else if (x.Is(1)) {
      dim = y;
      result.repeats_a[a.size() - i] = true;
    } else if (y.Is(1)) {
      dim = x;
      result.repeats_b[b.size() - i] = true;
    } else {
      dim = x.AsInt() ? x : y.AsInt() ? y : te::Max(x, y);
    }
  }
  return result;
}

namespace {

// The element of a tensor at the last of the indices, or the scalar.
Value ElementAt(const Operand& operand, const std::vector<bool>& repeats, Values indices) {
  const auto* tensor = std::get_if<Tensor>(&operand);
  if (!tensor) return std::get<Value>(operand);
  std::vector<Value> own(indices.end() - static_cast<ptrdiff_t>(tensor->ndim()), indices.end());
  for (size_t i = 0; i < own.size(); ++i) {
    if (repeats[i]) own[i] = 0;
  }
  return (*tensor)(Values(own));
}

Shape ShapeOf(const Operand& operand) {
  const auto* tensor = std::get_if<Tensor>(&operand);
  return tensor ? tensor->shape() : Shape();
}

}  // namespace

Value RavelIndex(Values indices, Values shape) {
  Value index = 0;
  for (size_t i = 0; i < indices.size(); ++i) index = i == 0 ? indices[i] : index * shape[i] + indices[i];
  return index;
}

std::vector<Value> UnravelIndex(Value index, Values shape) {
  std::vector<Value> indices(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    indices[i] = te::FloorMod(index, shape[i]);
    index = te::FloorDiv(index, shape[i]);
  }
  return indices;
}

size_t RealAxis(size_t ndim, int64_t axis) {
  return static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(ndim) : axis);
}

std::vector<size_t> RealAxes(size_t ndim, const Axes& axes) {
  std::vector<size_t> real;
  for (size_t i = 0; i < ndim && !axes; ++i) real.push_back(i);
  if (axes) {
    for (const int64_t axis : *axes) real.push_back(RealAxis(ndim, axis));
  }
  std::sort(real.begin(), real.end());
  real.erase(std::unique(real.begin(), real.end()), real.end());
  return real;
}

Value Product(Values dims, Value one) {
  Value product = one;
  for (const Value& dim : dims) product = product * dim;
  return product;
}

// ---- Elementwise

Tensor Map(const Tensor& x, UnaryFn f, std::string_view name, const te::StageOptions& options) {
  return x.te().Compute(
      name, x.shape(), [&](Values i) { return f(x(i)); }, options);
}

Tensor Broadcast(const Operand& a, const Operand& b, std::string_view name, BinaryFn f) {
  const auto* x = std::get_if<Tensor>(&a);
  te::Builder& te = x ? x->te() : std::get<Tensor>(b).te();
  const BroadcastShapes shapes = Broadcast(te, ShapeOf(a), ShapeOf(b));
  return te.Compute(name, shapes.shape,
                    [&](Values i) { return f(ElementAt(a, shapes.repeats_a, i), ElementAt(b, shapes.repeats_b, i)); });
}

Tensor Add(const Operand& a, const Operand& b) {
  return Broadcast(a, b, "T_add", [](Value x, Value y) { return x + y; });
}
Tensor Subtract(const Operand& a, const Operand& b) {
  return Broadcast(a, b, "T_subtract", [](Value x, Value y) { return x - y; });
}
Tensor Multiply(const Operand& a, const Operand& b) {
  return Broadcast(a, b, "T_multiply", [](Value x, Value y) { return x * y; });
}
Tensor Divide(const Operand& a, const Operand& b) {
  return Broadcast(a, b, "T_divide", [](Value x, Value y) { return te::Div(x, y); });
}

Tensor Cast(const Tensor& x, DataType dtype) {
  return Map(x, [&](Value v) { return te::Cast(dtype, v); });
}

Tensor CastElements(const Tensor& x, DataType dtype) {
  return Map(x, [&](Value v) { return te::Cast(dtype, v); }, "T_cast", {});
}

Tensor Identity(const Tensor& x, std::string_view name) {
  return Map(x, [](Value v) { return v; }, name, {});
}

Tensor Full(te::Builder& te, Values shape, DataType dtype, const Operand& value) {
  const auto* tensor = std::get_if<Tensor>(&value);
  const Value element = te::Cast(dtype, tensor ? (*tensor)(Values()) : std::get<Value>(value));
  return te.Compute("T_full", shape, [&](Values) { return element; });
}

Tensor BroadcastTo(const Tensor& x, Values shape) {
  const BroadcastShapes shapes = Broadcast(x.te(), shape, x.shape());
  return x.te().Compute("T_broadcast_to", shape, [&](Values i) { return ElementAt(x, shapes.repeats_b, i); });
}

Tensor Where(const Tensor& condition, const Tensor& x, const Tensor& y) {
  te::Builder& te = x.te();
  const Shape inner = Broadcast(te, x.shape(), y.shape()).shape;
  const Shape shape = Broadcast(te, condition.shape(), inner).shape;
  const auto repeats = [&](const Tensor& t) { return Broadcast(te, t.shape(), shape).repeats_a; };
  const std::vector<bool> of_condition = repeats(condition);
  const std::vector<bool> of_x = repeats(x);
  const std::vector<bool> of_y = repeats(y);
  return te.Compute("T_where", shape, [&](Values i) {
    const Value chosen = ElementAt(condition, of_condition, i);
    return te::Select(te::Cast(DataType::Int(64), chosen) != 0, ElementAt(x, of_x, i), ElementAt(y, of_y, i));
  });
}

}  // namespace iropt::topi
