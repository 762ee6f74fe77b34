// Operators that rearrange elements.

#include <algorithm>
#include <numeric>

#include "exchange/onnx/import/function_importer.h"
#include "exchange/onnx/ops/common.h"
#include "exchange/onnx/ops/scalar_elements.h"
#include "exchange/onnx/reshape_text.h"
#include "exchange/onnx/types/dims.h"
#include "iropt/analysis/relax/free_vars.h"
#include "iropt/arith/analyzer.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/ir/context.h"
#include "iropt/ir/structural.h"
#include "iropt/op/ops/axes.h"
#include "iropt/op/ops/concat.h"
#include "iropt/op/ops/nn.h"
#include "iropt/op/ops/repeat.h"
#include "iropt/op/ops/slice.h"

namespace iropt::onnx {

namespace {

// ---- Joining and splitting

Value ImportConcat(OpImport& op) {
  const std::vector<const Expr*> inputs = op.AllIn();
  const int64_t axis = op.version() < 4 ? op.Int("axis", 1) : op.Int("axis");
  if (inputs.size() == 1) return inputs[0];
  return op.Call(op::kConcat, {op.Tuple(inputs)}, op.Attrs<ConcatAttrs>(op::kConcat, {.axis = axis}));
}

// The lengths of the parts; without any, the outputs share the dimension evenly, the last one takes what is left.
std::optional<std::vector<int64_t>> PartsOf(OpImport& op, int64_t axis) {
  std::optional<std::vector<int64_t>> parts = op.AttrOrInput("split", 1);
  if (!parts || !parts->empty()) return parts;
  const auto count = static_cast<int64_t>(op.num_outputs());
  const auto* size = As<tir::IntImm>(DimOf(op.TypeOf(0), static_cast<size_t>(axis)));
  if (size == nullptr || count == 0) return std::nullopt;
  const int64_t length = (size->value + count - 1) / count;
  for (int64_t i = 0; i < count; ++i) parts->push_back(std::clamp<int64_t>(size->value - i * length, 0, length));
  return parts;
}

Value ImportSplit(OpImport& op) {
  const int rank = op.Rank(0);
  if (rank < 1) return {};
  const int64_t axis = op.Axis(op.Int("axis"), rank);
  const TensorType* type = op.TypeOf(0);
  if (op.failed() || !type->known) return {};
  const auto parts = PartsOf(op, axis);
  if (!parts) return {};
  if (parts->size() != op.num_outputs())
    return op.Error(fmt::format("has {} outputs for {} parts", op.num_outputs(), parts->size()));
  if (parts->size() == 1) return op.In(0);
  std::vector<int64_t> indices;
  int64_t at = 0;
  for (size_t i = 0; i + 1 < parts->size(); ++i) indices.push_back(at += (*parts)[i]);
  return op.Call(op::kSplit, {op.In(0)},
                 op.Attrs<SplitAttrs>(op::kSplit, {.indices_or_sections = indices, .axis = axis}));
}

// ---- Shapes

// The factors of dimensions: a number, and what is not one.
struct FactorsOfDims {
  int64_t number = 1;
  std::vector<const PrimExpr*> others;

