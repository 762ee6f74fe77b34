// Operators that move, take and reduce elements.

#include <algorithm>

#include "exchange/onnx/tensors.h"
#include "exchange/onnx/types/type_rules.h"

namespace iropt::onnx {

namespace {

// ---- Reductions

Dims Reduced(OpImport& op, const Dims& dims, const std::optional<std::vector<size_t>>& axes, size_t count) {
  if (!dims) return std::nullopt;
  const bool keeps = op.Int("keepdims", 1) != 0;
  if (!axes) {
    if (keeps) return UnknownDims(dims->size());
    return count > 0 && count <= dims->size() ? UnknownDims(dims->size() - count) : std::nullopt;
  }
  std::vector<const PrimExpr*> kept;
  for (size_t i = 0; i < dims->size(); ++i) {
    const bool is_reduced = std::ranges::find(*axes, i) != axes->end();
    if (!is_reduced || keeps) kept.push_back(is_reduced ? WholeDim(1) : (*dims)[i]);
  }
  return kept;
}

Dims ReduceDims(OpImport& op, size_t /*output*/) {
  const Dims dims = DimsIn(op, 0);
  auto axes = AxesIn(op, "axes", 1, dims);
  if (axes && axes->empty() && op.Int("noop_with_empty_axes") == 0) {
    for (size_t i = 0; dims && i < dims->size(); ++i) axes->push_back(i);
  }
  const Dims given = ShapeIn(op, 1);
  return Reduced(op, dims, axes, given ? given->size() : 0);
}

// The axes are an attribute, all if there is none.
Dims QuantizedReduceDims(OpImport& op, size_t /*output*/) {
  const Dims dims = DimsIn(op, 0);
  std::vector<size_t> axes;
  for (const int64_t given : op.Ints("axes")) {
    const auto axis = AxisOf(given, dims);
    if (!axis) return std::nullopt;
    axes.push_back(*axis);
  }
  for (size_t i = 0; dims && !op.FindAttr("axes") && i < dims->size(); ++i) axes.push_back(i);
  return Reduced(op, dims, axes, axes.size());
}

Dims ArgReduceDims(OpImport& op, size_t /*output*/) {
  const Dims dims = DimsIn(op, 0);
  const auto axis = AxisOf(op.Int("axis"), dims);
  return Reduced(op, dims, axis ? std::optional(std::vector{*axis}) : std::nullopt, 1);
}

Dims TopKDims(OpImport& op, size_t /*output*/) {
  Dims dims = DimsIn(op, 0);
  const auto axis = AxisOf(op.Int("axis", -1), dims);
  if (axis) (*dims)[*axis] = op.Has(1) ? LengthIn(op, 1) : WholeDim(op.Int("k"));
  return dims;
}

// ---- Shapes

Dims ReshapeDims(OpImport& op, size_t /*output*/) {
  Dims dims = op.Has(1) ? ShapeIn(op, 1) : std::optional(std::vector<const PrimExpr*>());
  if (!op.Has(1)) std::ranges::transform(op.Ints("shape"), std::back_inserter(*dims), WholeDim);
  if (!dims) return std::nullopt;
  const Dims old = DimsIn(op, 0);
  const bool copies = op.Int("allowzero") == 0;
  for (size_t i = 0; i < dims->size(); ++i) {
    const PrimExpr*& dim = (*dims)[i];
    const auto number = NumberOfDim(dim);
    if (number == 0 && copies) dim = old && i < old->size() ? (*old)[i] : nullptr;
    // A symbolic number may be 0, or -1.
    if (!number) dim = nullptr;
  }
  return dims;
}

Dims ExpandShape(OpImport& op, size_t /*output*/) { return BroadcastDimsOf(DimsIn(op, 0), ShapeIn(op, 1)); }
Dims ShapeInput(OpImport& op, size_t /*output*/) { return ShapeIn(op, 0); }

Dims ShapeAttribute(OpImport& op, size_t /*output*/) {
  std::vector<const PrimExpr*> dims;
  std::ranges::transform(op.Ints("shape"), std::back_inserter(dims), WholeDim);
  return dims;
}

Dims FlattenDims(OpImport& op, size_t /*output*/) {
  const Dims dims = DimsIn(op, 0);
  const int64_t given = op.Int("axis", 1);
  const auto rank = dims ? static_cast<int64_t>(dims->size()) : 0;
  const int64_t axis = given < 0 ? given + rank : given;
  if (!dims || axis < 0 || axis > rank) return UnknownDims(2);
  const auto at = static_cast<size_t>(axis);
  return std::vector{MultiplyAll(*dims, 0, at), MultiplyAll(*dims, at, dims->size())};
}

Dims SqueezeDims(OpImport& op, size_t /*output*/) {
  const Dims dims = DimsIn(op, 0);
  const auto axes = AxesIn(op, "axes", 1, dims);
  if (!dims) return std::nullopt;
  if (!axes) {
    const Dims given = ShapeIn(op, 1);
    return given && given->size() <= dims->size() ? UnknownDims(dims->size() - given->size()) : std::nullopt;
  }
  std::vector<const PrimExpr*> kept;
  for (size_t i = 0; i < dims->size(); ++i) {
    // Without axes, all dimensions of 1 go.
    if (axes->empty() && !NumberOfDim((*dims)[i])) return std::nullopt;
    const bool goes = axes->empty() ? NumberOfDim((*dims)[i]) == 1 : std::ranges::find(*axes, i) != axes->end();
    if (!goes) kept.push_back((*dims)[i]);
  }
  return kept;
}

Dims UnsqueezeDims(OpImport& op, size_t /*output*/) {
  const Dims dims = DimsIn(op, 0);
  const Dims given = op.Has(1) ? ShapeIn(op, 1) : UnknownDims(op.Ints("axes").size());
  if (!dims || !given) return std::nullopt;
  const size_t rank = dims->size() + given->size();
  const auto axes = AxesIn(op, "axes", 1, UnknownDims(rank));
  if (!axes) return UnknownDims(rank);
  std::vector<const PrimExpr*> result;
  size_t next = 0;
  for (size_t i = 0; i < rank; ++i) {
    const bool is_new = std::ranges::find(*axes, i) != axes->end();
    if (!is_new && next == dims->size()) return UnknownDims(rank);
    result.push_back(is_new ? WholeDim(1) : (*dims)[next++]);
  }
  return result;
}

Dims TransposeDims(OpImport& op, size_t /*output*/) {
  const Dims dims = DimsIn(op, 0);
  if (!dims) return std::nullopt;
  std::vector<int64_t> axes = op.Ints("perm");
  std::vector<const PrimExpr*> result(dims->rbegin(), dims->rend());
  if (axes.empty()) return result;
  if (axes.size() != dims->size()) return UnknownDims(dims->size());
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto axis = AxisOf(axes[i], dims);
    result[i] = axis ? (*dims)[*axis] : nullptr;
  }
  return result;
}

Dims TileDims(OpImport& op, size_t /*output*/) {
  Dims dims = DimsIn(op, 0);
  const Dims repeats = ShapeIn(op, 1);
  for (size_t i = 0; dims && i < dims->size(); ++i)
    (*dims)[i] = repeats && i < repeats->size() ? MultiplyDims((*dims)[i], (*repeats)[i]) : nullptr;
  return dims;
}

// Only some axes change.
Dims ChangedDims(OpImport& op, std::string_view name, size_t input) {
  Dims dims = DimsIn(op, 0);
  const auto axes = AxesIn(op, name, input, dims);
  if (!dims) return std::nullopt;
  if (!axes || axes->empty()) return UnknownDims(dims->size());
  for (const size_t axis : *axes) (*dims)[axis] = nullptr;
  return dims;
}
Dims SliceDims(OpImport& op, size_t /*output*/) { return ChangedDims(op, "axes", 3); }
Dims PadDims(OpImport& op, size_t /*output*/) { return ChangedDims(op, "axes", 3); }

Dims CenterCropPadDims(OpImport& op, size_t /*output*/) {
  Dims dims = DimsIn(op, 0);
  const Dims sizes = ShapeIn(op, 1);
  const auto axes = AxesIn(op, "axes", SIZE_MAX, dims);
  if (!dims || !axes) return dims ? UnknownDims(dims->size()) : std::nullopt;
  for (size_t i = 0; i < (axes->empty() ? dims->size() : axes->size()); ++i)
    (*dims)[axes->empty() ? i : (*axes)[i]] = sizes && i < sizes->size() ? (*sizes)[i] : nullptr;
  return dims;
}

Dims SplitDims(OpImport& op, size_t output) {
  Dims dims = DimsIn(op, 0);
  const auto axis = AxisOf(op.Int("axis"), dims);
  if (!axis) return dims;
  const auto sizes = op.AttrOrInput("split", 1);
  const PrimExpr*& dim = (*dims)[*axis];
  const auto whole = NumberOfDim(dim);
  const auto parts = static_cast<int64_t>(op.num_outputs());
  if (sizes && !sizes->empty()) {
    dim = output < sizes->size() ? WholeDim((*sizes)[output]) : nullptr;
  } else if (!sizes || !whole) {
    dim = nullptr;
  } else {
    // The last part may be smaller.
    const int64_t size = (*whole + parts - 1) / parts;
    dim = WholeDim(std::min(size, *whole - size * static_cast<int64_t>(output)));
  }
  return dims;
}

Dims ConcatDims(OpImport& op, size_t /*output*/) {
  Dims dims = DimsIn(op, 0);
  const auto axis = AxisOf(op.Int("axis", 1), dims);
  for (size_t i = 1; dims && i < op.num_inputs(); ++i) {
    const Dims part = DimsIn(op, i);
    for (size_t at = 0; at < dims->size(); ++at) {
      const PrimExpr* other = part && at < part->size() ? (*part)[at] : nullptr;
      if (!axis)
        (*dims)[at] = nullptr;
      else if (at == *axis)
        (*dims)[at] = AddDims((*dims)[at], other);
      else if (NumberOfDim(other) || (*dims)[at] == nullptr)
        (*dims)[at] = other;
    }
  }
  return dims;
}

// ---- Gathering

Dims GatherDims(OpImport& op, size_t /*output*/) {
  const Dims data = DimsIn(op, 0);
  const Dims indices = DimsIn(op, 1);
  const auto axis = AxisOf(op.Int("axis"), data);
  if (!axis || !indices) return std::nullopt;
  std::vector<const PrimExpr*> dims(data->begin(), data->begin() + static_cast<std::ptrdiff_t>(*axis));
  dims.insert(dims.end(), indices->begin(), indices->end());
  dims.insert(dims.end(), data->begin() + static_cast<std::ptrdiff_t>(*axis) + 1, data->end());
  return dims;
}

Dims GatherNdDims(OpImport& op, size_t /*output*/) {
  const Dims data = DimsIn(op, 0);
  const Dims indices = DimsIn(op, 1);
  const auto tuple = indices && !indices->empty() ? NumberOfDim(indices->back()) : std::nullopt;
  const int64_t first = op.Int("batch_dims") + tuple.value_or(0);
  if (!data || !tuple || first < 0 || first > static_cast<int64_t>(data->size())) return std::nullopt;
  std::vector<const PrimExpr*> dims(indices->begin(), indices->end() - 1);
  dims.insert(dims.end(), data->begin() + first, data->end());
  return dims;
}

Dims OneHotDims(OpImport& op, size_t /*output*/) {
  Dims dims = DimsIn(op, 0);
  if (!dims) return std::nullopt;
  const auto axis = AxisOf(op.Int("axis", -1), UnknownDims(dims->size() + 1));
  if (!axis) return UnknownDims(dims->size() + 1);
  dims->insert(dims->begin() + static_cast<std::ptrdiff_t>(*axis), LengthIn(op, 1));
  return dims;
}

// Of the elements or, along an axis, of the parts of the data.
Dims UniqueDims(OpImport& op, size_t output) {
  if (output > 0 || !op.FindAttr("axis")) return UnknownDims(1);
  Dims dims = DimsIn(op, 0);
  const auto axis = AxisOf(op.Int("axis"), dims);
  if (axis) (*dims)[*axis] = nullptr;
  return dims;
}

Dims NonZeroDims(OpImport& op, size_t /*output*/) {
  const Dims dims = DimsIn(op, 0);
  return std::vector<const PrimExpr*>{dims ? WholeDim(static_cast<int64_t>(dims->size())) : nullptr, nullptr};
}

Dims ShapeOfDims(OpImport& op, size_t /*output*/) {
  const Dims dims = DimsIn(op, 0);
  if (!dims || op.FindAttr("start") || op.FindAttr("end")) return UnknownDims(1);
  return std::vector{WholeDim(static_cast<int64_t>(dims->size()))};
}

// ---- Products

Dims GemmDims(OpImport& op, size_t /*output*/) {
  const Dims a = DimsIn(op, 0);
  const Dims b = DimsIn(op, 1);
  const bool known = a && b && a->size() == 2 && b->size() == 2;
  if (!known) return UnknownDims(2);
  return std::vector{(*a)[op.Int("transA") != 0 ? 1 : 0], (*b)[op.Int("transB") != 0 ? 0 : 1]};
}

struct EinsumTerm {
  std::string_view letters;
  Dims dims = {};
};

const PrimExpr* EinsumDim(char letter, const std::vector<EinsumTerm>& terms) {
  for (const EinsumTerm& term : terms) {
    const size_t at = term.letters.find(letter);
    if (!term.dims || at == std::string_view::npos || term.letters.size() != term.dims->size()) continue;
    // One dimension of 1 broadcasts.
    if (const PrimExpr* dim = (*term.dims)[at]; dim && NumberOfDim(dim) != 1) return dim;
  }
  return nullptr;
}

Dims EinsumDims(OpImport& op, size_t /*output*/) {
  std::string equation(op.String("equation"));
  std::erase(equation, ' ');
  const size_t arrow = equation.find("->");
  if (arrow == std::string::npos || equation.find('.') != std::string::npos) return std::nullopt;
  std::vector<EinsumTerm> terms;
  std::string_view rest = std::string_view(equation).substr(0, arrow);
  for (size_t i = 0; i < op.num_inputs(); ++i) {
    const size_t end = std::min(rest.find(','), rest.size());
    terms.push_back({rest.substr(0, end), DimsIn(op, i)});
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  std::vector<const PrimExpr*> dims;
  for (const char letter : equation.substr(arrow + 2)) dims.push_back(EinsumDim(letter, terms));
  return dims;
}

Dims DetDims(OpImport& op, size_t /*output*/) {
  Dims dims = DimsIn(op, 0);
  if (!dims || dims->size() < 2) return std::nullopt;
  dims->resize(dims->size() - 2);
  return dims;
}

// ---- Others

DataType FillDtype(OpImport& op, size_t /*output*/) {
  const AttributeProto* value = op.FindAttr("value");
  if (value == nullptr || value->tensors.empty()) return DataType::Float(32);
  return DataTypeOf(value->tensors.front().type).value_or(DataType::Void());
}

DataType RandomDtype(OpImport& op, size_t /*output*/) { return DtypeIn(op, "dtype", DataType::Float(32)); }
DataType SampleDtype(OpImport& op, size_t /*output*/) { return DtypeIn(op, "dtype", DataType::Int(32)); }

Dims SampleDims(OpImport& op, size_t /*output*/) {
  const Dims dims = DimsIn(op, 0);
  const PrimExpr* rows = dims && !dims->empty() ? dims->front() : nullptr;
  return std::vector{rows, WholeDim(op.Int("sample_size", 1))};
}

// Without a reduction, a loss for each target.
Dims LossDims(OpImport& op, size_t /*output*/) {
  return op.String("reduction", "mean") == "none" ? DimsIn(op, 1) : UnknownDims(0);
}

Dims SelectedDims(OpImport& /*op*/, size_t /*output*/) { return std::vector<const PrimExpr*>{nullptr, WholeDim(3)}; }

Dims ArrayFeatureDims(OpImport& op, size_t /*output*/) {
  Dims dims = DimsIn(op, 0);
  const Dims indices = DimsIn(op, 1);
  if (!dims || dims->empty()) return std::nullopt;
  if (dims->size() == 1) dims->insert(dims->begin(), WholeDim(1));
  dims->back() = indices && indices->size() == 1 ? indices->front() : nullptr;
  return dims;
}

constexpr TypeRow kShapeTypes[] = {
    {"ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum "
     "ReduceSumSquare",
     0, Of<0>, ReduceDims},
    {"com.microsoft.QLinearReduceMean", 0, Of<0>, QuantizedReduceDims},
    {"ArgMax ArgMin", 0, kLongs, ArgReduceDims},
    {"TopK", 0, Of<0>, TopKDims},
    {"TopK", 1, kLongs, TopKDims},
    {"Reshape", 0, Of<0>, ReshapeDims},
    {"Expand", 0, Of<0>, ExpandShape},
    {"ConstantOfShape", 0, FillDtype, ShapeInput},
    {"RandomNormal RandomUniform", 0, RandomDtype, ShapeAttribute},
    {"Multinomial", 0, SampleDtype, SampleDims},
    {"Flatten", 0, Of<0>, FlattenDims},
    {"Squeeze", 0, Of<0>, SqueezeDims},
    {"Unsqueeze", 0, Of<0>, UnsqueezeDims},
    {"Transpose", 0, Of<0>, TransposeDims},
    {"Tile", 0, Of<0>, TileDims},
    {"Slice", 0, Of<0>, SliceDims},
    {"Pad", 0, Of<0>, PadDims},
    {"CenterCropPad", 0, Of<0>, CenterCropPadDims},
    {"Split", 0, Of<0>, SplitDims},
    {"Concat", 0, Of<0>, ConcatDims},
    {"Gather", 0, Of<0>, GatherDims},
    {"GatherElements", 0, Of<0>, Like<1>},
    {"GatherND", 0, Of<0>, GatherNdDims},
    {"OneHot", 0, Of<2>, OneHotDims},
    {"Compress", 0, Of<0>, UniqueDims},
    {"Unique", 0, Of<0>, UniqueDims},
    {"Unique", 1, kLongs, UniqueDims},
    {"NonZero", 0, kLongs, NonZeroDims},
    {"NonMaxSuppression", 0, kLongs, SelectedDims},
    {"Range", 0, Of<0>, Rank<1>},
    {"Shape", 0, kLongs, ShapeOfDims},
    {"Size", 0, kLongs, Rank<0>},
    {"Gemm", 0, Of<0>, GemmDims},
    {"MatMul", 0, Of<0>, ProductOf<0, 1>},
    {"MatMulInteger", 0, kInts, ProductOf<0, 1>},
    {"QLinearMatMul", 0, Of<7>, ProductOf<0, 3>},
    {"Einsum", 0, Of<0>, EinsumDims},
    {"Det", 0, Of<0>, DetDims},
    {"NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss", 0, Of<0>, LossDims},
    {"SoftmaxCrossEntropyLoss", 1, Of<0>, Like<0>},
    {"ai.onnx.ml.ArrayFeatureExtractor", 0, Of<0>, ArrayFeatureDims},
};

}  // namespace

std::span<const TypeRow> ShapeTypeRows() { return kShapeTypes; }

}  // namespace iropt::onnx
