// DecomposeQuantizedOps: writes quantized operators of ONNX as operators of Relax on integers.
//
//   y = R.call_pure_packed("onnx.MatMulInteger", a, b, zero)    -->    lv = R.matmul(a, b, out_dtype="int32")
//                                                                      lv1 = R.sum(R.astype(b, "int32"), axis=[-2],
//                                                                      ...) y = R.subtract(lv, R.multiply(lv1, zero))
//
// These can be fused, scheduled and compiled. They are MatMulInteger, QLinearMatMul, ConvInteger and QLinearConv,
// DynamicQuantizeLinear, and DynamicQuantizeMatMul, MatMulIntegerToFloat, QGemm, QLinearAdd, QLinearMul, QLinearConcat
// and QLinearGlobalAveragePool of onnxruntime. Integers are the same as before, bit by bit, if all numbers are finite:
// sums out of the range of int32 wrap around in both. Data become uint8 and weights int8, which processors multiply.
//
// Convolutions and products of float32 whose operands are dequantized, the second of them a constant, are sums of
// integers times the scales, too, unless these could leave the range of int32: their results differ by the rounding of
// sums. Sums are padded to a multiple of `steps`. Calls stay where types are not known, scales do not fit, or
// convolutions are not of images of two axes. O(nodes).
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <string_view>

#include "affine_type.h"
#include "integer_products.h"
#include "iropt/arith/analyzer.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/infer/ops/arithmetic.h"
#include "iropt/infer/ops/axes.h"
#include "iropt/infer/ops/binary.h"
#include "iropt/infer/ops/concat.h"
#include "iropt/infer/ops/quantize.h"
#include "iropt/infer/ops/reduction.h"
#include "iropt/infer/ops/unary.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/ndarray.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/op/ops/axes.h"
#include "iropt/op/ops/convolution.h"
#include "iropt/op/ops/matmul.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/runtime/value.h"
#include "iropt/support/lookup.h"
#include "iropt/transform/options/DecomposeQuantizedOps.h"
#include "packed_node.h"
#include "transform/relax/util/apply_rules.h"
#include "transform/relax/util/tensor_axes.h"

namespace iropt {

namespace {

constexpr DataType kReal = DataType::Float(32);
using Axes = std::vector<int64_t>;

bool IsByte(const Expr* tensor) {
  const DataType dtype = TensorTypeOf(tensor)->dtype;
  return dtype == DataType::Int(8) || dtype == DataType::UInt(8);
}

// The static sizes of a tensor; nothing if one is not known.
std::optional<std::vector<int64_t>> SizesOf(const Expr* tensor) {
  const TensorType& type = *TensorTypeOf(tensor);
  if (!type.known) return std::nullopt;
  std::vector<int64_t> sizes;
  for (const PrimExpr* dim : type.dims) {
    const int64_t* size = arith::AsInt(dim);
    if (!size) return std::nullopt;
    sizes.push_back(*size);
  }
  return sizes;
}

bool IsOne(const PrimExpr* dim) {
  const int64_t* size = arith::AsInt(dim);
  return size && *size == 1;
}

// Returns whether a scale or a zero point is one number.
bool IsOneNumber(const Expr* parameter) {
  const TensorType& type = *TensorTypeOf(parameter);
  return type.ndim == 0 || (type.known && std::ranges::all_of(type.dims, IsOne));
}

// Returns whether it is one number, or one for each row (a vector, or [..., M, 1]) or column (a vector, or [..., 1, N])
// of matrices.
bool FitsMatrices(const Expr* parameter, const Expr* matrices, bool per_row) {
  const TensorType &type = *TensorTypeOf(parameter), &whole = *TensorTypeOf(matrices);
  if (type.ndim == 0) return true;
  if (!type.known || !whole.known || whole.ndim < 2 || type.ndim > whole.ndim) return false;
  const int shift = whole.ndim - type.ndim - (per_row && type.ndim == 1 ? 1 : 0);
  for (int i = 0; i < type.ndim; ++i) {
    const PrimExpr* dim = type.dims[static_cast<size_t>(i)];
    const int axis = i + shift;
    const bool varies = whole.ndim - axis != (per_row ? 1 : 2);
    if (!IsOne(dim) && !(varies && arith::ProveEqual(dim, whole.dims[static_cast<size_t>(axis)]))) return false;
  }
  return true;
}

// Returns whether the shape is known to broadcast to that of the other tensor.
bool BroadcastsTo(const Expr* tensor, const Expr* whole) {
  const TensorType &from = *TensorTypeOf(tensor), &to = *TensorTypeOf(whole);
  if (!from.known || !to.known || from.ndim > to.ndim) return false;
  for (size_t i = 0; i < from.dims.size(); ++i) {
    if (!IsOne(from.dims[i]) && !arith::ProveEqual(from.dims[i], to.dims[i + to.dims.size() - from.dims.size()]))
      return false;
  }
  return true;
}

// Returns whether it is one number, or one for each filter of a kernel.
bool FitsFilters(const Expr* parameter, const Expr* kernel) {
  if (IsOneNumber(parameter)) return true;
  const auto filters = DimOf(kernel, 0);
  return TensorTypeOf(parameter)->ndim == 1 && filters && DimOf(parameter, 0) == filters;
}

// A matrix of bytes, transposed.
const Expr* Transposed(const NDArray& matrix, Workspace& workspace) {
  const int64_t rows = matrix.shape()[0], columns = matrix.shape()[1];
  const auto result = NDArray::Make(matrix.dtype(), {columns, rows});
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < columns; ++column)
      result->mutable_data()[column * rows + row] = matrix.data()[row * columns + column];
  }
  return MakeConstant(result, workspace);
}

