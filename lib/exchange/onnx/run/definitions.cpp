// Operators that are written as they were, and are compositions of operators of Relax otherwise.

#include "exchange/onnx/run/definitions.h"

#include <algorithm>
#include <cmath>

#include "exchange/onnx/import/function_importer.h"
#include "exchange/onnx/import/op_table.h"
#include "exchange/onnx/node_places.h"
#include "exchange/onnx/ops/common.h"
#include "exchange/onnx/types/dims.h"
#include "iropt/op/ops/activation.h"
#include "iropt/op/ops/binary.h"
#include "iropt/op/ops/concat.h"
#include "iropt/op/ops/create.h"
#include "iropt/op/ops/exponential.h"
#include "iropt/op/ops/matmul.h"
#include "iropt/op/ops/normalization.h"
#include "iropt/op/ops/reduction.h"
#include "iropt/op/ops/repeat.h"
#include "iropt/op/ops/roots.h"
#include "iropt/op/ops/slice.h"
#include "iropt/op/ops/softmax.h"
#include "iropt/op/ops/trigonometric.h"

namespace iropt::onnx {

namespace {

// ---- Activations

const Expr* Biased(OpImport& op, const Expr* x, size_t bias) { return op.Has(bias) ? Add(op, x, op.In(bias)) : x; }

Value DefineGelu(OpImport& op) { return op.Call(op::kNnGelu, {Biased(op, op.In(0), 1)}); }
Value DefineFastGelu(OpImport& op) { return op.Call(op::kNnGeluTanh, {Biased(op, op.In(0), 1)}); }

Value DefineQuickGelu(OpImport& op) {
  const Expr* x = op.In(0);
  const Expr* scaled = Multiply(op, x, ScalarLike(op, x, op.Float("alpha", static_cast<double>(1.702F))));
  return Multiply(op, x, op.Call(op::kSigmoid, {scaled}));
}

// ---- Normalizations

// Returns whether the ranks of these inputs are known, as far as the node has them.
bool KnowsRanks(OpImport& op, std::initializer_list<size_t> inputs) {
  return std::ranges::all_of(inputs, [&](size_t i) { return !op.Has(i) || op.Rank(i) >= 0; });
}

// A value that is used several times.
const Expr* Shared(OpImport& op, const Expr* x) { return IsLeaf(x) ? x : op.importer().builder().Emit(x); }

struct Normalized {
  const Expr* y = nullptr;
  const Expr* mean = nullptr;
  const Expr* inverse_deviation = nullptr;
};

// Over the last axes, from `axis` on; computed in float32.
Normalized Normalize(OpImport& op, const Expr* input, int64_t axis, double epsilon, bool centers) {
  const TensorType* type = OpImport::TensorOf(input);
  const std::vector<int64_t> axes = Iota(axis, type ? type->ndim : axis);
  const Expr* x = Shared(op, op.Cast(input, DataType::Float(32)));
  Normalized result;
  if (centers) {
    result.mean = Shared(op, Reduce(op, op::kMean, x, axes, true));
    x = Shared(op, Subtract(op, x, result.mean));
  }
  const Expr* variance = Reduce(op, op::kMean, Multiply(op, x, x), axes, true);
  result.inverse_deviation = Shared(op, op.Call(op::kRsqrt, {Add(op, variance, ScalarLike(op, variance, epsilon))}));
  result.y = op.Cast(Multiply(op, x, result.inverse_deviation), type ? type->dtype : DataType::Void());
  return result;
}

// Of the last axis, with its scale and its shift, in one operator where nothing but the result is asked for.
const Expr* LayerNorm(OpImport& op, const Expr* x, size_t gamma, size_t beta, double epsilon) {
  const TensorType* type = OpImport::TensorOf(x);
  if (op.HasOutput(1) || op.HasOutput(2) || op.Rank(gamma) != 1 || !type || type->dtype != DataType::Float(32))
    return nullptr;
  const Expr* shift = op.Has(beta) ? op.In(beta) : op.Call(op::kZerosLike, {op.In(gamma)});
  return op.Call(op::kNnLayerNorm, {x, op.In(gamma), shift},
                 OpImport::Attrs<LayerNormAttrs>(op::kNnLayerNorm,
                                                 {.axes = Iota(type->ndim - 1, type->ndim), .epsilon = epsilon}));
}

// The outputs of a node that come from several values; those that are left out may be null.
Value Outputs(OpImport& op, std::initializer_list<const Expr*> values) {
  if (op.num_outputs() <= 1) return *values.begin();
  const Expr* first = Shared(op, *values.begin());
  std::vector<const Expr*> fields = {first};
  for (const Expr* value : values) {
    if (value != *values.begin() && fields.size() < op.num_outputs()) fields.push_back(value ? value : first);
  }
  return op.Tuple(fields);
}

// Data, scale -> y, inverse deviation
Value DefineSimplifiedLayerNormalization(OpImport& op) {
  const int rank = op.Rank(0);
  if (rank < 1) return {};
  const double epsilon = op.Float("epsilon", static_cast<double>(1e-5F));
  const Normalized norm = Normalize(op, op.In(0), op.Axis(op.Int("axis", -1), rank), epsilon, false);
  return Outputs(op, {Multiply(op, norm.y, op.In(1)), norm.inverse_deviation});
}

constexpr double kSkipEpsilon = static_cast<double>(1e-12F);

// Data, what is added to it, scale, shift, bias -> y, mean, inverse deviation, the sum
Value DefineSkipLayerNormalization(OpImport& op) {
  const int rank = op.Rank(0);
  if (rank < 1 || !KnowsRanks(op, {1, 4}) || op.Rank(1) > rank || op.Rank(4) > rank) return {};
  const Expr* sum = Shared(op, Biased(op, Add(op, op.In(0), op.In(1)), 4));
  const double epsilon = op.Float("epsilon", kSkipEpsilon);
  if (const Expr* y = LayerNorm(op, sum, 2, 3, epsilon)) return Outputs(op, {y, nullptr, nullptr, sum});
  const Normalized norm = Normalize(op, sum, rank - 1, epsilon, true);
  const Expr* y = Biased(op, Multiply(op, norm.y, op.In(2)), 3);
  return Outputs(op, {y, norm.mean, norm.inverse_deviation, sum});
}

// Data, what is added to it, scale, bias -> y, mean, inverse deviation, the sum
Value DefineSkipSimplifiedLayerNormalization(OpImport& op) {
  const int rank = op.Rank(0);
  if (rank < 1 || !KnowsRanks(op, {1, 3}) || op.Rank(1) > rank || op.Rank(3) > rank) return {};
  const Expr* sum = Shared(op, Biased(op, Add(op, op.In(0), op.In(1)), 3));
  const Normalized norm = Normalize(op, sum, rank - 1, op.Float("epsilon", kSkipEpsilon), false);
  return Outputs(op, {Multiply(op, norm.y, op.In(2)), nullptr, norm.inverse_deviation, sum});
}

const Expr* Rows(OpImport& op, const Expr* table, const Expr* indices) {
  return op.Call(op::kTake, {table, indices}, OpImport::Attrs<TakeAttrs>(op::kTake, {.axis = int64_t{0}}));
}

// Words, segments, tables of words, positions and segments, scale, shift, mask, positions -> y, lengths, the sum
Value DefineEmbedLayerNormalization(OpImport& op) {
  const auto ids = op.Dims(0);
  if (!ids || ids->size() != 2 || !KnowsRanks(op, {1, 2, 3, 4, 7, 8})) return {};
  const Expr* positions = op.Has(8) ? op.In(8) : op.IntTensor(Iota(0, (*ids)[1]), {1, (*ids)[1]});
  const Expr* sum = Add(op, Rows(op, op.In(2), op.In(0)), Rows(op, op.In(3), positions));
  if (op.Has(1) && op.Has(4)) sum = Add(op, sum, Rows(op, op.In(4), op.In(1)));
  sum = Shared(op, sum);
  const Normalized norm = Normalize(op, sum, 2, op.Float("epsilon", kSkipEpsilon), true);
  const Expr* y = Add(op, Multiply(op, norm.y, op.In(5)), op.In(6));
  const int64_t batch[] = {(*ids)[0]};
  const Expr* lengths = op.Has(7) ? Reduce(op, op::kSum, op.In(7), {1}, false)
                                  : op.Call(op::kZeros, {op.Shape(batch)},
                                            OpImport::Attrs<InitAttrs>(op::kZeros, {.dtype = DataType::Int(32)}));
  return Outputs(op, {y, lengths, sum});
}

// ---- Products

const Expr* SwapLastAxes(OpImport& op, const Expr* x, bool swaps) {
  const int rank = OpImport::TensorOf(x)->ndim;
  if (!swaps || rank < 2) return x;
  std::vector<int64_t> axes = Iota(0, rank);
  std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
  return op.Transpose(x, axes);
}

// The dimension before the last one comes first.
const Expr* MoveBatchLast(OpImport& op, const Expr* x, bool moves) {
  const int rank = OpImport::TensorOf(x)->ndim;
  if (!moves || rank < 3) return x;
  std::vector<int64_t> axes = Iota(1, rank - 1);
  axes.push_back(0);
  axes.push_back(rank - 1);
  return op.Transpose(x, axes);
}

Value DefineFusedMatMul(OpImport& op) {
  if (op.Rank(0) < 1 || op.Rank(1) < 1) return {};
  const Expr* a = MoveBatchLast(op, op.In(0), op.Int("transBatchA") != 0);
  const Expr* b = MoveBatchLast(op, op.In(1), op.Int("transBatchB") != 0);
  const Expr* product =
      op.Call(op::kMatmul, {SwapLastAxes(op, a, op.Int("transA") != 0), SwapLastAxes(op, b, op.Int("transB") != 0)});
  return Scaled(op, product, op.Float("alpha", 1));
}

// The parameters are attributes of their own or numbers of a list.
const Expr* Activated(OpImport& op, const Expr* x) {
  const std::string_view name = op.String("activation");
  const AttributeProto* list = op.FindAttr("activation_params");
  const auto parameter = [&](size_t i, std::string_view attribute, double fallback) {
    if (list != nullptr && i < list->floats.size()) return static_cast<double>(list->floats[i]);
    return op.Float(attribute, fallback);
  };
  const double alpha = parameter(0, "activation_alpha", static_cast<double>(name == "HardSigmoid" ? 0.2F : 0.01F));
  const double beta = parameter(1, "activation_beta", 0.5);
  const auto number = [&](double value) { return ScalarLike(op, x, value); };
  if (name.empty()) return x;
  if (name == "Relu") return op.Call(op::kNnRelu, {x});
  if (name == "Sigmoid") return op.Call(op::kSigmoid, {x});
  if (name == "Tanh") return op.Call(op::kTanh, {x});
  if (name == "LeakyRelu") return Where(op, op.Call(op::kLess, {x, number(0)}), Multiply(op, x, number(alpha)), x);
  const auto clamp = [&](const Expr* y, double low, double high) {
    return op.Call(op::kMinimum, {op.Call(op::kMaximum, {y, number(low)}), number(high)});
  };
  if (name == "HardSigmoid") return clamp(Add(op, Multiply(op, x, number(alpha)), number(beta)), 0, 1);
  return name == "Clip" && list != nullptr ? clamp(x, alpha, beta) : nullptr;
}

// Data, kernel, bias, what is added
Value DefineFusedConv(OpImport& op) {
  const Value conv = FindOpRow("", "Conv", 11)->import(op);
  if (conv.expr == nullptr) return {};
  return Activated(op, op.Has(3) ? Add(op, conv.expr, op.In(3)) : conv.expr);
}

Value DefineTrilu(OpImport& op) { return FindOpRow("", "Trilu", 14)->import(op); }

Value DefineFusedGemm(OpImport& op) {
  if (op.Rank(0) != 2 || op.Rank(1) != 2) return {};
  const Expr* a = SwapLastAxes(op, op.In(0), op.Int("transA") != 0);
  const Expr* b = SwapLastAxes(op, op.In(1), op.Int("transB") != 0);
  const Expr* y = Scaled(op, op.Call(op::kMatmul, {a, b}), op.Float("alpha", 1));
  if (op.Has(2)) y = Add(op, y, Scaled(op, op.In(2), op.Float("beta", 1)));
  return Activated(op, y);
}

// Runtimes have it in older operator sets, too.
Value DefineLayerNormalization(OpImport& op) { return FindOpRow("", "LayerNormalization", 17)->import(op); }

// Before version 21, a scale and a bias for each group. It is not defined from 21 on, where Relax has the operator.
Value DefineGroupNormalization(OpImport& op) {
  const TensorType* x = op.TypeOf(0);
  const int64_t groups = op.Int("num_groups", 1);
  if (x == nullptr || !x->known || x->ndim < 3 || op.Rank(1) != 1 || op.Rank(2) != 1 || groups < 1) return {};
  const auto channels = NumberOfDim(x->dims[1]);
  if (!channels || *channels % groups != 0) return {};
  const auto by_channel = [&](size_t i) {
    return op.Call(op::kRepeat, {op.In(i)},
                   op.Attrs<RepeatAttrs>(op::kRepeat, {.repeats = *channels / groups, .axis = int64_t{0}}));
  };
  return GroupNorm(op, by_channel(1), by_channel(2));
}

// ---- Images with the channels last, and products, of diffusion models and older optimizers

// Scale and shift by channel; a SiLU if `activation` says so. Computed in float32.
const Expr* NormOfGroups(OpImport& op, const Expr* x) {
  const TensorType* type = OpImport::TensorOf(x);
  const int rank = type ? type->ndim : -1;
  if (rank < 3 || op.Rank(1) != 1 || op.Rank(2) != 1) return nullptr;
  const bool channels_last = op.Int("channels_last", 1) != 0;
  const DataType wide = DataType::Float(32);
  const Expr* y = op.Call(
      op::kNnGroupNorm, {op.Cast(x, wide), op.Cast(op.In(1), wide), op.Cast(op.In(2), wide)},
      OpImport::Attrs<GroupNormAttrs>(op::kNnGroupNorm, {.num_groups = op.Int("groups", 1),
                                                         .channel_axis = channels_last ? int64_t{rank - 1} : int64_t{1},
                                                         .axes = channels_last ? Iota(1, rank - 1) : Iota(2, rank),
                                                         .epsilon = op.Float("epsilon", static_cast<double>(1e-5F))}));
  if (op.Int("activation") == 1) y = op.Call(op::kNnSilu, {y});
  return op.Cast(y, type->dtype);
}

Value DefineGroupNorm(OpImport& op) { return NormOfGroups(op, op.In(0)); }

// Data, scale, shift, what is added to the data, bias -> y, the sum
Value DefineSkipGroupNorm(OpImport& op) {
  if (op.Rank(0) != 4 || !KnowsRanks(op, {3, 4}) || op.Int("channels_last", 1) == 0) return {};
  const Expr* skip = op.Rank(3) == 2 ? ExpandDims(op, op.In(3), {1, 2}) : op.In(3);
  const Expr* sum = Shared(op, Biased(op, Add(op, op.In(0), skip), 4));
  const Expr* y = NormOfGroups(op, sum);
  if (y == nullptr) return {};
  return Outputs(op, {y, sum});
}

// Data, bias, what is added
Value DefineBiasAdd(OpImport& op) {
  if (!KnowsRanks(op, {0, 1, 2})) return {};
  return Add(op, Add(op, op.In(0), op.In(1)), op.In(2));
}

// The first half of the channels, times the GELU of the second one.
Value DefineBiasSplitGelu(OpImport& op) {
  const TensorType* type = op.TypeOf(0);
  const auto channels = type && type->known && type->ndim > 0 ? NumberOfDim(type->dims.back()) : std::nullopt;
  if (!channels || *channels % 2 != 0 || op.Rank(1) != 1) return {};
  const Expr* halves = Shared(op, op.Call(op::kSplit, {Add(op, op.In(0), op.In(1))},
                                          OpImport::Attrs<SplitAttrs>(op::kSplit, {.indices_or_sections = int64_t{2},
                                                                                   .axis = int64_t{type->ndim - 1}})));
  return Multiply(op, op.Field(halves, 0), op.Call(op::kNnGelu, {op.Field(halves, 1)}));
}

Value DefineBiasSoftmax(OpImport& op) {
  const int rank = op.Rank(0);
  if (rank < 1 || op.Rank(1) < 0 || op.Axis(op.Int("axis", 1), rank) != rank - 1) return {};
  return op.Call(op::kNnSoftmax, {Add(op, op.In(0), op.In(1))},
                 OpImport::Attrs<SoftmaxAttrs>(op::kNnSoftmax, {.axis = int64_t{-1}}));
}

Value DefineGemmFastGelu(OpImport& op) {
  if (op.Rank(0) < 1 || op.Rank(1) < 1) return {};
  return op.Call(op::kNnGeluTanh, {Biased(op, op.Call(op::kMatmul, {op.In(0), op.In(1)}), 2)});
}

// Angles, queries, rotated queries, keys, rotated keys -> queries, keys
Value DefineGemmaRotaryEmbedding(OpImport& op) {
  if (!KnowsRanks(op, {0, 1, 2, 3, 4}) || op.Rank(0) != 3) return {};
  const auto factor = [&](OpId function) {
    return Shared(op, ExpandDims(op, op.Cast(op.Call(function, {op.In(0)}), op.Dtype(1)), {1}));
  };
  const Expr* cosine = factor(op::kCos);
  const Expr* sine = factor(op::kSin);
  const auto turned = [&](size_t i) {
    return Add(op, Multiply(op, op.In(i), cosine), Multiply(op, op.In(i + 1), sine));
  };
  const Expr* fields[] = {turned(1), turned(3)};
  return op.Tuple(fields);
}

Value DefineExpandDims(OpImport& op) {
  const auto axis = op.Numbers(1);
  const int rank = op.Rank(0);
  if (!axis || axis->size() != 1 || rank < 0) return {};
  return ExpandDims(op, op.In(0), {op.Axis(axis->front(), rank + 1)});
}

// The distances of the rows of two matrices.
Value DefineCDist(OpImport& op) {
  const std::string_view metric = op.String("metric", "sqeuclidean");
  if (op.Rank(0) != 2 || op.Rank(1) != 2 || (metric != "euclidean" && metric != "sqeuclidean")) return {};
  const auto a = op.Dims(0), b = op.Dims(1);
  if (!a || !b || (*a)[1] != (*b)[1]) return {};
  const Expr* difference = Shared(op, Subtract(op, ExpandDims(op, op.In(0), {1}), ExpandDims(op, op.In(1), {0})));
  const Expr* squares = Reduce(op, op::kSum, Multiply(op, difference, difference), {2}, false);
  return metric == "euclidean" ? op.Call(op::kSqrt, {squares}) : squares;
}

constexpr DefinitionRow kDefinitions[] = {
    {"GroupNormalization", "012", DefineGroupNormalization, "R.repeat, R.nn.group_norm"},
    {"SimplifiedLayerNormalization", "01", DefineSimplifiedLayerNormalization, "composition"},
    {"RMSNormalization", "01", DefineSimplifiedLayerNormalization, "composition"},
    {"LayerNormalization", "01", DefineLayerNormalization, "R.nn.layer_norm"},
    {"com.microsoft.BiasAdd", "012", DefineBiasAdd, "R.add"},
    {"com.microsoft.BiasGelu", "01", DefineGelu, "R.nn.gelu"},
    {"com.microsoft.BiasSoftmax", "01", DefineBiasSoftmax, "R.add, R.nn.softmax"},
    {"com.microsoft.BiasSplitGelu", "01", DefineBiasSplitGelu, "R.split, R.nn.gelu"},
    {"com.microsoft.CDist", "01", DefineCDist, "composition"},
    {"com.microsoft.EmbedLayerNormalization", "02356", DefineEmbedLayerNormalization, "R.take, composition"},
    {"com.microsoft.ExpandDims", "01", DefineExpandDims, "R.expand_dims"},
    {"com.microsoft.FastGelu", "0", DefineFastGelu, "R.nn.gelu_tanh"},
    {"com.microsoft.FusedConv", "01", DefineFusedConv, "R.nn.conv1d, R.nn.conv2d, R.nn.conv3d"},
    {"com.microsoft.FusedGemm", "01", DefineFusedGemm, "R.matmul"},
    {"com.microsoft.FusedMatMul", "01", DefineFusedMatMul, "R.matmul"},
    {"com.microsoft.Gelu", "0", DefineGelu, "R.nn.gelu"},
    {"com.microsoft.GemmFastGelu", "01", DefineGemmFastGelu, "R.matmul, R.nn.gelu_tanh"},
    {"com.microsoft.GemmaRotaryEmbedding", "01234", DefineGemmaRotaryEmbedding, "composition"},
    {"com.microsoft.GroupNorm", "012", DefineGroupNorm, "R.nn.group_norm"},
    {"com.microsoft.QuickGelu", "0", DefineQuickGelu, "R.sigmoid, R.multiply"},
    {"com.microsoft.SkipGroupNorm", "0123", DefineSkipGroupNorm, "R.add, R.nn.group_norm"},
    {"com.microsoft.SkipLayerNormalization", "012", DefineSkipLayerNormalization, "R.add, R.nn.layer_norm"},
    {"com.microsoft.SkipSimplifiedLayerNormalization", "012", DefineSkipSimplifiedLayerNormalization, "composition"},
    {"com.microsoft.TransposeMatMul", "01", DefineFusedMatMul, "R.matmul"},
    {"com.microsoft.Trilu", "0", DefineTrilu, "R.tril, R.triu"},
};

}  // namespace

std::span<const DefinitionRow> OpDefinitions() { return kDefinitions; }

Value Define(OpImport& op) {
  const std::string name = QualifiedOp(op.node());
  const auto row = std::ranges::find(kDefinitions, name, &DefinitionRow::name);
  if (row == std::end(kDefinitions)) return {};
  const bool is_whole =
      std::ranges::all_of(row->inputs, [&](char input) { return op.Has(static_cast<size_t>(input - '0')); });
  return is_whole ? row->define(op) : Value();
}

}  // namespace iropt::onnx
