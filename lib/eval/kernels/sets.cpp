// Operators with data-dependent result shapes, and sampling by given numbers.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "axis_loops.h"
#include "iropt/op/ops/index.h"
#include "numeric.h"
#include "rearrange.h"
#include "sort_keys.h"

namespace iropt::eval {

// The coordinates of the elements that are not zero, one row per dimension; a scalar counts as of one.
Result<HostValue> EvalNonzero(KernelCall& call) {
  IROPT_ASSIGN_OR_RETURN(Tensor x, call.TensorArg(0));
  if (x->shape().empty()) x = Reshaped(x, {1});
  IROPT_RETURN_IF_ERROR(call.Charge(static_cast<uint64_t>(x->num_elements())));
  std::vector<int64_t> found;
  const bool known = DispatchElement(x->dtype(), [&]<class T>(std::type_identity<T>) {
    const std::span<const T> elements = x->As<T>();
    for (size_t i = 0; i < elements.size(); ++i) {
      if (Element<T>::Load(elements[i]) != MathOf<T>{0}) found.push_back(static_cast<int64_t>(i));
    }
  });
  if (!known) return call.UnsupportedDType(x->dtype());
  const Shape shape = ShapeOf(*x);
  const Shape strides = RowMajorStrides(shape);
  const int64_t count = static_cast<int64_t>(found.size());
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> out,
                         call.Allocate(DataType::Int(64), {static_cast<int64_t>(shape.size()), count}));
  int64_t* place = out->MutableAs<int64_t>().data();
  for (size_t d = 0; d < shape.size(); ++d) {
    for (const int64_t i : found) *place++ = i / strides[d] % shape[d];
  }
  return HostValue(Tensor(out));
}

namespace {

// Rows of a matrix grouped into classes of equal rows. NaN is equal to NaN.
struct Classes {
  std::vector<int64_t> first;     // the first row of each class, in the order of the classes
  std::vector<int64_t> class_of;  // of each row
  std::vector<int64_t> counts;
};

// The keys of the elements of a matrix.
std::vector<uint64_t> KeysOf(const NDArray& x) {
  std::vector<uint64_t> keys;
  keys.reserve(static_cast<size_t>(x.num_elements()));
  DispatchElement(x.dtype(), [&]<class T>(std::type_identity<T>) {
    for (const T element : x.As<T>()) keys.push_back(SortKey(Element<T>::Load(element), /*descending=*/false));
  });
  return keys;
}

// Equal rows in groups, in ascending order of the groups and of the rows in each.
std::vector<std::vector<int64_t>> GroupRows(const NDArray& x, int64_t rows) {
  const std::vector<uint64_t> keys = KeysOf(x);
  const size_t width = rows == 0 ? 0 : keys.size() / static_cast<size_t>(rows);
  const auto row = [&](int64_t i) { return std::span(keys).subspan(static_cast<size_t>(i) * width, width); };
  std::vector<int64_t> order(static_cast<size_t>(rows));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order,
                           [&](int64_t a, int64_t b) { return std::ranges::lexicographical_compare(row(a), row(b)); });
  std::vector<std::vector<int64_t>> groups;
  for (const int64_t i : order) {
    if (groups.empty() || !std::ranges::equal(row(groups.back().front()), row(i))) groups.emplace_back();
    groups.back().push_back(i);
  }
  return groups;
}

Classes ClassesOf(std::vector<std::vector<int64_t>> groups, int64_t rows, bool sorted) {
  if (!sorted) std::ranges::sort(groups, {}, [](const std::vector<int64_t>& group) { return group.front(); });
  Classes classes;
  classes.class_of.resize(static_cast<size_t>(rows));
  for (const std::vector<int64_t>& group : groups) {
    for (const int64_t row : group)
      classes.class_of[static_cast<size_t>(row)] = static_cast<int64_t>(classes.first.size());
    classes.first.push_back(group.front());
    classes.counts.push_back(static_cast<int64_t>(group.size()));
  }
  return classes;
}

Result<HostValue> IntTensor(const KernelCall& call, std::span<const int64_t> values) {
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> out,
                         call.Allocate(DataType::Int(64), {static_cast<int64_t>(values.size())}));
  std::ranges::copy(values, out->MutableAs<int64_t>().begin());
  return HostValue(Tensor(out));
}

// The axis first, the others in order.
Shape AxisFirst(int64_t axis, size_t rank) {
  Shape axes{axis};
  for (int64_t d = 0; d < static_cast<int64_t>(rank); ++d) {
    if (d != axis) axes.push_back(d);
  }
  return axes;
}

// The first row of each class, with the axis moved back.
Result<HostValue> RowsOf(KernelCall& call, const Tensor& x, const Classes& classes, int64_t axis) {
  Shape shape = ShapeOf(*x);
  const size_t row = shape[0] == 0 ? 0 : x->num_bytes() / static_cast<size_t>(shape[0]);
  shape[0] = static_cast<int64_t>(classes.first.size());
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> out, call.Allocate(x->dtype(), shape));
  for (size_t i = 0; i < classes.first.size() && row != 0; ++i)
    std::memcpy(out->mutable_data() + i * row, x->data() + static_cast<size_t>(classes.first[i]) * row, row);
  Shape back(shape.size());
  const Shape axes = AxisFirst(axis, shape.size());
  for (size_t i = 0; i < axes.size(); ++i) back[static_cast<size_t>(axes[i])] = static_cast<int64_t>(i);
  IROPT_ASSIGN_OR_RETURN(Tensor result, Permute(call, out, back));
  return HostValue(std::move(result));
}

}  // namespace