// What the builder has bound.
class BuiltDefinitions final : public Definitions {
 public:
  explicit BuiltDefinitions(const BlockBuilder& builder) : builder_(builder) {}
  const Expr* ValueOf(const Var* var) const override { return builder_.LookupBinding(var); }
  bool IsUsedOnce(const Var* /*var*/) const override { return false; }

 private:
  const BlockBuilder& builder_;
};

class QuantizedOpDecomposer : public ExprMutator {
 public:
  QuantizedOpDecomposer(Workspace& workspace, TypeInferrer* inferrer, int64_t steps)
      : ExprMutator(workspace, inferrer), definitions_(builder()), steps_(steps) {}

 protected:
  const Expr* VisitCall(const Call* old) override {
    const auto* call = To<Call>(ExprMutator::VisitCall(old));
    if (IsOp(call->op, op::kNnConv2d) || IsOp(call->op, op::kMatmul)) {
      const Expr* simpler = Layer(*call);
      return simpler ? simpler : call;
    }
    const PackedNode node(*call);
    using Rule = const Expr* (QuantizedOpDecomposer::*)(const PackedNode&);
    static constexpr std::pair<std::string_view, Rule> kRules[] = {
        {"ConvInteger", &QuantizedOpDecomposer::ConvInteger},
        {"DynamicQuantizeLinear", &QuantizedOpDecomposer::DynamicQuantizeLinear},
        {"MatMulInteger", &QuantizedOpDecomposer::MatMulInteger},
        {"QLinearConv", &QuantizedOpDecomposer::QLinearConv},
        {"QLinearMatMul", &QuantizedOpDecomposer::QLinearMatMul},
        {"com.microsoft.DynamicQuantizeMatMul", &QuantizedOpDecomposer::DynamicQuantizeMatMul},
        {"com.microsoft.MatMulIntegerToFloat", &QuantizedOpDecomposer::MatMulIntegerToFloat},
        {"com.microsoft.QGemm", &QuantizedOpDecomposer::QGemm},
        {"com.microsoft.QLinearAdd", &QuantizedOpDecomposer::QLinearAdd},
        {"com.microsoft.QLinearConcat", &QuantizedOpDecomposer::QLinearConcat},
        {"com.microsoft.QLinearGlobalAveragePool", &QuantizedOpDecomposer::QLinearGlobalAveragePool},
        {"com.microsoft.QLinearMul", &QuantizedOpDecomposer::QLinearMul},
    };
    const auto* rule = std::ranges::find(kRules, node.name(), &std::pair<std::string_view, Rule>::first);
    const Expr* simpler = rule == std::end(kRules) ? nullptr : (this->*rule->second)(node);
    return simpler ? simpler : call;
  }

