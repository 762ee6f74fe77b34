// Attention with caches of keys and values, and rotary embeddings: of ONNX and of onnxruntime.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "exchange/onnx/run/kernels.h"
#include "exchange/onnx/run/numbers.h"

namespace iropt::onnx {

namespace {

// Vectors by batch, head and step.
struct Heads {
  int64_t batch = 0;
  int64_t heads = 0;
  int64_t steps = 0;
  int64_t size = 0;
  std::vector<double> numbers = {};

  Heads() = default;
  Heads(int64_t b, int64_t h, int64_t s, int64_t d)
      : batch(b), heads(h), steps(s), size(d), numbers(static_cast<size_t>(b * h * s * d)) {}
  double* At(int64_t b, int64_t h, int64_t s) { return numbers.data() + ((b * heads + h) * steps + s) * size; }
  const double* At(int64_t b, int64_t h, int64_t s) const {
    return numbers.data() + ((b * heads + h) * steps + s) * size;
  }
  std::vector<int64_t> shape() const { return {batch, heads, steps, size}; }
};

// Calls f for each batch, head and step.
template <class F>
void ForEachStep(const Heads& x, F&& f) {
  for (int64_t b = 0; b < x.batch; ++b) {
    for (int64_t h = 0; h < x.heads; ++h) {
      for (int64_t s = 0; s < x.steps; ++s) f(b, h, s);
    }
  }
}

// Of [batch, steps, heads * size].
Heads SplitHeads(std::span<const double> x, int64_t batch, int64_t steps, int64_t heads, int64_t width, int64_t first,
                 int64_t size) {
  Heads result(batch, heads, steps, size);
  ForEachStep(result, [&](int64_t b, int64_t h, int64_t s) {
    std::copy_n(x.data() + (b * steps + s) * width + first + h * size, size, result.At(b, h, s));
  });
  return result;
}

std::vector<double> JoinHeads(const Heads& x) {
  std::vector<double> result(x.numbers.size());
  ForEachStep(x, [&](int64_t b, int64_t h, int64_t s) {
    std::copy_n(x.At(b, h, s), x.size, result.data() + ((b * x.steps + s) * x.heads + h) * x.size);
  });
  return result;
}

// An input [batch, steps, heads * size] or [batch, heads, steps, size].
Result<Heads> HeadsIn(const OnnxCall& call, size_t input, int64_t heads) {
  IROPT_ASSIGN_OR_RETURN(std::vector<double> x, call.NumbersIn(input));
  const std::span<const int64_t> shape = call.In(input)->shape();
  if (shape.size() == 4) {
    Heads result(shape[0], shape[1], shape[2], shape[3]);
    result.numbers = std::move(x);
    return result;
  }
  if (shape.size() != 3 || heads < 1 || shape[2] % heads != 0)
    return call.Fail(fmt::format("input {} cannot be split into {} heads", input, heads));
  return SplitHeads(x, shape[0], shape[1], heads, shape[2], 0, shape[2] / heads);
}

// The steps of a cache, and those after them.
Result<Heads> Appended(const OnnxCall& call, size_t past, const Heads& now) {
  if (call.In(past) == nullptr) return now;
  IROPT_ASSIGN_OR_RETURN(const Heads before, HeadsIn(call, past, now.heads));
  if (before.batch != now.batch || before.heads != now.heads || before.size != now.size)
    return call.Fail("the cache does not fit the keys");
  Heads all(now.batch, now.heads, before.steps + now.steps, now.size);
  ForEachStep(all, [&](int64_t b, int64_t h, int64_t s) {
    std::copy_n(s < before.steps ? before.At(b, h, s) : now.At(b, h, s - before.steps), all.size, all.At(b, h, s));
  });
  return all;
}

constexpr double kMasked = -std::numeric_limits<double>::infinity();

// What is done to the scores of a query.
struct AttentionRule {
  double scale = 1;
  double softcap = 0;
  // What is added to the score of a key; masked keys get kMasked.
  std::function<double(int64_t batch, int64_t head, int64_t query, int64_t key)> bias;
  // The stage of which the scores are kept: the product, with the cap, with the bias, the probabilities.
  int64_t kept_stage = 0;
};

struct Attended {
  Heads y;
  Heads scores;
};

void SoftmaxOf(std::span<double> row) {
  double greatest = kMasked;
  for (const double value : row) greatest = std::max(greatest, value);
  double sum = 0;
  for (double& value : row) sum += value = greatest == kMasked ? 0 : std::exp(value - greatest);
  for (double& value : row) value = sum == 0 ? 0 : value / sum;
}

Result<Attended> Attend(const OnnxCall& call, const Heads& query, const Heads& key, const Heads& value,
                        const AttentionRule& rule) {
  const bool fits = key.heads > 0 && query.heads % key.heads == 0 && query.size == key.size &&
                    key.heads == value.heads && key.steps == value.steps && query.batch == key.batch &&
                    key.batch == value.batch;
  if (!fits) return call.Fail("query, key and value do not fit each other");
  const int64_t scores[] = {query.batch, query.heads, query.steps, key.steps};
  IROPT_RETURN_IF_ERROR(call.CheckShape(scores));
  Attended result{Heads(query.batch, query.heads, query.steps, value.size),
                  Heads(query.batch, query.heads, query.steps, key.steps)};
  const int64_t shared = query.heads / key.heads;
  ForEachStep(query, [&](int64_t b, int64_t h, int64_t s) {
    std::vector<double> row(static_cast<size_t>(key.steps));
    const auto keep = [&](int64_t stage) {
      if (stage == rule.kept_stage) std::ranges::copy(row, result.scores.At(b, h, s));
    };
    for (int64_t t = 0; t < key.steps; ++t) {
      const double* q = query.At(b, h, s);
      const double* k = key.At(b, h / shared, t);
      double sum = 0;
      for (int64_t d = 0; d < query.size; ++d) sum += q[d] * k[d];
      row[static_cast<size_t>(t)] = sum * rule.scale;
    }
    keep(0);
    if (rule.softcap > 0) {
      for (double& score : row) score = rule.softcap * std::tanh(score / rule.softcap);
    }
    keep(1);
    for (int64_t t = 0; t < key.steps; ++t) row[static_cast<size_t>(t)] += rule.bias(b, h, s, t);
    keep(2);
    SoftmaxOf(row);
    keep(3);
    double* y = result.y.At(b, h, s);
    for (int64_t t = 0; t < key.steps; ++t) {
      const double* v = value.At(b, h / shared, t);
      for (int64_t d = 0; d < value.size; ++d) y[d] += row[static_cast<size_t>(t)] * v[d];
    }
  });
  return result;
}

HostValue TensorOf(DataType dtype, const Heads& x) { return FromNumbers(dtype, x.shape(), x.numbers); }
HostValue JoinedTensor(DataType dtype, const Heads& x) {
  const int64_t shape[] = {x.batch, x.steps, x.heads * x.size};
  return FromNumbers(dtype, shape, JoinHeads(x));
}

double DefaultScale(const OnnxCall& call, int64_t size) {
  const double given = call.Float("scale");
  return given != 0 ? given : 1 / std::sqrt(static_cast<double>(size));
}

// A bias that broadcasts to [batch, heads, queries, keys]. A mask of booleans keeps keys; one that is too short masks
// the keys after its end.
struct ScoreBias {
  std::vector<double> numbers;
  std::vector<int64_t> shape;
  bool keeps = false;

