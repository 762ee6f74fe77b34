// Operators that pick elements by index tensors, and those that write a part of a tensor.
#include "iropt/op/ops/gather.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "axis_loops.h"
#include "iropt/op/ops/concat.h"
#include "iropt/op/ops/index.h"
#include "iropt/op/ops/reduction.h"
#include "iropt/op/ops/reorder.h"
#include "iropt/op/ops/repeat.h"
#include "kernel.h"
#include "loop_nest.h"
#include "numeric.h"
#include "rearrange.h"
#include "sort_keys.h"

namespace iropt::eval {

namespace {

// A tensor of this shape whose element at each index is that of `x` at the flat position; -1 is out of range.
template <class F>
Result<HostValue> Picked(KernelCall& call, const Tensor& x, const Shape& shape, F&& position) {
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> out, call.AllocateMoved(x->dtype(), shape));
  IROPT_RETURN_IF_ERROR(call.Charge(static_cast<uint64_t>(out->num_elements())));
  const auto size = static_cast<size_t>(x->dtype().bytes());
  std::byte* place = out->mutable_data();
  bool fits = true;
  ForEachIndex(shape, [&](const Shape& index) {
    const int64_t at = position(index);
    fits = fits && at >= 0;
    if (fits) std::memcpy(place, x->data() + static_cast<size_t>(at) * size, size);
    place += size;
  });
  if (!fits) return call.Fail("an index is out of range");
  return HostValue(Tensor(out));
}

int64_t Offset(std::span<const int64_t> index, std::span<const int64_t> strides) {
  return std::inner_product(index.begin(), index.end(), strides.begin(), int64_t{0});
}

// Adds an index on one axis to a flat position; -1 if it is out of range, or was before.
void AddIndex(int64_t& at, int64_t index, int64_t length, int64_t stride) {
  at = at < 0 || index < 0 || index >= length ? -1 : at + index * stride;
}

// Index tensors that are broadcast against each other.
struct BroadcastIndices {
  Shape shape;
  std::vector<std::vector<int64_t>> values;
  std::vector<Shape> strides;  // in the dimensions of `shape`

  int64_t At(size_t tensor, std::span<const int64_t> index) const {
    return values[tensor][static_cast<size_t>(Offset(index.first(shape.size()), strides[tensor]))];
  }
};

Result<BroadcastIndices> ReadIndices(KernelCall& call, std::span<const Tensor> tensors) {
  BroadcastIndices indices;
  for (const Tensor& tensor : tensors) {
    IROPT_ASSIGN_OR_RETURN(std::vector<int64_t> values, IntElements(call, *tensor));
    indices.values.push_back(std::move(values));
    IROPT_ASSIGN_OR_RETURN(indices.shape, BroadcastShapes(call, indices.shape, tensor->shape()));
  }
  for (const Tensor& tensor : tensors) indices.strides.push_back(BroadcastStrides(tensor->shape(), indices.shape));
  return indices;
}

}  // namespace

Result<HostValue> EvalIndexTensor(KernelCall& call) {
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorArg(0));
  IROPT_ASSIGN_OR_RETURN(const std::vector<Tensor> tensors, call.TensorsArg(1));
  if (tensors.size() > x->shape().size()) return call.Fail("there are more index tensors than axes");
  IROPT_ASSIGN_OR_RETURN(const BroadcastIndices indices, ReadIndices(call, tensors));
  Shape shape = indices.shape;
  shape.insert(shape.end(), x->shape().begin() + static_cast<ptrdiff_t>(tensors.size()), x->shape().end());
  const Shape strides = RowMajorStrides(x->shape());
  return Picked(call, x, shape, [&](const Shape& index) {
    int64_t at = 0;
    for (size_t i = 0; i < tensors.size(); ++i) AddIndex(at, indices.At(i, index), x->shape()[i], strides[i]);
    const std::span rest = std::span(index).subspan(indices.shape.size());
    return at < 0 ? at : at + Offset(rest, std::span(strides).subspan(tensors.size()));
  });
}