 private:
  OpBuilder calls() { return OpBuilder(builder()); }
  IntegerProducts products() { return {calls(), workspace(), steps_}; }

  // ---- Dynamic ranges

  struct DynamicRange {
    const Expr *integers, *scale, *zero;
  };
  // The range covers 0; that of zeros has the scale 1. If the scale is less than floats can be, it is 0: as in
  // onnxruntime, the zero point is 255 then, and positive numbers are 255, others 0. Scalars see to that, since a
  // condition in each element would take more time.
  DynamicRange QuantizeDynamically(const Expr* x) {
    const auto real = [&](double number) { return calls().MakeScalar(number, kReal); };
    const auto where = [&](const Expr* condition, const Expr* a, const Expr* b) {
      return builder().Emit(op::Where(calls(), condition, a, b));
    };
    const Expr* least = op::Minimum(calls(), op::Min(calls(), x), real(0));
    const Expr* most = op::Maximum(calls(), op::Max(calls(), x), real(0));
    const Expr* range = op::Divide(calls(), op::Subtract(calls(), most, least), real(255));
    const Expr* scale = where(op::Equal(calls(), most, least), real(1), range);
    const Expr* ratio =
        builder().Emit(op::Round(calls(), op::Divide(calls(), op::Subtract(calls(), real(0), least), scale)));
    const Expr* zero = where(op::Less(calls(), ratio, real(255)), ratio, real(255));  // 255 for NaN
    // 2^-149, the least float, times the factor 2^31 / 2^-126 is 256.
    const Expr* is_none = builder().Emit(op::Equal(calls(), scale, real(0)));
    const Expr* divisor = where(is_none, real(std::ldexp(1.0, -126)), scale);
    const Expr* factor = where(is_none, real(std::ldexp(1.0, 31)), real(1));
    const Expr* shift = where(is_none, real(0), zero);
    const Expr* integers = products().Requantize(op::Divide(calls(), x, divisor), factor, shift, DataType::UInt(8));
    return {builder().Emit(integers), scale, builder().Emit(products().Cast(zero, DataType::UInt(8)))};
  }
  bool HasReals(const Expr* x) { return x && TensorTypeOf(x)->dtype == kReal && TensorTypeOf(x)->ndim > 0; }
  const Expr* DynamicQuantizeLinear(const PackedNode& node) {
    if (!HasReals(node.In(0)) || !Is<TupleType>(node.call().type)) return nullptr;
    const DynamicRange range = QuantizeDynamically(node.In(0));
    const Expr* const fields[] = {range.integers, range.scale, range.zero};
    return calls().MakeTuple(fields);
  }

  // ---- Products

  const Expr* Sums(const Expr* a, const Expr* a_zero, const Expr* b, const Expr* b_zero) {
    if (!a || !b || !IsByte(a) || !IsByte(b)) return nullptr;
    if (TensorTypeOf(a)->ndim < 2 || TensorTypeOf(b)->ndim < 2) return nullptr;
    if ((a_zero && !FitsMatrices(a_zero, a, true)) || (b_zero && !FitsMatrices(b_zero, b, false))) return nullptr;
    return products().Product({a, a_zero}, {b, b_zero});
  }
  // Returns whether the sum of so many products is in the range of int32.
  static bool FitsSum(int64_t length) {
    constexpr double kGreatest = 255.0 * 255.0;
    return kGreatest * static_cast<double>(length) < std::ldexp(1.0, 31);
  }

  const Expr* MatMulInteger(const PackedNode& node) {
    return HasZeros(node, 2) && HasZeros(node, 3) ? Sums(node.In(0), node.In(2), node.In(1), node.In(3)) : nullptr;
  }
  // An input that is there has a known type.
  static bool HasZeros(const PackedNode& node, size_t i) { return node.IsLeftOut(i) || node.In(i); }
  static bool HasAll(const PackedNode& node, std::initializer_list<size_t> inputs) {
    return std::ranges::all_of(inputs, [&](size_t i) { return node.In(i) != nullptr; });
  }

