// Operators that make tensors, and those that give shapes as tensors.
#include "iropt/infer/ops/create.h"

#include <cmath>

#include "iropt/arith/prim_builder.h"
#include "iropt/infer/ops/broadcast.h"
#include "iropt/infer/ops/reorder.h"
#include "iropt/infer/ops/shape.h"
#include "iropt/infer/ops/statistical.h"
#include "op_table.h"
#include "shape_values.h"

namespace iropt::relay {

namespace {

// The dtype attribute, or that of an expression if there is none.
DataType DTypeOr(OpCall& call, const Expr* other) {
  const DataType dtype = call.Dtype("dtype");
  if (!dtype.is_void()) return dtype;
  return other ? DTypeOf(other) : kFloat32;
}

const Expr* ShapeAttr(OpCall& call) { return call.Shape(call.Ints("shape")); }

const Expr* BuildFull(OpCall& call) {
  return op::Full(call, ShapeAttr(call), call.arg(0), {.dtype = DTypeOr(call, call.arg(0))});
}

template <auto kOp>
const Expr* BuildOnesOrZeros(OpCall& call) {
  return kOp(call, ShapeAttr(call), {.dtype = DTypeOr(call, nullptr)});
}

template <auto kOp>
const Expr* BuildLike(OpCall& call) {
  return kOp(call, call.arg(0), {});
}

const Expr* BuildFullLike(OpCall& call) { return op::FullLike(call, call.arg(0), call.arg(1)); }

const Expr* BuildBroadcastTo(OpCall& call) { return op::BroadcastTo(call, call.arg(0), ShapeAttr(call)); }

// The shape of a tensor as an operand: its dimensions if they are known, else a value.
const Expr* ShapeOperand(OpCall& call, const Expr* tensor) {
  if (const auto dims = DimsOf(tensor)) return call.Shape(*dims);
  return op::ShapeOf(call, tensor);
}

const Expr* BuildBroadcastToLike(OpCall& call) {
  return op::BroadcastTo(call, call.arg(0), ShapeOperand(call, call.arg(1)));
}

// The operand of a sum of this shape. A dimension that is not 1 afterwards is the same before.
const Expr* Collapsible(OpCall& call, std::span<const int64_t> shape) {
  const Expr* data = call.arg(0);
  auto dims = DimsOf(data);
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
  const auto shape = StaticDimsOf(call.arg(1));
  const Expr* data = shape ? Collapsible(call, *shape) : call.arg(0);
  return op::CollapseSumLike(call, data, call.arg(1));
}

const Expr* BuildCollapseSumTo(OpCall& call) {
  if (const auto shape = ConstantInts(call.arg(1)))
    return op::CollapseSumTo(call, Collapsible(call, *shape), call.Shape(*shape));
  return call.NoCounterpart("a shape that is computed");
}

std::optional<double> NumberOf(const Expr* expr) {
  if (const auto integer = ConstantInt(expr)) return static_cast<double>(*integer);
  return ConstantFloat(expr);
}

// Integers that go down, as the reverse of those that go up: the type rule of Relax rounds their number in another way.
const Expr* BuildDescending(OpCall& call, int64_t start, int64_t stop, int64_t step) {
  const int64_t count = stop < start ? (start - stop - step - 1) / -step : 0;
  const int64_t last = start + (count - 1) * step;
  const DataType dtype = DTypeOr(call, call.arg(0));
  const Expr* ascending = op::Arange(call, call.Prim(count > 0 ? last : 0), call.Prim(count > 0 ? start + 1 : 0),
                                     call.Prim(-step), {.dtype = dtype});
  return op::Flip(call, ascending, {.axis = 0});
}

const Expr* BuildArange(OpCall& call) {
  const auto start = NumberOf(call.arg(0));
  const auto stop = NumberOf(call.arg(1));
  const auto step = NumberOf(call.arg(2));
  if (start && stop && step && *step != 0) {
    const bool integer = DTypeOf(call.arg(0)).is_integer();
    constexpr double kMost = 1 << 30;
    if (integer && *step < 0 && std::abs(*start) < kMost && std::abs(*stop) < kMost && -*step < kMost) {
      return BuildDescending(call, static_cast<int64_t>(*start), static_cast<int64_t>(*stop),
                             static_cast<int64_t>(*step));
    }
    const auto number = [&](double value) {
      const arith::PrimBuilder make;
      return call.Prim(integer ? make.Int(static_cast<int64_t>(value)) : make.Float(value, kFloat32));
    };
    return op::Arange(call, number(*start), number(*stop), number(*step), {.dtype = DTypeOr(call, call.arg(0))});
  }
  return call.ComputedArange(call.arg(0), call.arg(1), call.arg(2));
}

DataType ShapeDType(OpCall& call) {
  const auto dtype = DataType::Parse(call.String("dtype"));
  return dtype && !dtype->is_void() ? *dtype : DataType::Int(32);
}

const Expr* BuildShapeOf(OpCall& call) {
  const DataType dtype = ShapeDType(call);
  if (const auto dims = StaticDimsOf(call.arg(0))) return call.IntTensor(*dims, dtype);
  return call.Cast(op::ShapeToTensor(call, op::ShapeOf(call, call.arg(0))), dtype);
}

const Expr* BuildNdarraySize(OpCall& call) {
  const DataType dtype = ShapeDType(call);
  if (const auto dims = StaticDimsOf(call.arg(0))) {
    int64_t size = 1;
    for (const int64_t dim : *dims) size *= dim;
    return call.Scalar(size, dtype);
  }
  const Expr* shape = op::ShapeToTensor(call, op::ShapeOf(call, call.arg(0)));
  return call.Cast(op::Prod(call, shape), dtype);
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
    {"ones", "", "shape, dtype=\"\"", BuildOnesOrZeros<op::Ones>},
    {"ones_like", "data", "", BuildLike<op::OnesLike>},
    {"shape_of", "data", "dtype=\"\"", BuildShapeOf},
    {"zeros", "", "shape, dtype=\"\"", BuildOnesOrZeros<op::Zeros>},
    {"zeros_like", "data", "", BuildLike<op::ZerosLike>},
};

}  // namespace

std::span<const OperatorRow> CreateOperators() { return kCreate; }

}  // namespace iropt::relay
