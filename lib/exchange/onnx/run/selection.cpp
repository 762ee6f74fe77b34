// Operators whose results have a size that depends on the elements, and pools with indices.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include "exchange/onnx/run/kernels.h"
#include "exchange/onnx/run/numbers.h"
#include "exchange/onnx/tensors.h"

namespace iropt::onnx {

namespace {

size_t Position(int64_t at) { return static_cast<size_t>(at); }

// ---- NonMaxSuppression

struct Box {
  double top, left, bottom, right;
};

Box BoxAt(const std::vector<double>& boxes, int64_t at, bool by_center) {
  const double* box = &boxes[Position(at * 4)];
  if (by_center) return {box[1] - box[3] / 2, box[0] - box[2] / 2, box[1] + box[3] / 2, box[0] + box[2] / 2};
  return {std::min(box[0], box[2]), std::min(box[1], box[3]), std::max(box[0], box[2]), std::max(box[1], box[3])};
}

double AreaOf(const Box& box) { return std::max(0.0, box.bottom - box.top) * std::max(0.0, box.right - box.left); }

double OverlapOf(const Box& a, const Box& b) {
  const double common = AreaOf(
      {std::max(a.top, b.top), std::max(a.left, b.left), std::min(a.bottom, b.bottom), std::min(a.right, b.right)});
  const double all = AreaOf(a) + AreaOf(b) - common;
  return all > 0 ? common / all : 0;
}

Result<HostValue> RunNonMaxSuppression(OnnxCall& call) {
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> boxes, call.NumbersIn(0));
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> scores, call.NumbersIn(1));
  const std::span<const int64_t> shape = call.Shape(1);
  const std::span<const int64_t> box_shape = call.Shape(0);
  if (shape.size() != 3 || box_shape.size() != 3 || box_shape[0] != shape[0] || box_shape[1] != shape[2] ||
      box_shape[2] != 4)
    return call.Fail("the boxes and scores do not fit each other");
  const auto most = call.IntIn(2, 0);
  const double overlap = call.NumberIn(3, 0);
  const double least = call.NumberIn(4, -std::numeric_limits<double>::infinity());
  const bool by_center = call.Int("center_point_box") != 0;
  std::vector<int64_t> picked;
  for (int64_t batch = 0; batch < shape[0]; ++batch) {
    for (int64_t label = 0; label < shape[1]; ++label) {
      const double* score = scores.data() + (batch * shape[1] + label) * shape[2];
      std::vector<int64_t> order;
      for (int64_t i = 0; i < shape[2]; ++i) {
        if (score[i] > least) order.push_back(i);
      }
      std::ranges::stable_sort(order, [&](int64_t a, int64_t b) { return score[a] > score[b]; });
      std::vector<Box> kept;
      for (const int64_t i : order) {
        if (static_cast<int64_t>(kept.size()) >= most) break;
        const Box box = BoxAt(boxes, batch * shape[2] + i, by_center);
        if (std::ranges::any_of(kept, [&](const Box& other) { return OverlapOf(box, other) > overlap; })) continue;
        kept.push_back(box);
        picked.insert(picked.end(), {batch, label, i});
      }
    }
  }
  const int64_t result[] = {static_cast<int64_t>(picked.size() / 3), 3};
  return HostValue(FromInts(result, picked));
}

// ---- Unique and Compress

// The parts of a tensor along an axis, each as a row of numbers.
std::vector<std::vector<double>> RowsOf(const std::vector<double>& x, std::span<const int64_t> shape, size_t axis) {
  const int64_t outer = Product(shape.first(axis));
  const int64_t inner = Product(shape.subspan(axis + 1));
  std::vector<std::vector<double>> rows(Position(shape[axis]));
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < shape[axis]; ++i) {
      const auto from = x.begin() + (o * shape[axis] + i) * inner;
      rows[Position(i)].insert(rows[Position(i)].end(), from, from + inner);
    }
  }
  return rows;
}

