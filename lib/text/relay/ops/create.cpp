// Operators that make tensors, and those that give shapes as tensors.
#include <cmath>

#include "iropt/arith/prim_builder.h"
#include "op_table.h"
#include "shape_values.h"

namespace iropt::relay {

namespace {

// The dtype attribute, or that of an expression if there is none.
PyValue DTypeOr(OpCall& call, const Expr* other) {
  const PyValue& dtype = call.attr("dtype");
  if (dtype.is(PyValue::Kind::kString) && !dtype.string().empty()) return dtype;
  return call.DTypeValue(other ? call.DType(other) : DataType::Float(32));
}

PyValue ShapeAttr(OpCall& call) { return call.ListOf(call.Ints("shape")); }

const Expr* BuildFull(OpCall& call) {
  return call.Make("full", {ShapeAttr(call), call.arg(0)}, {{"dtype", DTypeOr(call, call.arg(0))}});
}

const Expr* BuildOnesOrZeros(OpCall& call) {
  return call.Make(call.row().name, {ShapeAttr(call)}, {{"dtype", DTypeOr(call, nullptr)}});
}

const Expr* BuildLike(OpCall& call) { return call.Make(call.row().name, {call.arg(0)}); }

const Expr* BuildFullLike(OpCall& call) { return call.Make("full_like", {call.arg(0), call.arg(1)}); }

const Expr* BuildBroadcastTo(OpCall& call) { return call.Make("broadcast_to", {call.arg(0), ShapeAttr(call)}); }

// The shape of a tensor as an operand: its dimensions if they are known, else a value.
Operand ShapeOperand(OpCall& call, const Expr* tensor) {
  if (const auto dims = call.Dims(tensor)) return call.ListOf(*dims);
  return call.Make("shape_of", {tensor});
}

const Expr* BuildBroadcastToLike(OpCall& call) {
  return call.Make("broadcast_to", {call.arg(0), ShapeOperand(call, call.arg(1))});
}

// The operand of a sum of this shape. A dimension that is not 1 afterwards is the same before.
const Expr* Collapsible(OpCall& call, std::span<const int64_t> shape) {
  const Expr* data = call.arg(0);
  auto dims = call.Dims(data);
  if (!dims || dims->size() < shape.size()) return data;
  const size_t more = dims->size() - shape.size();
  bool is_stated = false;
  for (size_t i = 0; i < shape.size(); ++i) {
    const PrimExpr*& dim = (*dims)[more + i];
    if (shape[i] == 1 || arith::AsInt(dim) != nullptr) continue;
    dim = arith::PrimBuilder().Int(shape[i]);
    is_stated = true;
  }
  return is_stated ? WithDims(call, data, *dims) : data;
}

const Expr* BuildCollapseSumLike(OpCall& call) {
  const auto shape = call.StaticDims(call.arg(1));
  const Expr* data = shape ? Collapsible(call, *shape) : call.arg(0);
  return call.Make("collapse_sum_like", {data, call.arg(1)});
}

const Expr* BuildCollapseSumTo(OpCall& call) {
  if (const auto shape = OpCall::ConstantInts(call.arg(1)))
    return call.Make("collapse_sum_to", {Collapsible(call, *shape), call.ListOf(*shape)});
  return call.NoCounterpart("a shape that is computed");
}

std::optional<double> NumberOf(const Expr* expr) {
  if (const auto integer = OpCall::ConstantInt(expr)) return static_cast<double>(*integer);
  return OpCall::ConstantFloat(expr);
}

// Integers that go down, as the reverse of those that go up: the type rule of Relax rounds their number in another way.
const Expr* BuildDescending(OpCall& call, int64_t start, int64_t stop, int64_t step) {
  const int64_t count = stop < start ? (start - stop - step - 1) / -step : 0;
  const int64_t last = start + (count - 1) * step;
  const PyValue dtype = DTypeOr(call, call.arg(0));
  const Expr* ascending = call.Make(
      "arange",
      {PyValue::Int(count > 0 ? last : 0, {}), PyValue::Int(count > 0 ? start + 1 : 0, {}), PyValue::Int(-step, {})},
      {{"dtype", dtype}});
  return call.Make("flip", {ascending}, {{"axis", 0}});
}

const Expr* BuildArange(OpCall& call) {
  const auto start = NumberOf(call.arg(0));
  const auto stop = NumberOf(call.arg(1));
  const auto step = NumberOf(call.arg(2));
  if (start && stop && step && *step != 0) {
    const bool integer = call.DType(call.arg(0)).is_integer();
    constexpr double kMost = 1 << 30;
    if (integer && *step < 0 && std::abs(*start) < kMost && std::abs(*stop) < kMost && -*step < kMost) {
      return BuildDescending(call, static_cast<int64_t>(*start), static_cast<int64_t>(*stop),
                             static_cast<int64_t>(*step));
    }
    const auto number = [&](double value) {
      return integer ? PyValue::Int(static_cast<int64_t>(value), {}) : PyValue::Float(value, {});
    };
    return call.Make("arange", {number(*start), number(*stop), number(*step)}, {{"dtype", DTypeOr(call, call.arg(0))}});
  }
  return call.ComputedArange(call.arg(0), call.arg(1), call.arg(2));
}

DataType ShapeDType(OpCall& call) {
  const auto dtype = DataType::Parse(call.String("dtype"));
  return dtype && !dtype->is_void() ? *dtype : DataType::Int(32);
}

const Expr* BuildShapeOf(OpCall& call) {
  const DataType dtype = ShapeDType(call);
  if (const auto dims = call.StaticDims(call.arg(0))) return call.IntTensor(*dims, dtype);
  return call.Cast(call.Make("shape_to_tensor", {call.Make("shape_of", {call.arg(0)})}), dtype);
}

const Expr* BuildNdarraySize(OpCall& call) {
  const DataType dtype = ShapeDType(call);
  if (const auto dims = call.StaticDims(call.arg(0))) {
    int64_t size = 1;
    for (const int64_t dim : *dims) size *= dim;
    return call.Scalar(size, dtype);
  }
  const Expr* shape = call.Make("shape_to_tensor", {call.Make("shape_of", {call.arg(0)})});
  return call.Cast(call.Make("prod", {shape}), dtype);
}

constexpr OperatorRow kCreate[] = {
    {"arange", "start, end, step", "start=None, stop=None, step=None, dtype=\"\"", BuildArange},
    {"broadcast_to", "data", "shape, dtype=\"\"", BuildBroadcastTo},
    {"broadcast_to_like", "data, broadcast_type", "", BuildBroadcastToLike},
    {"collapse_sum_like", "data, collapse_type", "", BuildCollapseSumLike},
    {"collapse_sum_to", "data, shape", "shape=None, dtype=\"\"", BuildCollapseSumTo},
    {"full", "fill_value", "shape, dtype=\"\"", BuildFull},
    {"full_like", "data, fill_value", "", BuildFullLike},
    {"ndarray_size", "data", "dtype=\"\"", BuildNdarraySize},
    {"ones", "", "shape, dtype=\"\"", BuildOnesOrZeros},
    {"ones_like", "data", "", BuildLike},
    {"shape_of", "data", "dtype=\"\"", BuildShapeOf},
    {"zeros", "", "shape, dtype=\"\"", BuildOnesOrZeros},
    {"zeros_like", "data", "", BuildLike},
};

}  // namespace

std::span<const OperatorRow> CreateOperators() { return kCreate; }

}  // namespace iropt::relay
