// Operators that read or write elements at indices given as data.

#include <algorithm>
#include <cstring>

#include "iropt/op/ops/gather.h"
#include "iropt/op/ops/slice.h"
#include "kernel.h"
#include "loop_nest.h"
#include "numeric.h"

namespace iropt::eval {

namespace {

// Brings indices into the range that the mode makes of it; -1 stands for elements that are NaN. In the mode "fast",
// indices must be in range and not negative: code generated for this operator does not wrap them around.
Status AdjustRows(const KernelCall& call, std::string_view mode, int64_t length, std::vector<int64_t>& rows) {
  for (int64_t& row : rows) {
    if (row >= 0 && row < length) continue;
    if (length == 0 || mode == "fast") return call.Fail("an index is out of range");
    if (mode == "nan") {
      row = -1;
    } else {
      row = mode == "wrap" ? FloorMod(row, length) : std::clamp<int64_t>(row, 0, length - 1);
    }
  }
  return {};
}

// A tensor of this many NaNs.
Result<Tensor> NaNs(const KernelCall& call, DataType dtype, int64_t count) {
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> out, call.Allocate(dtype, {count}));
  const bool known = DispatchFloat(dtype, [&]<class T>(std::type_identity<T>) {
    std::ranges::fill(out->MutableAs<T>(), FromReal<T>(std::numeric_limits<double>::quiet_NaN()));
  });
  if (!known) return call.UnsupportedDType(dtype);
  return Tensor(out);
}

}  // namespace

Result<HostValue> EvalTake(KernelCall& call) {
  IROPT_ASSIGN_OR_RETURN(Tensor x, call.TensorArg(0));
  // A single index may be a number instead of a tensor of rank 0.
  const Scalar* number = call.num_args() > 1 ? call.arg(1).scalar() : nullptr;
  if (number && !IsElementType(number->dtype)) return call.UnsupportedDType(number->dtype);
  Tensor indices = number ? MakeScalarTensor(*number) : nullptr;
  if (!number) {
    IROPT_ASSIGN_OR_RETURN(indices, call.TensorArg(1));
  }
  int64_t axis = 0;
  if (const auto given = call.attrs<TakeAttrs>().axis()) {
    IROPT_ASSIGN_OR_RETURN(axis, NormalizeAxis(call, *given, x->shape().size()));
  } else {
    x = Reshaped(x, {x->num_elements()});
  }
  IROPT_ASSIGN_OR_RETURN(std::vector<int64_t> rows, IntElements(call, *indices));
  const int64_t length = x->shape()[static_cast<size_t>(axis)];
  IROPT_RETURN_IF_ERROR(AdjustRows(call, call.attrs<TakeAttrs>().mode(), length, rows));

  Shape shape(x->shape().begin(), x->shape().begin() + axis);
  shape.insert(shape.end(), indices->shape().begin(), indices->shape().end());
  shape.insert(shape.end(), x->shape().begin() + axis + 1, x->shape().end());
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> out, call.AllocateMoved(x->dtype(), std::move(shape)));
  IROPT_RETURN_IF_ERROR(call.Charge(static_cast<uint64_t>(out->num_elements())));
  if (out->num_elements() == 0) return HostValue(Tensor(out));
  const int64_t elements = RowMajorStrides(x->shape())[static_cast<size_t>(axis)];
  const int64_t block = elements * x->dtype().bytes();
  Tensor missing;
  if (std::ranges::find(rows, -1) != rows.end()) {
    IROPT_ASSIGN_OR_RETURN(missing, NaNs(call, x->dtype(), elements));
  }
  std::byte* place = out->mutable_data();
  for (const std::byte* outer = x->data(); outer != x->data() + x->num_bytes(); outer += length * block) {
    for (const int64_t row : rows) {
      std::memcpy(place, row < 0 ? missing->data() : outer + row * block, static_cast<size_t>(block));
      place += block;
    }
  }
  return HostValue(Tensor(out));
}