  double At(int64_t b, int64_t h, int64_t s, int64_t t) const {
    if (numbers.empty()) return 0;
    if (shape[3] != 1 && t >= shape[3]) return kMasked;
    const int64_t index[] = {b, h, s, t};
    int64_t at = 0;
    for (size_t i = 0; i < 4; ++i) at = at * shape[i] + (shape[i] == 1 ? 0 : index[i]);
    const double value = numbers[static_cast<size_t>(at)];
    return keeps ? (value != 0 ? 0 : kMasked) : value;
  }
};

Result<ScoreBias> BiasIn(const OnnxCall& call, size_t input, const Heads& query) {
  ScoreBias bias;
  if (call.In(input) == nullptr) return bias;
  IROPT_ASSIGN_OR_RETURN(bias.numbers, call.NumbersIn(input));
  bias.keeps = call.In(input)->dtype().is_bool();
  bias.shape.assign(call.In(input)->shape().begin(), call.In(input)->shape().end());
  if (bias.shape.empty() || bias.shape.size() > 4) return call.Fail("the mask has an unknown form");
  bias.shape.insert(bias.shape.begin(), 4 - bias.shape.size(), 1);
  const int64_t sizes[] = {query.batch, query.heads, query.steps};
  for (size_t i = 0; i < 3; ++i) {
    if (bias.shape[i] != 1 && bias.shape[i] != sizes[i]) return call.Fail("the mask does not fit the queries");
  }
  return bias;
}

// ---- ONNX

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

// ---- Rotary embeddings

// Turns pairs of the first `size` numbers of a vector: neighbours, or those of its halves.
void Rotate(double* x, const double* cosines, const double* sines, int64_t size, bool interleaved) {
  const int64_t half = size / 2;
  for (int64_t i = 0; i < half; ++i) {
    double& a = x[interleaved ? 2 * i : i];
    double& b = x[interleaved ? 2 * i + 1 : i + half];
    const double turned = a * cosines[i] - b * sines[i];
    b = b * cosines[i] + a * sines[i];
    a = turned;
  }
}

struct Rotation {
  std::vector<double> cosines;
  std::vector<double> sines;
  int64_t half = 0;  // the length of a row
};

Result<Rotation> RotationIn(const OnnxCall& call, size_t cosines, size_t sines) {
  Rotation rotation;
  IROPT_ASSIGN_OR_RETURN(rotation.cosines, call.NumbersIn(cosines));
  IROPT_ASSIGN_OR_RETURN(rotation.sines, call.NumbersIn(sines));
  const std::span<const int64_t> shape = call.In(cosines)->shape();
  if (shape.size() < 2 || rotation.cosines.size() != rotation.sines.size())
    return call.Fail("the caches of cosines and sines do not fit each other");
  rotation.half = shape.back();
  return rotation;
}

// `row_of` gives the row of the caches for a batch and a step.
template <class F>
Status RotateAll(const OnnxCall& call, const Rotation& rotation, Heads& x, bool interleaved, F&& row_of) {
  const int64_t rows = rotation.half > 0 ? static_cast<int64_t>(rotation.cosines.size()) / rotation.half : 0;
  bool fits = 2 * rotation.half <= x.size;
  ForEachStep(x, [&](int64_t b, int64_t h, int64_t s) {
    const int64_t row = row_of(b, s);
    fits = fits && row >= 0 && row < rows;
    if (!fits) return;
    Rotate(x.At(b, h, s), rotation.cosines.data() + row * rotation.half, rotation.sines.data() + row * rotation.half,
           2 * rotation.half, interleaved);
  });
  return fits ? Status() : Status(call.Fail("the caches of cosines and sines do not fit the operand"));
}

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

// ---- onnxruntime

// Keys that a mask of one of onnxruntime's forms leaves out: lengths for each batch, then perhaps starts, or a number
// for each key, or for each query and key.
Result<std::function<bool(int64_t b, int64_t s, int64_t t)>> KeyMaskIn(const OnnxCall& call, size_t input,
                                                                       const Heads& query, int64_t keys) {
  using Mask = std::function<bool(int64_t, int64_t, int64_t)>;
  if (call.In(input) == nullptr) return Mask([](int64_t, int64_t, int64_t) { return false; });
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> numbers, call.NumbersIn(input));
  const std::span<const int64_t> shape = call.In(input)->shape();
  const int64_t batch = query.batch;
  const auto at = [numbers](int64_t i) { return numbers[static_cast<size_t>(i)]; };
  if (shape.size() == 1 && (shape[0] == batch || shape[0] == 2 * batch)) {
    const bool has_starts = shape[0] == 2 * batch;
    return Mask([=](int64_t b, int64_t, int64_t t) {
      const auto key = static_cast<double>(t);
      return key >= at(b) || (has_starts && key < at(batch + b));
    });
  }
  if (shape.size() == 2 && shape[0] == batch && shape[1] == keys)
    return Mask([=](int64_t b, int64_t, int64_t t) { return at(b * keys + t) == 0; });
  if (shape.size() == 3 && shape[0] == batch && shape[1] == query.steps && shape[2] == keys)
    return Mask(
        [=, queries = query.steps](int64_t b, int64_t s, int64_t t) { return at((b * queries + s) * keys + t) == 0; });
  return call.Fail("the mask has an unknown form");
}

// The rule of Attention and MultiHeadAttention, of which masked scores are a number.
Result<AttentionRule> ContribRule(const OnnxCall& call, const Heads& query, const Heads& key, size_t mask_input,
                                  size_t bias_input) {
  IROPT_ASSIGN_OR_RETURN(const auto is_masked, KeyMaskIn(call, mask_input, query, key.steps));
  IROPT_ASSIGN_OR_RETURN(const ScoreBias bias, BiasIn(call, bias_input, query));
  const double filter = call.Float("mask_filter_value", -10000);
  const bool is_causal = call.Int("unidirectional") != 0;
  const int64_t past = key.steps - query.steps;
  AttentionRule rule{.scale = DefaultScale(call, query.size), .softcap = 0, .bias = {}, .kept_stage = 0};
  rule.bias = [=](int64_t b, int64_t h, int64_t s, int64_t t) {
    if (is_causal && t > past + s) return kMasked;
    return (is_masked(b, s, t) ? filter : 0) + bias.At(b, h, s, t);
  };
  return rule;
}

// data, weights, bias, mask, past keys and values, bias of the scores
Result<HostValue> RunContribAttention(OnnxCall& call) {
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> data, call.NumbersIn(0));
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> weights, call.NumbersIn(1));
  std::vector<double> bias;
  if (call.In(2) != nullptr) {
    IROPT_ASSIGN_OR_RETURN(bias, call.NumbersIn(2));
  }
  const std::span<const int64_t> shape = call.In(0)->shape();
  const std::span<const int64_t> weight = call.In(1)->shape();
  const int64_t heads = call.Int("num_heads");
  if (shape.size() != 3 || weight.size() != 2 || heads < 1 || weight[0] != shape[2] || call.Int("do_rotary") != 0)
    return call.Fail("this form of the operator cannot be run");
  std::vector<int64_t> widths = call.Ints("qkv_hidden_sizes");
  if (widths.empty()) widths.assign(3, weight[1] / 3);
  const int64_t width = weight[1];
  const bool are_whole =
      std::ranges::all_of(widths, [&](int64_t part) { return part >= 0 && part <= width && part % heads == 0; });
  if (widths.size() != 3 || !are_whole || widths[0] + widths[1] + widths[2] != width ||
      (!bias.empty() && static_cast<int64_t>(bias.size()) != width))
    return call.Fail("the weights do not fit the sizes of query, key and value");
  std::vector<double> packed(static_cast<size_t>(shape[0] * shape[1] * width));
  for (int64_t row = 0; row < shape[0] * shape[1]; ++row) {
    for (int64_t column = 0; column < width; ++column) {
      double sum = bias.empty() ? 0 : bias[static_cast<size_t>(column)];
      for (int64_t i = 0; i < shape[2]; ++i)
        sum += data[static_cast<size_t>(row * shape[2] + i)] * weights[static_cast<size_t>(i * width + column)];
      packed[static_cast<size_t>(row * width + column)] = sum;
    }
  }
  Heads parts[3];
  int64_t first = 0;
  for (size_t i = 0; i < 3; ++i) {
    parts[i] = SplitHeads(packed, shape[0], shape[1], heads, width, first, widths[i] / heads);
    first += widths[i];
  }
  Heads present(2 * shape[0], heads, shape[1], parts[1].size);
  if (call.In(4) != nullptr) {
    IROPT_ASSIGN_OR_RETURN(const std::vector<double> past, call.NumbersIn(4));
    const std::span<const int64_t> cache = call.In(4)->shape();
    if (cache.size() != 5 || cache[0] != 2 || cache[1] != shape[0] || cache[2] != heads || cache[4] != parts[1].size ||
        parts[1].size != parts[2].size)
      return call.Fail("the cache does not fit the keys");
    for (size_t i = 1; i < 3; ++i) {
      Heads all(shape[0], heads, cache[3] + shape[1], parts[i].size);
      const double* before = past.data() + static_cast<std::ptrdiff_t>((i - 1) * past.size() / 2);
      ForEachStep(all, [&](int64_t b, int64_t h, int64_t s) {
        const double* from =
            s < cache[3] ? before + ((b * heads + h) * cache[3] + s) * all.size : parts[i].At(b, h, s - cache[3]);
        std::copy_n(from, all.size, all.At(b, h, s));
      });
      parts[i] = std::move(all);
    }
  }
  IROPT_ASSIGN_OR_RETURN(const AttentionRule rule, ContribRule(call, parts[0], parts[1], 3, 5));
  IROPT_ASSIGN_OR_RETURN(const Attended result, Attend(call, parts[0], parts[1], parts[2], rule));
  std::vector<double> caches = parts[1].numbers;
  caches.insert(caches.end(), parts[2].numbers.begin(), parts[2].numbers.end());
  const int64_t cache_shape[] = {2, shape[0], heads, parts[1].steps, parts[1].size};
  const DataType dtype = call.In(0)->dtype();
  if (call.num_outputs() > 1 && parts[1].size != parts[2].size) return call.Fail("keys and values differ in size");
  return ResultOf(call, {JoinedTensor(dtype, result.y),
                         call.num_outputs() > 1 ? HostValue(FromNumbers(dtype, cache_shape, caches)) : HostValue()});
}

