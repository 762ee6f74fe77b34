// Attention and rotary embeddings of ONNX, with caches of keys and values.

#include "exchange/onnx/run/heads.h"
#include "exchange/onnx/run/kernels.h"
#include "exchange/onnx/run/numbers.h"

namespace iropt::onnx {

namespace {

Result<HostValue> RunAttention(OnnxCall& call) {
  IROPT_ASSIGN_OR_RETURN(const Heads query, HeadsIn(call, 0, call.Int("q_num_heads")));
  IROPT_ASSIGN_OR_RETURN(Heads key, HeadsIn(call, 1, call.Int("kv_num_heads")));
  IROPT_ASSIGN_OR_RETURN(Heads value, HeadsIn(call, 2, call.Int("kv_num_heads")));
  const int64_t now = key.steps;
  IROPT_ASSIGN_OR_RETURN(key, Appended(call, 4, key));
  IROPT_ASSIGN_OR_RETURN(value, Appended(call, 5, value));
  const int64_t past = key.steps - now;
  IROPT_ASSIGN_OR_RETURN(const ScoreBias mask, BiasIn(call, 3, query));
  std::vector<double> lengths;
  if (call.In(6) != nullptr) {
    IROPT_ASSIGN_OR_RETURN(lengths, call.NumbersIn(6));
    if (static_cast<int64_t>(lengths.size()) != query.batch) return call.Fail("there is not a length for each batch");
  }
  const bool is_causal = call.Int("is_causal") != 0;
  AttentionRule rule{.scale = DefaultScale(call, query.size),
                     .softcap = call.Float("softcap"),
                     .bias = {},
                     .kept_stage = call.Int("qk_matmul_output_mode")};
  rule.bias = [&](int64_t b, int64_t h, int64_t s, int64_t t) {
    const bool is_padding = !lengths.empty() && static_cast<double>(t) >= lengths[static_cast<size_t>(b)];
    return is_padding || (is_causal && t > past + s) ? kMasked : mask.At(b, h, s, t);
  };
  IROPT_ASSIGN_OR_RETURN(const Attended result, Attend(call, query, key, value, rule));
  const DataType dtype = call.In(0)->dtype();
  const bool is_flat = call.In(0)->shape().size() == 3;
  return ResultOf(
      call, {is_flat ? JoinedTensor(dtype, result.y) : TensorOf(dtype, result.y), TensorOf(call.In(1)->dtype(), key),
             TensorOf(call.In(2)->dtype(), value), TensorOf(dtype, result.scores)});
}

// ---- Rotary embeddings, those of onnxruntime as well

Result<HostValue> RotateInput(OnnxCall& call, size_t cosines, size_t positions_input, bool is_offset) {
  IROPT_ASSIGN_OR_RETURN(const Rotation rotation, RotationIn(call, cosines, cosines + 1));
  const std::span<const int64_t> shape = call.In(0)->shape();
  const bool all = call.Int("rotary_embedding_dim") == 0;
  const int64_t given = call.Int("num_heads");
  const int64_t heads = given > 0                                       ? given
                        : all && rotation.half > 0 && shape.size() == 3 ? shape[2] / (2 * rotation.half)
                                                                        : 1;
  IROPT_ASSIGN_OR_RETURN(Heads x, HeadsIn(call, 0, heads));
  std::vector<double> positions;
  if (call.In(positions_input) != nullptr) {
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
  const DataType dtype = call.In(0)->dtype();
  return shape.size() == 3 ? JoinedTensor(dtype, x) : TensorOf(dtype, x);
}

Result<HostValue> RunRotaryEmbedding(OnnxCall& call) { return RotateInput(call, 1, 3, false); }
Result<HostValue> RunContribRotaryEmbedding(OnnxCall& call) {
  if (call.Float("scale", 1) != 1) return call.Fail("a scale is not supported");
  return RotateInput(call, 2, 1, true);
}

constexpr KernelRow kAttentionKernels[] = {
    {"Attention", RunAttention},
    {"RotaryEmbedding", RunRotaryEmbedding},
    {"com.microsoft.RotaryEmbedding", RunContribRotaryEmbedding},
};

}  // namespace

std::span<const KernelRow> AttentionKernels() { return kAttentionKernels; }

}  // namespace iropt::onnx
