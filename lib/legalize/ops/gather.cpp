// Legalization of operators that pick elements by index tensors, and of those that make tensors of several.
#include "iropt/op/ops/gather.h"

#include <vector>

#include "iropt/legalize/legalize.h"
#include "iropt/legalize/topi.h"
#include "iropt/op/ops/concat.h"
#include "iropt/op/ops/reorder.h"
#include "iropt/op/ops/repeat.h"

namespace iropt::legalize {

namespace {

using te::Tensor;
using te::Value;
using te::Values;

std::vector<Value> ListOf(Values i) { return {i.begin(), i.end()}; }

}  // namespace

const Expr* LegalizeIndexTensor(LegalizeCall& call) {
  const std::vector<const Expr*> fields = call.TupleFields(1);
  TeCall te(call, "index_tensor");
  const Tensor x = te.Arg(0);
  std::vector<Tensor> indices = te.Inputs(fields);
  te::Shape shape = indices[0].shape();
  for (const Tensor& index : indices) shape = topi::Broadcast(te, shape, index.shape()).shape;
  if (indices.size() > 1) {
    for (Tensor& index : indices) index = topi::BroadcastTo(index, shape);
  }
  const size_t num_positions = shape.size();
  for (size_t i = indices.size(); i < x.ndim(); ++i) shape.push_back(x.dim(i));
  return te.Finish({te.Compute("advanced_index", shape, [&](Values i) {
    std::vector<Value> at;
    for (const Tensor& index : indices) at.push_back(index(i.first(num_positions)));
    at.insert(at.end(), i.begin() + static_cast<ptrdiff_t>(num_positions), i.end());
    return x(Values(at));
  })});
}

const Expr* LegalizeGatherElements(LegalizeCall& call) {
  TeCall te(call, "gather");
  const Tensor x = te.Arg(0);
  return te.Finish({topi::Gather(x, GatherElementsAttrs(call.call()).axis(), te.Arg(1))});
}

const Expr* LegalizeGatherNd(LegalizeCall& call) {
  const int64_t* depth = arith::AsInt(call.TensorArg(1)->dims.back());
  if (!depth) return call.Unchanged("the number of axes is symbolic");
  TeCall te(call, "te_gather_nd");
  const Tensor x = te.Arg(0);
  const Tensor given = te.Arg(1);
  const auto batch = static_cast<size_t>(GatherNDAttrs(call.call()).batch_dims());
  const size_t outer = given.ndim() - 1;
  std::vector<int64_t> order = {static_cast<int64_t>(outer)};
  for (size_t i = 0; i < outer; ++i) order.push_back(static_cast<int64_t>(i));
  const Tensor indices = topi::Transpose(given, order);
  te::Shape shape;
  for (size_t i = 0; i < outer; ++i) shape.push_back(given.dim(i));
  for (size_t i = batch + static_cast<size_t>(*depth); i < x.ndim(); ++i) shape.push_back(x.dim(i));
  return te.Finish({te.Compute("T_gather_nd", shape, [&](Values i) {
    std::vector<Value> position = {0};
    position.insert(position.end(), i.begin(), i.begin() + static_cast<ptrdiff_t>(outer));
    std::vector<Value> at(i.begin(), i.begin() + static_cast<ptrdiff_t>(batch));
    for (int64_t k = 0; k < *depth; ++k) {
      position[0] = k;
      at.push_back(indices(Values(position)));
    }
    at.insert(at.end(), i.begin() + static_cast<ptrdiff_t>(outer), i.end());
    return x(Values(at));
  })});
}

const Expr* LegalizeReverseSequence(LegalizeCall& call) {
  const ReverseSequenceAttrs attrs(call.call());
  TeCall te(call, "reverse_sequence");
  const Tensor x = te.Arg(0);
  const Tensor lengths = te.Arg(1);
  const size_t axis = topi::RealAxis(x.ndim(), attrs.seq_axis());
  const size_t batch = topi::RealAxis(x.ndim(), attrs.batch_axis());
  return te.Finish({te.Compute("T_reverse_sequence", x.shape(), [&](Values i) {
    const Value length = lengths(i[batch]);
    const Value reversed = te::IfThenElse(length > x.dim(axis), x.dim(axis) - 1 - i[axis], length - 1 - i[axis]);
    std::vector<Value> at = ListOf(i);
    at[axis] = te::IfThenElse(length <= 1 || length <= i[axis], i[axis], reversed);
    return x(Values(at));
  })});
}

const Expr* LegalizeMeshgrid(LegalizeCall& call) {
  const std::vector<const Expr*> fields = call.TupleFields(0);
  const bool exchanged = MeshgridAttrs(call.call()).indexing() == "xy" && fields.size() > 1;
  const auto axis_of = [&](size_t k) { return exchanged && k < 2 ? 1 - k : k; };
  TeCall te(call, "meshgrid");
  const std::vector<Tensor> inputs = te.Inputs(fields);
  te::Shape shape(inputs.size(), 0);
  for (size_t k = 0; k < inputs.size(); ++k) shape[axis_of(k)] = inputs[k].dim(0);
  std::vector<Tensor> results;
  for (size_t k = 0; k < inputs.size(); ++k)
    results.push_back(te.Compute("T_meshgrid", shape, [&](Values i) { return inputs[k](i[axis_of(k)]); }));
  return te.Finish(results);
}

const Expr* LegalizeStack(LegalizeCall& call) {
  const std::vector<const Expr*> fields = call.TupleFields(0);
  TeCall te(call, "stack");
  const std::vector<Tensor> inputs = te.Inputs(fields);
  const size_t axis = topi::RealAxis(inputs[0].ndim() + 1, StackAttrs(call.call()).axis().value_or(0));
  te::Shape shape = inputs[0].shape();
  shape.insert(shape.begin() + static_cast<ptrdiff_t>(axis), Value(inputs.size()));
  return te.Finish({te.Compute("T_stack", shape, [&](Values i) {
    std::vector<Value> at = ListOf(i);
    at.erase(at.begin() + static_cast<ptrdiff_t>(axis));
    Value result = inputs[0](Values(at));
    for (size_t k = 1; k < inputs.size(); ++k)
      result = te::IfThenElse(i[axis] == Value(k), inputs[k](Values(at)), result);
    return result;
  })});
}

const Expr* LegalizeOneHot(LegalizeCall& call) {
  const OneHotAttrs attrs(call.call());
  TeCall te(call, "one_hot");
  const Tensor indices = te.Arg(0);
  const Value on = std::get<Value>(te.Operand(call.arg(1)));
  const Value off = std::get<Value>(te.Operand(call.arg(2)));
  const size_t axis = topi::RealAxis(indices.ndim() + 1, attrs.axis());
  te::Shape shape = indices.shape();
  shape.insert(shape.begin() + static_cast<ptrdiff_t>(axis), Value(attrs.depth()));
  return te.Finish({te.Compute("T_one_hot", shape, [&](Values i) {
    std::vector<Value> at = ListOf(i);
    at.erase(at.begin() + static_cast<ptrdiff_t>(axis));
    return te::Select(indices(Values(at)) == i[axis], on, off);
  })});
}

namespace {

// A vector of booleans that says what positions of an axis a slice covers.
Tensor CoveredBy(te::Builder& te, Value length, Value start, Value end, Value step) {
  const auto both = [](Value a, Value b) { return a && b; };
  const Value one[] = {length};
  const Tensor index = topi::Arange(te, 0, length, 1, DataType::Int(64));
  Tensor mask = topi::Full(te, one, DataType::Bool(), te.Const(1, DataType::Bool()));
  const auto restrict_to = [&](const Tensor& part) { mask = topi::Broadcast(mask, part, "T_logical_and", both); };
  if (!start.Is(0))
    restrict_to(topi::Broadcast(index, start, "T_greater_equal", [](Value a, Value b) { return a >= b; }));
  if (!te.Equal(end, length))
    restrict_to(topi::Broadcast(index, end, "T_less", [](Value a, Value b) { return a < b; }));
  if (!step.Is(1)) {
    const auto remainder = [](Value a, Value b) { return te::FloorMod(a, b); };
    const Tensor rest = topi::Broadcast(topi::Subtract(index, start), step, "T_floor_mod", remainder);
    restrict_to(topi::Broadcast(rest, Value(te.Int(0)), "T_equal", [](Value a, Value b) { return a == b; }));
  }
  return mask;
}

}  // namespace

const Expr* LegalizeSliceScatter(LegalizeCall& call) {
  TeCall te(call, "slice_scatter");
  const Tensor x = te.Arg(0);
  const Tensor src = te.Arg(1);
  const auto wide = [](const te::Operand& number) { return te::Cast(DataType::Int(64), std::get<Value>(number)); };
  const Value start = wide(te.Operand(call.arg(2)));
  const Value end = wide(te.Operand(call.arg(3)));
  const Value step = wide(te.Operand(call.arg(4)));
  const size_t axis = topi::RealAxis(x.ndim(), SliceScatterAttrs(call.call()).axis());
  const Value length = x.dim(axis);
  if (!length.AsInt()) return call.Unchanged("the length of its axis is symbolic");
  if (start.Is(0) && te.Equal(end, length) && step.Is(1)) return te.Finish({topi::Identity(src)});
  const Tensor mask = CoveredBy(te, length, start, end, step);
  te::Shape mask_shape(x.ndim(), 1);
  mask_shape[axis] = length;
  const Tensor own_mask = topi::Reshape(mask, mask_shape);
  const Tensor index = topi::Arange(te, 0, length, 1, DataType::Int(64));
  const Tensor shifted = topi::Add(topi::Subtract(index, start), step - 1);
  const Tensor place =
      topi::Broadcast(shifted, step, "T_floor_divide", [](Value a, Value b) { return te::FloorDiv(a, b); });
  const Tensor clipped = topi::Map(place, [&](Value v) { return te::Max(te::Min(v, length - 1), te.Int(0)); });
  const Tensor moved = topi::Take(src, clipped, static_cast<int64_t>(axis), "clip");
  return te.Finish({topi::Where(topi::BroadcastTo(own_mask, x.shape()), moved, x)});
}

}  // namespace iropt::legalize