// The tensor of these rows along an axis.
Tensor FromRows(DataType dtype, std::vector<int64_t> shape, size_t axis, const std::vector<std::vector<double>>& rows,
                std::span<const int64_t> order) {
  const int64_t outer = Product(std::span(shape).first(axis));
  const int64_t inner = Product(std::span(shape).subspan(axis + 1));
  shape[axis] = static_cast<int64_t>(order.size());
  std::vector<double> x;
  for (int64_t o = 0; o < outer; ++o) {
    for (const int64_t row : order) {
      const auto from = rows[Position(row)].begin() + o * inner;
      x.insert(x.end(), from, from + inner);
    }
  }
  return FromNumbers(dtype, shape, x);
}

// The axis, or a flat tensor if the node has none.
Result<size_t> AxisOrFlat(const OnnxCall& call, std::vector<int64_t>& shape) {
  if (!call.FindAttr("axis")) {
    shape = {Product(shape)};
    return size_t{0};
  }
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t axis = call.Int("axis");
  if (axis < -rank || axis >= rank) return call.Fail(fmt::format("axis {} is out of range", axis));
  return Position(axis < 0 ? axis + rank : axis);
}

Result<HostValue> RunUnique(OnnxCall& call) {
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> x, call.NumbersIn(0));
  std::vector<int64_t> shape(call.Shape(0).begin(), call.Shape(0).end());
  IROPT_ASSIGN_OR_RETURN(const size_t axis, AxisOrFlat(call, shape));
  const std::vector<std::vector<double>> rows = RowsOf(x, shape, axis);
  std::map<std::vector<double>, int64_t> groups;  // a row -> its number, by first occurrence
  std::vector<int64_t> first, counts, inverse;
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto [group, added] = groups.emplace(rows[i], static_cast<int64_t>(first.size()));
    if (added) {
      first.push_back(static_cast<int64_t>(i));
      counts.push_back(0);
    }
    ++counts[Position(group->second)];
    inverse.push_back(group->second);
  }
  if (call.Int("sorted", 1) != 0) {
    std::vector<int64_t> place(first.size()), sorted_first, sorted_counts;
    for (const auto& [row, number] : groups) {
      place[Position(number)] = static_cast<int64_t>(sorted_first.size());
      sorted_first.push_back(first[Position(number)]);
      sorted_counts.push_back(counts[Position(number)]);
    }
    for (int64_t& number : inverse) number = place[Position(number)];
    first = sorted_first;
    counts = sorted_counts;
  }
  const int64_t count[] = {static_cast<int64_t>(first.size())};
  const int64_t all[] = {static_cast<int64_t>(inverse.size())};
  return ResultOf(call, {FromRows(call.Dtype(0), shape, axis, rows, first), FromInts(count, first),
                         FromInts(all, inverse), FromInts(count, counts)});
}

Result<HostValue> RunCompress(OnnxCall& call) {
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> x, call.NumbersIn(0));
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> condition, call.NumbersIn(1));
  std::vector<int64_t> shape(call.Shape(0).begin(), call.Shape(0).end());
  IROPT_ASSIGN_OR_RETURN(const size_t axis, AxisOrFlat(call, shape));
  std::vector<int64_t> order;
  for (size_t i = 0; i < condition.size() && static_cast<int64_t>(i) < shape[axis]; ++i) {
    if (condition[i] != 0) order.push_back(static_cast<int64_t>(i));
  }
  return HostValue(FromRows(call.Dtype(0), shape, axis, RowsOf(x, shape, axis), order));
}

// ---- MaxPool with indices, MaxUnpool

// Windows over all spatial dimensions.
struct PoolWindow {
  std::vector<int64_t> kernel, strides, dilations, pads, in, out;
};

std::vector<int64_t> OrDefault(std::vector<int64_t> values, size_t count, int64_t fallback) {
  values.resize(count, fallback);
  return values;
}

