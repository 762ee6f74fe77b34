#include "integer_rules.h"

#include <algorithm>

#include "iropt/arith/prim_builder.h"
#include "iropt/op/op_attrs.h"
#include "iropt/op/ops/activation.h"
#include "iropt/op/ops/arithmetic.h"
#include "iropt/op/ops/axes.h"
#include "iropt/op/ops/binary.h"
#include "iropt/op/ops/broadcast.h"
#include "iropt/op/ops/concat.h"
#include "iropt/op/ops/convolution.h"
#include "iropt/op/ops/exponential.h"
#include "iropt/op/ops/image.h"
#include "iropt/op/ops/matmul.h"
#include "iropt/op/ops/nn.h"
#include "iropt/op/ops/pooling.h"
#include "iropt/op/ops/reduction.h"
#include "iropt/op/ops/reshape.h"
#include "iropt/op/ops/roots.h"
#include "iropt/op/ops/slice.h"
#include "iropt/op/ops/softmax.h"
#include "iropt/op/ops/sorting.h"
#include "iropt/op/ops/unary.h"
#include "rules.h"
#include "transform/relax/util/tensor_axes.h"

namespace iropt {

namespace {

constexpr IntegerRule kIdentity(ApplyIdentity), kChoice(ApplyChoice), kSplit(ApplySplit), kTopk(ApplyTopk),
    kConcat(ApplyConcat), kPad(ApplyPad), kRelu(ApplyRelu), kClip(ApplyClip), kLeakyRelu(ApplyLeakyRelu),
    kSoftmax(ApplySoftmax, true), kAbs(ApplyAbs), kErf(ApplyErf), kExp(ApplyExp), kHardswish(ApplyHardswish),
    kLog(ApplyLog), kRsqrt(ApplyRsqrt), kSigmoid(ApplySigmoid), kSqrt(ApplySqrt), kTanh(ApplyTanh),
    kAvgPool(ApplyAvgPool), kAdaptiveAvgPool(ApplyAdaptiveAvgPool), kGlobalAvgPool(ApplyGlobalAvgPool),
    kMean(ApplyMean), kConv2d(ApplyConv2d), kConv2dTranspose(ApplyConv2dTranspose), kDense(ApplyDense),
    kBatchMatmul(ApplyBatchMatmul), kBiasAdd(ApplyBiasAdd), kAdd(ApplyAdd), kSubtract(ApplySubtract),
    kMultiply(ApplyMultiply), kExtremum(ApplyExtremum);

struct RuleRow {
  OpId op;
  const IntegerRule* rule;
  size_t num_operands;    // that are part of the region, from the first one on
  bool is_alone = false;  // see IsComputedAlone
};

constexpr RuleRow kRules[] = {
    {op::kAbs, &kAbs, 1},
    {op::kAdd, &kAdd, 2, true},
    {op::kBroadcastTo, &kIdentity, 1, true},
    {op::kClip, &kClip, 1, true},
    {op::kConcat, &kConcat, 1},
    {op::kErf, &kErf, 1},
    {op::kExp, &kExp, 1},
    {op::kExpandDims, &kIdentity, 1, true},
    {op::kImageResize2d, &kIdentity, 1},
    {op::kLog, &kLog, 1},
    {op::kMatmul, nullptr, 2, true},
    {op::kMax, &kChoice, 1, true},
    {op::kMaximum, &kExtremum, 2},
    {op::kMean, &kMean, 1},
    {op::kMin, &kChoice, 1, true},
    {op::kMinimum, &kExtremum, 2},
    {op::kMultiply, &kMultiply, 2},
    {op::kNnAdaptiveAvgPool1d, &kAdaptiveAvgPool, 1},
    {op::kNnAdaptiveAvgPool2d, &kGlobalAvgPool, 1},
    {op::kNnAvgPool2d, &kAvgPool, 1},
    {op::kNnConv2d, &kConv2d, 2, true},
    {op::kNnConv2dTranspose, &kConv2dTranspose, 2, true},
    {op::kNnLeakyrelu, &kLeakyRelu, 1},
    {op::kNnMaxPool2d, &kChoice, 1, true},
    {op::kNnPad, &kPad, 2, true},
    {op::kNnRelu, &kRelu, 1, true},
    {op::kNnSoftmax, &kSoftmax, 1},
    {op::kPermuteDims, &kIdentity, 1, true},
    {op::kReshape, &kIdentity, 1, true},
    {op::kRsqrt, &kRsqrt, 1},
    {op::kSigmoid, &kSigmoid, 1},
    {op::kSplit, &kSplit, 1},
    {op::kSqrt, &kSqrt, 1},
    {op::kSqueeze, &kIdentity, 1, true},
    {op::kStridedSlice, &kIdentity, 1, true},
    {op::kSubtract, &kSubtract, 2},
    {op::kTake, &kIdentity, 1},
    {op::kTanh, &kTanh, 1},
    {op::kTopk, &kTopk, 1},
};

const RuleRow* RowOf(const Call& call) {
  const auto* op = As<Op>(call.op);
  const auto* row = op ? std::ranges::find(kRules, op->id, &RuleRow::op) : std::end(kRules);
  return row == std::end(kRules) ? nullptr : row;
}

const Call* Definition(const Expr* expr, const Definitions& definitions, OpId op) {
  return CallOf(DefinitionOf(expr, definitions), op);
}

// x * clip(x + 3, 0, 6) / 6
const Expr* OperandOfHardswish(const Call& quotient, const Definitions& definitions) {
  const auto is = [&](const Expr* expr, double value) {
    const auto numbers = NumbersOf(DefinitionOf(expr, definitions));
    return numbers && numbers->size() == 1 && numbers->front() == value;
  };
  const Call* product = Definition(quotient.args[0], definitions, op::kMultiply);
  const Call* gate = product ? Definition(product->args[1], definitions, op::kClip) : nullptr;
  const Call* shifted = gate ? Definition(gate->args[0], definitions, op::kAdd) : nullptr;
  const bool matches = shifted && is(quotient.args[1], 6) && is(shifted->args[1], 3) &&
                       NumberOfScalar(gate->args[1]) == 0 && NumberOfScalar(gate->args[2]) == 6 &&
                       ResolveAlias(product->args[0], definitions) == ResolveAlias(shifted->args[0], definitions);
  return matches ? product->args[0] : nullptr;
}

// The product with a matrix, or a batch of matrices, whose last axes are exchanged.
RegionCall ProductRegion(const Call* product, const Definitions& definitions) {
  RegionCall region{product};
  const Call* exchanged = Definition(product->args[1], definitions, op::kPermuteDims);
  const TensorType* right = TensorTypeOf(product->args[1]);
  const TensorType* left = TensorTypeOf(product->args[0]);
  if (!exchanged || !left || !right || right->ndim < 2 || right->ndim > 3 ||
      PermutationOf(*exchanged) != ExchangeLastTwo(right->ndim))
    return region;
  if (right->ndim == 3 && left->ndim != 3) return region;
  region.rule = right->ndim == 2 ? &kDense : &kBatchMatmul;
  region.operands = {product->args[0], exchanged->args[0]};
  return region;
}

// The vector of a bias that has got axes after its own; null for other sums.
const Expr* BiasOf(const Call& sum, const Definitions& definitions) {
  const Call* column = Definition(sum.args[1], definitions, op::kExpandDims);
  const TensorType* vector = column ? TensorTypeOf(column->args[0]) : nullptr;
  const IntList axes = column ? ExpandDimsAttrs(*column).axis() : IntList(nullptr);
  return vector && vector->ndim == 1 && !axes.empty() && axes[0] == 1 ? column->args[0] : nullptr;
}

}  // namespace

RegionCall RegionCallOf(const Call* call, const Definitions& definitions) {
  const auto* op = As<Op>(call->op);
  RegionCall region{call};
  if (op && op->id == op::kDivide) {
    if (const Expr* operand = OperandOfHardswish(*call, definitions)) region = {call, &kHardswish, {operand}};
  } else if (op && op->id == op::kMatmul) {
    region = ProductRegion(call, definitions);
  } else if (const Expr* bias = op && op->id == op::kAdd ? BiasOf(*call, definitions) : nullptr) {
    region = {call, &kBiasAdd, {call->args[0], bias}};
  } else if (const RuleRow* row = RowOf(*call)) {
    region.rule = row->rule;
    const size_t count = std::min<size_t>(row->num_operands, call->args.size());
    region.operands.assign(call->args.begin(), call->args.begin() + static_cast<ptrdiff_t>(count));
  }
  return region;
}

bool IsComputedAlone(const RegionCall& region) {
  const RuleRow* row = RowOf(*region.call);
  // Of sums, only those with a bias.
  return region.rule && row && row->is_alone && region.rule != &kAdd;
}

bool IsComputedInFloats(const RegionCall& region) {
  constexpr const IntegerRule* kInFloats[] = {&kAbs,   &kErf,     &kExp,  &kHardswish, &kLog,
                                              &kRsqrt, &kSigmoid, &kSqrt, &kTanh};
  return std::ranges::find(kInFloats, region.rule) != std::end(kInFloats);
}

IntegerValue ValueOfType(const Expr* expr, AffineType type, DataType dtype) {
  type.dtype = dtype;
  return {expr, {type}};
}

std::optional<int64_t> SizeOf(const Expr* tensor, size_t axis) {
  const TensorType* type = TensorTypeOf(tensor);
  const int64_t* size = type && type->known && axis < type->dims.size() ? arith::AsInt(type->dims[axis]) : nullptr;
  return size ? std::optional(*size) : std::nullopt;
}

bool IsPerTensor(const AffineType& type) {
  const auto is_one = [](const Expr* param) {
    const TensorType* tensor = TensorTypeOf(param);
    return tensor && (tensor->ndim == 0 || SizeOf(param, 0) == 1);
  };
  return is_one(type.scale) && is_one(type.zero_point);
}

const AffineType* TypeOfTensor(RuleCall& in, size_t operand) {
  const AffineType* type = in.type(operand);
  if (type && IsPerTensor(*type)) return type;
  if (type) in.Fail("an operand has a scale for each channel");
  return nullptr;
}

const AffineType* TypeInOrder(RuleCall& in, size_t operand) {
  const AffineType* type = in.type(operand);
  if (!type || KeepsOrder(*type)) return type;
  in.Fail("a scale is not a positive constant");
  return nullptr;
}

std::optional<IntegerValue> IntegerRule::Apply(RuleCall& call) const {
  Applied value = build_(call);
  return value && value->expr ? value : std::nullopt;
}

}  // namespace iropt