// Adds the part of a bias that begins at `first`, a number for each of all heads' columns.
void AddHeadBias(Heads& x, std::span<const double> bias, int64_t first) {
  if (bias.empty()) return;
  ForEachStep(x, [&](int64_t b, int64_t h, int64_t s) {
    for (int64_t d = 0; d < x.size; ++d) x.At(b, h, s)[d] += bias[static_cast<size_t>(first + h * x.size + d)];
  });
}

// query, key, value, bias, mask of keys, bias of the scores, past key, past value
Result<HostValue> RunMultiHeadAttention(OnnxCall& call) {
  const int64_t heads = call.Int("num_heads");
  if (call.In(1) == nullptr || call.In(2) == nullptr) return call.Fail("this form of the operator cannot be run");
  IROPT_ASSIGN_OR_RETURN(Heads query, HeadsIn(call, 0, heads));
  IROPT_ASSIGN_OR_RETURN(Heads key, HeadsIn(call, 1, heads));
  IROPT_ASSIGN_OR_RETURN(Heads value, HeadsIn(call, 2, heads));
  if (call.In(3) != nullptr) {
    IROPT_ASSIGN_OR_RETURN(const std::vector<double> bias, call.NumbersIn(3));
    const int64_t widths[] = {query.heads * query.size, key.heads * key.size, value.heads * value.size};
    if (static_cast<int64_t>(bias.size()) != widths[0] + widths[1] + widths[2])
      return call.Fail("the bias does not fit query, key and value");
    AddHeadBias(query, bias, 0);
    // Keys and values that come from a cache have theirs already.
    if (call.In(1)->shape().size() == 3) AddHeadBias(key, bias, widths[0]);
    if (call.In(2)->shape().size() == 3) AddHeadBias(value, bias, widths[0] + widths[1]);
  }
  IROPT_ASSIGN_OR_RETURN(key, Appended(call, 6, key));
  IROPT_ASSIGN_OR_RETURN(value, Appended(call, 7, value));
  IROPT_ASSIGN_OR_RETURN(const AttentionRule rule, ContribRule(call, query, key, 4, 5));
  IROPT_ASSIGN_OR_RETURN(const Attended result, Attend(call, query, key, value, rule));
  const DataType dtype = call.In(0)->dtype();
  return ResultOf(call, {JoinedTensor(dtype, result.y), TensorOf(dtype, key), TensorOf(dtype, value)});
}

