// Parts of tensors, and tensors of indices.
#include <algorithm>
#include <span>
#include <utility>

#include "iropt/infer/axes.h"
#include "iropt/infer/slice.h"
#include "iropt/op/ops/gather.h"
#include "iropt/op/ops/slice.h"
#include "semantics/proof/op_encoder.h"

namespace iropt::proof {

const PrimExpr* OpEncoder::IntegerOf(const Value& value) {
  if (value.kind != Value::Kind::kScalar || !value.dtype().is_integer()) return nullptr;
  if (value.term->kind == TermKind::kNumber) return indices_.Int(value.term->number);
  return value.term->kind == TermKind::kIndex ? indices_.Wide(value.term->indices[0]) : nullptr;
}

const PrimExpr* OpEncoder::IntegerAt(const Value& tensor, size_t place) {
  if (!tensor.is_tensor() || tensor.dims.size() != 1 || tensor.dtype() != DataType::Int(64)) return nullptr;
  const Term* element = At(tensor, {indices_.Int(static_cast<int64_t>(place))});
  if (element->kind == TermKind::kNumber) return indices_.Int(element->number);
  return element->kind == TermKind::kIndex ? element->indices[0] : nullptr;
}

const PrimExpr* TakenPlace(const OpCall& call, size_t axis, TermBuilder& terms) {
  OpEncoder ops(terms);
  const Value& places = call.args[1];
  if (!places.is_tensor()) return ops.IntegerOf(places);
  Dims own;
  for (size_t i = 0; i < places.dims.size(); ++i) own.push_back(terms.indices().Index(axis + i, call.dims[axis + i]));
  return ops.IntegerOf({.kind = Value::Kind::kScalar, .term = terms.At(places.term, places.dims, own)});
}

// Places that are known to be within the axis, or one place in the mode "fast", where one out of range is an error.
std::optional<Value> OpEncoder::Take(const OpCall& call) {
  const Value& x = call.args[0];
  const TakeAttrs attrs(call.attrs);
  if (!x.is_tensor() || x.dims.empty() || (!attrs.axis() && x.dims.size() != 1)) return std::nullopt;
  const auto axis = NormalizeAxis(attrs.axis().value_or(0), static_cast<int64_t>(x.dims.size()));
  if (!axis.ok()) return std::nullopt;
  const auto at = static_cast<size_t>(*axis);
  const Dims own = call.args[1].is_tensor() ? call.args[1].dims : Dims();
  Dims dims(x.dims.begin(), x.dims.begin() + *axis);
  dims.insert(dims.end(), own.begin(), own.end());
  dims.insert(dims.end(), x.dims.begin() + *axis + 1, x.dims.end());
  if (!indices_.AreEqual(dims, call.dims)) return std::nullopt;
  const PrimExpr* place = TakenPlace(call, at, terms_);
  if (place == nullptr) return std::nullopt;
  const bool is_taken = std::ranges::all_of(own, [](const PrimExpr* dim) {
    const int64_t* number = arith::AsInt(dim);
    return number && *number > 0;
  });
  const bool is_one_place = attrs.mode() == "fast" && is_taken && indices_.VarsOf(place).empty();
  if (!is_one_place && !indices_.IsWithin(place, x.dims[at], nullptr)) return std::nullopt;
  Dims places = Places(call.dims);
  places.erase(places.begin() + *axis, places.begin() + *axis + static_cast<ptrdiff_t>(own.size()));
  places.insert(places.begin() + *axis, place);
  return Simplified(x, places, call.dims);
}

std::optional<Value> OpEncoder::StridedSlice(const OpCall& call) {
  const Value& x = call.args[0];
  if (!x.is_tensor() || call.args.size() < 4) return std::nullopt;
  const bool assume_inbound = StridedSliceAttrs(call.attrs).assume_inbound();
  Dims places = Places(call.dims);
  for (size_t i = 0; i < call.args[1].fields.size(); ++i) {
    const auto number = [&](size_t arg) -> const PrimExpr* {
      return i < call.args[arg].fields.size() ? IntegerOf(call.args[arg].fields[i]) : nullptr;
    };
    const PrimExpr* axis_number = number(1);
    const int64_t* axis = axis_number ? arith::AsInt(axis_number) : nullptr;
    const bool has_strides = call.args.size() > 4 && !call.args[4].fields.empty();
    const PrimExpr* begin = number(2);
    const PrimExpr* end = number(3);
    const PrimExpr* stride = has_strides ? number(4) : indices_.Int(1);
    if (!axis || !begin || !end || !stride || arith::IsInt(stride, 0)) return std::nullopt;
    const auto normal = NormalizeAxis(*axis, static_cast<int64_t>(x.dims.size()));
    if (!normal.ok()) return std::nullopt;
    const auto at = static_cast<size_t>(*normal);
    const SymbolicSliceRange range = RangeOfSlice(begin, end, stride, x.dims[at], assume_inbound);
    places[at] = Add(range.first, Mul(places[at], stride));
  }
  return Simplified(x, places, call.dims);
}

std::optional<Value> OpEncoder::DynamicStridedSlice(const OpCall& call) {
  const Value& x = call.args[0];
  const auto covers_all = [&](const Value& tensor) {
    return tensor.dims.size() == 1 && arith::IsInt(tensor.dims[0], static_cast<int64_t>(x.dims.size()));
  };
  if (!x.is_tensor() || !std::ranges::all_of(std::span(call.args).subspan(1), covers_all)) return std::nullopt;
  Dims dims;
  Dims firsts;
  Dims strides;
  for (size_t i = 0; i < x.dims.size(); ++i) {
    const PrimExpr* begin = IntegerAt(call.args[1], i);
    const PrimExpr* end = IntegerAt(call.args[2], i);
    const PrimExpr* stride = IntegerAt(call.args[3], i);
    if (!begin || !end || !stride || arith::IsInt(stride, 0)) return std::nullopt;
    const SymbolicSliceRange range = RangeOfSlice(begin, end, stride, x.dims[i], /*assume_inbound=*/false);
    dims.push_back(indices_.Dimension(range.length));
    firsts.push_back(range.first);
    strides.push_back(stride);
  }
  Dims places = Places(dims);
  for (size_t i = 0; i < places.size(); ++i) places[i] = Add(firsts[i], Mul(places[i], strides[i]));
  return Simplified(x, places, dims);
}

std::optional<Value> OpEncoder::SliceScatter(const OpCall& call) {
  const Value& x = call.args[0];
  const Value& source = call.args[1];
  const auto axis = NormalizeAxis(SliceScatterAttrs(call.attrs).axis(), static_cast<int64_t>(call.dims.size()));
  const PrimExpr* begin = IntegerOf(call.args[2]);
  const PrimExpr* end = IntegerOf(call.args[3]);
  const PrimExpr* stride = IntegerOf(call.args[4]);
  if (!x.is_tensor() || !source.is_tensor() || !axis.ok() || !begin || !end || !stride) return std::nullopt;
  if (source.dims.size() != call.dims.size() || source.dtype() != x.dtype()) return std::nullopt;
  const auto at = static_cast<size_t>(*axis);
  const arith::PrimBuilder& make = indices_.make();
  Dims places = Places(call.dims);
  const PrimExpr* distance = indices_.Simplify(Sub(places[at], begin));
  const PrimExpr* inside =
      indices_.And(make.Binary(NodeKind::kGE, places[at], begin), make.Binary(NodeKind::kLT, places[at], end));
  if (!arith::IsInt(stride, 1))
    inside = indices_.And(inside, make.Binary(NodeKind::kEQ, make.FloorMod(distance, stride), indices_.Int(0)));
  const Term* old = At(x, places);
  places[at] = indices_.Simplify(make.FloorDiv(distance, stride));
  return Tensor(terms_.Select(inside, At(source, places), old), call.dims);
}

std::optional<Value> OpEncoder::ShapeToTensor(const OpCall& call) {
  const Value& shape = call.args[0];
  if (shape.kind != Value::Kind::kShape || shape.dims.empty() || call.dims.size() != 1) return std::nullopt;
  const PrimExpr* index = indices_.Index(0, call.dims[0]);
  const Term* result = terms_.Index(shape.dims.back());
  for (size_t i = shape.dims.size() - 1; i-- > 0;) {
    const PrimExpr* is_before = indices_.make().Binary(NodeKind::kLT, index, indices_.Int(static_cast<int64_t>(i) + 1));
    result = terms_.Select(is_before, terms_.Index(shape.dims[i]), result);
  }
  return Tensor(result, call.dims);
}

std::optional<Value> OpEncoder::Arange(const OpCall& call) {
  const PrimExpr* begin = IntegerOf(call.args[0]);
  const PrimExpr* step = call.args.size() > 2 ? IntegerOf(call.args[2]) : nullptr;
  if (!begin || !step || call.dims.size() != 1) return std::nullopt;
  const Term* element = terms_.Index(Add(begin, Mul(indices_.Index(0, call.dims[0]), step)));
  if (call.dtype == DataType::Int(64)) return Tensor(element, call.dims);
  // Small integers are the same in other dtypes.
  constexpr int64_t kSmall = 1 << 7;
  const auto is_small = [](const PrimExpr* value) {
    const int64_t* number = arith::AsInt(value);
    return number && *number >= 0 && *number < kSmall;
  };
  const bool is_wide = call.dtype.is_int() || call.dtype == DataType::Float(call.dtype.bits);
  const bool fits = is_small(begin) && is_small(step) && IntegerOf(call.args[1]) && is_small(IntegerOf(call.args[1]));
  if (!is_wide || call.dtype.bits < 16 || !fits) return std::nullopt;
  return Tensor(terms_.Cast(element, call.dtype), call.dims);
}

}  // namespace iropt::proof