  // Returns whether the inputs are there, and are of float32: ONNX also allows scales of float16 and bfloat16.
  static bool AreReal(const PackedNode& node, std::initializer_list<size_t> inputs) {
    return std::ranges::all_of(inputs,
                               [&](size_t i) { return node.In(i) && TensorTypeOf(node.In(i))->dtype == kReal; });
  }

  // The scale of the sums in that of the result.
  const Expr* Factor(const Expr* a_scale, const Expr* b_scale, const Expr* y_scale) {
    return op::Divide(calls(), op::Multiply(calls(), a_scale, b_scale), y_scale);
  }
  const Expr* QLinearMatMul(const PackedNode& node) {
    if (!HasAll(node, {0, 2, 3, 5, 7}) || !AreReal(node, {1, 4, 6}) || !IsByte(node.In(7))) return nullptr;
    const Expr* sums = Sums(node.In(0), node.In(2), node.In(3), node.In(5));
    if (!sums || !FitsMatrices(node.In(4), sums, false)) return nullptr;
    for (const size_t of_rows : std::array<size_t, 3>{1, 6, 7}) {
      if (!FitsMatrices(node.In(of_rows), sums, true)) return nullptr;
    }
    const Expr* factor = Factor(products().AlongRows(node.In(1)), node.In(4), products().AlongRows(node.In(6)));
    return products().Requantize(sums, factor, products().AlongRows(node.In(7)), TensorTypeOf(node.In(7))->dtype);
  }
  // The sums times the scale of the data and that of each column of the weight.
  const Expr* ScaledColumns(const Expr* sums, const Expr* a_scale, const Expr* b_scale, const Expr* bias) {
    if (!FitsMatrices(b_scale, sums, false) || (bias && !FitsMatrices(bias, sums, false))) return nullptr;
    return Scaled(sums, op::Multiply(calls(), a_scale, b_scale), bias);
  }
  const Expr* Scaled(const Expr* sums, const Expr* scale, const Expr* bias) {
    const Expr* y = op::Multiply(calls(), products().Cast(sums, kReal), scale);
    return bias ? op::Add(calls(), y, bias) : y;
  }
  const Expr* MatMulIntegerToFloat(const PackedNode& node) {
    if (!AreReal(node, {2, 3}) || !HasZeros(node, 4) || !HasZeros(node, 5)) return nullptr;
    if (!IsOneNumber(node.In(2)) || (!node.IsLeftOut(6) && !AreReal(node, {6}))) return nullptr;
    const Expr* sums = Sums(node.In(0), node.In(4), node.In(1), node.In(5));
    return sums ? ScaledColumns(sums, node.In(2), node.In(3), node.In(6)) : nullptr;
  }
  const Expr* DynamicQuantizeMatMul(const PackedNode& node) {
    if (!HasReals(node.In(0)) || !HasAll(node, {1}) || !AreReal(node, {2}) || !HasZeros(node, 3)) return nullptr;
    if (!node.IsLeftOut(4) && !AreReal(node, {4})) return nullptr;
    const DynamicRange a = QuantizeDynamically(node.In(0));
    const Expr* sums = Sums(a.integers, a.zero, node.In(1), node.In(3));
    return sums ? ScaledColumns(sums, a.scale, node.In(2), node.In(4)) : nullptr;
  }