Result<PoolWindow> ReadPoolWindow(const OnnxCall& call, std::span<const int64_t> shape) {
  const size_t rank = shape.size() - 2;
  PoolWindow window{call.Ints("kernel_shape"),
                    OrDefault(call.Ints("strides"), rank, 1),
                    OrDefault(call.Ints("dilations"), rank, 1),
                    OrDefault(call.Ints("pads"), 2 * rank, 0),
                    {shape.begin() + 2, shape.end()},
                    {}};
  if (window.kernel.size() != rank) return call.Fail("the kernel does not have the rank of the image");
  const std::string_view auto_pad = call.String("auto_pad", "NOTSET");
  for (size_t i = 0; i < rank; ++i) {
    if (window.strides[i] < 1 || window.dilations[i] < 1) return call.Fail("a stride or dilation is not positive");
    const int64_t extent = (window.kernel[i] - 1) * window.dilations[i] + 1;
    if (auto_pad.starts_with("SAME")) {
      const int64_t outputs = (window.in[i] + window.strides[i] - 1) / window.strides[i];
      const int64_t total = std::max<int64_t>(0, (outputs - 1) * window.strides[i] + extent - window.in[i]);
      window.pads[i] = auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2;
      window.pads[rank + i] = total - window.pads[i];
    }
    const int64_t room = window.in[i] + window.pads[i] + window.pads[rank + i] - extent;
    const int64_t rounded = call.Int("ceil_mode") != 0 ? room + window.strides[i] - 1 : room;
    window.out.push_back(std::max<int64_t>(0, rounded < 0 ? 0 : rounded / window.strides[i] + 1));
  }
  return window;
}

// The next index of a box of these sizes, the last dimension first; false after the last one.
bool NextIndex(std::vector<int64_t>& index, const std::vector<int64_t>& sizes) {
  for (size_t i = index.size(); i-- > 0;) {
    if (++index[i] < sizes[i]) return true;
    index[i] = 0;
  }
  return false;
}

// The flat position of the greatest element of a window in one image; -1 if the window has none.
int64_t GreatestIn(const PoolWindow& window, const double* image, const std::vector<int64_t>& at) {
  int64_t best = -1;
  std::vector<int64_t> tap(at.size());
  do {
    int64_t position = 0;
    bool inside = true;
    for (size_t i = 0; i < at.size(); ++i) {
      const int64_t place = at[i] * window.strides[i] - window.pads[i] + tap[i] * window.dilations[i];
      inside = inside && place >= 0 && place < window.in[i];
      position = position * window.in[i] + place;
    }
    if (inside && (best < 0 || image[position] > image[best])) best = position;
  } while (NextIndex(tap, window.kernel));
  return best;
}

// A position with the last dimension varying slowest.
int64_t ColumnMajor(int64_t position, const std::vector<int64_t>& sizes) {
  std::vector<int64_t> index(sizes.size());
  for (size_t i = sizes.size(); i-- > 0; position /= sizes[i]) index[i] = position % sizes[i];
  int64_t result = 0;
  for (size_t i = sizes.size(); i-- > 0;) result = result * sizes[i] + index[i];
  return result;
}

Result<HostValue> RunMaxPool(OnnxCall& call) {
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> x, call.NumbersIn(0));
  const std::span<const int64_t> shape = call.Shape(0);
  if (shape.size() < 3) return call.Fail("the input must be an image");
  IROPT_ASSIGN_OR_RETURN(const PoolWindow window, ReadPoolWindow(call, shape));
  const int64_t images = shape[0] * shape[1];
  const int64_t size = Product(window.in);
  std::vector<double> values;
  std::vector<int64_t> indices;
  for (int64_t n = 0; n < images && Product(window.out) > 0; ++n) {
    std::vector<int64_t> at(window.out.size());
    do {
      const int64_t best = GreatestIn(window, x.data() + n * size, at);
      values.push_back(best < 0 ? -std::numeric_limits<double>::infinity() : x[Position(n * size + best)]);
      indices.push_back(n * size + (call.Int("storage_order") == 0 ? best : ColumnMajor(best, window.in)));
    } while (NextIndex(at, window.out));
  }
  std::vector<int64_t> result = {shape[0], shape[1]};
  result.insert(result.end(), window.out.begin(), window.out.end());
  return ResultOf(call, {FromNumbers(call.Dtype(0), result, values), FromInts(result, indices)});
}

