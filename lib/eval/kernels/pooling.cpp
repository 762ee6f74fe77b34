// Pools over spatial windows, and their gradients.
#include "iropt/op/ops/pooling.h"

#include <algorithm>
#include <array>

#include "numeric.h"
#include "rearrange.h"
#include "window.h"

namespace iropt::eval {

namespace {

constexpr size_t kMaxSpatial = 3;

// An image as blocks of three spatial dimensions; missing ones are of length 1. The operand is transposed to the axes
// NC... first, so that the blocks are contiguous.
struct Blocks {
  int64_t count = 1;
  std::array<int64_t, kMaxSpatial> dims{1, 1, 1};

  int64_t size() const { return dims[0] * dims[1] * dims[2]; }
};

Blocks BlocksOf(std::span<const int64_t> shape, size_t rank) {
  Blocks blocks;
  blocks.count = shape[0] * shape[1];
  for (size_t i = 0; i < rank; ++i) blocks.dims[kMaxSpatial - rank + i] = shape[2 + i];
  return blocks;
}

// The window with leading axes of size 1 added, so that there are three.
SizedWindow WidenWindow(SizedWindow window) {
  const size_t missing = kMaxSpatial - window.size.size();
  for (Shape* ones : {&window.size, &window.strides, &window.dilation}) ones->insert(ones->begin(), missing, 1);
  for (Shape* zeros : {&window.before, &window.after}) zeros->insert(zeros->begin(), missing, 0);
  return window;
}

struct Pool {
  SizedWindow window;  // over three axes
  Blocks in;
  Blocks out;
  Shape out_shape;
  bool count_include_pad = false;
};

// The range of one window on one axis: positions first + i * dilation for i in [begin, end) are within the image.
struct Span {
  int64_t first;
  int64_t begin;
  int64_t end;
};

Span SpanOf(const Pool& pool, size_t axis, int64_t place) {
  const int64_t step = pool.window.dilation[axis];
  const int64_t first = place * pool.window.strides[axis] - pool.window.before[axis];
  const int64_t begin = first >= 0 ? 0 : (-first + step - 1) / step;
  const int64_t left = pool.in.dims[axis] - first;
  const int64_t end = left <= 0 ? 0 : std::min(pool.window.size[axis], (left + step - 1) / step);
  return {first, begin, std::max(begin, end)};
}

// The number of elements that an average divides by on one axis. Elements beyond the padding, which rounding up adds,
// never count.
int64_t CountOf(const Pool& pool, size_t axis, int64_t place) {
  const Span span = SpanOf(pool, axis, place);
  if (!pool.count_include_pad) return span.end - span.begin;
  const int64_t last = pool.in.dims[axis] + pool.window.after[axis] - 1;
  const int64_t reach = std::min(span.first + (pool.window.size[axis] - 1) * pool.window.dilation[axis], last);
  return (reach - span.first) / pool.window.dilation[axis] + 1;
}

// Calls f(position, offset of the block's first element) for each window; positions have three axes.
template <class F>
void ForEachWindow(const Pool& pool, F&& f) {
  for (int64_t block = 0; block < pool.in.count; ++block) {
    std::array<int64_t, kMaxSpatial> at{};
    for (at[0] = 0; at[0] < pool.out.dims[0]; ++at[0])
      for (at[1] = 0; at[1] < pool.out.dims[1]; ++at[1])
        for (at[2] = 0; at[2] < pool.out.dims[2]; ++at[2]) f(at, block * pool.in.size());
  }
}

using Place = std::array<int64_t, kMaxSpatial>;

// Calls f(offset) for the elements of one window that are within the image, in order.
template <class F>
void ForEachInside(const Pool& pool, const Place& at, F&& f) {
  const Span spans[] = {SpanOf(pool, 0, at[0]), SpanOf(pool, 1, at[1]), SpanOf(pool, 2, at[2])};
  const Shape& step = pool.window.dilation;
  for (int64_t d = spans[0].begin; d < spans[0].end; ++d) {
    const int64_t plane = (spans[0].first + d * step[0]) * pool.in.dims[1];
    for (int64_t h = spans[1].begin; h < spans[1].end; ++h) {
      const int64_t row = (plane + spans[1].first + h * step[1]) * pool.in.dims[2] + spans[2].first;
      for (int64_t w = spans[2].begin; w < spans[2].end; ++w) f(row + w * step[2]);
    }
  }
}

// The greatest element, negative infinity of no elements and outside of the image.
template <class T>
void RunMaxPool(const Pool& pool, const T* x, T* out) {
  ForEachWindow(pool, [&](const Place& at, int64_t base) {
    auto best = Element<T>::Load(IdentityOfMax<T>());
    ForEachInside(pool, at, [&](int64_t offset) { best = MaxOf(best, Element<T>::Load(x[base + offset])); });
    *out++ = Element<T>::Store(best);
  });
}

// A mean lies between the elements, so that it fits their dtype. Integers are truncated towards zero.
template <class T>
T MeanOf(SumOf<T> sum, int64_t count) {
  return static_cast<T>(DivElements(sum, ElementOf<SumOf<T>>(count)));
}

// The sum in order, divided once.
template <class T>
void RunAvgPool(const Pool& pool, const T* x, T* out) {
  ForEachWindow(pool, [&](const Place& at, int64_t base) {
    auto sum = ElementOf<SumOf<T>>(0);
    ForEachInside(pool, at, [&](int64_t offset) { sum = AddElements(sum, WidenForSum(x[base + offset])); });
    const int64_t count = CountOf(pool, 0, at[0]) * CountOf(pool, 1, at[1]) * CountOf(pool, 2, at[2]);
    *out++ = MeanOf<T>(sum, std::max<int64_t>(count, 1));
  });
}

Status ChargeWindows(KernelCall& call, const Pool& pool) {
  uint64_t work = static_cast<uint64_t>(pool.out.count);
  for (size_t i = 0; i < kMaxSpatial; ++i) {
    const uint64_t most = static_cast<uint64_t>(pool.out.dims[i]) *
                          static_cast<uint64_t>(std::min(pool.window.size[i], std::max<int64_t>(pool.in.dims[i], 1)));
    if (__builtin_mul_overflow(work, most, &work)) work = UINT64_MAX;
  }
  return call.Charge(work);
}

// The plan of a pool over an image with the axes NC...
Result<Pool> PlanPool(const KernelCall& call, std::span<const int64_t> shape, size_t rank) {
  const auto attrs = call.attrs<PoolAttrs>();
  Pool pool;
  Shape size = attrs.pool_size().vector();
  if (size.size() != rank) return call.Fail("the window does not fit the number of spatial axes");
  IROPT_ASSIGN_OR_RETURN(const SizedWindow window, SizedWindowOf(call, std::move(size), attrs));
  const auto round_up = attrs.ceil_mode();
  pool.count_include_pad = attrs.count_include_pad();
  pool.out_shape.assign(shape.begin(), shape.begin() + 2);
  for (size_t i = 0; i < rank; ++i) {
    IROPT_ASSIGN_OR_RETURN(const int64_t count, CountWindows(call, window, i, shape[2 + i], round_up));
    pool.out_shape.push_back(count);
  }
  pool.window = WidenWindow(window);
  pool.in = BlocksOf(shape, rank);
  pool.out = BlocksOf(pool.out_shape, rank);
  return pool;
}

Result<HostValue> EvalPool(KernelCall& call, size_t rank, bool maximum) {
  const auto attrs = call.attrs<PoolAttrs>();
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorArg(0));
  const std::string_view layout = attrs.layout();
  IROPT_ASSIGN_OR_RETURN(const Tensor image, FromLayout(call, x, layout, ImageAxes(rank)));
  IROPT_ASSIGN_OR_RETURN(const Pool pool, PlanPool(call, image->shape(), rank));
  IROPT_RETURN_IF_ERROR(ChargeWindows(call, pool));
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> out, call.Allocate(x->dtype(), pool.out_shape));
  const bool supported = DispatchNumber(x->dtype(), [&]<class T>(std::type_identity<T>) {
    maximum ? RunMaxPool(pool, image->As<T>().data(), out->MutableAs<T>().data())
            : RunAvgPool(pool, image->As<T>().data(), out->MutableAs<T>().data());
  });
  if (!supported) return call.UnsupportedDType(x->dtype());
  IROPT_ASSIGN_OR_RETURN(Tensor result, ToLayout(call, out, ImageAxes(rank), attrs.out_layout()));
  return HostValue(std::move(result));
}

}  // namespace

