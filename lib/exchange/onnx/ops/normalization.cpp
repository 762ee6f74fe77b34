// Normalizations and softmax.

#include "iropt/op/ops/normalization.h"

#include "exchange/onnx/import/function_importer.h"
#include "exchange/onnx/ops/common.h"
#include "iropt/op/ops/binary.h"
#include "iropt/op/ops/create.h"
#include "iropt/op/ops/reduction.h"
#include "iropt/op/ops/repeat.h"
#include "iropt/op/ops/roots.h"
#include "iropt/op/ops/scan.h"
#include "iropt/op/ops/softmax.h"
#include "iropt/op/ops/unary.h"

namespace iropt::onnx {

namespace {

// The statistics of the batch, whose variance is that of a population, and the running ones moved towards them. Halves
// are added up as floats, and the types of the data, of its scale and of the statistics may differ from version 15 on.
Value TrainBatchNormalization(OpImport& op) {
  const int rank = op.Rank(0);
  if (op.version() < 14) return {};
  std::vector<int64_t> axes = Iota(0, rank);
  axes.erase(axes.begin() + 1);
  const double momentum = op.Float("momentum", static_cast<double>(0.9F));
  const DataType dtype = op.Dtype(0);
  const DataType wide = dtype.bits < 32 ? DataType::Float(32) : dtype;
  const Expr* x = op.Cast(op.In(0), wide);
  const Expr* mean = Reduce(op, op::kMean, x, axes, false);
  const Expr* centered = Subtract(op, x, AlongAxis(op, mean, 1, rank));
  const Expr* variance = Reduce(op, op::kMean, Multiply(op, centered, centered), axes, false);
  const Expr* deviation = op.Call(
      op::kSqrt, {Add(op, variance, ScalarLike(op, variance, op.Float("epsilon", static_cast<double>(1e-5F))))});
  const Expr* norm = Divide(op, centered, AlongAxis(op, deviation, 1, rank));
  const auto by_channel = [&](size_t i) { return AlongAxis(op, op.Cast(op.In(i), wide), 1, rank); };
  const Expr* y = Add(op, Multiply(op, norm, by_channel(1)), by_channel(2));
  const auto moved = [&](size_t i, const Expr* now) {
    const Expr* running = op.Cast(op.In(i), wide);
    const Expr* sum = Add(op, Multiply(op, running, ScalarLike(op, running, momentum)),
                          Multiply(op, now, ScalarLike(op, now, 1 - momentum)));
    return op.Cast(sum, op.Dtype(i));
  };
  const Expr* fields[] = {op.Cast(y, dtype), moved(3, mean), moved(4, variance)};
  return op.Tuple(fields);
}

Value ImportBatchNormalization(OpImport& op) {
  const bool trains = op.Int("training_mode") != 0 || (op.version() < 14 && op.num_outputs() > 1);
  if (op.Int("spatial", 1) == 0 || op.Rank(0) < 2) return {};
  if (trains) return TrainBatchNormalization(op);
  // The writer makes one node of a factor and a term again where it knows the channels.
  const TensorType* type = op.TypeOf(0);
  if (op.importer().context().count_nodes && type->known && !Is<tir::IntImm>(DimOf(type, 1))) return {};
  std::vector<const Expr*> args;
  for (size_t i = 0; i < 5; ++i) args.push_back(i == 0 ? op.In(0) : op.Cast(op.In(i), op.Dtype(0)));
  const Expr* norm = op.Call(
      op::kNnBatchNorm, args,
      op.Attrs<BatchNormAttrs>(op::kNnBatchNorm, {.axis = int64_t{1},
                                                  .epsilon = op.Float("epsilon", static_cast<double>(1e-5F)),
                                                  .momentum = 1 - op.Float("momentum", static_cast<double>(0.9F)),
                                                  .training = false}));
  return op.Field(norm, 0);
}

const Expr* ZerosLike(OpImport& op, const Expr* x) { return op.Call(op::kZerosLike, {x}); }

// With the mean and the inverse deviation as outputs, or a scale that only broadcasts against the data.
Value ComposeLayerNormalization(OpImport& op, const std::vector<int64_t>& axes) {
  const DataType dtype = op.Dtype(0);
  const DataType type = op.Int("stash_type", 1) == 1 ? DataType::Float(32) : dtype;
  const Expr* x = op.Cast(op.In(0), type);
  const Expr* mean = Reduce(op, op::kMean, x, axes, true);
  const Expr* centered = Subtract(op, x, mean);
  const Expr* variance = Reduce(op, op::kMean, Multiply(op, centered, centered), axes, true);
  const double epsilon = op.Float("epsilon", static_cast<double>(1e-5F));
  const Expr* inverse = op.Call(op::kRsqrt, {Add(op, variance, ScalarLike(op, variance, epsilon))});
  const Expr* y = Multiply(op, op.Cast(Multiply(op, centered, inverse), dtype), op.In(1));
  if (op.Has(2)) y = Add(op, y, op.In(2));
  const Expr* fields[] = {y, mean, inverse};
  return op.Tuple(fields);
}

Value ImportLayerNormalization(OpImport& op) {
  const int rank = op.Rank(0);
  if (rank < 1) return {};
  const std::vector<int64_t> axes = Iota(op.Axis(op.Int("axis", -1), rank), rank);
  if (op.HasOutput(1) || op.HasOutput(2) || op.Rank(1) != static_cast<int>(axes.size()))
    return ComposeLayerNormalization(op, axes);
  const Expr* bias = op.Has(2) ? op.In(2) : ZerosLike(op, op.In(1));
  return op.Call(op::kNnLayerNorm, {op.In(0), op.In(1), bias},
                 op.Attrs<LayerNormAttrs>(op::kNnLayerNorm,
                                          {.axes = axes, .epsilon = op.Float("epsilon", static_cast<double>(1e-5F))}));
}

Value ImportInstanceNormalization(OpImport& op) {
  const int rank = op.Rank(0);
  if (rank < 3) return {};
  return op.Call(
      op::kNnInstanceNorm, {op.In(0), op.In(1), op.In(2)},
      op.Attrs<InstanceNormAttrs>(op::kNnInstanceNorm, {.channel_axis = int64_t{1},
                                                        .axes = Iota(2, rank),
                                                        .epsilon = op.Float("epsilon", static_cast<double>(1e-5F))}));
}

// Before version 13, all dimensions from the axis on are one.
Value ImportOldSoftmax(OpImport& op, OpId kind) {
  const int rank = op.Rank(0);
  const TensorType* type = op.TypeOf(0);
  if (rank < 1) return {};
  const int64_t axis = op.Axis(op.Int("axis", 1), rank);
  const auto call = [&](const Expr* x, int64_t at) {
    return op.Call(kind, {x}, op.Attrs<SoftmaxAttrs>(kind, {.axis = at}));
  };
  if (axis == rank - 1) return call(op.In(0), -1);
  if (!type->known) return {};
  std::vector<const PrimExpr*> flat;
  for (int64_t i = 0; i < axis; ++i) flat.push_back(DimOf(type, static_cast<size_t>(i)));
  const auto dims = op.Dims(0);
  if (!dims) return {};
  int64_t product = 1;
  for (auto i = static_cast<size_t>(axis); i < dims->size(); ++i) product = op.Product({product, (*dims)[i]});
  std::vector<int64_t> shape(dims->begin(), dims->begin() + axis);
  shape.push_back(product);
  return op.Reshape(call(op.Reshape(op.In(0), shape), -1), type->dims.span());
}

template <OpId kKind>
Value ImportSoftmaxBefore13(OpImport& op) {
  return ImportOldSoftmax(op, kKind);
}

template <OpId kKind>
Value ImportSoftmax(OpImport& op) {
  return op.Call(kKind, {op.In(0)}, op.Attrs<SoftmaxAttrs>(kKind, {.axis = op.Int("axis", -1)}));
}

// (x - mean) / (deviation + 1e-9). The mean of squares less the square of the mean would lose all digits if the mean is
// large.
Value ImportMeanVarianceNormalization(OpImport& op) {
  std::vector<int64_t> axes = op.Ints("axes");
  const int rank = op.Rank(0);
  if (rank < 0) return {};
  if (!op.FindAttr("axes")) axes = {0, 2, 3};
  for (int64_t& axis : axes) axis = op.Axis(axis, rank);
  if (op.failed() || axes.empty()) return {};
  const Expr* x = op.In(0);
  const Expr* centered = Subtract(op, x, Reduce(op, op::kMean, x, axes, true));
  const Expr* variance = Reduce(op, op::kMean, Multiply(op, centered, centered), axes, true);
  return Divide(op, centered, Add(op, op.Call(op::kSqrt, {variance}), ScalarLike(op, x, 1e-9)));
}

Value ImportLpNormalization(OpImport& op) {
  const int rank = op.Rank(0);
  if (rank < 1) return {};
  const std::vector<int64_t> axes = {op.Axis(op.Int("axis", -1), rank)};
  const Expr* x = op.In(0);
  const bool is_sum = op.Int("p", 2) == 1;
  const Expr* sum = Reduce(op, op::kSum, is_sum ? op.Call(op::kAbs, {x}) : Multiply(op, x, x), axes, true);
  const Expr* norm = is_sum ? sum : op.Call(op::kSqrt, {sum});
  // Vectors of norm 0 become zeros.
  const Expr* zero = ScalarLike(op, x, 0);
  return Where(op, op.Call(op::kEqual, {norm, zero}), zero, Divide(op, x, norm));
}

// Before version 21, there is a scale and a bias for each group.
Value ImportGroupNormalization(OpImport& op) {
  const int rank = op.Rank(0);
  if (rank < 3 || op.version() < 21) return {};
  return GroupNorm(op, op.In(1), op.In(2));
}

Value ImportRmsNormalization(OpImport& op) {
  const int rank = op.Rank(0);
  if (rank < 1) return {};
  const std::vector<int64_t> axes = Iota(op.Axis(op.Int("axis", -1), rank), rank);
  if (op.Rank(1) != static_cast<int>(axes.size())) return {};
  return op.Call(op::kNnRmsNorm, {op.In(0), op.In(1)},
                 op.Attrs<RMSNormAttrs>(op::kNnRmsNorm,
                                        {.axes = axes, .epsilon = op.Float("epsilon", static_cast<double>(1e-5F))}));
}

// Ones at the greatest elements, zeros elsewhere. Before version 13, all dimensions from the axis on are one.
Value ImportHardmax(OpImport& op) {
  const auto dims = op.Dims(0);
  if (!dims || dims->empty() || !op.Dtype(0).is_floating()) return {};
  const auto rank = static_cast<int64_t>(dims->size());
  int64_t axis = op.Axis(op.Int("axis", op.version() < 13 ? 1 : -1), rank);
  const Expr* x = op.In(0);
  int64_t depth = (*dims)[static_cast<size_t>(axis)];
  const bool flattens = op.version() < 13 && axis + 1 < rank;
  if (flattens) {
    std::vector<int64_t> flat(dims->begin(), dims->begin() + axis);
    for (auto i = static_cast<size_t>(axis) + 1; i < dims->size(); ++i) depth = op.Product({depth, (*dims)[i]});
    flat.push_back(depth);
    x = op.Reshape(x, flat);
  }
  if (depth == 0) return op.In(0);
  const Expr* best =
      op.Call(op::kArgmax, {x}, op.Attrs<ArgmaxArgminAttrs>(op::kArgmax, {.axis = axis, .keepdims = false}));
  const Expr* ones = op.Call(op::kOneHot, {best, op.PrimFloat(1, op.Dtype(0)), op.PrimFloat(0, op.Dtype(0))},
                             op.Attrs<OneHotAttrs>(op::kOneHot, {.depth = depth, .axis = axis}));
  return flattens ? op.Reshape(ones, *dims) : ones;
}

constexpr OpRow kNormalizationRows[] = {
    {"BatchNormalization", 1, 5, 5, ImportBatchNormalization, "R.nn.batch_norm"},
    {"GroupNormalization", 18, 3, 3, ImportGroupNormalization, "R.nn.group_norm"},
    {"Hardmax", 1, 1, 1, ImportHardmax, "R.argmax, R.one_hot"},
    {"InstanceNormalization", 1, 3, 3, ImportInstanceNormalization, "R.nn.instance_norm"},
    {"LayerNormalization", 17, 2, 3, ImportLayerNormalization, "R.nn.layer_norm"},
    {"LogSoftmax", 1, 1, 1, ImportSoftmaxBefore13<op::kNnLogSoftmax>, "R.nn.log_softmax"},
    {"LogSoftmax", 13, 1, 1, ImportSoftmax<op::kNnLogSoftmax>, "R.nn.log_softmax"},
    {"LpNormalization", 1, 1, 1, ImportLpNormalization, "composition"},
    {"MeanVarianceNormalization", 9, 1, 1, ImportMeanVarianceNormalization, "composition"},
    {"RMSNormalization", 23, 2, 2, ImportRmsNormalization, "R.nn.rms_norm"},
    {"Softmax", 1, 1, 1, ImportSoftmaxBefore13<op::kNnSoftmax>, "R.nn.softmax"},
    {"Softmax", 13, 1, 1, ImportSoftmax<op::kNnSoftmax>, "R.nn.softmax"},
};

}  // namespace

std::span<const OpRow> NormalizationRows() { return kNormalizationRows; }

}  // namespace iropt::onnx
