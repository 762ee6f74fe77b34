// Operators that reduce: sums, matrix products, convolutions and pools.
#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "iropt/infer/axes.h"
#include "iropt/infer/einsum.h"
#include "iropt/infer/window.h"
#include "iropt/ir/limits.h"
#include "iropt/op/ops/arithmetic.h"
#include "iropt/op/ops/convolution.h"
#include "iropt/op/ops/linear_algebra.h"
#include "iropt/op/ops/matmul.h"
#include "iropt/op/ops/pooling.h"
#include "iropt/op/ops/reduction.h"
#include "semantics/proof/op_encoder.h"

namespace iropt::proof {

namespace {

// A permutation of the axes; not of their parts.
bool IsLayoutOf(std::string_view layout, std::string_view axes) {
  return layout.size() == axes.size() && std::ranges::is_permutation(layout, axes);
}

// A product of elements that is summed in this dtype.
const Term* Product(const Term* a, const Term* b, DataType dtype, TermBuilder& terms) {
  if (a->dtype != dtype) a = terms.Cast(a, dtype);
  if (b->dtype != dtype) b = terms.Cast(b, dtype);
  return terms.Apply(op::kMultiply, nullptr, {a, b}, dtype);
}

bool IsMaxPool(OpId op) { return op == op::kNnMaxPool1d || op == op::kNnMaxPool2d || op == op::kNnMaxPool3d; }

}  // namespace

std::optional<Value> OpEncoder::Reduction(const OpCall& call) {
  const Value& x = call.args[0];
  const StatisticalAttrs attrs(call.attrs);
  if (!x.is_tensor()) return std::nullopt;
  const size_t rank = x.dims.size();
  std::vector<bool> is_reduced(rank, !attrs.axis().has_value());
  if (attrs.axis()) {
    const auto axes = NormalizeAxes(attrs.axis()->vector(), static_cast<int64_t>(rank));
    if (!axes.ok()) return std::nullopt;
    for (const int64_t axis : *axes) is_reduced[static_cast<size_t>(axis)] = true;
  }
  Dims places;
  Dims reduced;
  size_t next = 0;
  for (size_t i = 0; i < rank; ++i) {
    if (is_reduced[i]) {
      places.push_back(indices_.Reduction(reduced.size(), x.dims[i]));
      reduced.push_back(x.dims[i]);
      next += attrs.keepdims() ? 1 : 0;
    } else {
      if (next >= call.dims.size()) return std::nullopt;
      places.push_back(indices_.Index(next, call.dims[next]));
      ++next;
    }
  }
  return Tensor(terms_.Reduce(call.op, reduced, At(x, places)), call.dims);
}

std::optional<Value> OpEncoder::Matmul(const OpCall& call) {
  const Value& a = call.args[0];
  const Value& b = call.args[1];
  if (!a.is_tensor() || !b.is_tensor() || a.dims.empty() || b.dims.empty()) return std::nullopt;
  const bool has_rows = a.dims.size() > 1;
  const bool has_columns = b.dims.size() > 1;
  const PrimExpr* depth = a.dims.back();
  if (!indices_.IsEqual(depth, has_columns ? b.dims[b.dims.size() - 2] : b.dims[0])) return std::nullopt;
  const size_t rank = call.dims.size();
  const size_t num_batch = rank - (has_rows ? 1 : 0) - (has_columns ? 1 : 0);
  const PrimExpr* inner = indices_.Reduction(0, depth);
  const auto places = [&](const Value& x, size_t own) {
    Dims result;
    const size_t batch = x.dims.size() - own;
    for (size_t i = 0; i < batch; ++i) {
      const size_t at = num_batch - batch + i;
      const bool is_one = arith::IsInt(x.dims[i], 1);
      if (!is_one && !indices_.IsEqual(x.dims[i], call.dims[at])) return Dims();
      result.push_back(is_one ? indices_.Int(0) : indices_.Index(at, call.dims[at]));
    }
    return result;
  };
  Dims left = places(a, has_rows ? 2 : 1);
  Dims right = places(b, has_columns ? 2 : 1);
  if (has_rows) left.push_back(indices_.Index(num_batch, call.dims[num_batch]));
  left.push_back(inner);
  right.push_back(inner);
  if (has_columns) right.push_back(indices_.Index(rank - 1, call.dims[rank - 1]));
  if (left.size() != a.dims.size() || right.size() != b.dims.size()) return std::nullopt;
  return Tensor(terms_.Reduce(op::kSum, {depth}, Product(At(a, left), At(b, right), call.dtype, terms_)), call.dims);
}

std::optional<Value> OpEncoder::Einsum(const OpCall& call) {
  const Value& operands = call.args[0];
  const auto equation = ParseEinsum(EinsumAttrs(call.attrs).subscripts());
  if (!equation || operands.kind != Value::Kind::kTuple || operands.fields.size() != equation->inputs.size())
    return std::nullopt;
  std::map<char, const PrimExpr*> places;
  for (size_t i = 0; i < equation->output.size(); ++i) places[equation->output[i]] = indices_.Index(i, call.dims[i]);
  const size_t num_kept = places.size();
  if (num_kept != equation->output.size() || num_kept != call.dims.size()) return std::nullopt;
  std::map<char, const PrimExpr*> extents;
  Dims reduced;
  const Term* product = nullptr;
  for (size_t i = 0; i < operands.fields.size(); ++i) {
    const Value& operand = operands.fields[i];
    const std::string& axes = equation->inputs[i];
    if (!operand.is_tensor() || operand.dims.size() != axes.size() || operand.dtype() != call.dtype)
      return std::nullopt;
    Dims own;
    for (size_t k = 0; k < axes.size(); ++k) {
      const auto [extent, is_new] = extents.emplace(axes[k], operand.dims[k]);
      if (axes[k] == '.' || !indices_.IsEqual(extent->second, operand.dims[k])) return std::nullopt;
      if (!places.contains(axes[k])) {
        places[axes[k]] = indices_.Reduction(reduced.size(), operand.dims[k]);
        reduced.push_back(operand.dims[k]);
      }
      own.push_back(places[axes[k]]);
    }
    const Term* element = At(operand, own);
    product = product ? Product(product, element, call.dtype, terms_) : element;
  }
  for (size_t i = 0; i < equation->output.size(); ++i) {
    const auto extent = extents.find(equation->output[i]);
    if (extent == extents.end() || !indices_.IsEqual(extent->second, call.dims[i])) return std::nullopt;
  }
  if (product == nullptr) return std::nullopt;
  return Tensor(terms_.Reduce(op::kSum, reduced, product), call.dims);
}

std::optional<Value> OpEncoder::Conv(const OpCall& call) {
  const ConvAttrs attrs(call.attrs);
  const Value& x = call.args[0];
  const Value& kernel = call.args[1];
  if (!x.is_tensor() || !kernel.is_tensor() || x.dims.size() < 3) return std::nullopt;
  const size_t rank = x.dims.size() - 2;
  const std::string_view layout = attrs.data_layout();
  const std::string_view out_layout = attrs.out_layout().empty() ? layout : attrs.out_layout();
  const std::string_view axes = ImageAxes(rank);
  const std::string_view kernel_axes = KernelAxes(rank);
  if (!IsLayoutOf(layout, axes) || !IsLayoutOf(out_layout, axes) || !IsLayoutOf(attrs.kernel_layout(), kernel_axes))
    return std::nullopt;
  const auto window = ReadWindow(rank, attrs);
  if (!window.ok() || kernel.dims.size() != x.dims.size() || call.dims.size() != x.dims.size()) return std::nullopt;
  const auto out = [&](char axis) {
    const size_t at = out_layout.find(axis);
    return indices_.Index(at, call.dims[at]);
  };
  const auto kernel_dim = [&](char axis) { return kernel.dims[attrs.kernel_layout().find(axis)]; };
  Dims places(x.dims.size());
  Dims kernel_places(x.dims.size());
  Dims reduced{kernel_dim('I')};
  const PrimExpr* channels = Mul(reduced[0], indices_.Int(attrs.groups()));
  if (!indices_.IsEqual(x.dims[layout.find('C')], channels)) return std::nullopt;
  const PrimExpr* channel = indices_.Reduction(0, reduced[0]);
  kernel_places[attrs.kernel_layout().find('O')] = out('C');
  kernel_places[attrs.kernel_layout().find('I')] = channel;
  if (attrs.groups() != 1) {
    const int64_t* number = arith::AsInt(kernel_dim('O'));
    if (number == nullptr || attrs.groups() < 1 || *number % attrs.groups() != 0) return std::nullopt;
    const PrimExpr* group = indices_.make().FloorDiv(out('C'), indices_.Int(*number / attrs.groups()));
    channel = indices_.Simplify(Add(Mul(group, reduced[0]), channel));
  }
  places[layout.find('N')] = out('N');
  places[layout.find('C')] = channel;
  const PrimExpr* inside = nullptr;
  for (size_t i = 0; i < rank; ++i) {
    const char axis = axes[i + 2];
    const PrimExpr* step = indices_.Reduction(reduced.size(), kernel_dim(axis));
    reduced.push_back(kernel_dim(axis));
    kernel_places[attrs.kernel_layout().find(axis)] = step;
    const PrimExpr* place = Add(Mul(out(axis), indices_.Int(window->strides[i])),
                                Sub(Mul(step, indices_.Int(window->dilation[i])), indices_.Int(window->before[i])));
    place = indices_.Simplify(place);
    places[layout.find(axis)] = place;
    if (window->before[i] != 0 || window->after[i] != 0)
      inside = indices_.And(inside, indices_.RangeOf(place, x.dims[layout.find(axis)]));
  }
  const Term* product = Product(At(x, places), At(kernel, kernel_places), call.dtype, terms_);
  const Term* zero = terms_.Number(call.dtype, 0.0);
  if (inside != nullptr) {
    if (zero == nullptr) return std::nullopt;
    product = terms_.Select(inside, product, zero);
  }
  return Tensor(terms_.Reduce(op::kSum, reduced, product), call.dims);
}

std::optional<Value> OpEncoder::Pool(const OpCall& call) {
  const PoolAttrs attrs(call.attrs);
  const Value& x = call.args[0];
  if (!x.is_tensor() || x.dims.size() < 3 || call.dims.size() != x.dims.size()) return std::nullopt;
  const size_t rank = x.dims.size() - 2;
  const std::string_view layout = attrs.layout();
  const std::string_view out_layout = attrs.out_layout().empty() ? layout : attrs.out_layout();
  const std::string_view axes = ImageAxes(rank);
  if (!IsLayoutOf(layout, axes) || !IsLayoutOf(out_layout, axes) || attrs.pool_size().size() != rank)
    return std::nullopt;
  const auto window = ReadWindow(rank, attrs);
  if (!window.ok()) return std::nullopt;
  const bool is_max = IsMaxPool(call.op);
  Dims places(x.dims.size());
  Dims reduced;
  const PrimExpr* inside = nullptr;
  for (const char axis : axes) {
    const size_t at = out_layout.find(axis);
    places[layout.find(axis)] = indices_.Index(at, call.dims[at]);
  }
  for (size_t i = 0; i < rank; ++i) {
    const size_t at = layout.find(axes[i + 2]);
    const PrimExpr* size = indices_.Int(attrs.pool_size()[i]);
    const PrimExpr* step = indices_.Reduction(reduced.size(), size);
    reduced.push_back(size);
    const PrimExpr* place = Add(Mul(places[at], indices_.Int(window->strides[i])),
                                Sub(Mul(step, indices_.Int(window->dilation[i])), indices_.Int(window->before[i])));
    places[at] = indices_.Simplify(place);
    if (window->before[i] != 0 || window->after[i] != 0 || attrs.ceil_mode())
      inside = indices_.And(inside, indices_.RangeOf(places[at], x.dims[at]));
  }
  const Term* element = At(x, places);
  if (inside != nullptr) {
    // What an average divides by depends on the place.
    if (!call.dtype.is_floating() || (!is_max && (!attrs.count_include_pad() || attrs.ceil_mode())))
      return std::nullopt;
    const Term* outside = terms_.Number(call.dtype, is_max ? -std::numeric_limits<double>::infinity() : 0.0);
    if (outside == nullptr || (is_max && !HasInfinity(call.dtype))) return std::nullopt;
    element = terms_.Select(inside, element, outside);
  }
  if (!is_max && !call.dtype.is_floating()) return std::nullopt;
  return Tensor(terms_.Reduce(is_max ? call.op : op::kMean, reduced, element), call.dims);
}

}  // namespace iropt::proof