Result<HostValue> EvalGatherElements(KernelCall& call) {
  const int64_t given = call.attrs<GatherElementsAttrs>().axis();
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorArg(0));
  IROPT_ASSIGN_OR_RETURN(const Tensor indices, call.TensorArg(1));
  const size_t rank = x->shape().size();
  if (indices->shape().size() != rank) return call.Fail("data and indices differ in rank");
  IROPT_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(call, given, rank));
  IROPT_ASSIGN_OR_RETURN(const std::vector<int64_t> values, IntElements(call, *indices));
  const Shape strides = RowMajorStrides(x->shape());
  size_t next = 0;
  return Picked(call, x, ShapeOf(*indices), [&](const Shape& index) {
    int64_t at = 0;
    const int64_t picked = values[next++];
    for (size_t i = 0; i < rank; ++i)
      AddIndex(at, static_cast<int64_t>(i) == axis ? picked : index[i], x->shape()[i], strides[i]);
    return at;
  });
}

// The last axis of the indices addresses the axes after the batch axes, which data and indices share.
Result<HostValue> EvalGatherNd(KernelCall& call) {
  const int64_t given = call.attrs<GatherNDAttrs>().batch_dims();
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorArg(0));
  IROPT_ASSIGN_OR_RETURN(const Tensor indices, call.TensorArg(1));
  const size_t rank = x->shape().size();
  const size_t outer = indices->shape().size() - 1;
  const auto batch = static_cast<size_t>(given);
  if (indices->shape().empty() || given < 0 || batch > outer) return call.Fail("the indices have too few axes");
  const auto depth = static_cast<size_t>(indices->shape().back());
  if (batch + depth > rank) return call.Fail("the indices address too many axes");
  IROPT_ASSIGN_OR_RETURN(const std::vector<int64_t> values, IntElements(call, *indices));
  Shape shape(indices->shape().begin(), indices->shape().end() - 1);
  shape.insert(shape.end(), x->shape().begin() + static_cast<ptrdiff_t>(batch + depth), x->shape().end());
  const Shape strides = RowMajorStrides(x->shape());
  const Shape index_strides = RowMajorStrides(indices->shape());
  return Picked(call, x, shape, [&](const Shape& index) {
    int64_t at = 0;
    const auto row = static_cast<size_t>(Offset(std::span(index).first(outer), index_strides));
    for (size_t i = 0; i < batch + depth; ++i)
      AddIndex(at, i < batch ? index[i] : values[row + i - batch], x->shape()[i], strides[i]);
    return at < 0 ? at : at + Offset(std::span(index).subspan(outer), std::span(strides).subspan(batch + depth));
  });
}

// The first elements of each sequence, as many as its length, in reverse order; the others stay.
Result<HostValue> EvalReverseSequence(KernelCall& call) {
  const auto attrs = call.attrs<ReverseSequenceAttrs>();
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorArg(0));
  IROPT_ASSIGN_OR_RETURN(const Tensor lengths, call.TensorArg(1));
  const size_t rank = x->shape().size();
  IROPT_ASSIGN_OR_RETURN(const int64_t sequence, NormalizeAxis(call, attrs.seq_axis(), rank));
  IROPT_ASSIGN_OR_RETURN(const int64_t batch, NormalizeAxis(call, attrs.batch_axis(), rank));
  IROPT_ASSIGN_OR_RETURN(const std::vector<int64_t> counts, IntElements(call, *lengths));
  const Shape shape = ShapeOf(*x);
  if (static_cast<int64_t>(counts.size()) != shape[static_cast<size_t>(batch)])
    return call.Fail("the number of lengths is not that of the sequences");
  const Shape strides = RowMajorStrides(shape);
  const auto axis = static_cast<size_t>(sequence);
  return Picked(call, x, shape, [&](const Shape& index) {
    const int64_t count = std::min(counts[static_cast<size_t>(index[static_cast<size_t>(batch)])], shape[axis]);
    const int64_t at = Offset(index, strides);
    return index[axis] < count ? at + (count - 1 - 2 * index[axis]) * strides[axis] : at;
  });
}

