// Operators that make tensors, and those that give shapes as tensors.
#include <cmath>

#include "iropt/arith/prim_builder.h"
#include "op_table.h"

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

const Expr* BuildCollapseSumLike(OpCall& call) { return call.Make("collapse_sum_like", {call.arg(0), call.arg(1)}); }

const Expr* BuildCollapseSumTo(OpCall& call) {
  if (const auto shape = OpCall::ConstantInts(call.arg(1)))
    return call.Make("collapse_sum_to", {call.arg(0), call.ListOf(*shape)});
  return call.NoCounterpart("a shape that is computed");
}

std::optional<double> NumberOf(const Expr* expr) {
  if (const auto integers = OpCall::ConstantInts(expr)) return static_cast<double>(integers->front());
  return OpCall::ConstantFloat(expr);
}

const Expr* BuildArange(OpCall& call) {
  const auto start = NumberOf(call.arg(0));
  const auto stop = NumberOf(call.arg(1));
  const auto step = NumberOf(call.arg(2));
  if (start && stop && step && *step != 0) {
    const bool integer = call.DType(call.arg(0)).is_integer();
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