Result<HostValue> RunMaxUnpool(OnnxCall& call) {
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> x, call.NumbersIn(0));
  IROPT_ASSIGN_OR_RETURN(const std::vector<int64_t> indices, call.IntsIn(1));
  const std::span<const int64_t> shape = call.Shape(0);
  if (shape.size() < 3 || indices.size() != x.size()) return call.Fail("the values and indices do not fit each other");
  const size_t rank = shape.size() - 2;
  const std::vector<int64_t> kernel = OrDefault(call.Ints("kernel_shape"), rank, 1);
  const std::vector<int64_t> strides = OrDefault(call.Ints("strides"), rank, 1);
  const std::vector<int64_t> pads = OrDefault(call.Ints("pads"), 2 * rank, 0);
  std::vector<int64_t> inferred = {shape[0], shape[1]};
  for (size_t i = 0; i < rank; ++i)
    inferred.push_back((shape[2 + i] - 1) * strides[i] - pads[i] - pads[rank + i] + kernel[i]);
  std::vector<int64_t> result = inferred;
  if (call.Has(2)) {
    IROPT_ASSIGN_OR_RETURN(result, call.IntsIn(2));
  }
  if (result.size() != inferred.size()) return call.Fail("the shape of the result has another rank");
  IROPT_RETURN_IF_ERROR(call.CheckShape(result));
  IROPT_RETURN_IF_ERROR(call.CheckShape(inferred));
  // Indices are positions in the shape that follows from the window, whatever shape the result has.
  std::vector<double> y(Position(Product(result)));
  for (size_t i = 0; i < x.size(); ++i) {
    int64_t position = indices[i];
    int64_t at = 0;
    std::vector<int64_t> index(inferred.size());
    for (size_t k = inferred.size(); k-- > 0; position /= std::max<int64_t>(1, inferred[k]))
      index[k] = position % std::max<int64_t>(1, inferred[k]);
    for (size_t k = 0; k < inferred.size(); ++k) at = at * result[k] + index[k];
    if (indices[i] < 0 || at >= static_cast<int64_t>(y.size())) return call.Fail("an index is out of range");
    y[Position(at)] = x[i];
  }
  return HostValue(FromNumbers(call.Dtype(0), result, y));
}

// A cache of which some steps of each batch are written: cache, steps, the first place of each batch.
Result<HostValue> RunTensorScatter(OnnxCall& call) {
  IROPT_ASSIGN_OR_RETURN(std::vector<double> cache, call.NumbersIn(0));
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> update, call.NumbersIn(1));
  const std::span<const int64_t> shape = call.Shape(0);
  const std::span<const int64_t> given = call.Shape(1);
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t wanted = call.Int("axis", -2);
  const int64_t axis = wanted < 0 ? wanted + rank : wanted;
  if (axis < 1 || axis >= rank || given.size() != shape.size()) return call.Fail("the axis is out of range");
  const auto at = static_cast<size_t>(axis);
  std::vector<int64_t> begins(static_cast<size_t>(shape[0]), 0);
  if (call.Has(2)) {
    IROPT_ASSIGN_OR_RETURN(begins, call.IntsIn(2));
  }
  std::vector<int64_t> expected(shape.begin(), shape.end());
  expected[at] = given[at];
  if (!std::ranges::equal(expected, given) || static_cast<int64_t>(begins.size()) != shape[0])
    return call.Fail("the steps do not fit the cache");
  const bool circular = call.String("mode", "linear") == "circular";
  const int64_t inner = Product(shape.subspan(at + 1));
  const int64_t outer = Product(shape.first(at));
  for (int64_t row = 0; row < outer; ++row) {
    for (int64_t step = 0; step < given[at]; ++step) {
      int64_t to = begins[static_cast<size_t>(row / (outer / shape[0]))] + step;
      if (circular && shape[at] > 0) to %= shape[at];
      if (to < 0 || to >= shape[at]) return call.Fail("the steps do not fit the cache");
      std::copy_n(update.begin() + (row * given[at] + step) * inner, inner,
                  cache.begin() + (row * shape[at] + to) * inner);
    }
  }
  return HostValue(FromNumbers(call.Dtype(0), shape, cache));
}

constexpr KernelRow kSelectionKernels[] = {
    {"Compress", "01", RunCompress},           {"MaxPool", "0", RunMaxPool},
    {"MaxUnpool", "01", RunMaxUnpool},         {"NonMaxSuppression", "01", RunNonMaxSuppression},
    {"TensorScatter", "01", RunTensorScatter}, {"Unique", "0", RunUnique},
};

}  // namespace

std::span<const KernelRow> SelectionKernels() { return kSelectionKernels; }

}  // namespace iropt::onnx