  // A matrix of the node, transposed if the attribute says so. Null if the input is not a matrix of bytes.
  const Expr* Oriented(const PackedNode& node, size_t i, std::string_view attribute) {
    const Expr* matrix = node.In(i);
    if (!matrix || !IsByte(matrix) || TensorTypeOf(matrix)->ndim != 2) return nullptr;
    if (node.Int(attribute, 0) == 0) return matrix;
    const auto* constant = As<Constant>(matrix);
    return constant ? Transposed(*constant->data, workspace()) : builder().Emit(op::PermuteDims(calls(), matrix));
  }
  // Without a zero point the result is of float32.
  const Expr* QGemm(const PackedNode& node) {
    const Expr *a = Oriented(node, 0, "transA"), *b = Oriented(node, 3, "transB"), *bias = node.In(6);
    if (!a || !b || !HasAll(node, {2, 5}) || !AreReal(node, {1, 4})) return nullptr;
    if (!HasZeros(node, 6) || !HasZeros(node, 8)) return nullptr;
    if (!IsOneNumber(node.In(1)) || !IsOneNumber(node.In(2))) return nullptr;
    const Expr* sums = Sums(a, node.In(2), b, node.In(5));
    if (!sums || !FitsMatrices(node.In(4), sums, false)) return nullptr;
    if (bias) {
      if (TensorTypeOf(bias)->dtype != DataType::Int(32) || !BroadcastsTo(bias, sums)) return nullptr;
      sums = op::Add(calls(), sums, bias);
    }
    const Expr* scale = node.In(1);
    if (const double alpha = node.Float("alpha", 1); alpha != 1)
      scale = op::Multiply(calls(), scale, calls().MakeScalar(alpha, kReal));
    if (node.IsLeftOut(8)) return Scaled(sums, op::Multiply(calls(), scale, node.In(4)), nullptr);
    if (!HasScale(node, 7) || !IsByte(node.In(8))) return nullptr;
    return products().Requantize(sums, Factor(scale, node.In(4), node.In(7)), node.In(8),
                                 TensorTypeOf(node.In(8))->dtype);
  }

  // ---- Convolutions

  // Nothing if the node is not a convolution of images of two axes.
  std::optional<ConvShape> ShapeOf(const PackedNode& node, const Expr* x, const Expr* w) {
    if (!x || !w || !IsByte(x) || !IsByte(w)) return std::nullopt;
    const auto kernel = SizesOf(w);
    if (TensorTypeOf(x)->ndim != 4 || !kernel || kernel->size() != 4) return std::nullopt;
    ConvShape shape{node.Ints("strides", 2, 1), node.Ints("dilations", 2, 1), node.Ints("pads", 4, 0),
                    node.Int("group", 1)};
    const auto* padding = As<StringImm>(node.Attribute("auto_pad"));
    if (!padding || padding->value == "NOTSET" || padding->value == "VALID") return shape;
    const auto image = SizesOf(x);
    if (!image || !padding->value.starts_with("SAME")) return std::nullopt;
    for (size_t i = 0; i < 2; ++i) {
      const int64_t extent = ((*kernel)[i + 2] - 1) * shape.dilations[i] + 1;
      const int64_t outputs = ((*image)[i + 2] + shape.strides[i] - 1) / shape.strides[i];
      const int64_t total = std::max<int64_t>(0, (outputs - 1) * shape.strides[i] + extent - (*image)[i + 2]);
      shape.pads[i] = padding->value == "SAME_UPPER" ? total / 2 : total - total / 2;
      shape.pads[i + 2] = total - shape.pads[i];
    }
    return shape;
  }
  const Expr* Convolution(const PackedNode& node, ZeroedTensor x, ZeroedTensor w, const Expr* bias) {
    const auto shape = ShapeOf(node, x.values, w.values);
    if (!shape || (x.zero && !IsOneNumber(x.zero)) || (w.zero && !FitsFilters(w.zero, w.values))) return nullptr;
    if (bias && !FitsFilters(bias, w.values)) return nullptr;
    const Expr* sums = products().Convolution(x, w, *shape);
    return sums && bias ? op::Add(calls(), sums, products().AlongChannels(bias)) : sums;
  }
  const Expr* ConvInteger(const PackedNode& node) {
    if (!HasZeros(node, 2) || !HasZeros(node, 3)) return nullptr;
    return Convolution(node, {node.In(0), node.In(2)}, {node.In(1), node.In(3)}, nullptr);
  }
  const Expr* QLinearConv(const PackedNode& node) {
    if (!HasAll(node, {0, 2, 3, 5, 7}) || !AreReal(node, {1, 4, 6}) || !HasZeros(node, 8)) return nullptr;
    if (!IsByte(node.In(7))) return nullptr;
    const Expr* sums = Convolution(node, {node.In(0), node.In(2)}, {node.In(3), node.In(5)}, node.In(8));
    constexpr std::array<size_t, 4> kOnes = {1, 2, 6, 7};
    const bool fits = std::ranges::all_of(kOnes, [&](size_t i) { return IsOneNumber(node.In(i)); });
    if (!sums || !fits || !FitsFilters(node.In(4), node.In(3))) return nullptr;
    const Expr* factor = products().AlongChannels(Factor(node.In(1), node.In(4), node.In(6)));
    return products().Requantize(sums, factor, node.In(7), TensorTypeOf(node.In(7))->dtype);
  }