// Steps written into a cache that has room for them, after those of the past.
Result<Heads> Written(const OnnxCall& call, size_t past, const Heads& now, const std::vector<int64_t>& begins,
                      int64_t length) {
  const int64_t shape[] = {now.batch, now.heads, length, now.size};
  IROPT_RETURN_IF_ERROR(call.CheckShape(shape));
  Heads cache(now.batch, now.heads, length, now.size);
  if (call.In(past) != nullptr) {
    IROPT_ASSIGN_OR_RETURN(const Heads before, HeadsIn(call, past, now.heads));
    if (before.batch != now.batch || before.heads != now.heads || before.size != now.size || before.steps > length)
      return call.Fail("the cache does not fit the keys");
    ForEachStep(before, [&](int64_t b, int64_t h, int64_t s) {
      if (s < begins[static_cast<size_t>(b)]) std::copy_n(before.At(b, h, s), cache.size, cache.At(b, h, s));
    });
  }
  bool fits = true;
  ForEachStep(now, [&](int64_t b, int64_t h, int64_t s) {
    const int64_t at = begins[static_cast<size_t>(b)] + s;
    fits = fits && at >= 0 && at < length;
    if (fits) std::copy_n(now.At(b, h, s), cache.size, cache.At(b, h, at));
  });
  if (!fits) return call.Fail("the cache is too short");
  return cache;
}