  // False if the number does not fit.
  bool Add(const PrimExpr* dim) {
    if (const auto* literal = As<tir::IntImm>(dim)) return !__builtin_mul_overflow(number, literal->value, &number);
    if (const auto* product = As<tir::Mul>(dim)) return Add(product->a) && Add(product->b);
    others.push_back(dim);
    return true;
  }
  bool AddAll(std::span<const PrimExpr* const> dims) {
    return std::ranges::all_of(dims, [&](const PrimExpr* dim) { return Add(dim); });
  }
  const PrimExpr* Product() const {
    const PrimExpr* product = IRContext::Current().Int(number);
    for (const PrimExpr* dim : others) product = arith::PrimBuilder().Mul(product, dim);
    return product;
  }
};

// The dimension that makes both shapes have as many elements; null if it does not fit. Factors that both have cancel:
// a tensor without elements does not say which dimension it is.
const PrimExpr* MissingDim(std::span<const PrimExpr* const> from, std::span<const PrimExpr* const> to) {
  FactorsOfDims dividend;
  FactorsOfDims divisor;
  if (!dividend.AddAll(from) || !divisor.AddAll(to)) return nullptr;
  if (divisor.number == 0) return IRContext::Current().Int(0);
  std::erase_if(dividend.others, [&](const PrimExpr* dim) {
    const auto same =
        std::ranges::find_if(divisor.others, [&](const PrimExpr* other) { return StructuralEqual(dim, other); });
    if (same == divisor.others.end()) return false;
    divisor.others.erase(same);
    return true;
  });
  const int64_t common = dividend.number == 0 ? 1 : std::gcd(dividend.number, divisor.number);
  dividend.number /= common;
  divisor.number /= common;
  return arith::PrimBuilder().FloorDiv(dividend.Product(), divisor.Product());
}

Value ReshapeTo(OpImport& op, std::vector<const PrimExpr*> dims, bool zero_copies) {
  const TensorType* type = op.TypeOf(0);
  if (type == nullptr) return {};
  std::optional<size_t> missing;
  for (size_t i = 0; i < dims.size(); ++i) {
    const auto* number = As<tir::IntImm>(dims[i]);
    if (number == nullptr) continue;
    if (number->value == 0 && zero_copies) {
      dims[i] = DimOf(type, i);
      if (dims[i] == nullptr) return {};
    } else if (number->value == -1) {
      if (missing) return op.Error("the shape has -1 more than once");
      missing = i;
    }
  }
  ReshapeFacts& facts = op.importer().context().reshapes;
  if (missing && type->known) {
    std::vector<const PrimExpr*> others = dims;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(*missing));
    for (const PrimExpr* dim : others) {
      for (const tir::Var* var : SymVarsOf(dim)) facts.next_to_inferred.emplace(var->name);
    }
    dims[*missing] = MissingDim(type->dims.span(), others);
    if (dims[*missing] == nullptr) return op.Error("its output does not fit into 64 bits");
  }
  const bool is_computed = std::ranges::any_of(dims, [](const PrimExpr* dim) { return !Is<tir::IntImm>(dim); });
  if (is_computed && type->known) {
    const auto [known, _] = facts.copies_zeros.emplace(TextOfReshape(*type, dims), true);
    known->second &= zero_copies;
  }
  return op.Reshape(op.In(0), std::span<const PrimExpr* const>(dims));
}

// The shape is an attribute before version 5.
Value ImportReshape(OpImport& op) {
  const bool zero_copies = op.Int("allowzero") == 0;
  if (!op.Has(1)) {
    std::vector<const PrimExpr*> dims;
    for (const int64_t dim : op.Ints("shape")) dims.push_back(IRContext::Current().Int(dim));
    return ReshapeTo(op, dims, zero_copies);
  }
  if (const Elements* elements = op.ElementsOf(1)) {
    op.importer().context().reshapes.is_computed |=
        std::ranges::any_of(elements->values, [](const PrimExpr* value) { return !Is<tir::IntImm>(value); });
    return ReshapeTo(op, elements->values, zero_copies);
  }
  return {};
}

Value ImportFlatten(OpImport& op) {
  const TensorType* type = op.TypeOf(0);
  if (type == nullptr || !type->known) return {};
  const auto rank = static_cast<int64_t>(type->dims.size());
  const int64_t axis = op.Int("axis", 1);
  if (axis < -rank || axis > rank)
    return op.Error(fmt::format("axis {} is out of range for a tensor of rank {}", axis, rank));
  const auto split = static_cast<size_t>(axis < 0 ? axis + rank : axis);
  constexpr arith::PrimBuilder kBuilder;
  const PrimExpr* dims[] = {IRContext::Current().Int(1), IRContext::Current().Int(1)};
  for (size_t i = 0; i < type->dims.size(); ++i) {
    const PrimExpr*& dim = dims[i < split ? 0 : 1];
    dim = kBuilder.Mul(dim, DimOf(type, i));
  }
  return op.Reshape(op.In(0), std::span<const PrimExpr* const>(dims));
}

Value ImportTranspose(OpImport& op) {
  std::vector<int64_t> axes = op.Ints("perm");
  if (axes.empty() && op.Rank(0) < 0) return op.Call(op::kPermuteDims, {op.In(0)});
  if (axes.empty()) {
    axes = Iota(0, op.Rank(0));
    std::ranges::reverse(axes);
  }
  return axes.empty() ? op.In(0) : op.Transpose(op.In(0), axes);
}

Value ImportSqueeze(OpImport& op) {
  const auto axes = op.AttrOrInput("axes", 1);
  if (!axes || op.TypeOf(0) == nullptr || op.Rank(0) < 0) return {};
  // Runtimes take an empty list for all, as if it were left out.
  if (axes->empty()) return op.Call(op::kSqueeze, {op.In(0)});
  return op.Call(op::kSqueeze, {op.In(0)}, op.Attrs<SqueezeAttrs>(op::kSqueeze, {.axis = *axes}));
}

Value ImportUnsqueeze(OpImport& op) {
  const auto axes = op.AttrOrInput("axes", 1);
  if (!axes || op.TypeOf(0) == nullptr || op.Rank(0) < 0) return {};
  return ExpandDims(op, op.In(0), *axes);
}

Value ImportTile(OpImport& op) {
  const auto repeats = op.Numbers(1);
  // Of an unknown rank, Relax may have more repeats than dimensions, which ONNX has not.
  if (!repeats || op.version() < 6 || op.Rank(0) < 0) return {};
  return op.Call(op::kTile, {op.In(0)}, op.Attrs<TileAttrs>(op::kTile, {.repeats = *repeats}));
}

// ---- Parts

struct SliceParts {
  std::vector<int64_t> axes;
  std::vector<const PrimExpr*> starts;
  std::vector<const PrimExpr*> ends;
  std::vector<int64_t> steps;
};

std::optional<std::vector<const PrimExpr*>> PrimsOf(OpImport& op, std::string_view name, size_t input) {
  if (const Elements* elements = op.ElementsOf(input)) return elements->values;
  if (op.Has(input)) return std::nullopt;
  std::vector<const PrimExpr*> prims;
  for (const int64_t number : op.Ints(name)) prims.push_back(IRContext::Current().Int(number));
  return prims;
}

std::optional<SliceParts> SlicePartsOf(OpImport& op, int rank) {
  const auto starts = PrimsOf(op, "starts", 1);
  const auto ends = PrimsOf(op, "ends", 2);
  auto axes = op.AttrOrInput("axes", 3);
  auto steps = op.Has(4) ? op.Numbers(4) : std::vector<int64_t>();
  if (!starts || !ends || !axes || !steps) return std::nullopt;
  const auto count = static_cast<int64_t>(starts->size());
  if (axes->empty()) axes = Iota(0, count);
  if (steps->empty()) steps->assign(starts->size(), 1);
  if (ends->size() != starts->size() || axes->size() != starts->size() || steps->size() != starts->size()) {
    op.Error(
        fmt::format("has {} starts, {} ends, {} axes and {} steps", count, ends->size(), axes->size(), steps->size()));
    return std::nullopt;
  }
  for (int64_t& axis : *axes) axis = op.Axis(axis, rank);
  if (std::ranges::find(*steps, 0) != steps->end()) op.Error("a step is 0");
  if (op.failed()) return std::nullopt;
  return SliceParts{*axes, *starts, *ends, *steps};
}

// The parts of data, whose type is known.
const Expr* Slice(OpImport& op, const Expr* data, const SliceParts& parts) {
  const TensorType* type = OpImport::TensorOf(data);
  std::vector<const Expr*> fields[4];
  for (size_t i = 0; i < parts.axes.size(); ++i) {
    const PrimExpr* dim = DimOf(type, static_cast<size_t>(parts.axes[i]));
    const auto* size = As<tir::IntImm>(dim);
    const int64_t step = parts.steps[i];
    const auto bound = [&](const PrimExpr* at, bool is_end) -> const PrimExpr* {
      const auto* number = As<tir::IntImm>(at);
      if (size && number) {
        const int64_t clamped = ClampedBound(number->value, size->value, step, is_end);
        // Before the first element: a number that counts from the end and still is before it.
        return IRContext::Current().Int(is_end && clamped == -1 ? -size->value - 1 : clamped);
      }
      // Steps back from before the first element begin at it in ONNX, and nowhere in Relax.
      const bool may_be_before = step < 0 && !is_end && !arith::Analyzer().CanProveGreaterEqual(at, 0);
      if (may_be_before)
        return arith::PrimBuilder().Max(at, arith::PrimBuilder().Sub(IRContext::Current().Int(0), dim));
      // A negative number counts from the end here as well, and is clamped then.
      return number && number->value > INT32_MAX && step > 0 ? dim : at;
    };
    const PrimExpr* begin = bound(parts.starts[i], false);
    const PrimExpr* end = bound(parts.ends[i], true);
    // All of the axis.
    if (step == 1 && arith::IsInt(begin, 0) && DeepEqual(end, dim)) continue;
    fields[0].push_back(op.Prim(parts.axes[i]));
    fields[1].push_back(op.Prim(begin));
    fields[2].push_back(op.Prim(end));
    fields[3].push_back(op.Prim(step));
  }
  if (fields[0].empty()) return data;
  return op.Call(op::kStridedSlice,
                 {data, op.Tuple(fields[0]), op.Tuple(fields[1]), op.Tuple(fields[2]), op.Tuple(fields[3])});
}

Value ImportSlice(OpImport& op) {
  const TensorType* type = op.TypeOf(0);
  if (type == nullptr || !type->known) return {};
  const auto parts = SlicePartsOf(op, type->ndim);
  if (!parts) return {};
  for (size_t i = 0; i < parts->ends.size(); ++i) {
    const auto* end = As<tir::IntImm>(parts->ends[i]);
    if (op.importer().context().count_nodes && end && IsAmbiguousEnd(end->value, parts->steps[i])) return {};
  }
  return Slice(op, op.In(0), *parts);
}

// ---- Padding

std::string_view PadModeOf(std::string_view mode) {
  if (mode == "edge") return "replicate";
  return mode == "wrap" ? "circular" : mode;
}

// Two widths for each axis.
using PadWidths = std::vector<int64_t>;

bool AllZero(const PadWidths& widths) {
  return std::ranges::all_of(widths, [](int64_t width) { return width == 0; });
}

// Data without as many elements of each axis as widths say, which are not positive. Null if the shape is not known, or
// after an error.
const Expr* CutBy(OpImport& op, const Expr* data, const PadWidths& widths) {
  if (AllZero(widths)) return data;
  const TensorType* type = OpImport::TensorOf(data);
  if (type == nullptr || !type->known) return nullptr;
  SliceParts parts;
  for (size_t axis = 0; 2 * axis < widths.size(); ++axis) {
    const int64_t front = widths[2 * axis];
    const int64_t back = widths[2 * axis + 1];
    if (front == 0 && back == 0) continue;
    const PrimExpr* dim = DimOf(type, axis);
    const auto* size = As<tir::IntImm>(dim);
    if (front == INT64_MIN || back == INT64_MIN || (size && size->value + front < -back)) {
      op.Error(fmt::format("removes more elements than axis {} has", axis));
      return nullptr;
    }
    parts.axes.push_back(static_cast<int64_t>(axis));
    parts.starts.push_back(IRContext::Current().Int(-front));
    parts.ends.push_back(back == 0 ? dim : IRContext::Current().Int(back));
    parts.steps.push_back(1);
  }
  return Slice(op, data, parts);
}

// Null after an error, or if the value of the padding is not one element of a known type.
const Expr* PadBy(OpImport& op, const Expr* data, const PadWidths& widths, std::string_view mode) {
  const Expr* value = op.Has(2) ? op.In(2) : op.Scalar(op.Float("value"), op.TypeOf(0)->dtype);
  const TensorType* type = OpImport::TensorOf(value);
  if (type == nullptr || !type->known) return nullptr;
  // Runtimes also take a vector of one element, which exporters write.
  if (type->ndim == 1 && NumberOfDim(type->dims[0]) == 1) value = op.Reshape(value, std::span<const int64_t>());
  if (OpImport::TensorOf(value)->ndim != 0) return nullptr;
  if (AllZero(widths)) return data;
  return op.Call(op::kNnPad, {data, value},
                 op.Attrs<PadAttrs>(op::kNnPad, {.pad_width = widths, .pad_mode = PadModeOf(mode)}));
}

Value ImportPad(OpImport& op) {
  const TensorType* type = op.TypeOf(0);
  const auto pads =
      op.Has(1) ? op.Numbers(1) : std::optional(op.FindAttr("paddings") ? op.Ints("paddings") : op.Ints("pads"));
  if (type == nullptr || type->ndim < 0 || !pads) return {};
  auto axes = op.Has(3) ? op.Numbers(3) : std::optional(Iota(0, type->ndim));
  if (!axes) return {};
  for (int64_t& axis : *axes) axis = op.Axis(axis, type->ndim);
  if (pads->size() != 2 * axes->size())
    return op.Error(fmt::format("has {} numbers of padding for {} axes", pads->size(), axes->size()));
  const std::string_view mode = op.String("mode", "constant");
  PadWidths added(2 * static_cast<size_t>(type->ndim), 0), removed(added);
  for (size_t i = 0; i < pads->size(); ++i) {
    const size_t at = 2 * static_cast<size_t>((*axes)[i % axes->size()]) + i / axes->size();
    ((*pads)[i] > 0 ? added : removed)[at] = (*pads)[i];
  }
  // More elements than there are may be removed where a constant follows or comes first; other modes repeat what stays.
  const bool is_constant = mode == "constant";
  const Expr* data = is_constant ? PadBy(op, op.In(0), added, mode) : CutBy(op, op.In(0), removed);
  if (data == nullptr) return {};
  data = is_constant ? CutBy(op, data, removed) : PadBy(op, data, added, mode);
  return data;
}

constexpr OpRow kManipulateRows[] = {
    {"Concat", 1, 1, kAny, ImportConcat, "R.concat", EvaluateConcat},
    {"Flatten", 1, 1, 1, ImportFlatten, "R.reshape"},
    {"Pad", 1, 1, 4, ImportPad, "R.nn.pad"},
    {"Reshape", 1, 1, 2, ImportReshape, "R.reshape", EvaluateReshape},
    {"Slice", 1, 1, 5, ImportSlice, "R.strided_slice", EvaluateSlice},
    {"Split", 1, 1, 2, ImportSplit, "R.split"},
    {"Squeeze", 1, 1, 2, ImportSqueeze, "R.squeeze", EvaluateSqueeze},
    {"Tile", 1, 2, 3, ImportTile, "R.tile"},
    {"Transpose", 1, 1, 1, ImportTranspose, "R.permute_dims"},
    {"Unsqueeze", 1, 1, 2, ImportUnsqueeze, "R.expand_dims", EvaluateUnsqueeze},
};

}  // namespace

std::span<const OpRow> ManipulateRows() { return kManipulateRows; }

}  // namespace iropt::onnx