Result<HostValue> EvalMeshgrid(KernelCall& call) {
  IROPT_ASSIGN_OR_RETURN(const std::vector<Tensor> tensors, call.TensorsArg(0));
  const auto indexing = call.attrs<MeshgridAttrs>().indexing();
  // Cartesian indexing exchanges the first two axes.
  const bool exchanged = indexing == "xy" && tensors.size() > 1;
  const auto axis_of = [&](size_t i) { return exchanged && i < 2 ? 1 - i : i; };
  Shape shape(tensors.size(), 0);
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i]->shape().size() != 1) return call.Fail("a tensor has another rank than 1");
    shape[axis_of(i)] = tensors[i]->shape()[0];
  }
  TupleValue result;
  for (size_t i = 0; i < tensors.size(); ++i) {
    IROPT_ASSIGN_OR_RETURN(HostValue grid,
                           Picked(call, tensors[i], shape, [&](const Shape& index) { return index[axis_of(i)]; }));
    result.fields.push_back(std::move(grid));
  }
  return HostValue(std::move(result));
}

namespace {

// A copy of the tensor, into which others are written.
Result<std::shared_ptr<NDArray>> CopyOf(KernelCall& call, const NDArray& x) {
  IROPT_ASSIGN_OR_RETURN(std::shared_ptr<NDArray> out, call.Allocate(x.dtype(), ShapeOf(x)));
  IROPT_RETURN_IF_ERROR(call.Charge(static_cast<uint64_t>(x.num_elements())));
  if (x.num_bytes() != 0) std::memcpy(out->mutable_data(), x.data(), x.num_bytes());
  return out;
}

Result<std::vector<Tensor>> IndexTensorsOf(const KernelCall& call) {
  if (call.arg(1).tuple()) return call.TensorsArg(1);
  IROPT_ASSIGN_OR_RETURN(Tensor tensor, call.TensorArg(1));
  return std::vector<Tensor>{std::move(tensor)};
}

}  // namespace

// Negative indices count from the end, as in generated code.
Result<HostValue> EvalIndexPut(KernelCall& call) {
  const bool accumulate = call.attrs<IndexPutAttrs>().accumulate();
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorArg(0));
  IROPT_ASSIGN_OR_RETURN(const std::vector<Tensor> tensors, IndexTensorsOf(call));
  IROPT_ASSIGN_OR_RETURN(const Tensor values, call.TensorArg(2));
  if (tensors.size() != x->shape().size()) return call.Fail("there must be an index tensor for each axis");
  if (values->dtype() != x->dtype()) return call.Fail("data and values differ in dtype");
  if (accumulate && x->dtype().is_bool()) return call.UnsupportedDType(x->dtype());
  IROPT_ASSIGN_OR_RETURN(const BroadcastIndices indices, ReadIndices(call, tensors));
  const Shape strides = RowMajorStrides(x->shape());
  std::vector<int64_t> places;
  ForEachIndex(indices.shape, [&](const Shape& index) {
    int64_t at = 0;
    for (size_t i = 0; i < tensors.size(); ++i) {
      const int64_t picked = indices.At(i, index);
      AddIndex(at, picked < 0 ? picked + x->shape()[i] : picked, x->shape()[i], strides[i]);
    }
    places.push_back(at);
  });
  if (static_cast<int64_t>(places.size()) != values->num_elements())
    return call.Fail("there must be a value for each index");
  if (std::ranges::find(places, -1) != places.end()) return call.Fail("an index is out of range");
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> out, CopyOf(call, *x));
  DispatchElement(x->dtype(), [&]<class T>(std::type_identity<T>) {
    const std::span<T> target = out->MutableAs<T>();
    const std::span<const T> source = values->As<T>();
    for (size_t i = 0; i < places.size(); ++i) {
      T& place = target[static_cast<size_t>(places[i])];
      if constexpr (std::is_same_v<T, BoolByte>) {
        place = source[i];
      } else {
        place = accumulate ? AddElements(place, source[i]) : source[i];
      }
    }
  });
  return HostValue(Tensor(out));
}

