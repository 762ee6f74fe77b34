// Attention and rotary embeddings of ONNX, with caches of keys and values.

#include <fmt/format.h>

#include "exchange/onnx/run/heads.h"
#include "exchange/onnx/run/kernels.h"
#include "exchange/onnx/run/numbers.h"
#include "exchange/onnx/tensors.h"

namespace iropt::onnx {

namespace {

// The keys that a query sees, by their positions. A query is at `offset` plus its own step.
struct VisibleKeys {
  std::vector<double> lengths;  // without padding, of each batch; none if all keys are there
  int64_t past = 0;
  int64_t queries = 0;
  bool is_causal = false;
  int64_t left = -1;  // how far back and ahead; -1: all
  int64_t right = -1;

  bool Sees(int64_t b, int64_t s, int64_t t) const {
    const auto length = lengths.empty() ? 0 : static_cast<int64_t>(lengths[static_cast<size_t>(b)]);
    if (!lengths.empty() && t >= length) return false;
    // Queries are the last ones of a cache that is filled elsewhere.
    const int64_t at = (lengths.empty() ? past : length - queries) + s;
    return !(is_causal && t > at) && !(left >= 0 && t < at - left) && !(right >= 0 && t > at + right);
  }
};

Result<VisibleKeys> VisibleKeysIn(const OnnxCall& call, const Heads& query, int64_t past) {
  VisibleKeys keys{.lengths = {},
                   .past = past,
                   .queries = query.steps,
                   .is_causal = call.Int("is_causal") != 0,
                   .left = call.Int("left_window_size", -1),
                   .right = call.Int("right_window_size", -1)};
  if (!call.Has(6)) return keys;
  IROPT_ASSIGN_OR_RETURN(keys.lengths, call.NumbersIn(6));
  if (static_cast<int64_t>(keys.lengths.size()) != query.batch)
    return call.Fail("there is not a length for each batch");
  return keys;
}

Result<HostValue> RunAttention(OnnxCall& call) {
  IROPT_ASSIGN_OR_RETURN(const Heads query, HeadsIn(call, 0, call.Int("q_num_heads")));
  IROPT_ASSIGN_OR_RETURN(Heads key, HeadsIn(call, 1, call.Int("kv_num_heads")));
  IROPT_ASSIGN_OR_RETURN(Heads value, HeadsIn(call, 2, call.Int("kv_num_heads")));
  const int64_t now = key.steps;
  IROPT_ASSIGN_OR_RETURN(key, Appended(call, 4, key));
  IROPT_ASSIGN_OR_RETURN(value, Appended(call, 5, value));
  IROPT_ASSIGN_OR_RETURN(const ScoreBias mask, BiasIn(call, 3, query));
  IROPT_ASSIGN_OR_RETURN(const VisibleKeys visible, VisibleKeysIn(call, query, key.steps - now));
  AttentionRule rule{.scale = call.FindAttr("scale") ? call.Float("scale") : DefaultScale(call, query.size),
                     .softcap = call.Float("softcap"),
                     .bias = {},
                     .kept_stage = call.Int("qk_matmul_output_mode")};
  rule.bias = [&](int64_t b, int64_t h, int64_t s, int64_t t) {
    return visible.Sees(b, s, t) ? mask.At(b, h, s, t) : kMasked;
  };
  IROPT_ASSIGN_OR_RETURN(const Attended result, Attend(call, query, key, value, rule));
  const DataType dtype = call.Dtype(0);
  const bool is_flat = call.Shape(0).size() == 3;
  return ResultOf(call, {is_flat ? JoinedTensor(dtype, result.y) : TensorOf(dtype, result.y),
                         TensorOf(call.Dtype(1), key), TensorOf(call.Dtype(2), value), TensorOf(dtype, result.scores)});
}

// ---- Attention whose scores and probabilities graphs change

// What the graph of the attribute makes of scores in this dtype; the scores if there is none.
Result<Heads> Modified(OnnxCall& call, std::string_view attribute, Heads scores, DataType dtype) {
  const OnnxBody* body = call.Body(attribute);
  if (body == nullptr) return scores;
  std::vector<HostValue> args = {TensorOf(dtype, scores)};
  args.insert(args.end(), body->captured.begin(), body->captured.end());
  IROPT_ASSIGN_OR_RETURN(const HostValue result, call.context().Invoke(body->function, args));
  const TupleValue* tuple = result.tuple();
  const NDArray* array = tuple && tuple->fields.size() == 1 ? tuple->fields[0].tensor() : result.tensor();
  auto numbers = array ? ToNumbers(*array) : std::nullopt;
  if (!numbers || numbers->size() != scores.numbers.size())
    return call.Fail(fmt::format("the graph '{}' changes the shape of its input", attribute));
  scores.numbers = *std::move(numbers);
  return scores;
}

Result<HostValue> RunFlexAttention(OnnxCall& call) {
  IROPT_ASSIGN_OR_RETURN(const Heads query, HeadsIn(call, 0, 0));
  IROPT_ASSIGN_OR_RETURN(const Heads key, HeadsIn(call, 1, 0));
  IROPT_ASSIGN_OR_RETURN(const Heads value, HeadsIn(call, 2, 0));
  const DataType dtype = call.Dtype(0);
  const auto given = DataTypeOf(static_cast<ElementType>(call.Int("softmax_precision")));
  const DataType precision = given.value_or(dtype == DataType::Float(64) ? dtype : DataType::Float(32));
  const AttentionRule products{.scale = call.FindAttr("scale") ? call.Float("scale") : DefaultScale(call, query.size),
                               .bias = [](int64_t, int64_t, int64_t, int64_t) { return 0.0; }};
  IROPT_ASSIGN_OR_RETURN(const Attended first, Attend(call, query, key, value, products));
  IROPT_ASSIGN_OR_RETURN(Heads scores, Modified(call, "score_mod", first.scores, precision));
  ForEachStep(scores, [&](int64_t b, int64_t h, int64_t s) {
    SoftmaxOf({scores.At(b, h, s), static_cast<size_t>(scores.size)}, kMasked);
  });
  IROPT_ASSIGN_OR_RETURN(scores, Modified(call, "prob_mod", std::move(scores), precision));
  return TensorOf(dtype, Weighted(scores, value));
}

// ---- Rotary embeddings, those of onnxruntime as well

Result<HostValue> RotateInput(OnnxCall& call, size_t cosines, size_t positions_input, bool is_offset) {
  IROPT_ASSIGN_OR_RETURN(const Rotation rotation, RotationIn(call, cosines, cosines + 1));
  const std::span<const int64_t> shape = call.Shape(0);
  const bool all = call.Int("rotary_embedding_dim") == 0;
  const int64_t given = call.Int("num_heads");
  const int64_t heads = given > 0                                       ? given
                        : all && rotation.half > 0 && shape.size() == 3 ? shape[2] / (2 * rotation.half)
                                                                        : 1;
  IROPT_ASSIGN_OR_RETURN(Heads x, HeadsIn(call, 0, heads));
  std::vector<double> positions;
  if (call.Has(positions_input)) {
    IROPT_ASSIGN_OR_RETURN(positions, call.NumbersIn(positions_input));
  }
  const bool adds = is_offset && positions.size() == 1;
  if (!adds && !positions.empty() && static_cast<int64_t>(positions.size()) != x.batch * x.steps)
    return call.Fail("there is not a position for each step");
  const auto row_of = [&](int64_t b, int64_t s) {
    if (adds) return static_cast<int64_t>(positions[0]) + s;
    const int64_t place = b * x.steps + s;
    return positions.empty() ? place : static_cast<int64_t>(positions[static_cast<size_t>(place)]);
  };
  IROPT_RETURN_IF_ERROR(RotateAll(call, rotation, x, call.Int("interleaved") != 0, row_of));
  const DataType dtype = call.Dtype(0);
  return shape.size() == 3 ? JoinedTensor(dtype, x) : TensorOf(dtype, x);
}

Result<HostValue> RunRotaryEmbedding(OnnxCall& call) { return RotateInput(call, 1, 3, false); }
Result<HostValue> RunContribRotaryEmbedding(OnnxCall& call) {
  if (call.Float("scale", 1) != 1) return call.Fail("a scale is not supported");
  return RotateInput(call, 2, 1, true);
}

constexpr KernelRow kAttentionKernels[] = {
    {"Attention", "012", RunAttention},
    {"RotaryEmbedding", "012", RunRotaryEmbedding},
    {"ai.onnx.preview.FlexAttention", "012", RunFlexAttention},
    {"com.microsoft.RotaryEmbedding", "0123", RunContribRotaryEmbedding},
};

}  // namespace

std::span<const KernelRow> AttentionKernels() { return kAttentionKernels; }

}  // namespace iropt::onnx
