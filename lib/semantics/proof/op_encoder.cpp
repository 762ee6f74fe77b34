#include "semantics/proof/op_encoder.h"

#include <algorithm>
#include <utility>

#include "iropt/infer/axes.h"
#include "iropt/op/ops/activation.h"
#include "iropt/op/ops/arithmetic.h"
#include "iropt/op/ops/axes.h"
#include "iropt/op/ops/binary.h"
#include "iropt/op/ops/broadcast.h"
#include "iropt/op/ops/concat.h"
#include "iropt/op/ops/convolution.h"
#include "iropt/op/ops/create.h"
#include "iropt/op/ops/datatype.h"
#include "iropt/op/ops/gather.h"
#include "iropt/op/ops/linear_algebra.h"
#include "iropt/op/ops/matmul.h"
#include "iropt/op/ops/nn.h"
#include "iropt/op/ops/normalization.h"
#include "iropt/op/ops/pooling.h"
#include "iropt/op/ops/reduction.h"
#include "iropt/op/ops/reorder.h"
#include "iropt/op/ops/repeat.h"
#include "iropt/op/ops/reshape.h"
#include "iropt/op/ops/shape.h"
#include "iropt/op/ops/slice.h"
#include "iropt/op/ops/softmax.h"
#include "iropt/op/ops/statistical.h"
#include "iropt/op/ops/unary.h"

