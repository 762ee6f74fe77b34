// Legalization of operators that pick elements.

#include <vector>

#include "iropt/infer/slice.h"
#include "iropt/ir/context.h"
#include "iropt/legalize/legalize.h"
#include "iropt/legalize/topi.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/call_packed.h"
#include "iropt/op/ops/shape.h"
#include "iropt/op/ops/slice.h"

namespace iropt::legalize {

using te::Tensor;
using te::Value;

const Expr* LegalizeTake(LegalizeCall& call) {
  TeCall te(call, "take");
  const Tensor x = te.Arg(0);
  const te::Operand indices = te.Operand(call.arg(1));
  const TakeAttrs attrs(call.call());
  if (attrs.mode() == "nan" && !x.dtype().is_floating())
    return call.Error("the mode 'nan' needs a floating-point dtype");
  return te.Finish({topi::Take(x, indices, attrs.axis(), attrs.mode())});
}

const Expr* LegalizeStridedSlice(LegalizeCall& call) {
  // Axes, begin, end and perhaps strides, which are tuples of known scalars.
  std::vector<std::vector<const PrimExpr*>> lists;
  for (size_t i = 1; i < call.num_args(); ++i) {
    const auto* tuple = As<TupleType>(call.arg(i)->type);
    lists.emplace_back();
    for (uint32_t k = 0; tuple && k < tuple->fields.size(); ++k) {
      const auto* prim = As<PrimType>(tuple->fields[k]);
      if (!prim || !prim->value) return call.Error("its bounds must be known");
      lists.back().push_back(prim->value);
    }
  }
  const TensorType* data = call.TensorArg(0);
  const bool assume_inbound = StridedSliceAttrs(call.call()).assume_inbound();
  std::vector<const PrimExpr*> first, strides;
  std::vector<size_t> axes;
  for (size_t i = 0; i < lists[0].size(); ++i) {
    axes.push_back(topi::RealAxis(data->dims.size(), *arith::AsInt(lists[0][i])));
    strides.push_back(lists.size() > 3 ? lists[3][i] : IRContext::Current().Int(1));
    const PrimExpr* extent = data->dims[static_cast<uint32_t>(axes[i])];
    first.push_back(RangeOfSlice(lists[1][i], lists[2][i], strides[i], extent, assume_inbound).first);
  }
  TeCall te(call, "strided_slice");
  const Tensor x = te.Arg(0);
  return te.Finish(
      {topi::StridedSlice(x, te.Dims(first), te.Dims(strides), axes, te.Dims(call.result()->dims.span()))});
}

namespace {

// An index counted from the front of an axis and within it, or before its first element for negative strides.
Value CanonicalIndex(Value index, Value stride, Value extent) {
  te::Builder& te = *stride.te();
  const Value low = te::Select(stride < 0, te.Int(-1), te.Int(0));
  const Value high = te::Select(stride < 0, extent - 1, extent);
  return te::Min(te::Max(te::Select(index < 0, index + extent, index), low), high);
}

// The number of elements that a slice takes from an axis.
Value SliceLength(Value begin, Value end, Value stride, Value extent) {
  const Value from = CanonicalIndex(begin, stride, extent);
  const Value to = CanonicalIndex(end, stride, extent);
  const Value steps = te::Select(stride < 0, te::CeilDiv(from - to, stride * -1), te::CeilDiv(to - from, stride));
  return te::Max(steps, 0);
}

// The call of the function that computes the shape of the slice.
const Expr* ShapeOfSlice(LegalizeCall& call) {
  TeCall te(call, "shape_func");
  const std::vector<Tensor> inputs = te.Inputs(call.call().args.span());
  const Tensor& x = inputs[0];
  const auto length = [&](te::Values i) {
    Value extent = te.Int(-1);
    for (size_t k = 0; k < x.ndim(); ++k)
      extent = te::Select(i[0] == te.Int(static_cast<int64_t>(k)), x.dim(k), extent);
    return SliceLength(inputs[1](i), inputs[2](i), inputs[3](i), extent);
  };
  const Value size = inputs[1].dim(0);
  return te.Finish(
      {te.Compute("T_shape_func_strided_slice_dynamic", te::Values(&size, 1), length, te::PythonAxes({"i"}))});
}

// The tensor as a shape; an operator since TVM 0.23.
const Expr* ToShape(LegalizeCall& call, const Expr* tensor, size_t ndim) {
  BlockBuilder& builder = call.builder();
  if (call.version() >= TextVersion::kV0_23) return builder.MakeCall(GetOp(op::kTensorToShape), {tensor});
  const Expr* function = call.PackedFunc("vm.builtin.tensor_to_shape");
  const Type* const types[] = {ShapeType::Get(static_cast<int>(ndim))};
  return builder.MakeCall(GetOp(op::kCallPurePacked), {function, tensor}, nullptr, TupleType::Get(types));
}

}  // namespace

const Expr* LegalizeDynamicStridedSlice(LegalizeCall& call) {
  const size_t ndim = call.TensorArg(0)->dims.size();
  BlockBuilder& builder = call.builder();
  const Expr* dims = builder.Emit(ShapeOfSlice(call));
  const Expr* shape = builder.Emit(ToShape(call, dims, ndim));
  std::vector<const PrimExpr*> sizes;
  for (size_t i = 0; i < ndim; ++i) sizes.push_back(IRContext::Current().NewSymVar("s"));
  builder.EmitMatchCast(shape, ShapeType::Get(sizes));

  TeCall te(call, "dynamic_strided_slice");
  const std::vector<Tensor> inputs = te.Inputs(call.call().args.span());
  const Tensor& x = inputs[0];
  const auto element = [&](te::Values i) {
    std::vector<Value> own;
    for (size_t k = 0; k < ndim; ++k) {
      const Value at = te.Int(static_cast<int64_t>(k));
      const Value stride = inputs[3](at);
      own.push_back(i[k] * stride + CanonicalIndex(inputs[1](at), stride, x.dim(k)));
    }
    return x(te::Values(own));
  };
  return te.Finish({te.Compute("T_strided_slice_dynamic", te.Dims(sizes), element)});
}

}  // namespace iropt::legalize