Result<HostValue> EvalMaxPool1d(KernelCall& call) { return EvalPool(call, 1, /*maximum=*/true); }
Result<HostValue> EvalMaxPool2d(KernelCall& call) { return EvalPool(call, 2, /*maximum=*/true); }
Result<HostValue> EvalMaxPool3d(KernelCall& call) { return EvalPool(call, 3, /*maximum=*/true); }
Result<HostValue> EvalAvgPool1d(KernelCall& call) { return EvalPool(call, 1, /*maximum=*/false); }
Result<HostValue> EvalAvgPool2d(KernelCall& call) { return EvalPool(call, 2, /*maximum=*/false); }
Result<HostValue> EvalAvgPool3d(KernelCall& call) { return EvalPool(call, 3, /*maximum=*/false); }

namespace {

// Element i of `out` averages the elements from i * in / out, rounded down, to (i + 1) * in / out, rounded up.
struct Share {
  int64_t begin;
  int64_t end;
};
Share ShareOf(int64_t i, int64_t in, int64_t out) { return {i * in / out, ((i + 1) * in + out - 1) / out}; }

template <class T>
void RunAdaptivePool(const Blocks& in, const Blocks& out, const T* x, T* result) {
  for (int64_t block = 0; block < in.count; ++block, x += in.size()) {
    ForEachIndex(out.dims, [&](const Shape& at) {
      Share shares[kMaxSpatial];
      int64_t count = 1;
      for (size_t i = 0; i < kMaxSpatial; ++i) {
        shares[i] = ShareOf(at[i], in.dims[i], out.dims[i]);
        count *= shares[i].end - shares[i].begin;
      }
      auto sum = ElementOf<SumOf<T>>(0);
      for (int64_t d = shares[0].begin; d < shares[0].end; ++d)
        for (int64_t h = shares[1].begin; h < shares[1].end; ++h)
          for (int64_t w = shares[2].begin; w < shares[2].end; ++w)
            sum = AddElements(sum, WidenForSum(x[(d * in.dims[1] + h) * in.dims[2] + w]));
      *result++ = MeanOf<T>(sum, count);
    });
  }
}

Result<HostValue> EvalAdaptivePool(KernelCall& call, size_t rank) {
  const auto attrs = call.attrs<AdaptivePoolAttrs>();
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorArg(0));
  const std::string_view layout = attrs.layout();
  IROPT_ASSIGN_OR_RETURN(const Tensor image, FromLayout(call, x, layout, ImageAxes(rank)));
  Shape shape = ShapeOf(*image);
  if (const auto size = attrs.output_size()) {
    if (size->size() != rank) return call.Fail("the output size does not fit the number of spatial axes");
    std::ranges::copy(size->vector(), shape.begin() + 2);
  }
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> out, call.Allocate(x->dtype(), shape));
  if (x->num_elements() == 0 && out->num_elements() != 0) return call.Fail("an empty window has no average");
  // Each element of the image is in at most two shares of an axis if there are fewer shares than elements.
  IROPT_RETURN_IF_ERROR(call.Charge(static_cast<uint64_t>(x->num_elements()) * 8));
  IROPT_RETURN_IF_ERROR(call.Charge(static_cast<uint64_t>(out->num_elements()) * 8));
  const bool supported = DispatchNumber(x->dtype(), [&]<class T>(std::type_identity<T>) {
    RunAdaptivePool(BlocksOf(image->shape(), rank), BlocksOf(shape, rank), image->As<T>().data(),
                    out->MutableAs<T>().data());
  });
  if (!supported) return call.UnsupportedDType(x->dtype());
  IROPT_ASSIGN_OR_RETURN(Tensor result, ToLayout(call, out, ImageAxes(rank), attrs.out_layout()));
  return HostValue(std::move(result));
}

}  // namespace