  // ---- Layers of dequantized operands

  // A weight of bytes, whose scale and zero point are those of all or of the axis of the outputs.
  struct LayerWeight {
    const Expr *values, *scale, *zero;
  };
  std::optional<LayerWeight> WeightOf(const Expr* operand, bool is_conv) {
    const auto* turned = As<Call>(DefinitionOf(operand, definitions_));
    const bool is_turned = !is_conv && turned && IsOp(turned->op, op::kPermuteDims);
    const auto weight = MatchDequantize(is_turned ? turned->args[0] : operand, definitions_, workspace());
    const auto* constant = weight ? As<Constant>(DefinitionOf(weight->data, definitions_)) : nullptr;
    if (!constant || !IsByte(constant)) return std::nullopt;
    const int rank = TensorTypeOf(constant)->ndim;
    if (rank != (is_conv ? 4 : 2)) return std::nullopt;
    const int64_t outputs = is_conv || is_turned ? 0 : 1;
    const int64_t axis = weight->type.axis < 0 ? weight->type.axis + rank : weight->type.axis;
    for (const Expr* parameter : {weight->type.scale, weight->type.zero_point}) {
      if (TensorTypeOf(parameter)->ndim > 0 && axis != outputs) return std::nullopt;
    }
    const Expr* values = is_turned ? Transposed(*constant->data, workspace()) : constant;
    return LayerWeight{values, weight->type.scale, weight->type.zero_point};
  }
  std::optional<ConvShape> ShapeOf(const Call& conv, const Expr* weight) {
    const ConvAttrs attrs(conv);
    ConvShape shape{attrs.strides().vector(), attrs.dilation().vector(), attrs.padding().vector(), attrs.groups()};
    const bool has_layouts = attrs.data_layout() == "NCHW" && attrs.kernel_layout() == "OIHW" &&
                             (attrs.out_layout().empty() || attrs.out_layout() == "NCHW");
    const auto kernel = SizesOf(weight);
    if (!has_layouts || !kernel || shape.strides.size() != 2 || shape.dilations.size() != 2 || shape.pads.size() != 4)
      return std::nullopt;
    // In groups of several channels, there are no dots of bytes, and products of floats take less time.
    const bool is_fast = shape.groups == 1 || (*kernel)[1] == 1;
    const bool fits = FitsSum((*kernel)[1] * (*kernel)[2] * (*kernel)[3]);
    return is_fast && fits ? std::optional(shape) : std::nullopt;
  }
  // A convolution or product of dequantized data and a dequantized weight as sums of integers times the scales: without
  // the rounding of each product and sum.
  const Expr* Layer(const Call& call) {
    const bool is_conv = IsOp(call.op, op::kNnConv2d);
    const TensorType* result = TensorTypeOf(&call);
    if (!result || result->dtype != kReal || !TensorTypeOf(call.args[0]) || !TensorTypeOf(call.args[1])) return nullptr;
    const auto x = MatchDequantize(call.args[0], definitions_, workspace());
    if (!x || !IsByte(x->data) || TensorTypeOf(x->type.scale)->ndim > 0 || TensorTypeOf(x->type.zero_point)->ndim > 0)
      return nullptr;
    const auto weight = WeightOf(call.args[1], is_conv);
    if (!weight) return nullptr;
    const auto is_real = [](const Expr* scale) { return TensorTypeOf(scale)->dtype == kReal; };
    if (!is_real(x->type.scale) || !is_real(weight->scale)) return nullptr;
    const Expr* factor = op::Multiply(calls(), x->type.scale, weight->scale);
    const Expr* sums = nullptr;
    if (is_conv) {
      const auto shape = ShapeOf(call, weight->values);
      if (!shape) return nullptr;
      sums = products().Convolution({x->data, x->type.zero_point}, {weight->values, weight->zero}, *shape);
      factor = products().AlongChannels(factor);
    } else if (const auto length = DimOf(weight->values, 0); length && FitsSum(*length)) {
      sums = Sums(x->data, x->type.zero_point, weight->values, weight->zero);
    }
    return sums ? Scaled(sums, factor, nullptr) : nullptr;
  }

