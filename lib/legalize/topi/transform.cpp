// Tensor expressions that rearrange or pick elements.
#include <algorithm>
#include <limits>
#include <numeric>

#include "iropt/legalize/topi.h"

namespace iropt::topi {

namespace {

std::vector<Value> Copy(Values indices) { return {indices.begin(), indices.end()}; }

bool IsEmpty(Values shape) {
  return std::any_of(shape.begin(), shape.end(), [](const Value& dim) { return dim.Is(0); });
}

}  // namespace

Tensor Reshape(const Tensor& x, Values shape) {
  const Shape from = x.shape();
  const bool empty = IsEmpty(shape) || IsEmpty(from);
  return x.te().Compute("T_reshape", shape, [&](Values i) {
    return empty ? x.te().Const(0, x.dtype()) : x(Values(UnravelIndex(RavelIndex(i, shape), from)));
  });
}

Tensor Transpose(const Tensor& x, Ints axes) {
  const size_t ndim = x.ndim();
  std::vector<size_t> order(ndim);
  for (size_t i = 0; i < ndim; ++i) order[i] = axes.empty() ? ndim - 1 - i : RealAxis(ndim, axes[i]);
  Shape shape;
  for (const size_t axis : order) shape.push_back(x.dim(axis));
  return x.te().Compute("T_transpose", shape, [&](Values i) {
    std::vector<Value> own(ndim);
    for (size_t k = 0; k < ndim; ++k) own[order[k]] = i[k];
    return x(Values(own));
  });
}

Tensor Squeeze(const Tensor& x, const Axes& axes) {
  std::vector<bool> dropped(x.ndim(), false);
  for (size_t i = 0; i < x.ndim() && !axes; ++i) dropped[i] = x.dim(i).Is(1);
  if (axes) {
    for (const size_t axis : RealAxes(x.ndim(), axes)) dropped[axis] = true;
  }
  Shape shape;
  for (size_t i = 0; i < x.ndim(); ++i) {
    if (!dropped[i]) shape.push_back(x.dim(i));
  }
  return x.te().Compute("T_squeeze", shape, [&](Values i) {
    std::vector<Value> own;
    size_t next = 0;
    for (const bool drop : dropped) own.push_back(drop ? Value(0) : i[next++]);
    return x(Values(own));
  });
}

Tensor Concatenate(std::span<const Tensor> inputs, int64_t axis_number) {
  const Tensor& first = inputs[0];
  const size_t axis = RealAxis(first.ndim(), axis_number);
  Shape shape = first.shape();
  for (const Tensor& input : inputs.subspan(1)) shape[axis] = shape[axis] + input.dim(axis);
  shape[axis] = first.te().Simplify(shape[axis]);
  return first.te().Compute("T_concat", shape, [&](Values i) {
    Value result = first(i);
    std::vector<Value> own = Copy(i);
    // Constant sizes are added up: the index of the last of many inputs would have as many terms.
    Value base = i[axis];
    int64_t offset = 0;
    for (size_t k = 1; k < inputs.size(); ++k) {
      const Value size = inputs[k - 1].dim(axis);
      if (const auto constant = size.AsInt()) {
        offset += *constant;
        own[axis] = base - offset;
      } else {
        own[axis] = base = own[axis] - size;
        offset = 0;
      }
      result = te::IfThenElse(own[axis] >= 0, inputs[k](Values(own)), result);
    }
    return result;
  });
}

namespace {

// `length` brings a difference of two indices to the form that the dimension has.
std::vector<Tensor> SplitAt(const Tensor& x, Values indices, int64_t axis_number, std::string_view name,
                            UnaryFn length) {
  const size_t axis = RealAxis(x.ndim(), axis_number);
  std::vector<Value> begins = {0};
  begins.insert(begins.end(), indices.begin(), indices.end());
  std::vector<Tensor> parts;
  for (size_t k = 0; k < begins.size(); ++k) {
    Shape shape = x.shape();
    shape[axis] = length((k + 1 < begins.size() ? begins[k + 1] : x.dim(axis)) - begins[k]);
    parts.push_back(x.te().Compute(name, shape, [&](Values i) {
      std::vector<Value> own = Copy(i);
      own[axis] = own[axis] + begins[k];
      return x(Values(own));
    }));
  }
  return parts;
}

}  // namespace

std::vector<Tensor> Split(const Tensor& x, Values indices, int64_t axis, std::string_view name) {
  return SplitAt(x, indices, axis, name, [&](Value length) { return x.te().Simplify(length); });
}

std::vector<Tensor> SplitSections(const Tensor& x, int64_t sections, int64_t axis) {
  // The number of sections divides the length; since TVM 0.20 the quotient is rounded up all the same.
  Value length = x.dim(RealAxis(x.ndim(), axis));
  if (x.te().version() >= TextVersion::kV0_20) length = length + sections - 1;
  const Value size = te::FloorDiv(length, sections);
  std::vector<Value> indices;
  for (int64_t i = 1; i < sections; ++i) indices.push_back(size * i);
  return SplitAt(x, indices, axis, "T_split_sections", [](Value difference) { return difference; });
}

Tensor Repeat(const Tensor& x, int64_t repeats, int64_t axis_number) {
  const size_t axis = RealAxis(x.ndim(), axis_number);
  Shape shape = x.shape();
  shape[axis] = Value(repeats) * shape[axis];
  return x.te().Compute("T_repeat", shape, [&](Values i) {
    std::vector<Value> own = Copy(i);
    own[axis] = te::FloorDiv(own[axis], repeats);
    return x(Values(own));
  });
}

Tensor Tile(const Tensor& x, Ints repeats) {
  const size_t ndim = std::max(x.ndim(), repeats.size());
  const size_t added = ndim - x.ndim();
  Shape shape(ndim, 1);
  for (size_t i = added; i < ndim; ++i) shape[i] = x.dim(i - added);
  for (size_t i = 0; i < repeats.size(); ++i) {
    Value& dim = shape[ndim - repeats.size() + i];
    dim = dim * repeats[i];
  }
  const bool empty = IsEmpty(shape);
  return x.te().Compute("T_tile", shape, [&](Values i) {
    if (empty) return x.te().Const(0, x.dtype());
    std::vector<Value> own;
    for (size_t k = 0; k < x.ndim(); ++k) own.push_back(te::FloorMod(i[added + k], x.dim(k)));
    return x(Values(own));
  });
}

Tensor Flip(const Tensor& x, int64_t axis_number) {
  const size_t axis = RealAxis(x.ndim(), axis_number);
  return x.te().Compute("T_reverse_sequence", x.shape(), [&](Values i) {
    std::vector<Value> own = Copy(i);
    own[axis] = x.dim(axis) - 1 - i[axis];
    return x(Values(own));
  });
}

Tensor Pad(const Tensor& x, Values before, Values after, Value value, std::string_view name) {
  Shape shape;
  for (size_t i = 0; i < x.ndim(); ++i) shape.push_back(x.te().Simplify(x.dim(i) + before[i] + after[i]));
  const auto padded = [&](Values i) {
    std::vector<Value> own = Copy(i);
    Value inside = 1;
    bool pads = false;
    for (size_t k = 0; k < x.ndim(); ++k) {
      if (before[k].Is(0) && after[k].Is(0)) continue;
      own[k] = i[k] - before[k];
      const Value from = i[k] >= before[k];
      inside = (pads ? inside && from : from) && i[k] < x.dim(k) + before[k];
      pads = true;
    }
    return pads ? te::IfThenElse(inside, x(Values(own)), value) : x(Values(own));
  };
  return x.te().Compute(name, shape, padded, te::PythonAxes());
}

Tensor PadSides(const Tensor& x, Values before, Values after, Value value, std::string_view name) {
  te::Builder& te = x.te();
  Shape shape;
  for (size_t i = 0; i < x.ndim(); ++i) shape.push_back(te.Simplify(x.dim(i) + before[i] + after[i]));
  return te.Compute(name, shape, [&](Values i) {
    std::vector<Value> own = Copy(i);
    std::vector<Value> conditions;
    for (size_t k = 0; k < x.ndim(); ++k) {
      if (!before[k].Is(0)) {
        conditions.push_back(i[k] >= before[k]);
        own[k] = i[k] - before[k];
      }
      if (!after[k].Is(0)) conditions.push_back(te.Simplify(i[k] < before[k] + x.dim(k)));
    }
    const Value element = x(Values(own));
    if (conditions.empty()) return element;
    Value inside = conditions[0];
    for (const Value& condition : Values(conditions).subspan(1)) inside = inside && condition;
    return te::IfThenElse(inside, element, value);
  });
}

Tensor Dilate(const Tensor& x, Ints strides, std::string_view name) {
  te::Builder& te = x.te();
  Shape shape;
  for (size_t i = 0; i < x.ndim(); ++i) shape.push_back(te.Simplify((x.dim(i) - 1) * strides[i] + 1));
  const auto dilated = [&](Values i) {
    std::vector<Value> own = Copy(i);
    std::vector<Value> conditions;
    for (size_t k = 0; k < x.ndim(); ++k) {
      if (strides[k] == 1) continue;
      own[k] = te::FloorDiv(i[k], strides[k]);
      conditions.push_back(te::FloorMod(i[k], strides[k]) == 0);
    }
    if (conditions.empty()) return x(Values(own));
    Value hit = conditions[0];
    for (const Value& condition : Values(conditions).subspan(1)) hit = hit && condition;
    return te::IfThenElse(hit, x(Values(own)), te.Const(0, x.dtype()));
  };
  return te.Compute(name, shape, dilated, te::PythonAxes());
}

Tensor Trilu(const Tensor& x, Value k, bool upper) { return Trilu(x, k, upper, x.te().Const(0, x.dtype())); }

Tensor Trilu(const Tensor& x, Value k, bool upper, Value rest) {
  return x.te().Compute(
      "trilu", x.shape(),
      [&](Values i) {
        const Value row = i[i.size() - 2];
        const Value column = i[i.size() - 1] - k;
        return te::Select(upper ? row <= column : row >= column, x(i), rest);
      },
      te::PythonAxes());
}

namespace {

// The index of an element of an axis that is taken.
Value TakenIndex(Value index, Value length, std::string_view mode) {
  if (mode == "clip") return te::Min(te::Max(0, index), length - 1);
  return mode == "wrap" ? te::TruncMod(te::TruncMod(index, length) + length, length) : index;
}

Value TakenElement(const Tensor& x, Values at, Value index, Value length, std::string_view mode) {
  if (mode != "nan") return x(at);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  return te::IfThenElse(index >= 0 && index < length, x(at), x.te().Const(nan, x.dtype()));
}

}  // namespace

Tensor Take(const Tensor& x, const Operand& indices, std::optional<int64_t> axis_number, std::string_view mode) {
  const auto* tensor = std::get_if<Tensor>(&indices);
  const auto index_at = [&](Values i) { return tensor ? (*tensor)(i) : std::get<Value>(indices); };
  const Shape positions = tensor ? tensor->shape() : Shape();
  if (!axis_number) {
    const Value length = Product(x.shape(), 1);
    return x.te().Compute("T_take", positions, [&](Values i) {
      const Value index = TakenIndex(index_at(i), length, mode);
      return TakenElement(x, UnravelIndex(index, x.shape()), index, length, mode);
    });
  }
  const size_t axis = RealAxis(x.ndim(), *axis_number);
  Shape shape = x.shape();
  shape.erase(shape.begin() + static_cast<ptrdiff_t>(axis));
  shape.insert(shape.begin() + static_cast<ptrdiff_t>(axis), positions.begin(), positions.end());
  return x.te().Compute("T_take", shape, [&](Values i) {
    std::vector<Value> own(i.begin(), i.begin() + static_cast<ptrdiff_t>(axis));
    own.push_back(TakenIndex(index_at(i.subspan(axis, positions.size())), x.dim(axis), mode));
    own.insert(own.end(), i.begin() + static_cast<ptrdiff_t>(axis + positions.size()), i.end());
    return TakenElement(x, own, own[axis], x.dim(axis), mode);
  });
}

Tensor Gather(const Tensor& x, int64_t axis_number, const Tensor& indices) {
  const size_t axis = RealAxis(x.ndim(), axis_number);
  return x.te().Compute("T_gather", indices.shape(), [&](Values i) {
    std::vector<Value> own = Copy(i);
    own[axis] = indices(i);
    return x(Values(own));
  });
}

namespace {

bool AllInts(Values values) {
  return std::all_of(values.begin(), values.end(), [](const Value& v) { return v.AsInt().has_value(); });
}

}  // namespace

Tensor StridedSlice(const Tensor& x, Values first, Values strides, const std::vector<size_t>& axes, Values shape) {
  const bool is_static = AllInts(first) && AllInts(strides) && AllInts(shape) && AllInts(x.shape());
  const std::string_view name = is_static ? "T_strided_slice_with_axes" : "T_dynamic_strided_slice_with_axes";
  return x.te().Compute(name, shape, [&](Values i) {
    std::vector<Value> own = Copy(i);
    for (size_t k = 0; k < axes.size(); ++k) own[axes[k]] = i[axes[k]] * strides[k] + first[k];
    return x(Values(own));
  });
}

Tensor Arange(te::Builder& te, Value start, Value stop, Value step, DataType dtype) {
  const bool is_int = start.dtype().is_int() && stop.dtype().is_int() && step.dtype().is_int();
  const PrimExpr* step_node = te.NodeOf(step);
  Value size = 0;
  if (is_int && te.analyzer().CanProveGreaterEqual(step_node, 1)) {
    size = te::FloorDiv(stop - start + step - 1, step);
  } else if (is_int && te.analyzer().CanProveLess(step_node, 0)) {
    size = te::FloorDiv(start - stop - step - 1, step * -1);
  } else {
    size = te::Cast(DataType::Int(64), Ceil(te::Div(te::Cast(DataType::Float(32), stop - start), step)));
  }
  const Value shape[] = {te.Simplify(size)};
  return te.Compute("T_arange", shape, [&](Values i) { return te::Cast(dtype, start + step * i[0]); });
}

}  // namespace iropt::topi