namespace {

enum class ScatterMode : uint8_t { kUpdate, kAdd, kMul, kMean, kMax, kMin };

Result<ScatterMode> ScatterModeOf(const KernelCall& call, std::string_view name) {
  if (name == "update") return ScatterMode::kUpdate;
  if (name == "add") return ScatterMode::kAdd;
  if (name == "mul") return ScatterMode::kMul;
  if (name == "mean") return ScatterMode::kMean;
  if (name == "max") return ScatterMode::kMax;
  if (name == "min") return ScatterMode::kMin;
  return call.Fail(fmt::format("the reduction '{}' is not supported", name));
}

template <class M>
M Combine(ScatterMode mode, M old, M update) {
  switch (mode) {
    case ScatterMode::kUpdate: return update;
    case ScatterMode::kAdd: return WrapAdd(old, update);
    case ScatterMode::kMul: return WrapMul(old, update);
    case ScatterMode::kMean: return static_cast<M>(WrapAdd(old, update) / 2);
    case ScatterMode::kMax: return MaxOf(old, update);
    case ScatterMode::kMin: return MinOf(old, update);
  }
  IROPT_UNREACHABLE("scatter mode {}", static_cast<int>(mode));
}

// The inputs of both scatter operators: a copy of the data, the indices, and the updates of the same dtype.
struct Scatter {
  std::shared_ptr<NDArray> out;
  Tensor indices;
  Tensor updates;
  std::vector<int64_t> index_values;
  ScatterMode mode = ScatterMode::kUpdate;
};

Result<Scatter> PrepareScatter(KernelCall& call, std::string_view reduction) {
  Scatter s;
  IROPT_ASSIGN_OR_RETURN(const Tensor data, call.TensorArg(0));
  IROPT_ASSIGN_OR_RETURN(s.indices, call.TensorArg(1));
  IROPT_ASSIGN_OR_RETURN(s.updates, call.TensorArg(2));
  IROPT_ASSIGN_OR_RETURN(s.mode, ScatterModeOf(call, reduction));
  IROPT_ASSIGN_OR_RETURN(s.index_values, IntElements(call, *s.indices));
  if (data->dtype() != s.updates->dtype()) return call.Fail("data and updates differ in dtype");
  if (data->dtype().is_bool() && s.mode != ScatterMode::kUpdate) return call.UnsupportedDType(data->dtype());
  IROPT_ASSIGN_OR_RETURN(s.out, call.Allocate(data->dtype(), ShapeOf(*data)));
  IROPT_RETURN_IF_ERROR(
      call.Charge(static_cast<uint64_t>(data->num_elements()) + static_cast<uint64_t>(s.updates->num_elements())));
  if (data->num_bytes() != 0) std::memcpy(s.out->mutable_data(), data->data(), data->num_bytes());
  return s;
}

// out[place(i)] = combine(out[place(i)], updates[i]) in the order of the updates.
template <class F>
void ApplyUpdates(const Scatter& s, F&& place) {
  DispatchElement(s.out->dtype(), [&]<class T>(std::type_identity<T>) {
    const std::span<T> out = s.out->MutableAs<T>();
    const std::span<const T> updates = s.updates->As<T>();
    for (size_t i = 0; i < updates.size(); ++i) {
      T& target = out[static_cast<size_t>(place(static_cast<int64_t>(i)))];
      if constexpr (std::is_same_v<T, BoolByte>) {
        target = updates[i];
      } else {
        target = Element<T>::Store(Combine(s.mode, Element<T>::Load(target), Element<T>::Load(updates[i])));
      }
    }
  });
}

}  // namespace

Result<HostValue> EvalScatterElements(KernelCall& call) {
  const auto attrs = call.attrs<ScatterElementsAttrs>();
  IROPT_ASSIGN_OR_RETURN(Scatter s, PrepareScatter(call, attrs.reduction()));
  const Shape shape = ShapeOf(*s.out);
  const Shape points = ShapeOf(*s.indices);
  const auto given = attrs.axis();
  IROPT_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(call, given, shape.size()));
  if (points.size() != shape.size() || points != ShapeOf(*s.updates))
    return call.Fail("indices and updates differ in shape");
  for (size_t d = 0; d < shape.size(); ++d) {
    if (static_cast<int64_t>(d) != axis && points[d] > shape[d]) return call.Fail("the updates do not fit the data");
  }
  const int64_t length = shape[static_cast<size_t>(axis)];
  for (int64_t& index : s.index_values) {
    if (index < -length || index >= length) return call.Fail("an index is out of range");
    if (index < 0) index += length;
  }
  const Shape to = RowMajorStrides(shape);
  const Shape from = RowMajorStrides(points);
  ApplyUpdates(s, [&](int64_t i) {
    int64_t place = s.index_values[static_cast<size_t>(i)] * to[static_cast<size_t>(axis)];
    for (size_t d = 0; d < shape.size(); ++d) {
      if (static_cast<int64_t>(d) != axis) place += i / from[d] % points[d] * to[d];
    }
    return place;
  });
  return HostValue(Tensor(s.out));
}

// The last dimension of the indices holds the leading coordinates of the target of a slice of the updates.
Result<HostValue> EvalScatterNd(KernelCall& call) {
  IROPT_ASSIGN_OR_RETURN(const Scatter s, PrepareScatter(call, call.attrs<ScatterNDAttrs>().reduction()));
  const Shape shape = ShapeOf(*s.out);
  const Shape points = ShapeOf(*s.indices);
  if (points.empty() || points.back() > static_cast<int64_t>(shape.size()))
    return call.Fail("the indices do not fit the data");
  const size_t depth = static_cast<size_t>(points.back());
  Shape expected(points.begin(), points.end() - 1);
  expected.insert(expected.end(), shape.begin() + static_cast<int64_t>(depth), shape.end());
  if (expected != ShapeOf(*s.updates)) return call.Fail("the updates do not fit the indices");
  for (size_t i = 0; i < s.index_values.size(); ++i) {
    if (s.index_values[i] < 0 || s.index_values[i] >= shape[i % depth]) return call.Fail("an index is out of range");
  }
  const Shape strides = RowMajorStrides(shape);
  int64_t slice = 1;
  for (size_t d = depth; d < shape.size(); ++d) slice *= shape[d];
  ApplyUpdates(s, [&](int64_t i) {
    int64_t place = i % slice;
    for (size_t d = 0; d < depth; ++d) place += s.index_values[static_cast<size_t>(i / slice) * depth + d] * strides[d];
    return place;
  });
  return HostValue(Tensor(s.out));
}

}  // namespace iropt::eval