// The distinct elements, or slices along an axis; and, with the flags, the first occurrence of each, the class of each
// element, and the number of occurrences.
Result<HostValue> EvalUnique(KernelCall& call) {
  IROPT_ASSIGN_OR_RETURN(Tensor x, call.TensorArg(0));
  bool flags[4] = {};
  for (size_t i = 0; i < 4; ++i) {
    IROPT_ASSIGN_OR_RETURN(const Scalar flag, call.ScalarArg(i + 1));
    flags[i] = flag.ToInt().value_or(0) != 0;
  }
  int64_t axis = 0;
  if (call.num_args() > 5) {
    IROPT_ASSIGN_OR_RETURN(const Scalar given, call.ScalarArg(5));
    if (x->shape().empty()) x = Reshaped(x, {1});
    IROPT_ASSIGN_OR_RETURN(axis, NormalizeAxis(call, given.ToInt().value_or(0), x->shape().size()));
  } else {
    x = Reshaped(x, {x->num_elements()});
  }
  if (!IsElementType(x->dtype())) return call.UnsupportedDType(x->dtype());
  IROPT_RETURN_IF_ERROR(call.Charge(static_cast<uint64_t>(x->num_elements()) * 64));
  IROPT_ASSIGN_OR_RETURN(x, Permute(call, x, AxisFirst(axis, x->shape().size())));
  const int64_t rows = x->shape()[0];
  const Classes classes = ClassesOf(GroupRows(*x, rows), rows, flags[0]);
  IROPT_ASSIGN_OR_RETURN(HostValue values, RowsOf(call, x, classes, axis));
  TupleValue result;
  result.fields.push_back(std::move(values));
  const std::vector<int64_t>* extras[] = {&classes.first, &classes.class_of, &classes.counts};
  for (size_t i = 0; i < 3; ++i) {
    if (!flags[i + 1]) continue;
    IROPT_ASSIGN_OR_RETURN(HostValue extra, IntTensor(call, *extras[i]));
    result.fields.push_back(std::move(extra));
  }
  if (result.fields.size() == 1) return std::move(result.fields[0]);
  return HostValue(std::move(result));
}

// For each number, the class whose probability, added to those of the classes before it, makes the sum exceed the
// number; the last one if none does. If sums decrease, because of negative numbers, they may exceed it several times;
// the last time counts.
Result<HostValue> EvalMultinomialFromUniform(KernelCall& call) {
  IROPT_ASSIGN_OR_RETURN(const Tensor prob, call.TensorArg(0));
  IROPT_ASSIGN_OR_RETURN(const Tensor uniform, call.TensorArg(1));
  IROPT_ASSIGN_OR_RETURN(const Tensor indices, call.TensorArg(2));
  if (prob->shape().size() != 2 || prob->shape()[1] == 0 || uniform->shape().size() != 2 ||
      ShapeOf(*uniform) != ShapeOf(*indices) || uniform->shape()[1] != 1)
    return call.Fail("the shapes of the operands do not fit together");
  IROPT_ASSIGN_OR_RETURN(const std::vector<int64_t> rows, IntElements(call, *indices));
  if (std::ranges::any_of(rows, [&](int64_t row) { return row < 0 || row >= prob->shape()[0]; }))
    return call.Fail("an index is out of range");
  const int64_t classes = prob->shape()[1];
  IROPT_RETURN_IF_ERROR(call.Charge(static_cast<uint64_t>(classes) * rows.size()));
  IROPT_ASSIGN_OR_RETURN(const Tensor numbers, CastTensor(call, uniform, DataType::Float(64)));
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> out, call.Allocate(DataType::Int(64), ShapeOf(*uniform)));
  const bool supported = DispatchFloat(prob->dtype(), [&]<class T>(std::type_identity<T>) {
    for (size_t i = 0; i < rows.size(); ++i) {
      const T* row = prob->As<T>().data() + rows[i] * classes;
      const double number = numbers->As<double>()[i];
      T sum = ElementOf<T>(0);
      for (int64_t c = 0; c < classes; ++c) {
        const bool exceeded = ToReal(sum) > number;
        sum = AddElements(sum, row[c]);
        const bool chosen = (c == 0 || !exceeded) && (c + 1 == classes || ToReal(sum) > number);
        if (chosen) out->MutableAs<int64_t>()[i] = c;
      }
    }
  });
  if (!supported) return call.UnsupportedDType(prob->dtype());
  IROPT_ASSIGN_OR_RETURN(
      Tensor result,
      CastTensor(call, out, DTypeOr(call.attrs<MultinomialFromUniformAttrs>().dtype(), DataType::Int(64))));
  return HostValue(std::move(result));
}

}  // namespace iropt::eval