Result<HostValue> EvalSliceScatter(KernelCall& call) {
  const int64_t given = call.attrs<SliceScatterAttrs>().axis();
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorArg(0));
  IROPT_ASSIGN_OR_RETURN(const Tensor src, call.TensorArg(1));
  std::array<int64_t, 3> slice{};  // start, end, step
  for (size_t i = 0; i < 3; ++i) {
    IROPT_ASSIGN_OR_RETURN(const Scalar number, call.ScalarArg(2 + i));
    const std::optional<int64_t> value = number.ToInt();
    if (!value) return call.Fail("the slice is not given by integers");
    slice[i] = *value;
  }
  const auto [start, end, step] = slice;
  IROPT_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(call, given, x->shape().size()));
  const auto at = static_cast<size_t>(axis);
  Shape expected = ShapeOf(*x);
  if (step < 1 || start < 0 || end < start || end > expected[at]) return call.Fail("the slice is out of range");
  expected[at] = (end - start + step - 1) / step;
  if (ShapeOf(*src) != expected || src->dtype() != x->dtype()) return call.Fail("the source does not fit the slice");
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> out, CopyOf(call, *x));
  const auto size = static_cast<size_t>(x->dtype().bytes());
  Shape strides = RowMajorStrides(x->shape());
  const int64_t first = start * strides[at] * static_cast<int64_t>(size);
  strides[at] *= step;
  if (src->num_elements() != 0)
    StridedCopy(out->mutable_data() + first, strides, src->data(), RowMajorStrides(expected), expected, size);
  return HostValue(Tensor(out));
}

Result<HostValue> EvalStack(KernelCall& call) {
  const int64_t given = call.attrs<StackAttrs>().axis().value_or(0);
  IROPT_ASSIGN_OR_RETURN(const std::vector<Tensor> parts, call.TensorsArg(0));
  if (parts.empty()) return call.Fail("nothing to stack");
  const Shape part = ShapeOf(*parts[0]);
  IROPT_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(call, given, part.size() + 1));
  Shape shape = part;
  shape.insert(shape.begin() + axis, static_cast<int64_t>(parts.size()));
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> out, call.AllocateMoved(parts[0]->dtype(), shape));
  IROPT_RETURN_IF_ERROR(call.Charge(static_cast<uint64_t>(out->num_elements())));
  const auto size = static_cast<size_t>(out->dtype().bytes());
  Shape strides = RowMajorStrides(shape);
  const int64_t step = strides[static_cast<size_t>(axis)] * static_cast<int64_t>(size);
  strides.erase(strides.begin() + axis);
  std::byte* place = out->mutable_data();
  for (const Tensor& tensor : parts) {
    if (ShapeOf(*tensor) != part || tensor->dtype() != out->dtype()) return call.Fail("the tensors differ in type");
    if (out->num_elements() != 0) StridedCopy(place, strides, tensor->data(), RowMajorStrides(part), part, size);
    place += step;
  }
  return HostValue(Tensor(out));
}

Result<HostValue> EvalOneHot(KernelCall& call) {
  const auto attrs = call.attrs<OneHotAttrs>();
  IROPT_ASSIGN_OR_RETURN(const Tensor indices, call.TensorArg(0));
  IROPT_ASSIGN_OR_RETURN(const Scalar on, call.ScalarArg(1));
  IROPT_ASSIGN_OR_RETURN(const Scalar off, call.ScalarArg(2));
  if (on.dtype != off.dtype || !IsElementType(on.dtype)) return call.UnsupportedDType(on.dtype);
  if (attrs.depth() <= 0) return call.Fail("the depth must be positive");
  Shape shape = ShapeOf(*indices);
  IROPT_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(call, attrs.axis(), shape.size() + 1));
  shape.insert(shape.begin() + axis, attrs.depth());
  IROPT_ASSIGN_OR_RETURN(const std::vector<int64_t> values, IntElements(call, *indices));
  Shape strides = RowMajorStrides(indices->shape());
  strides.insert(strides.begin() + axis, 0);
  // The two values as one tensor, from which the result is picked.
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> both, call.Allocate(on.dtype, {2}));
  const auto size = static_cast<size_t>(on.dtype.bytes());
  std::memcpy(both->mutable_data(), MakeScalarTensor(off)->data(), size);
  std::memcpy(both->mutable_data() + size, MakeScalarTensor(on)->data(), size);
  return Picked(call, both, shape, [&](const Shape& index) {
    return int64_t{values[static_cast<size_t>(Offset(index, strides))] == index[static_cast<size_t>(axis)]};
  });
}

