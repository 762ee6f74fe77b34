// Maps of the indices of tensors.

#include "iropt/op/ops/reorder.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>
#include <utility>

#include "exchange/onnx/export/op_rows.h"
#include "iropt/eval/evaluator.h"
#include "iropt/op/op.h"

namespace iropt::onnx {

namespace {

constexpr const char* kNeedsPlaces =
    "ONNX splits and permutes dimensions, and would need the place of each of its elements";

// A part of an index: all of it, or the quotient or the remainder by a factor.
struct IndexPart {
  size_t param = 0;
  int64_t factor = 1;
  bool is_quotient = false;
};

std::optional<IndexPart> PartOf(const PrimExpr* result, const IndexMapAttr& map) {
  const auto param_of = [&](const PrimExpr* e) -> std::optional<size_t> {
    const auto found = std::ranges::find(map.params, As<tir::Var>(e));
    if (found == map.params.end()) return std::nullopt;
    return static_cast<size_t>(found - map.params.begin());
  };
  if (const auto whole = param_of(result)) return IndexPart{*whole, 1, true};
  const bool is_quotient = result->kind == NodeKind::kFloorDiv;
  if (!is_quotient && result->kind != NodeKind::kFloorMod) return std::nullopt;
  const auto& e = *static_cast<const tir::BinaryExpr*>(result);
  const auto param = param_of(e.a);
  const auto* factor = As<tir::IntImm>(e.b);
  if (!param || factor == nullptr || factor->value < 2) return std::nullopt;
  return IndexPart{*param, factor->value, is_quotient};
}

// Dimensions that are split, and the order of what they are split into.
struct SplitOrder {
  std::vector<int64_t> dims, order;
};

std::optional<SplitOrder> SplitOrderOf(const IndexMapAttr& map, std::span<const int64_t> shape) {
  std::vector<IndexPart> parts;
  for (const PrimExpr* result : map.results) {
    const std::optional<IndexPart> part = PartOf(result, map);
    if (!part) return std::nullopt;
    parts.push_back(*part);
  }
  SplitOrder split;
  split.order.resize(parts.size());
  for (size_t param = 0; param < shape.size(); ++param) {
    std::vector<size_t> own;
    for (size_t i = 0; i < parts.size(); ++i) {
      if (parts[i].param == param) own.push_back(i);
    }
    if (own.size() == 2 && !parts[own[0]].is_quotient) std::swap(own[0], own[1]);
    const bool is_whole = own.size() == 1 && parts[own[0]].is_quotient && parts[own[0]].factor == 1;
    const bool is_split = own.size() == 2 && parts[own[0]].is_quotient && !parts[own[1]].is_quotient &&
                          parts[own[0]].factor == parts[own[1]].factor && shape[param] % parts[own[0]].factor == 0;
    if (!is_whole && !is_split) return std::nullopt;
    for (const size_t i : own) {
      split.order[i] = static_cast<int64_t>(split.dims.size());
      split.dims.push_back(parts[i].is_quotient ? shape[param] / parts[i].factor : parts[i].factor);
    }
  }
  return split.dims.size() == parts.size() ? std::optional(std::move(split)) : std::nullopt;
}

std::string_view PadValueOf(OpExport& op, const PrimExpr* value) {
  const auto* whole = As<tir::IntImm>(value);
  const auto* real = As<tir::FloatImm>(value);
  return op.Scalar(whole ? static_cast<double>(whole->value) : real ? real->value : 0, op.Dtype(0));
}

// The places of the elements as constants; before the first one is the element that pads.
Names ExportAsGather(OpExport& op, const LayoutTransformAttrs& attrs, int64_t elements,
                     std::span<const int64_t> shape) {
  auto places = NDArray::Make(DataType::Int(64), {shape.begin(), shape.end()});
  const std::span<int64_t> own = places->MutableAs<int64_t>();
  std::iota(own.begin(), own.end(), int64_t{1});
  const Attr* without_pad =
      To<ObjectAttr>(op.call().attrs)->With(LayoutTransformAttrs::Field::pad_value, NoneAttr::Get());
  const HostValue arg[] = {HostValue(std::shared_ptr<const NDArray>(std::move(places)))};
  const Result<HostValue> moved = EvalOp(OpInfoOf(op::kLayoutTransform), without_pad, arg);
  if (!moved.ok() || !moved->tensor()) return op.Lacks(kNeedsPlaces);
  std::string_view flat = op.Reshape(op.In(0), {-1});
  std::vector<int64_t> numbers;
  std::ranges::copy(moved->tensor()->As<int64_t>(), std::back_inserter(numbers));
  if (static_cast<int64_t>(numbers.size()) > elements) {
    const std::string_view pad = op.Reshape(PadValueOf(op, attrs.pad_value()), {1});
    flat = op.Add("Concat", {pad, flat}, {IntAttribute("axis", 0)});
  } else {
    for (int64_t& number : numbers) --number;
  }
  auto indices = NDArray::Make(DataType::Int(64), moved->tensor()->shape());
  std::ranges::copy(numbers, indices->MutableAs<int64_t>().begin());
  const std::string_view constant =
      op.exporter().context().Initializer(std::shared_ptr<const NDArray>(std::move(indices)), "places");
  return {op.Add("Gather", {flat, constant}, {IntAttribute("axis", 0)})};
}

Names ExportLayoutTransform(OpExport& op) {
  const auto attrs = op.Attrs<LayoutTransformAttrs>();
  const std::optional<std::vector<int64_t>> shape = StaticDimsOf(op.TypeOf(0));
  const IndexMapAttr* map = attrs.index_map();
  if (!shape || map == nullptr || map->params.size() != shape->size())
    return op.Lacks("the shape of its operand is not known");
  if (std::ranges::find(*shape, 0) != shape->end()) return op.Lacks("its operand has no elements");
  if (const std::optional<SplitOrder> split = SplitOrderOf(*map, *shape)) {
    const bool is_split = split->dims.size() != shape->size();
    return {op.Transpose(is_split ? op.Reshape(op.In(0), split->dims) : op.In(0), split->order)};
  }
  constexpr int64_t kMostPlaces = int64_t{1} << 20;
  const int64_t elements = std::accumulate(shape->begin(), shape->end(), int64_t{1}, std::multiplies<>());
  if (elements > kMostPlaces) return op.Lacks(kNeedsPlaces);
  return ExportAsGather(op, attrs, elements, *shape);
}

constexpr ExportRow kReorderExports[] = {
    {op::kLayoutTransform, "", 5, ExportLayoutTransform},  // Reshape, Transpose; Reshape, Gather
};

}  // namespace

std::span<const ExportRow> ReorderExports() { return kReorderExports; }

}  // namespace iropt::onnx