Result<HostValue> EvalAdaptiveAvgPool1d(KernelCall& call) { return EvalAdaptivePool(call, 1); }
Result<HostValue> EvalAdaptiveAvgPool2d(KernelCall& call) { return EvalAdaptivePool(call, 2); }
Result<HostValue> EvalAdaptiveAvgPool3d(KernelCall& call) { return EvalAdaptivePool(call, 3); }

namespace {

// Gradients iterate over the windows in reverse, so that each element of the image sums its parts in the order of
// generated code.
template <class F>
void ForEachWindowBackwards(const Pool& pool, F&& f) {
  for (int64_t block = 0; block < pool.in.count; ++block) {
    for (int64_t i = pool.out.size(); i-- > 0;) {
      const int64_t width = pool.out.dims[2];
      f(Place{0, i / width, i % width}, block * pool.in.size(), block * pool.out.size() + i);
    }
  }
}

// The gradient of a window goes to the first of its greatest elements.
template <class T>
void RunMaxPoolBackward(const Pool& pool, const T* grad, const T* x, T* out) {
  ForEachWindowBackwards(pool, [&](const Place& at, int64_t base, int64_t index) {
    int64_t best = -1;
    ForEachInside(pool, at, [&](int64_t offset) {
      if (best < 0 || IsMoreExtreme<true>(Element<T>::Load(x[base + offset]), Element<T>::Load(x[base + best])))
        best = offset;
    });
    if (best >= 0) out[base + best] = AddElements(out[base + best], grad[index]);
  });
}

template <class T>
void RunAvgPoolBackward(const Pool& pool, const T* grad, T* out) {
  ForEachWindowBackwards(pool, [&](const Place& at, int64_t base, int64_t index) {
    const int64_t count = CountOf(pool, 1, at[1]) * CountOf(pool, 2, at[2]);
    const T part = DivElements(grad[index], ElementOf<T>(std::max<int64_t>(count, 1)));
    ForEachInside(pool, at, [&](int64_t offset) { out[base + offset] = AddElements(out[base + offset], part); });
  });
}

Result<HostValue> EvalPoolBackward(KernelCall& call, bool maximum) {
  const auto attrs = call.attrs<PoolAttrs>();
  IROPT_ASSIGN_OR_RETURN(const Tensor grad_arg, call.TensorArg(0));
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorArg(1));
  const std::string_view layout = attrs.layout();
  IROPT_ASSIGN_OR_RETURN(const Tensor grad, FromLayout(call, grad_arg, layout, "NCHW"));
  IROPT_ASSIGN_OR_RETURN(const Tensor image, FromLayout(call, x, layout, "NCHW"));
  IROPT_ASSIGN_OR_RETURN(const Pool pool, PlanPool(call, image->shape(), 2));
  if (ShapeOf(*grad) != pool.out_shape || grad->dtype() != x->dtype())
    return call.Fail("the gradient does not fit the result of the pool");
  if (pool.window.dilation[1] != 1 || pool.window.dilation[2] != 1) return call.Fail("dilation is not supported");
  IROPT_RETURN_IF_ERROR(ChargeWindows(call, pool));
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> out, call.Allocate(x->dtype(), ShapeOf(*image)));
  const bool supported = DispatchFloat(x->dtype(), [&]<class T>(std::type_identity<T>) {
    const T* gradients = grad->As<T>().data();
    T* result = out->MutableAs<T>().data();
    maximum ? RunMaxPoolBackward(pool, gradients, image->As<T>().data(), result)
            : RunAvgPoolBackward(pool, gradients, result);
  });
  if (!supported) return call.UnsupportedDType(x->dtype());
  IROPT_ASSIGN_OR_RETURN(Tensor result, ToLayout(call, out, "NCHW", layout));
  return HostValue(std::move(result));
}

}  // namespace

Result<HostValue> EvalMaxPool2dBackward(KernelCall& call) { return EvalPoolBackward(call, /*maximum=*/true); }
Result<HostValue> EvalAvgPool2dBackward(KernelCall& call) { return EvalPoolBackward(call, /*maximum=*/false); }

}  // namespace iropt::eval