// The parts of a query that holds keys and values after it.
struct QueryKeyValue {
  Heads query, key, value;
};

Result<QueryKeyValue> GroupedInputs(const OnnxCall& call) {
  const int64_t heads = call.Int("num_heads");
  const int64_t kv_heads = call.Int("kv_num_heads");
  QueryKeyValue parts;
  if (call.In(1) != nullptr) {
    IROPT_ASSIGN_OR_RETURN(parts.query, HeadsIn(call, 0, heads));
    IROPT_ASSIGN_OR_RETURN(parts.key, HeadsIn(call, 1, kv_heads));
    IROPT_ASSIGN_OR_RETURN(parts.value, HeadsIn(call, 2, kv_heads));
    return parts;
  }
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> x, call.NumbersIn(0));
  const std::span<const int64_t> shape = call.In(0)->shape();
  const int64_t all = heads + 2 * kv_heads;
  if (shape.size() != 3 || heads < 1 || kv_heads < 1 || shape[2] % all != 0)
    return call.Fail("the query cannot be split into heads");
  const int64_t size = shape[2] / all;
  parts.query = SplitHeads(x, shape[0], shape[1], heads, shape[2], 0, size);
  parts.key = SplitHeads(x, shape[0], shape[1], kv_heads, shape[2], heads * size, size);
  parts.value = SplitHeads(x, shape[0], shape[1], kv_heads, shape[2], (heads + kv_heads) * size, size);
  return parts;
}