// The number of boundaries below each value, or not above it.
Result<HostValue> EvalBucketize(KernelCall& call) {
  const auto attrs = call.attrs<BucketizeAttrs>();
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorArg(0));
  IROPT_ASSIGN_OR_RETURN(const Tensor boundaries, call.TensorArg(1));
  if (x->dtype() != boundaries->dtype()) return call.Fail("values and boundaries differ in dtype");
  const DataType dtype = DataType::Int(attrs.out_int32() ? 32 : 64);
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> out, call.Allocate(DataType::Int(64), ShapeOf(*x)));
  IROPT_RETURN_IF_ERROR(call.Charge(static_cast<uint64_t>(x->num_elements()) * 8));
  const bool known = DispatchNumber(x->dtype(), [&]<class T>(std::type_identity<T>) {
    const std::span<const T> sorted = boundaries->As<T>();
    const std::span<const T> values = x->As<T>();
    const std::span<int64_t> result = out->MutableAs<int64_t>();
    for (size_t i = 0; i < values.size(); ++i) {
      const auto value = Element<T>::Load(values[i]);
      const auto end = std::ranges::partition_point(sorted, [&](T element) {
        const auto boundary = Element<T>::Load(element);
        return attrs.right() ? boundary <= value : boundary < value;
      });
      result[i] = end - sorted.begin();
    }
  });
  if (!known) return call.UnsupportedDType(x->dtype());
  IROPT_ASSIGN_OR_RETURN(Tensor result, CastTensor(call, out, dtype));
  return HostValue(std::move(result));
}

// The lower one of the two elements in the middle, and where it was.
Result<HostValue> EvalMedian(KernelCall& call) {
  const auto attrs = call.attrs<StatisticalAttrs>();
  IROPT_ASSIGN_OR_RETURN(Tensor x, call.TensorArg(0));
  const auto axes = attrs.axis();
  if (axes && axes->size() != 1) return call.Fail("only one axis, or all, are supported");
  Shape kept(x->shape().size(), 1);
  int64_t axis = 0;
  if (axes) {
    IROPT_ASSIGN_OR_RETURN(axis, NormalizeAxis(call, (*axes)[0], kept.size()));
    kept = ShapeOf(*x);
    kept[static_cast<size_t>(axis)] = 1;
  } else {
    x = Reshaped(x, {x->num_elements()});
  }
  if (!attrs.keepdims()) axes ? void(kept.erase(kept.begin() + axis)) : kept.clear();
  const AxisLoops loops = LoopsOf(*x, axis);
  if (loops.length == 0) return call.Fail("an empty tensor has no median");
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> values, call.Allocate(x->dtype(), kept));
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> places, call.Allocate(DataType::Int(64), kept));
  IROPT_RETURN_IF_ERROR(call.Charge(static_cast<uint64_t>(x->num_elements()) * 8));
  const bool known = DispatchNumber(x->dtype(), [&]<class T>(std::type_identity<T>) {
    const T* data = x->As<T>().data();
    T* value = values->MutableAs<T>().data();
    int64_t* place = places->MutableAs<int64_t>().data();
    std::vector<KeyedPosition> order(static_cast<size_t>(loops.length));
    ForEachLine(loops, [&](int64_t start) {
      for (int64_t i = 0; i < loops.length; ++i) {
        const T element = data[start + i * loops.inner];
        order[static_cast<size_t>(i)] = {SortKey(Element<T>::Load(element), /*descending=*/false), i};
      }
      SortByKey(order);
      *place = order[(order.size() - 1) / 2].position;
      *value++ = data[start + *place++ * loops.inner];
    });
  });
  if (!known) return call.UnsupportedDType(x->dtype());
  if (!axes) return HostValue(Tensor(values));
  TupleValue both;
  both.fields = {HostValue(Tensor(values)), HostValue(Tensor(places))};
  return HostValue(std::move(both));
}

}  // namespace iropt::eval