  // ---- Elements

  static bool IsByteTensor(const PackedNode& node, size_t i) { return node.In(i) && IsByte(node.In(i)); }
  // Returns whether one scale is this input, and one zero point the next one, or it is left out.
  static bool HasScale(const PackedNode& node, size_t i) {
    if (!AreReal(node, {i}) || !IsOneNumber(node.In(i)) || !HasZeros(node, i + 1)) return false;
    return node.IsLeftOut(i + 1) || IsOneNumber(node.In(i + 1));
  }
  // The operand that begins with this input as float32; null if it is not of bytes with one scale.
  const Expr* Dequantized(const PackedNode& node, size_t input) {
    if (!IsByteTensor(node, input) || !HasScale(node, input + 1)) return nullptr;
    const Expr* centered = products().Cast(node.In(input), DataType::Int(32));
    if (const Expr* zero = node.In(input + 2))
      centered = op::Subtract(calls(), centered, products().Cast(zero, DataType::Int(32)));
    return op::Multiply(calls(), products().Cast(centered, kReal), node.In(input + 1));
  }
  // Reals in the scale and with the zero point that begin with this input.
  const Expr* Quantized(const PackedNode& node, const Expr* y, size_t input, DataType dtype) {
    if (!HasScale(node, input)) return nullptr;
    return products().Requantize(op::Divide(calls(), y, node.In(input)), calls().MakeScalar(1, kReal),
                                 node.In(input + 1), dtype);
  }
  const Expr* Binary(const PackedNode& node, const Call* (*make)(OpBuilder, const Expr*, const Expr*)) {
    const Expr *a = Dequantized(node, 0), *b = Dequantized(node, 3);
    return a && b ? Quantized(node, make(calls(), a, b), 6, TensorTypeOf(node.In(0))->dtype) : nullptr;
  }
  const Expr* QLinearAdd(const PackedNode& node) { return Binary(node, op::Add); }
  const Expr* QLinearMul(const PackedNode& node) { return Binary(node, op::Multiply); }
  const Expr* QLinearConcat(const PackedNode& node) {
    std::vector<const Expr*> parts;
    for (size_t i = 2; i < node.num_inputs(); i += 3) {
      const Expr* part = Dequantized(node, i);
      if (!part) return nullptr;
      parts.push_back(part);
    }
    if (parts.empty()) return nullptr;
    const Expr* joined = op::Concat(calls(), calls().MakeTuple(parts), {.axis = node.Int("axis", 0)});
    return Quantized(node, joined, 0, TensorTypeOf(node.In(2))->dtype);
  }
  // Sums of float64 are exact in any order.
  const Expr* QLinearGlobalAveragePool(const PackedNode& node) {
    const Expr* x = Dequantized(node, 0);
    if (!x || TensorTypeOf(x)->ndim != 4) return nullptr;
    const Axes axes = node.Int("channels_last", 0) != 0 ? Axes{1, 2} : Axes{2, 3};
    const Expr* mean = op::Mean(calls(), products().Cast(x, DataType::Float(64)), {.axis = axes, .keepdims = true});
    return Quantized(node, products().Cast(mean, kReal), 3, TensorTypeOf(node.In(0))->dtype);
  }

  const BuiltDefinitions definitions_;
  const int64_t steps_;
};

}  // namespace

Pass CreateDecomposeQuantizedOps(const PassOptions& options) {
  const pass_options::DecomposeQuantizedOps given(options);
  const int64_t steps = *given.steps;
  if (steps < 1) options.Refuse(given.steps, "must be positive");
  return CreateFunctionPass(
      options.info(), [steps](const Function* function, FunctionPassContext& context) -> Result<const Function*> {
        OpTypeInferrer inferrer(&context.module(), context.workspace().arena(), &context.diagnostics());
        QuantizedOpDecomposer decomposer(context.workspace(), &inferrer, steps);
        const auto* result = To<Function>(decomposer.VisitExpr(function));
        if (decomposer.failed()) return Failure{ErrorCode::PassFailed};
        return result == function ? function : CleanUpFunction(result, context);
      });
}

}  // namespace iropt
