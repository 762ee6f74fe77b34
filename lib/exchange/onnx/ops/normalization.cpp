// Normalizations and softmax.

#include "exchange/onnx/ops/common.h"

namespace iropt::onnx {

namespace {

Value ImportBatchNormalization(OpImport& op) {
  const bool trains = op.Int("training_mode") != 0 || (op.version() < 14 && op.num_outputs() > 1) ||
                      (op.version() < 7 && op.Int("is_test") == 0 && op.num_outputs() > 1);
  if (trains || op.Int("spatial", 1) == 0 || op.Rank(0) < 2) return {};
  std::vector<const Expr*> args;
  for (size_t i = 0; i < 5; ++i) args.push_back(i == 0 ? op.In(0) : op.Cast(op.In(i), op.Dtype(0)));
  const Expr* norm = op.Call(
      OpId::kNnBatchNorm, args,
      op.Attrs<BatchNormAttrs>(OpId::kNnBatchNorm, {.axis = int64_t{1},
                                                    .epsilon = op.Float("epsilon", static_cast<double>(1e-5F)),
                                                    .momentum = 1 - op.Float("momentum", static_cast<double>(0.9F)),
                                                    .training = false}));
  return op.Field(norm, 0);
}

const Expr* ZerosLike(OpImport& op, const Expr* x) { return op.Call(OpId::kZerosLike, {x}); }

Value ImportLayerNormalization(OpImport& op) {
  const int rank = op.Rank(0);
  if (rank < 1 || op.HasOutput(1) || op.HasOutput(2)) return {};
  const std::vector<int64_t> axes = Iota(op.Axis(op.Int("axis", -1), rank), rank);
  if (op.Rank(1) != static_cast<int>(axes.size())) return {};
  const Expr* bias = op.Has(2) ? op.In(2) : ZerosLike(op, op.In(1));
  return op.Call(OpId::kNnLayerNorm, {op.In(0), op.In(1), bias},
                 op.Attrs<LayerNormAttrs>(OpId::kNnLayerNorm,
                                          {.axes = axes, .epsilon = op.Float("epsilon", static_cast<double>(1e-5F))}));
}

Value ImportInstanceNormalization(OpImport& op) {
  const int rank = op.Rank(0);
  if (rank < 3) return {};
  return op.Call(
      OpId::kNnInstanceNorm, {op.In(0), op.In(1), op.In(2)},
      op.Attrs<InstanceNormAttrs>(OpId::kNnInstanceNorm, {.channel_axis = int64_t{1},
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
  for (auto i = static_cast<size_t>(axis); i < dims->size(); ++i) product *= (*dims)[i];
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

constexpr OpRow kNormalizationRows[] = {
    {"BatchNormalization", 1, 5, 5, ImportBatchNormalization, "R.nn.batch_norm"},
    {"InstanceNormalization", 1, 3, 3, ImportInstanceNormalization, "R.nn.instance_norm"},
    {"LayerNormalization", 17, 2, 3, ImportLayerNormalization, "R.nn.layer_norm"},
    {"LogSoftmax", 1, 1, 1, ImportSoftmaxBefore13<OpId::kNnLogSoftmax>, "R.nn.log_softmax"},
    {"LogSoftmax", 13, 1, 1, ImportSoftmax<OpId::kNnLogSoftmax>, "R.nn.log_softmax"},
    {"Softmax", 1, 1, 1, ImportSoftmaxBefore13<OpId::kNnSoftmax>, "R.nn.softmax"},
    {"Softmax", 13, 1, 1, ImportSoftmax<OpId::kNnSoftmax>, "R.nn.softmax"},
};

}  // namespace

std::span<const OpRow> NormalizationRows() { return kNormalizationRows; }

}  // namespace iropt::onnx
