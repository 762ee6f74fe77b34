// Attention, and the operators of onnxruntime that exported transformers and quantized models have.

#include <algorithm>

#include "exchange/onnx/types/type_rules.h"

namespace iropt::onnx {

namespace {

const PrimExpr* DimAt(const Dims& dims, size_t i) { return dims && i < dims->size() ? (*dims)[i] : nullptr; }
size_t RankOf(const Dims& dims) { return dims ? dims->size() : 0; }
// Of all heads and of one: the width of a tensor of rank 3, and the last dimension of one of rank 4.
const PrimExpr* HeadSize(const Dims& dims, int64_t heads) {
  if (RankOf(dims) == 4) return DimAt(dims, 3);
  return RankOf(dims) == 3 ? DivideDim(DimAt(dims, 2), heads) : nullptr;
}
const PrimExpr* StepsOf(const Dims& dims) { return DimAt(dims, RankOf(dims) == 4 ? 2 : 1); }

// ---- Attention of ONNX: query, key, value, mask, past key, past value -> y, present key, present value, product

const PrimExpr* TotalSteps(OpImport& op, size_t past) {
  const PrimExpr* now = StepsOf(DimsIn(op, 1));
  return op.Has(past) ? AddDims(DimAt(DimsIn(op, past), 2), now) : now;
}

Dims AttentionDims(OpImport& op, size_t output) {
  const Dims query = DimsIn(op, 0);
  const Dims value = DimsIn(op, 2);
  if (!query || query->size() < 3) return std::nullopt;
  const bool is_flat = query->size() == 3;
  const int64_t heads = op.Int("q_num_heads");
  const int64_t kv_heads = op.Int("kv_num_heads");
  const PrimExpr* num_heads = is_flat ? WholeDim(heads) : DimAt(query, 1);
  const PrimExpr* num_kv_heads = is_flat ? WholeDim(kv_heads) : DimAt(value, 1);
  const PrimExpr* batch = query->front();
  const PrimExpr* size = HeadSize(value, kv_heads);
  switch (output) {
    case 0:
      if (is_flat) return std::vector{batch, DimAt(query, 1), MultiplyDims(num_heads, size)};
      return std::vector{batch, num_heads, DimAt(query, 2), size};
    case 1: return std::vector{batch, num_kv_heads, TotalSteps(op, 4), HeadSize(DimsIn(op, 1), kv_heads)};
    case 2: return std::vector{batch, num_kv_heads, TotalSteps(op, 4), size};
    default: return std::vector{batch, num_heads, StepsOf(query), TotalSteps(op, 4)};
  }
}

// Query, key, value, state, decay, rate -> y, state
Dims LinearAttentionDims(OpImport& op, size_t output) {
  const Dims query = DimsIn(op, 0);
  const Dims value = DimsIn(op, 2);
  const int64_t heads = op.Int("q_num_heads");
  const int64_t kv_heads = op.Int("kv_num_heads");
  const PrimExpr* size = HeadSize(value, kv_heads);
  if (output == 0) return std::vector{DimAt(query, 0), DimAt(query, 1), MultiplyDims(WholeDim(heads), size)};
  return std::vector{DimAt(query, 0), WholeDim(kv_heads), HeadSize(DimsIn(op, 1), kv_heads), size};
}
DataType StateOfAttentionDtype(OpImport& op, size_t output) {
  return op.Has(3) ? Of<3>(op, output) : Of<0>(op, output);
}

// The steps that the kernel sees before the first one of the next data.
Dims ConvStateDims(OpImport& op, size_t /*output*/) {
  const Dims data = DimsIn(op, 0);
  return std::vector{DimAt(data, 0), DimAt(data, 1), SubtractDims(DimAt(DimsIn(op, 1), 2), WholeDim(1))};
}

Dims FlexAttentionDims(OpImport& op, size_t /*output*/) {
  const Dims query = DimsIn(op, 0);
  return std::vector{DimAt(query, 0), DimAt(query, 1), DimAt(query, 2), DimAt(DimsIn(op, 2), 3)};
}

// ---- Attention of onnxruntime

// The inputs are the data and the weights of query, key and value, next to each other.
Dims PackedAttentionDims(OpImport& op, size_t output, size_t past) {
  const Dims data = DimsIn(op, 0);
  const std::vector<int64_t> sizes = op.Ints("qkv_hidden_sizes");
  const PrimExpr* batch = DimAt(data, 0);
  const PrimExpr* width = sizes.size() == 3 ? WholeDim(sizes[2]) : DivideDim(DimAt(DimsIn(op, 1), 1), 3);
  if (output == 0) return std::vector{batch, DimAt(data, 1), width};
  const PrimExpr* steps = op.Has(past) ? AddDims(DimAt(DimsIn(op, past), 3), DimAt(data, 1)) : DimAt(data, 1);
  if (op.Int("past_present_share_buffer") != 0) steps = DimAt(DimsIn(op, past), 3);
  const int64_t heads = op.Int("num_heads", 1);
  return std::vector{WholeDim(2), batch, WholeDim(heads), steps, DivideDim(width, heads)};
}
Dims ContribAttentionDims(OpImport& op, size_t output) { return PackedAttentionDims(op, output, 4); }
Dims QuantizedAttentionDims(OpImport& op, size_t output) { return PackedAttentionDims(op, output, 8); }

// By batch, head, query and key. Steps are those of the keys without the past.
Dims ScoreDims(OpImport& op, size_t past, const PrimExpr* batch, const PrimExpr* queries, const PrimExpr* steps) {
  if (op.Has(past)) steps = AddDims(DimAt(DimsIn(op, past), 2), steps);
  return std::vector{batch, WholeDim(op.Int("num_heads", 1)), queries, steps};
}

// Query, key, value, bias, mask, bias of the scores, past key, past value. Query, key and value may be packed into one
// tensor of rank 5, and key and value into one of it.
Dims MultiHeadAttentionDims(OpImport& op, size_t output) {
  const Dims query = DimsIn(op, 0);
  const Dims key = DimsIn(op, 1);
  const Dims value = DimsIn(op, 2);
  const int64_t heads = op.Int("num_heads", 1);
  const bool is_packed = RankOf(query) == 5 || RankOf(key) == 5;
  const PrimExpr* batch = DimAt(query, 0);
  if (output == 0) {
    if (RankOf(query) == 5) return std::vector{batch, DimAt(query, 1), MultiplyDims(DimAt(query, 2), DimAt(query, 4))};
    if (is_packed || !value) return DimsIn(op, 0);
    const PrimExpr* width =
        value->size() == 4 ? MultiplyDims(DimAt(value, 1), DimAt(value, 3)) : DimAt(value, value->size() - 1);
    return std::vector{batch, DimAt(query, 1), width};
  }
  const size_t past = output == 1 ? 6 : 7;
  const PrimExpr* steps = is_packed ? nullptr : StepsOf(key);
  if (output == 3) return ScoreDims(op, past, batch, DimAt(query, 1), RankOf(key) == 3 ? steps : nullptr);
  if (op.Has(past)) steps = RankOf(key) == 4 ? nullptr : AddDims(DimAt(DimsIn(op, past), 2), steps);
  return std::vector<const PrimExpr*>{batch, WholeDim(heads), steps,
                                      is_packed ? nullptr : HeadSize(output == 1 ? key : value, heads)};
}

// Query, key, value, past key, past value, lengths. Key and value may be packed into the query.
Dims GroupQueryAttentionDims(OpImport& op, size_t output) {
  Dims query = DimsIn(op, 0);
  const int64_t heads = op.Int("num_heads", 1);
  const int64_t kv_heads = op.Int("kv_num_heads", 1);
  const int64_t packed = op.Has(1) ? heads : heads + 2 * kv_heads;
  const PrimExpr* size = RankOf(query) == 3 && packed > 0 ? DivideDim(DimAt(query, 2), packed) : nullptr;
  if (output == 0) {
    if (RankOf(query) == 3 && !op.Has(1)) (*query)[2] = MultiplyDims(WholeDim(heads), size);
    return query;
  }
  if (output == 3) return std::vector<const PrimExpr*>{DimAt(query, 0), WholeDim(heads), DimAt(query, 1), nullptr};
  // The cache is as long as the longest sequence, or as it was if it has room.
  return std::vector<const PrimExpr*>{DimAt(query, 0), WholeDim(kv_heads), nullptr, size};
}

// ---- Normalizations and embeddings

Dims StatisticsDims(OpImport& op, size_t /*output*/) {
  Dims dims = DimsIn(op, 0);
  if (dims && !dims->empty()) dims->back() = WholeDim(1);
  return dims;
}

// Of words with positions, and the number of words that the mask keeps in each row.
Dims EmbeddingDims(OpImport& op, size_t output) {
  const Dims ids = DimsIn(op, 0);
  if (output == 1) return std::vector{DimAt(ids, 0)};
  return std::vector{DimAt(ids, 0), DimAt(ids, 1), DimAt(DimsIn(op, 2), 1)};
}

// ---- Products

Dims SwappedLast(Dims dims) {
  if (RankOf(dims) > 1) std::swap((*dims)[dims->size() - 1], (*dims)[dims->size() - 2]);
  return dims;
}
// The dimension before the last one comes first.
Dims BatchLast(const Dims& dims, bool swap) {
  if (!swap || RankOf(dims) < 2) return dims;
  std::vector<const PrimExpr*> moved(dims->begin() + 1, dims->end() - 1);
  moved.push_back(dims->front());
  moved.push_back(dims->back());
  return moved;
}

Dims FusedMatMulDims(OpImport& op, size_t /*output*/) {
  Dims a = BatchLast(DimsIn(op, 0), op.Int("transBatchA") != 0);
  Dims b = BatchLast(DimsIn(op, 1), op.Int("transBatchB") != 0);
  if (op.Int("transA") != 0) a = SwappedLast(std::move(a));
  if (op.Int("transB") != 0) b = SwappedLast(std::move(b));
  return ProductDims(a, b);
}

Dims FusedGemmDims(OpImport& op, size_t input) {
  const Dims a = DimsIn(op, 0);
  const Dims b = DimsIn(op, input);
  return std::vector{DimAt(a, op.Int("transA") != 0 ? 1 : 0), DimAt(b, op.Int("transB") != 0 ? 0 : 1)};
}
Dims GemmOfTwo(OpImport& op, size_t /*output*/) { return FusedGemmDims(op, 1); }
Dims QuantizedGemmDims(OpImport& op, size_t /*output*/) { return FusedGemmDims(op, 3); }
DataType QuantizedGemmDtype(OpImport& op, size_t output) { return op.Has(8) ? Of<8>(op, output) : DataType::Float(32); }

Dims PackedProductDims(OpImport& op, size_t /*output*/) {
  Dims dims = DimsIn(op, 0);
  if (dims && !dims->empty()) dims->back() = op.FindAttr("N") ? WholeDim(op.Int("N")) : nullptr;
  return dims;
}

// Rows of a table, whose bytes may be several numbers along the last axis.
Dims GatheredBlockDims(OpImport& op, size_t /*output*/) {
  Dims data = DimsIn(op, 0);
  const Dims indices = DimsIn(op, 1);
  const auto axis = AxisOf(op.Int("gather_axis"), data);
  const int64_t bits = op.Int("bits", 4);
  if (!axis || !indices) return std::nullopt;
  if (op.Dtype(0) == DataType::UInt(8) && (bits == 2 || bits == 4))
    data->back() = MultiplyDims(data->back(), WholeDim(8 / bits));
  std::vector<const PrimExpr*> dims(data->begin(), data->begin() + static_cast<std::ptrdiff_t>(*axis));
  dims.insert(dims.end(), indices->begin(), indices->end());
  dims.insert(dims.end(), data->begin() + static_cast<std::ptrdiff_t>(*axis) + 1, data->end());
  return dims;
}

Dims HalvedDims(OpImport& op, size_t /*output*/) {
  Dims dims = DimsIn(op, 0);
  if (dims && !dims->empty()) dims->back() = dims->back() ? DivideDim(dims->back(), 2) : nullptr;
  return dims;
}

Dims DistanceDims(OpImport& op, size_t /*output*/) {
  const Dims a = DimsIn(op, 0);
  const Dims b = DimsIn(op, 1);
  return std::vector{a && !a->empty() ? a->front() : nullptr, b && !b->empty() ? b->front() : nullptr};
}

Dims ExpandedDims(OpImport& op, size_t /*output*/) {
  Dims dims = DimsIn(op, 0);
  const auto axis = op.Numbers(1);
  if (!dims) return dims;
  dims->push_back(nullptr);
  const auto at = axis && axis->size() == 1 ? AxisOf(axis->front(), dims) : std::nullopt;
  if (!at) return UnknownDims(dims->size());
  dims->pop_back();
  dims->insert(dims->begin() + static_cast<std::ptrdiff_t>(*at), WholeDim(1));
  return dims;
}

Dims QuantizedChoiceDims(OpImport& op, size_t /*output*/) {
  return BroadcastDimsOf(DimsIn(op, 0), BroadcastDimsOf(DimsIn(op, 1), DimsIn(op, 4)));
}

// A scale and a zero point of the result, and then the parts with theirs.
Dims QuantizedConcatDims(OpImport& op, size_t /*output*/) {
  Dims dims = DimsIn(op, 2);
  const auto axis = AxisOf(op.Int("axis"), dims);
  if (!axis) return dims ? UnknownDims(dims->size()) : std::nullopt;
  for (size_t i = 5; i < op.num_inputs(); i += 3) (*dims)[*axis] = AddDims((*dims)[*axis], DimAt(DimsIn(op, i), *axis));
  return dims;
}

constexpr TypeRow kTransformerTypes[] = {
    {"Attention", 0, Of<0>, AttentionDims},
    {"Attention", 1, Of<1>, AttentionDims},
    {"Attention", 2, Of<2>, AttentionDims},
    {"Attention", 3, Of<0>, AttentionDims},
    {"RotaryEmbedding com.microsoft.RotaryEmbedding", 0, Of<0>, Like<0>},
    {"LinearAttention", 0, Of<0>, LinearAttentionDims},
    {"LinearAttention", 1, StateOfAttentionDtype, LinearAttentionDims},
    {"CausalConvWithState", 0, Of<0>, Like<0>},
    {"CausalConvWithState", 1, Of<0>, ConvStateDims},
    {"ai.onnx.preview.FlexAttention", 0, Of<2>, FlexAttentionDims},
    {"com.microsoft.Attention", 0, Of<0>, ContribAttentionDims},
    {"com.microsoft.QAttention", 0, Of<3>, QuantizedAttentionDims},
    {"com.microsoft.MultiHeadAttention", 0, Of<0>, MultiHeadAttentionDims},
    {"com.microsoft.GroupQueryAttention", 0, Of<0>, GroupQueryAttentionDims},
    {"SimplifiedLayerNormalization", 0, Of<0>, Like<0>},
    {"SimplifiedLayerNormalization", 1, kFloats, StatisticsDims},
    {"com.microsoft.SkipLayerNormalization com.microsoft.SkipSimplifiedLayerNormalization", 0, Of<0>, Like<0>},
    {"com.microsoft.SkipLayerNormalization com.microsoft.SkipSimplifiedLayerNormalization", 1, kFloats, StatisticsDims},
    {"com.microsoft.SkipLayerNormalization com.microsoft.SkipSimplifiedLayerNormalization", 3, Of<0>, Like<0>},
    {"com.microsoft.EmbedLayerNormalization", 0, Of<2>, EmbeddingDims},
    {"com.microsoft.EmbedLayerNormalization", 1, kInts, EmbeddingDims},
    {"com.microsoft.EmbedLayerNormalization", 2, Of<2>, EmbeddingDims},
    {"com.microsoft.SkipGroupNorm", 0, Of<0>, Like<0>},
    {"com.microsoft.GemmaRotaryEmbedding", 0, Of<1>, Like<1>},
    {"com.microsoft.GemmaRotaryEmbedding", 1, Of<3>, Like<3>},
    {"com.microsoft.BiasAdd com.microsoft.BiasGelu com.microsoft.BiasSoftmax com.microsoft.FastGelu com.microsoft.Gelu "
     "com.microsoft.GroupNorm "
     "com.microsoft.Inverse com.microsoft.QuickGelu com.microsoft.Trilu",
     0, Of<0>, Like<0>},
    {"com.microsoft.FusedMatMul com.microsoft.TransposeMatMul", 0, Of<0>, FusedMatMulDims},
    {"com.microsoft.FusedGemm", 0, Of<0>, GemmOfTwo},
    {"com.microsoft.MatMulNBits com.microsoft.MatMulBnb4", 0, Of<0>, PackedProductDims},
    {"com.microsoft.GatherBlockQuantized", 0, Of<2>, GatheredBlockDims},
    {"com.microsoft.BiasSplitGelu", 0, Of<0>, HalvedDims},
    {"com.microsoft.CDist", 0, Of<0>, DistanceDims},
    {"com.microsoft.ExpandDims", 0, Of<0>, ExpandedDims},
    {"com.microsoft.DynamicQuantizeMatMul com.microsoft.GemmFastGelu", 0, Of<0>, ProductOf<0, 1>},
    {"com.microsoft.MatMulIntegerToFloat", 0, Of<2>, ProductOf<0, 1>},
    {"com.microsoft.MatMulInteger16", 0, kInts, ProductOf<0, 1>},
    {"com.microsoft.QGemm", 0, QuantizedGemmDtype, QuantizedGemmDims},
    {"com.microsoft.QLinearAdd com.microsoft.QLinearMul", 0, Of<0>, Broadcast<0, 3>},
    {"com.microsoft.QLinearLeakyRelu com.microsoft.QLinearSigmoid com.microsoft.QLinearSoftmax", 0, Of<0>, Like<0>},
    {"com.microsoft.QLinearWhere", 0, Of<1>, QuantizedChoiceDims},
    {"com.microsoft.QLinearConcat", 0, Of<2>, QuantizedConcatDims},
};

}  // namespace

std::span<const TypeRow> TransformerTypeRows() { return kTransformerTypes; }

}  // namespace iropt::onnx
