// Conv, ConvTranspose and Gemm with their biases; indices and reductions in ONNX's forms.

#include <algorithm>
#include <cstring>

#include "exchange/onnx/export/attributes.h"
#include "exchange/onnx/export/fusion_rows.h"
#include "exchange/onnx/export/op_export.h"
#include "iropt/op/op_attrs.h"
#include "iropt/op/ops/arithmetic.h"
#include "iropt/op/ops/axes.h"
#include "iropt/op/ops/binary.h"
#include "iropt/op/ops/convolution.h"
#include "iropt/op/ops/matmul.h"
#include "iropt/op/ops/nn.h"
#include "iropt/op/ops/reorder.h"
#include "iropt/op/ops/repeat.h"
#include "iropt/op/ops/scan.h"
#include "iropt/op/ops/slice.h"
#include "iropt/runtime/value.h"

namespace iropt::onnx {

namespace {

const TensorType* TensorOf(const Expr* expr) { return As<TensorType>(expr->type); }
int RankOf(const Expr* expr) { return TensorOf(expr) ? TensorOf(expr)->ndim : kUnknownDim; }

// ---- Convolutions

constexpr OpId kConvolutions[] = {op::kNnConv1d,          op::kNnConv2d,          op::kNnConv3d,
                                  op::kNnConv1dTranspose, op::kNnConv2dTranspose, op::kNnConv3dTranspose};

}  // namespace

std::shared_ptr<const NDArray> Reshaped(const NDArray& array, std::span<const int64_t> dims) {
  if (array.source() != nullptr) return NDArray::InFile(array.dtype(), dims, array.data(), *array.source());
  return NDArray::View(array.dtype(), dims, array.data(), array.shared_from_this());
}

std::shared_ptr<const NDArray> PerChannel(const NDArray& array, int rank, int64_t channels) {
  const std::span<const int64_t> shape = array.shape();
  if (array.num_elements() != channels || shape.size() > static_cast<size_t>(rank) ||
      shape.size() + 1 < static_cast<size_t>(rank))
    return nullptr;
  const size_t channel = shape.size() == static_cast<size_t>(rank) ? 1 : 0;
  if (shape[channel] != channels) return nullptr;
  const int64_t dims[] = {channels};
  return Reshaped(array, dims);
}

namespace {

// A vector whose dimensions of 1 make it broadcast along the channels.
const Expr* VectorAlongChannels(Matcher& matcher, const Expr* operand, int rank) {
  const Call* expanded = matcher.Inner(operand, op::kExpandDims);
  if (expanded == nullptr || RankOf(expanded->args[0]) != 1) return nullptr;
  const std::vector<int64_t> axes = ExpandDimsAttrs(*expanded).axis().vector();
  const auto has = [&](int64_t axis) { return std::ranges::find(axes, axis) != axes.end(); };
  if (axes.size() != static_cast<size_t>(rank) - 1 || has(1) || has(1 - rank)) return nullptr;
  return expanded->args[0];
}

std::optional<FusedNode> MatchBias(Matcher& matcher, const Call& root, const Expr* conv_operand, const Expr* bias) {
  for (const OpId id : kConvolutions) {
    const Call* conv = matcher.Inner(conv_operand, id);
    if (conv == nullptr) continue;
    std::optional<FusedNode> node = PlainConvolution(*conv);
    const TensorType* type = TensorOf(conv_operand);
    if (!node || type == nullptr || !type->known || RankOf(bias) < 0 || root.type == nullptr) return std::nullopt;
    const auto* channels = As<tir::IntImm>(type->dims[1]);
    if (channels == nullptr) return std::nullopt;
    if (const auto* constant = matcher.ConstantOf(bias)) {
      auto vector = PerChannel(*constant->data, type->ndim, channels->value);
      if (vector == nullptr) return std::nullopt;
      node->inputs.emplace_back(MadeTensor{std::move(vector), constant});
      return node;
    }
    const Expr* vector = VectorAlongChannels(matcher, bias, type->ndim);
    if (vector == nullptr) return std::nullopt;
    node->inputs.emplace_back(vector);
    return node;
  }
  return std::nullopt;
}

template <int kOperand>
std::optional<FusedNode> MatchConvBias(Matcher& matcher, const Call& root) {
  return MatchBias(matcher, root, root.args[kOperand], root.args[1 - kOperand]);
}

// ---- Batch norms

std::shared_ptr<const NDArray> Filled(const NDArray& like, double value) {
  auto array = NDArray::Make(like.dtype(), {like.shape().begin(), like.shape().end()});
  const Tensor element = MakeScalarTensor(iropt::Scalar::Float(value, like.dtype()));
  for (size_t i = 0; i < array->num_bytes(); i += element->num_bytes())
    std::memcpy(array->mutable_data() + i, element->data(), element->num_bytes());
  return array;
}

// A factor and a term for each channel: a batch norm that nothing took in. Of images, and of rows if both came from one
// node: others may be part of a pattern that runtimes look for.
template <int kOperand>
std::optional<FusedNode> MatchScaleAndShift(Matcher& matcher, const Call& root) {
  const Call* product = matcher.Inner(root.args[kOperand], op::kMultiply);
  const iropt::Constant* shift = product ? matcher.ConstantOf(root.args[1 - kOperand]) : nullptr;
  if (shift == nullptr) return std::nullopt;
  const uint32_t factor = matcher.ConstantOf(product->args[1]) ? 1 : 0;
  const iropt::Constant* scale = matcher.ConstantOf(product->args[factor]);
  const TensorType* type = TensorOf(product->args[1 - factor]);
  const bool is_one_node = root.span().known() && root.span().begin == product->span().begin;
  if (scale == nullptr || type == nullptr || !type->known || type->ndim < (is_one_node ? 2 : 3) ||
      !type->dtype.is_floating())
    return std::nullopt;
  const auto* channels = As<tir::IntImm>(type->dims[1]);
  const bool same_dtype = scale->data->dtype() == type->dtype && shift->data->dtype() == type->dtype;
  if (channels == nullptr || !same_dtype) return std::nullopt;
  auto scales = PerChannel(*scale->data, type->ndim, channels->value);
  auto shifts = PerChannel(*shift->data, type->ndim, channels->value);
  if (scales == nullptr || shifts == nullptr) return std::nullopt;
  FusedNode node{.op = "BatchNormalization", .inputs = {product->args[1 - factor]}};
  const auto means = Filled(*scales, 0);
  const auto variances = Filled(*scales, 1);
  const MadeTensor inputs[] = {{std::move(scales), scale}, {std::move(shifts), shift}, {means}, {variances}};
  node.inputs.insert(node.inputs.end(), std::begin(inputs), std::end(inputs));
  node.attributes.push_back(FloatAttribute("epsilon", 0));
  if (matcher.opset() < 7) node.attributes.push_back(IntAttribute("is_test", 1));
  return node;
}

// ---- Gemm

struct GemmOperand {
  const Expr* expr;
  bool transposed;
};

// The other order of two axes is the one that changes something.
bool SwapsAxes(const Call& transpose) {
  const auto axes = PermuteDimsAttrs(transpose).axes();
  return !axes || (axes->size() == 2 && (*axes)[0] != 0 && (*axes)[0] != -2);
}

GemmOperand Untransposed(Matcher& matcher, const Expr* operand) {
  const auto* var = As<Var>(operand);
  Matcher probe = matcher;
  const Call* transpose = var ? probe.Inner(operand, op::kPermuteDims) : nullptr;
  if (transpose == nullptr || !SwapsAxes(*transpose) || !probe.IsClosed()) return {operand, false};
  matcher = probe;
  return {transpose->args[0], true};
}

// A product with one factor on a matrix.
std::pair<const Expr*, double> Unscaled(Matcher& matcher, const Expr* operand) {
  Matcher probe = matcher;
  const Call* product = probe.Inner(operand, op::kMultiply);
  if (product == nullptr || !probe.IsClosed()) return {operand, 1};
  for (uint32_t i = 0; i < 2; ++i) {
    const auto factor = probe.Number(product->args[i]);
    if (!factor) continue;
    matcher = probe;
    return {product->args[1 - i], *factor};
  }
  return {operand, 1};
}

std::optional<FusedNode> MatchProduct(Matcher& matcher, const Expr* operand, double& alpha, bool& changed) {
  const auto [product, factor] = Unscaled(matcher, operand);
  const Call* matmul = matcher.Inner(product, op::kMatmul);
  if (matmul == nullptr || RankOf(matmul->args[0]) != 2 || RankOf(matmul->args[1]) != 2) return std::nullopt;
  const TensorType* type = TensorOf(product);
  if (type == nullptr || !type->dtype.is_floating() || TensorOf(matmul->args[0])->dtype != type->dtype)
    return std::nullopt;
  const GemmOperand a = Untransposed(matcher, matmul->args[0]);
  const GemmOperand b = Untransposed(matcher, matmul->args[1]);
  alpha = factor;
  FusedNode node{.op = "Gemm", .inputs = {a.expr, b.expr}};
  if (factor != 1) node.attributes.push_back(FloatAttribute("alpha", factor));
  if (a.transposed) node.attributes.push_back(IntAttribute("transA", 1));
  if (b.transposed) node.attributes.push_back(IntAttribute("transB", 1));
  changed = factor != 1 || a.transposed || b.transposed;
  return node;
}

// Returns whether a tensor broadcasts to the product without making it larger.
bool BroadcastsTo(const Expr* bias, const Expr* product) {
  const TensorType* from = TensorOf(bias);
  const TensorType* to = TensorOf(product);
  if (from == nullptr || to == nullptr || !from->known || !to->known || from->ndim > 2) return false;
  for (uint32_t i = 0; i < from->dims.size(); ++i) {
    const PrimExpr* dim = from->dims[from->dims.size() - 1 - i];
    const auto* number = As<tir::IntImm>(dim);
    if (dim != to->dims[to->dims.size() - 1 - i] && !(number && number->value == 1)) return false;
  }
  return true;
}

template <int kOperand>
std::optional<FusedNode> MatchGemm(Matcher& matcher, const Call& root) {
  double alpha = 1;
  bool changed = false;
  std::optional<FusedNode> node = MatchProduct(matcher, root.args[kOperand], alpha, changed);
  if (!node || !BroadcastsTo(root.args[1 - kOperand], root.args[kOperand])) return std::nullopt;
  const auto [bias, beta] = Unscaled(matcher, root.args[1 - kOperand]);
  node->inputs.emplace_back(bias);
  if (beta != 1) node->attributes.push_back(FloatAttribute("beta", beta));
  return node;
}

// A product whose operands are transposed or scaled, without a bias.
std::optional<FusedNode> MatchTransposedMatmul(Matcher& matcher, const Call& root) {
  if (RankOf(root.args[0]) != 2 || RankOf(root.args[1]) != 2) return std::nullopt;
  const auto* type = As<TensorType>(root.type);
  if (type == nullptr || !type->dtype.is_floating() || TensorOf(root.args[0])->dtype != type->dtype)
    return std::nullopt;
  const GemmOperand a = Untransposed(matcher, root.args[0]);
  const GemmOperand b = Untransposed(matcher, root.args[1]);
  if (!a.transposed && !b.transposed) return std::nullopt;
  FusedNode node{.op = "Gemm", .inputs = {a.expr, b.expr}};
  if (a.transposed) node.attributes.push_back(IntAttribute("transA", 1));
  if (b.transposed) node.attributes.push_back(IntAttribute("transB", 1));
  return node;
}

// ---- Indices

// The indices i of where(i < 0, i + size, i): ONNX counts negative ones from the end. Null for other indices.
const Expr* BeforeShift(Matcher& matcher, const Expr* operand, int64_t size) {
  const Call* where = matcher.Inner(operand, op::kWhere);
  if (where == nullptr) return nullptr;
  const Expr* indices = where->args[2];
  const Call* less = matcher.Inner(where->args[0], op::kLess);
  const Call* shifted = matcher.Inner(where->args[1], op::kAdd);
  if (less == nullptr || shifted == nullptr) return nullptr;
  const bool is_shift = matcher.IsSame(less->args[0], indices) && matcher.Number(less->args[1]) == 0.0 &&
                        matcher.IsSame(shifted->args[0], indices) &&
                        matcher.Number(shifted->args[1]) == static_cast<double>(size);
  return is_shift ? indices : nullptr;
}

std::optional<FusedNode> MatchOneHot(Matcher& matcher, const Call& root) {
  const OneHotAttrs attrs(root);
  const auto* type = As<TensorType>(root.type);
  const Expr* indices = BeforeShift(matcher, root.args[0], attrs.depth());
  const auto* on = As<PrimValue>(root.args[1]);
  const auto* off = As<PrimValue>(root.args[2]);
  if (indices == nullptr || type == nullptr || on == nullptr || off == nullptr) return std::nullopt;
  std::shared_ptr<const NDArray> values = OneHotValues(*on, *off, type->dtype);
  if (values == nullptr) return std::nullopt;
  auto depth = NDArray::Make(DataType::Int(64), {1});
  depth->MutableAs<int64_t>()[0] = attrs.depth();
  return FusedNode{.op = "OneHot",
                   .inputs = {indices, MadeTensor{std::move(depth)}, MadeTensor{std::move(values)}},
                   .attributes = {IntAttribute("axis", attrs.axis())}};
}

std::optional<FusedNode> MatchGather(Matcher& matcher, const Call& root) {
  const TakeAttrs attrs(root);
  const TensorType* data = TensorOf(root.args[0]);
  if (!attrs.axis() || data == nullptr || !data->known) return std::nullopt;
  const auto axis = static_cast<uint32_t>(*attrs.axis() < 0 ? *attrs.axis() + data->ndim : *attrs.axis());
  const auto* size = As<tir::IntImm>(data->dims[axis]);
  const Expr* indices = size ? BeforeShift(matcher, root.args[1], size->value) : nullptr;
  if (indices == nullptr) return std::nullopt;
  return FusedNode{.op = "Gather", .inputs = {root.args[0], indices}, .attributes = {IntAttribute("axis", axis)}};
}

// A scan from the end: flip, scan, flip.
std::optional<FusedNode> MatchReverseCumsum(Matcher& matcher, const Call& root) {
  const Call* scan = matcher.Inner(root.args[0], op::kCumsum);
  const Call* flip = scan ? matcher.Inner(scan->args[0], op::kFlip) : nullptr;
  if (flip == nullptr) return std::nullopt;
  const ScanopAttrs attrs(*scan);
  const int64_t axis = FlipAttrs(root).axis();
  const TensorType* data = TensorOf(flip->args[0]);
  const auto* result = As<TensorType>(root.type);
  if (FlipAttrs(*flip).axis() != axis || attrs.axis() != axis || data == nullptr || result == nullptr ||
      data->dtype != result->dtype)
    return std::nullopt;
  auto at = NDArray::Make(DataType::Int(64), {});
  at->MutableAs<int64_t>()[0] = axis;
  return FusedNode{.op = "CumSum",
                   .inputs = {flip->args[0], MadeTensor{std::move(at)}},
                   .attributes = {IntAttribute("exclusive", attrs.exclusive() ? 1 : 0), IntAttribute("reverse", 1)}};
}

// The numbers of a tuple of prim values.
std::optional<std::vector<int64_t>> NumbersIn(const Expr* expr) {
  const auto* tuple = As<iropt::Tuple>(expr);
  if (tuple == nullptr) return std::nullopt;
  std::vector<int64_t> numbers;
  for (const Expr* field : tuple->fields) {
    const auto* value = As<PrimValue>(field);
    const auto* number = value ? As<tir::IntImm>(value->value) : nullptr;
    if (number == nullptr) return std::nullopt;
    numbers.push_back(number->value);
  }
  return numbers;
}

// How many elements a slice with steps of 1 leaves out of each axis, first at all fronts, then at all backs. Nothing if
// not all is known.
std::optional<std::vector<int64_t>> CutsOf(const Call& slice) {
  const auto whole = StaticDimsOf(TensorOf(slice.args[0]));
  const auto left = StaticDimsOf(As<TensorType>(slice.type));
  const auto axes = NumbersIn(slice.args[1]);
  const auto begins = NumbersIn(slice.args[2]);
  const auto steps = slice.args.size() > 4 ? NumbersIn(slice.args[4]) : std::vector<int64_t>();
  if (!whole || !left || !axes || !begins || axes->size() != begins->size() || !steps ||
      std::ranges::any_of(*steps, [](int64_t step) { return step != 1; }))
    return std::nullopt;
  const size_t rank = whole->size();
  std::vector<int64_t> cuts(2 * rank, 0);
  for (size_t i = 0; i < axes->size(); ++i) {
    const auto axis = static_cast<size_t>((*axes)[i] < 0 ? (*axes)[i] + static_cast<int64_t>(rank) : (*axes)[i]);
    if (axis >= rank) return std::nullopt;
    const int64_t dim = (*whole)[axis];
    const int64_t begin = (*begins)[i];
    cuts[axis] = std::clamp(begin < 0 ? begin + dim : begin, int64_t{0}, dim);
    cuts[rank + axis] = dim - cuts[axis] - (*left)[axis];
  }
  return cuts;
}

// A pad by constants, of which a slice cuts some elements off: a Pad by less, which may be negative.
std::optional<FusedNode> MatchCutPad(Matcher& matcher, const Call& slice) {
  const auto cuts = CutsOf(slice);
  const Call* pad = cuts ? matcher.Inner(slice.args[0], op::kNnPad) : nullptr;
  if (pad == nullptr || pad->args.size() != 2 || PadAttrs(*pad).pad_mode() != "constant") return std::nullopt;
  const auto* data = TensorOf(pad->args[0]);
  const auto* value = TensorOf(pad->args[1]);
  const auto dims = StaticDimsOf(data);
  if (!dims || value == nullptr || value->dtype != data->dtype) return std::nullopt;
  const std::vector<int64_t> widths = PadAttrs(*pad).pad_width().vector();
  const size_t rank = dims->size();
  auto pads = NDArray::Make(DataType::Int(64), {static_cast<int64_t>(2 * rank)});
  const auto numbers = pads->MutableAs<int64_t>();
  for (size_t axis = 0; axis < rank; ++axis) {
    const int64_t front = widths[2 * axis] - (*cuts)[axis];
    const int64_t back = widths[2 * axis + 1] - (*cuts)[rank + axis];
    // Runtimes differ where no element of the data stays.
    if ((*dims)[axis] + std::min(front, int64_t{0}) + std::min(back, int64_t{0}) <= 0) return std::nullopt;
    numbers[axis] = front;
    numbers[rank + axis] = back;
  }
  return FusedNode{.op = "Pad", .inputs = {pad->args[0], MadeTensor{std::move(pads)}, pad->args[1]}};
}

constexpr FusionRow kLinearFusions[] = {
    {op::kAdd, "Conv", 1, MatchConvBias<0>},
    {op::kAdd, "Conv", 1, MatchConvBias<1>},
    {op::kAdd, "Gemm", 7, MatchGemm<0>},
    {op::kAdd, "Gemm", 7, MatchGemm<1>},
    {op::kAdd, "BatchNormalization", 6, MatchScaleAndShift<0>},
    {op::kAdd, "BatchNormalization", 6, MatchScaleAndShift<1>},
    {op::kMatmul, "Gemm", 11, MatchTransposedMatmul},
    {op::kTake, "Gather", 1, MatchGather},
    {op::kOneHot, "OneHot", 9, MatchOneHot},
    {op::kFlip, "CumSum", 11, MatchReverseCumsum},
    {op::kStridedSlice, "Pad", 11, MatchCutPad},
};

}  // namespace

std::optional<FusedNode> PlainConvolution(const Call& call) {
  constexpr std::string_view kImages[] = {"NCW", "NCHW", "NCDHW"};
  constexpr std::string_view kKernels[] = {"OIW", "OIHW", "OIDHW"};
  constexpr std::string_view kTransposedKernels[] = {"IOW", "IOHW", "IODHW"};
  const OpId id = To<Op>(call.op)->id;
  const auto at = std::ranges::find(kConvolutions, id) - std::begin(kConvolutions);
  const bool transposed = at >= 3;
  const auto* data = TensorOf(call.args[0]);
  const auto* result = As<TensorType>(call.type);
  if (data == nullptr || result == nullptr || data->dtype != result->dtype) return std::nullopt;
  FusedNode node{.op = transposed ? "ConvTranspose" : "Conv", .inputs = {call.args[0], call.args[1]}};
  const auto describe = [&](const auto& attrs, std::string_view kernel) {
    const std::string_view image = kImages[at % 3];
    if (attrs.data_layout() != image || attrs.kernel_layout() != kernel ||
        (!attrs.out_layout().empty() && attrs.out_layout() != image))
      return false;
    const auto add = [&](std::string_view name, const IntList& values, int64_t fallback) {
      std::vector<int64_t> numbers = values.vector();
      if (std::ranges::any_of(numbers, [&](int64_t v) { return v != fallback; }))
        node.attributes.push_back(IntsAttribute(name, std::move(numbers)));
    };
    add("dilations", attrs.dilation(), 1);
    if (attrs.groups() != 1) node.attributes.push_back(IntAttribute("group", attrs.groups()));
    if constexpr (requires { attrs.output_padding(); }) add("output_padding", attrs.output_padding(), 0);
    add("pads", attrs.padding(), 0);
    add("strides", attrs.strides(), 1);
    return true;
  };
  const bool plain = transposed ? describe(ConvTransposeAttrs(call), kTransposedKernels[at % 3])
                                : describe(ConvAttrs(call), kKernels[at % 3]);
  return plain ? std::optional(std::move(node)) : std::nullopt;
}

std::span<const FusionRow> LinearFusions() { return kLinearFusions; }

}  // namespace iropt::onnx
