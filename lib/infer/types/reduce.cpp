// Type rules of reductions, scans and linear algebra.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "infer/type_util.h"
#include "iropt/infer/einsum.h"
#include "iropt/op/ops/linear_algebra.h"
#include "iropt/op/ops/matmul.h"
#include "iropt/op/ops/reduction.h"
#include "iropt/op/ops/scan.h"

namespace iropt {

using namespace rules;

IROPT_TYPE_RULE(InferStatistical, "without the axes of `axis`, or with length 1 there") {
  const TensorType* x = UnaryArg(call, ctx);
  if (!x) return nullptr;
  const StatisticalAttrs attrs(call);
  const auto given = attrs.axis();
  const bool keepdims = attrs.keepdims();
  if (!HasRank(x)) {
    if (!given && !keepdims) return TensorType::Get(std::span<const Dim>(), x->dtype, x->vdevice);
    return WithRank(x, kUnknownDim);
  }
  std::vector<int> axes;
  if (given && !NormalizeAxes(call, x->ndim, given->vector(), ctx, axes)) return nullptr;
  const int ndim = keepdims ? x->ndim : given ? x->ndim - static_cast<int>(axes.size()) : 0;
  // A reduction over all axes has a known result for any lengths.
  if (!x->known && given && ndim != 0) return WithRank(x, ndim);
  DimList dims;
  for (int i = 0; i < x->ndim; ++i) {
    if (given && std::find(axes.begin(), axes.end(), i) == axes.end())
      dims.push_back(x->dims[i]);
    else if (keepdims)
      dims.push_back(One());
  }
  return TensorType::Get(dims, x->dtype, x->vdevice);
}

IROPT_TYPE_RULE(
    InferMedian,
    "without the axes of `axis`, or with length 1 there; for one axis a tuple of it and of the indices, int64") {
  const TensorType* x = UnaryArg(call, ctx);
  if (!x) return nullptr;
  const StatisticalAttrs attrs(call);
  const auto given = attrs.axis();
  std::vector<int> axes;
  if (given && HasRank(x) && !NormalizeAxes(call, x->ndim, given->vector(), ctx, axes)) return nullptr;
  const auto* values = static_cast<const TensorType*>(InferStatistical(call, ctx));
  if (!values) return nullptr;
  // Without a shape, TVM's result is a tuple also for several axes, unless its shape follows from the rank.
  const bool known = values->known && (x->known || !given || values->ndim == 0);
  if (known && (!x->known || !given || axes.size() > 1)) return values;
  const Type* fields[] = {values, WithShapeOf(values, DataType::Int(64), x->vdevice, ctx)};
  return TupleType::Get(fields);
}

IROPT_TYPE_RULE(InferScan, "that of `data`, or one axis with all elements; `dtype` if given") {
  const TensorType* x = UnaryArg(call, ctx);
  if (!x) return nullptr;
  const ScanopAttrs attrs(call);
  const DataType given = attrs.dtype();
  const DataType dtype = given.is_void() ? x->dtype : given;
  const auto axis = attrs.axis();
  if (axis) {
    if (HasRank(x) && !NormalizeAxis(call, x->ndim, *axis, ctx)) return nullptr;
    return WithDType(x, dtype, ctx);
  }
  if (!x->known) return TensorType::Get(1, dtype, x->vdevice);
  const Dim length[] = {Product(x->dims)};
  return TensorType::Get(length, dtype, x->vdevice);
}

// ---- Matrix products

namespace {

const VDeviceAttr* MatmulVDevice(const TensorType* a, const TensorType* b) {
  if (a->vdevice && b->vdevice) return a->vdevice == b->vdevice ? a->vdevice : nullptr;
  return a->vdevice ? a->vdevice : b->vdevice;
}

}  // namespace

IROPT_TYPE_RULE(InferMatmul,
                "the batch axes broadcast, rows of `x1`, columns of `x2`; `out_dtype` or the dtype of both") {
  const TensorType* x[2];
  if (!TensorArgs(call, ctx, x)) return nullptr;
  const VDeviceAttr* vdevice = MatmulVDevice(x[0], x[1]);
  const DataType given = MatmulAttrs(call).out_dtype();
  const auto dtype = given.is_void() ? CommonDType(call, 0, x[0]->dtype, 1, x[1]->dtype, ctx) : given;
  if (!dtype) return nullptr;
  if (!HasRank(x[0]) || !HasRank(x[1])) return TensorType::Get(kUnknownDim, *dtype, vdevice);
  for (size_t i = 0; i < 2; ++i) {
    if (x[i]->ndim == 0) return ctx.Error(call, i, fmt::format("{} must not be a scalar", OperandName(call, i)));
  }
  // A vector is a row on the left and a column on the right; its added axis is not in the result.
  const bool row = x[0]->ndim == 1;
  const bool column = x[1]->ndim == 1;
  const int ndim = std::max({x[0]->ndim, x[1]->ndim, 2}) - row - column;
  if (!x[0]->known || !x[1]->known) return TensorType::Get(ndim, *dtype, vdevice);
  const std::span<const Dim> a = x[0]->dims;
  const std::span<const Dim> b = x[1]->dims;
  DimList dims;
  const Known batch =
      Broadcast(call, a.first(a.size() - (row ? 1 : 2)), b.first(b.size() - (column ? 1 : 2)), ctx, dims);
  if (batch == Known::kError) return nullptr;
  if (batch == Known::kNo) return TensorType::Get(ndim, *dtype, vdevice);
  const Dim inner_a = a.back();
  const Dim inner_b = column ? b.back() : b[b.size() - 2];
  if (arith::ProveNotEqual(inner_a, inner_b)) {
    return ctx.Error(call, 1,
                     fmt::format("the shapes {} and {} have different reduction lengths {} and {}", DimsToString(a),
                                 DimsToString(b), DimToString(inner_a), DimToString(inner_b)));
  }
  if (!row) dims.push_back(a[a.size() - 2]);
  if (!column) dims.push_back(b.back());
  return TensorType::Get(dims, *dtype, vdevice);
}

IROPT_TYPE_RULE(InferOuter, "a row for each element of `x1`, a column for each of `x2`; both have rank 1") {
  const TensorType* x[2];
  if (!TensorArgs(call, ctx, x)) return nullptr;
  for (size_t i = 0; i < 2; ++i) {
    if (x[i]->ndim == 1) continue;
    return ctx.Error(call, i,
                     fmt::format("{} must have rank 1, but is of type {}", OperandName(call, i), TypeToString(x[i])));
  }
  if (!x[0]->known || !x[1]->known) return TensorType::Get(2, x[0]->dtype);
  const Dim dims[] = {x[0]->dims[0], x[1]->dims[0]};
  return TensorType::Get(dims, x[0]->dtype);
}

// ---- Einstein summation

namespace {

// The common extent of two axes of one letter; null if they contradict each other.
Dim JoinExtents(Dim a, Dim b) {
  if (a == b || IsOne(b)) return a;
  if (IsOne(a)) return b;
  const bool const_a = arith::AsInt(a);
  const bool const_b = arith::AsInt(b);
  if (const_a && const_b) return nullptr;
  if (const_a) return b;
  return const_b ? a : kDims.Max(a, b);
}

class EinsumShape {
 public:
  EinsumShape(const Call& call, InferContext& ctx) : call_(call), ctx_(ctx) {}