// query, key, value, past key, past value, lengths less 1, the greatest length, cosines, sines, positions, bias
Result<HostValue> RunGroupQueryAttention(OnnxCall& call) {
  IROPT_ASSIGN_OR_RETURN(QueryKeyValue parts, GroupedInputs(call));
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> lasts, call.NumbersIn(5));
  const int64_t total = call.IntIn(6, 0);
  const int64_t steps = parts.query.steps;
  const bool unknown = call.num_inputs() > 11 || call.In(9) != nullptr || call.Int("smooth_softmax") != 0;
  if (unknown || static_cast<int64_t>(lasts.size()) != parts.query.batch)
    return call.Fail("this form of the operator cannot be run");
  // The first steps have no past, even if shorter ones are padded.
  std::vector<int64_t> begins;
  for (const double last : lasts) begins.push_back(steps == total ? 0 : static_cast<int64_t>(last) + 1 - steps);
  if (call.Int("do_rotary") != 0) {
    IROPT_ASSIGN_OR_RETURN(const Rotation rotation, RotationIn(call, 7, 8));
    const bool interleaved = call.Int("rotary_interleaved") != 0;
    const auto row_of = [&](int64_t b, int64_t s) { return begins[static_cast<size_t>(b)] + s; };
    IROPT_RETURN_IF_ERROR(RotateAll(call, rotation, parts.query, interleaved, row_of));
    IROPT_RETURN_IF_ERROR(RotateAll(call, rotation, parts.key, interleaved, row_of));
  }
  const NDArray* past = call.In(3);
  const int64_t room = past != nullptr && past->shape().size() == 4 ? past->shape()[2] : 0;
  const int64_t length = std::max(room, total);
  IROPT_ASSIGN_OR_RETURN(const Heads key, Written(call, 3, parts.key, begins, length));
  IROPT_ASSIGN_OR_RETURN(const Heads value, Written(call, 4, parts.value, begins, length));
  IROPT_ASSIGN_OR_RETURN(const ScoreBias bias, BiasIn(call, 10, parts.query));
  const int64_t window = call.Int("local_window_size", -1);
  AttentionRule rule{
      .scale = DefaultScale(call, parts.query.size), .softcap = call.Float("softcap"), .bias = {}, .kept_stage = 0};
  rule.bias = [&](int64_t b, int64_t h, int64_t s, int64_t t) {
    const int64_t at = begins[static_cast<size_t>(b)] + s;
    return t > at || (window >= 0 && t <= at - window) ? kMasked : bias.At(b, h, s, t);
  };
  IROPT_ASSIGN_OR_RETURN(const Attended result, Attend(call, parts.query, key, value, rule));
  const DataType dtype = call.In(0)->dtype();
  return ResultOf(call, {JoinedTensor(dtype, result.y), TensorOf(dtype, key), TensorOf(dtype, value)});
}

constexpr KernelRow kAttentionKernels[] = {
    {"Attention", RunAttention},
    {"RotaryEmbedding", RunRotaryEmbedding},
    {"com.microsoft.Attention", RunContribAttention},
    {"com.microsoft.GroupQueryAttention", RunGroupQueryAttention},
    {"com.microsoft.MultiHeadAttention", RunMultiHeadAttention},
    {"com.microsoft.RotaryEmbedding", RunContribRotaryEmbedding},
};

}  // namespace

std::span<const KernelRow> AttentionKernels() { return kAttentionKernels; }

}  // namespace iropt::onnx