namespace iropt::proof {

std::optional<Value> OpEncoder::Encode(const OpCall& call) {
  if (call.op == op::kSplit) return Split(call);
  if (call.op == op::kNnBatchNorm) return BatchNorm(call);
  if (call.op == op::kDynamicStridedSlice) return DynamicStridedSlice(call);
  if (call.dtype.is_void()) return std::nullopt;
  switch (call.op) {
    case op::kFull:
    case op::kFullLike:
    case op::kOnes:
    case op::kOnesLike:
    case op::kZeros:
    case op::kZerosLike: return Create(call);
    case op::kReshape:
    case op::kExpandDims:
    case op::kSqueeze:
    case op::kFlatten:
    case op::kNnBatchFlatten: return Reshape(call);
    case op::kPermuteDims: return PermuteDims(call);
    case op::kBroadcastTo: return BroadcastTo(call);
    case op::kConcat: return Concat(call);
    case op::kStack: return Stack(call);
    case op::kTake: return Take(call);
    case op::kStridedSlice: return StridedSlice(call);
    case op::kSliceScatter: return SliceScatter(call);
    case op::kShapeToTensor: return ShapeToTensor(call);
    case op::kArange: return Arange(call);
    case op::kEinsum: return Einsum(call);
    case op::kFlip: return Flip(call);
    case op::kRepeat: return Repeat(call);
    case op::kTile: return Tile(call);
    case op::kNnPad: return Pad(call);
    case op::kTril:
    case op::kTriu: return Triangle(call);
    case op::kSum:
    case op::kMean:
    case op::kMax:
    case op::kMin:
    case op::kProd: return Reduction(call);
    case op::kMatmul: return Matmul(call);
    case op::kNnConv1d:
    case op::kNnConv2d:
    case op::kNnConv3d: return Conv(call);
    case op::kNnMaxPool1d:
    case op::kNnMaxPool2d:
    case op::kNnMaxPool3d:
    case op::kNnAvgPool1d:
    case op::kNnAvgPool2d:
    case op::kNnAvgPool3d: return Pool(call);
    case op::kNnSoftmax:
    case op::kNnLogSoftmax: return Softmax(call);
    case op::kNnLayerNorm:
    case op::kNnRmsNorm: return RowNorm(call);
    default: return Elementwise(call);
  }
}

Dims OpEncoder::Places(const Dims& dims) {
  Dims places;
  for (size_t i = 0; i < dims.size(); ++i) places.push_back(indices_.Index(i, dims[i]));
  return places;
}

Value OpEncoder::Simplified(const Value& tensor, const Dims& places, const Dims& dims) {
  Dims simple;
  for (const PrimExpr* place : places) simple.push_back(indices_.Simplify(place));
  return Tensor(At(tensor, simple), dims);
}

const Term* OpEncoder::Operand(const Value& operand, const Dims& dims) {
  if (operand.kind == Value::Kind::kScalar) return operand.term;
  if (!operand.is_tensor() || operand.dims.size() > dims.size()) return nullptr;
  const size_t skipped = dims.size() - operand.dims.size();
  Dims places;
  for (size_t i = 0; i < operand.dims.size(); ++i) {
    const bool is_one = arith::IsInt(operand.dims[i], 1);
    if (!is_one && !indices_.IsEqual(operand.dims[i], dims[skipped + i])) return nullptr;
    places.push_back(is_one ? indices_.Int(0) : indices_.Index(skipped + i, dims[skipped + i]));
  }
  return At(operand, places);
}

std::optional<Value> OpEncoder::Elementwise(const OpCall& call) {
  const OpInfo& info = OpInfoOf(call.op);
  if (info.row == OpInfo::kNoRow || call.args.empty() || !call.args[0].is_tensor()) return std::nullopt;
  const bool is_binary = call.op >= op::kAdd && call.op <= op::kSubtract;
  const bool is_other = call.op >= op::kAtan2 && call.op <= op::kWhere;
  const bool broadcasts = is_binary || is_other;
  if (!broadcasts && info.pattern != OpPattern::kElemWise) return std::nullopt;
  std::vector<const Term*> args;
  for (const Value& arg : call.args) {
    if (broadcasts && !arg.is_tensor()) return std::nullopt;
    if (!broadcasts && arg.is_tensor() && !indices_.AreEqual(arg.dims, call.dims)) return std::nullopt;
    args.push_back(Operand(arg, call.dims));
    if (args.back() == nullptr) return std::nullopt;
  }
  if (call.op == op::kAstype) return Tensor(terms_.Cast(args[0], call.dtype), call.dims);
  return Tensor(terms_.Apply(call.op, call.attrs, std::move(args), call.dtype), call.dims);
}

std::optional<Value> OpEncoder::Create(const OpCall& call) {
  if (call.op == op::kFull || call.op == op::kFullLike) {
    const Value& fill = call.args[1];
    if (!fill.is_tensor() || !fill.dims.empty()) return std::nullopt;
    return Tensor(fill.dtype() == call.dtype ? fill.term : terms_.Cast(fill.term, call.dtype), call.dims);
  }
  const bool is_one = call.op == op::kOnes || call.op == op::kOnesLike;
  const Term* number = terms_.Number(call.dtype, is_one ? 1.0 : 0.0);
  if (number == nullptr) return std::nullopt;
  return Tensor(number, call.dims);
}

// Equal dimensions at both ends stay as they are; those in between are taken by the place of the element.
std::optional<Value> OpEncoder::Reshape(const OpCall& call) {
  const Value& x = call.args[0];
  if (!x.is_tensor()) return std::nullopt;
  const Dims& from = x.dims;
  const Dims& to = call.dims;
  Dims places(from.size());
  size_t begin = 0;
  while (begin < from.size() && begin < to.size() && indices_.IsEqual(from[begin], to[begin])) {
    places[begin] = indices_.Index(begin, to[begin]);
    ++begin;
  }
  size_t from_end = from.size();
  size_t to_end = to.size();
  while (from_end > begin && to_end > begin && indices_.IsEqual(from[from_end - 1], to[to_end - 1])) {
    --from_end;
    --to_end;
    places[from_end] = indices_.Index(to_end, to[to_end]);
  }
  const PrimExpr* place = indices_.Int(0);
  for (size_t i = begin; i < to_end; ++i) place = Add(Mul(place, to[i]), indices_.Index(i, to[i]));
  const arith::PrimBuilder& make = indices_.make();
  for (size_t i = from_end; i-- > begin;) {
    const bool is_last = i == begin;
    places[i] = is_last ? place : make.FloorMod(place, from[i]);
    place = make.FloorDiv(place, from[i]);
  }
  return Simplified(x, places, to);
}

std::optional<Value> OpEncoder::PermuteDims(const OpCall& call) {
  const Value& x = call.args[0];
  if (!x.is_tensor()) return std::nullopt;
  const size_t rank = x.dims.size();
  std::vector<int64_t> axes;
  if (const auto given = PermuteDimsAttrs(call.attrs).axes()) {
    const auto normal = NormalizeAxes(given->vector(), static_cast<int64_t>(rank));
    if (!normal.ok()) return std::nullopt;
    axes = *normal;
  } else {
    for (size_t i = rank; i-- > 0;) axes.push_back(static_cast<int64_t>(i));
  }
  if (axes.size() != rank || call.dims.size() != rank) return std::nullopt;
  Dims places(rank);
  for (size_t i = 0; i < rank; ++i) places[static_cast<size_t>(axes[i])] = indices_.Index(i, call.dims[i]);
  return Tensor(At(x, places), call.dims);
}

std::optional<Value> OpEncoder::BroadcastTo(const OpCall& call) {
  const Term* term = Operand(call.args[0], call.dims);
  if (term == nullptr) return std::nullopt;
  return Tensor(term, call.dims);
}

std::optional<Value> OpEncoder::Concat(const OpCall& call) {
  const Value& parts = call.args[0];
  const auto axis = NormalizeAxis(ConcatAttrs(call.attrs).axis().value_or(0), static_cast<int64_t>(call.dims.size()));
  if (parts.kind != Value::Kind::kTuple || !axis.ok()) return std::nullopt;
  return Joined(parts.fields, static_cast<size_t>(*axis), call.dims);
}

std::optional<Value> OpEncoder::Stack(const OpCall& call) {
  const Value& parts = call.args[0];
  const auto axis = NormalizeAxis(StackAttrs(call.attrs).axis().value_or(0), static_cast<int64_t>(call.dims.size()));
  if (parts.kind != Value::Kind::kTuple || !axis.ok()) return std::nullopt;
  const auto at = static_cast<Dims::difference_type>(*axis);
  std::vector<Value> slices;
  for (const Value& part : parts.fields) {
    if (!part.is_tensor() || part.dims.size() + 1 != call.dims.size()) return std::nullopt;
    Dims dims = part.dims;
    dims.insert(dims.begin() + at, indices_.Int(1));
    Dims places = Places(dims);
    places.erase(places.begin() + at);
    slices.push_back(Tensor(At(part, places), std::move(dims)));
  }
  return Joined(slices, static_cast<size_t>(*axis), call.dims);
}

std::optional<Value> OpEncoder::Joined(const std::vector<Value>& parts, size_t axis, const Dims& dims) {
  if (parts.empty()) return std::nullopt;
  Dims begins;
  const PrimExpr* begin = indices_.Int(0);
  for (const Value& part : parts) {
    if (!part.is_tensor() || part.dims.size() != dims.size()) return std::nullopt;
    Dims others = dims;
    others[axis] = part.dims[axis];
    if (!indices_.AreEqual(part.dims, others)) return std::nullopt;
    begins.push_back(begin);
    begin = indices_.Simplify(Add(begin, part.dims[axis]));
  }
  const PrimExpr* index = indices_.Index(axis, dims[axis]);
  const Term* result = nullptr;
  for (size_t i = parts.size(); i-- > 0;) {
    Dims places = Places(dims);
    places[axis] = indices_.Simplify(Sub(index, begins[i]));
    const Term* element = At(parts[i], places);
    if (result == nullptr) {
      result = element;
      continue;
    }
    result = terms_.Select(indices_.make().Binary(NodeKind::kLT, index, begins[i + 1]), element, result);
  }
  return Tensor(result, dims);
}

std::optional<Value> OpEncoder::Split(const OpCall& call) {
  const Value& x = call.args[0];
  const SplitAttrs attrs(call.attrs);
  if (!x.is_tensor()) return std::nullopt;
  const auto axis = NormalizeAxis(attrs.axis(), static_cast<int64_t>(x.dims.size()));
  if (!axis.ok()) return std::nullopt;
  const auto at = static_cast<size_t>(*axis);
  const int64_t* extent = arith::AsInt(x.dims[at]);
  if (extent == nullptr) return std::nullopt;
  const auto* record = As<ObjectAttr>(call.attrs);
  const auto* sections = record ? As<IntAttr>(record->Find("indices_or_sections")) : nullptr;
  std::vector<int64_t> begins{0};
  if (sections != nullptr) {
    if (sections->value <= 0 || *extent % sections->value != 0) return std::nullopt;
    for (int64_t i = 1; i < sections->value; ++i) begins.push_back(i * (*extent / sections->value));
  } else {
    for (const int64_t begin : IntList(record ? record->Find("indices_or_sections") : nullptr)) {
      if (begin < begins.back() || begin > *extent) return std::nullopt;
      begins.push_back(begin);
    }
  }
  Value result{.kind = Value::Kind::kTuple};
  for (size_t i = 0; i < begins.size(); ++i) {
    Dims dims = x.dims;
    dims[at] = indices_.Int((i + 1 < begins.size() ? begins[i + 1] : *extent) - begins[i]);
    Dims places = Places(dims);
    places[at] = Add(places[at], indices_.Int(begins[i]));
    result.fields.push_back(Simplified(x, places, dims));
  }
  return result;
}

std::optional<Value> OpEncoder::Flip(const OpCall& call) {
  const Value& x = call.args[0];
  const auto axis = NormalizeAxis(FlipAttrs(call.attrs).axis(), static_cast<int64_t>(call.dims.size()));
  if (!x.is_tensor() || !axis.ok()) return std::nullopt;
  Dims places = Places(call.dims);
  const auto at = static_cast<size_t>(*axis);
  places[at] = Sub(Sub(x.dims[at], indices_.Int(1)), places[at]);
  return Simplified(x, places, call.dims);
}

std::optional<Value> OpEncoder::Repeat(const OpCall& call) {
  const Value& x = call.args[0];
  const RepeatAttrs attrs(call.attrs);
  if (!x.is_tensor() || !attrs.axis() || attrs.repeats() <= 0) return std::nullopt;
  const auto axis = NormalizeAxis(*attrs.axis(), static_cast<int64_t>(call.dims.size()));
  if (!axis.ok()) return std::nullopt;
  Dims places = Places(call.dims);
  const auto at = static_cast<size_t>(*axis);
  places[at] = indices_.make().FloorDiv(places[at], indices_.Int(attrs.repeats()));
  return Simplified(x, places, call.dims);
}

std::optional<Value> OpEncoder::Tile(const OpCall& call) {
  const Value& x = call.args[0];
  if (!x.is_tensor() || x.dims.size() > call.dims.size()) return std::nullopt;
  const Dims all = Places(call.dims);
  const size_t skipped = call.dims.size() - x.dims.size();
  Dims places;
  for (size_t i = 0; i < x.dims.size(); ++i) places.push_back(indices_.make().FloorMod(all[skipped + i], x.dims[i]));
  return Simplified(x, places, call.dims);
}

std::optional<Value> OpEncoder::Pad(const OpCall& call) {
  const Value& x = call.args[0];
  const PadAttrs attrs(call.attrs);
  const IntList widths = attrs.pad_width();
  const Value* fill = call.args.size() > 1 ? &call.args[1] : nullptr;
  if (!x.is_tensor() || attrs.pad_mode() != "constant" || widths.size() != 2 * x.dims.size()) return std::nullopt;
  if (fill == nullptr || !fill->is_tensor() || !fill->dims.empty() || fill->dtype() != call.dtype) return std::nullopt;
  Dims places = Places(call.dims);
  const PrimExpr* inside = nullptr;
  for (size_t i = 0; i < places.size(); ++i) {
    places[i] = indices_.Simplify(Sub(places[i], indices_.Int(widths[2 * i])));
    if (widths[2 * i] != 0 || widths[2 * i + 1] != 0)
      inside = indices_.And(inside, indices_.RangeOf(places[i], x.dims[i]));
  }
  const Term* element = At(x, places);
  return Tensor(inside ? terms_.Select(inside, element, fill->term) : element, call.dims);
}

std::optional<Value> OpEncoder::Triangle(const OpCall& call) {
  const size_t rank = call.dims.size();
  const PrimExpr* diagonal = call.args.size() > 1 ? IntegerOf(call.args[1]) : indices_.Int(0);
  const Term* zero = terms_.Number(call.dtype, 0.0);
  if (!call.args[0].is_tensor() || rank < 2 || diagonal == nullptr || zero == nullptr) return std::nullopt;
  const Dims places = Places(call.dims);
  const PrimExpr* distance = Sub(places[rank - 1], places[rank - 2]);
  const NodeKind order = call.op == op::kTriu ? NodeKind::kGE : NodeKind::kLE;
  const PrimExpr* stays = indices_.make().Binary(order, distance, diagonal);
  return Tensor(terms_.Select(stays, At(call.args[0], places), zero), call.dims);
}

}  // namespace iropt::proof