  bool AddInput(const std::string& subscript, std::span<const Dim> shape, size_t index) {
    const size_t ellipsis = subscript.find('.');
    const bool has_ellipsis = ellipsis != std::string::npos;
    const size_t letters = subscript.size() - has_ellipsis;
    if (shape.size() < letters || (!has_ellipsis && shape.size() != letters)) {
      ctx_.Error(call_, 0,
                 fmt::format("tensor {} has rank {}, but the subscript '{}'", index, shape.size(), subscript));
      return false;
    }
    size_t at = 0;
    for (const char label : subscript) {
      if (label == '.') {
        const size_t covered = shape.size() - letters;
        if (!AddEllipsis(shape.subspan(at, covered))) return false;
        at += covered;
      } else if (!AddLabel(label, shape[at++])) {
        return false;
      }
    }
    return true;
  }

  bool Output(const std::string& subscript, DimList& out) const {
    for (const char label : subscript) {
      if (label == '.') {
        out.Append(ellipsis_);
        continue;
      }
      const auto it = extents_.find(label);
      if (it == extents_.end()) {
        ctx_.Error(call_, fmt::format("the output letter '{}' occurs in no input", label));
        return false;
      }
      out.push_back(it->second);
    }
    return true;
  }

 private:
  bool AddLabel(char label, Dim extent) {
    const auto [it, added] = extents_.emplace(label, extent);
    if (added) return true;
    const Dim joined = JoinExtents(it->second, extent);
    if (!joined) {
      ctx_.Error(call_, 0,
                 fmt::format("the letter '{}' stands for axes of length {} and {}", label, DimToString(it->second),
                             DimToString(extent)));
      return false;
    }
    it->second = joined;
    return true;
  }
  bool AddEllipsis(std::span<const Dim> shape) {
    DimList joined;
    if (Broadcast(call_, ellipsis_, shape, ctx_, joined) == Known::kError) return false;
    ellipsis_ = joined;
    return true;
  }

  const Call& call_;
  InferContext& ctx_;
  std::map<char, Dim> extents_;
  DimList ellipsis_;
};

}  // namespace

IROPT_TYPE_RULE(InferEinsum, "the shape given by `subscripts`") {
  if (!CheckArity(call, 1, 1, ctx)) return nullptr;
  std::vector<const TensorType*> tensors;
  if (!TensorsOfTuple(call, 0, ctx, tensors)) return nullptr;
  const VDeviceAttr* vdevice = JoinVDevices(tensors);
  const DataType dtype = tensors[0]->dtype;
  for (const TensorType* t : tensors) {
    if (t->dtype == dtype) continue;
    return ctx.Error(
        call, 0,
        fmt::format("the tensors must have the same dtype, but have {} and {}", dtype.ToString(), t->dtype.ToString()));
  }
  const std::string_view text = EinsumAttrs(call).subscripts();
  const auto equation = ParseEinsum(text);
  if (!equation || equation->inputs.size() != tensors.size()) {
    return ctx.Error(call, fmt::format("'{}' is not an equation of {} tensor{}", text, tensors.size(),
                                       tensors.size() == 1 ? "" : "s"));
  }
  const bool known = std::all_of(tensors.begin(), tensors.end(), [](const TensorType* t) { return t->known; });
  if (!known) {
    // An ellipsis stands for as many axes as there are.
    const bool ranked = equation->output.find('.') == std::string::npos;
    return TensorType::Get(ranked ? static_cast<int>(equation->output.size()) : kUnknownDim, dtype, vdevice);
  }
  EinsumShape shape(call, ctx);
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!shape.AddInput(equation->inputs[i], tensors[i]->dims, i)) return nullptr;
  }
  DimList dims;
  return shape.Output(equation->output, dims) ? TensorType::Get(dims, dtype, vdevice) : nullptr;
}

}  // namespace iropt
