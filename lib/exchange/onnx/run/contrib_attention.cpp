// Attention of onnxruntime: with weights in the operator, with masks of several forms, quantized, and with caches that
// have room for more steps.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "exchange/onnx/run/heads.h"
#include "exchange/onnx/run/kernels.h"
#include "exchange/onnx/run/numbers.h"
#include "exchange/onnx/run/quantized.h"

namespace iropt::onnx {

namespace {

// Keys that a mask of one of onnxruntime's forms leaves out: lengths for each batch, then perhaps starts, or a number
// for each key, or for each query and key.
Result<std::function<bool(int64_t b, int64_t s, int64_t t)>> KeyMaskIn(const OnnxCall& call, size_t input,
                                                                       const Heads& query, int64_t keys) {
  using Mask = std::function<bool(int64_t, int64_t, int64_t)>;
  if (!call.Has(input)) return Mask([](int64_t, int64_t, int64_t) { return false; });
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> numbers, call.NumbersIn(input));
  const std::span<const int64_t> shape = call.Shape(input);
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
  // A square for each batch, of which the last queries are these.
  if (shape.size() == 4 && shape[0] == batch && shape[1] == 1 && shape[2] == shape[3] && shape[3] >= keys) {
    const int64_t first = keys - query.steps;
    return Mask(
        [=, side = shape[3]](int64_t b, int64_t s, int64_t t) { return at((b * side + first + s) * side + t) == 0; });
  }
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

// A product of the data with weights that hold those of queries, keys and values next to each other.
struct PackedProduct {
  std::vector<double> numbers;  // [batch, steps, width]
  int64_t batch = 0;
  int64_t steps = 0;
  int64_t width = 0;
  std::vector<int64_t> widths;  // of queries, keys and values
};

Result<PackedProduct> PackedProductOf(const OnnxCall& call, const std::vector<double>& data,
                                      const std::vector<double>& weights) {
  std::vector<double> bias;
  if (call.Has(2)) {
    IROPT_ASSIGN_OR_RETURN(bias, call.NumbersIn(2));
  }
  const std::span<const int64_t> shape = call.Shape(0);
  const std::span<const int64_t> weight = call.Shape(1);
  const int64_t heads = call.Int("num_heads");
  if (shape.size() != 3 || weight.size() != 2 || heads < 1 || weight[0] != shape[2])
    return call.Fail("this form of the operator cannot be run");
  const int64_t width = weight[1];
  PackedProduct product{{}, shape[0], shape[1], width, call.Ints("qkv_hidden_sizes")};
  std::vector<int64_t>& widths = product.widths;
  if (widths.empty()) widths.assign(3, width / 3);
  const bool are_whole =
      std::ranges::all_of(widths, [&](int64_t part) { return part >= 0 && part <= width && part % heads == 0; });
  if (widths.size() != 3 || !are_whole || widths[0] + widths[1] + widths[2] != width ||
      (!bias.empty() && static_cast<int64_t>(bias.size()) != width))
    return call.Fail("the weights do not fit the sizes of query, key and value");
  for (int64_t row = 0; row < shape[0] * shape[1]; ++row) {
    for (int64_t column = 0; column < width; ++column) {
      double sum = bias.empty() ? 0 : bias[static_cast<size_t>(column)];
      for (int64_t i = 0; i < shape[2]; ++i)
        sum += data[static_cast<size_t>(row * shape[2] + i)] * weights[static_cast<size_t>(i * width + column)];
      product.numbers.push_back(sum);
    }
  }
  return product;
}

// The number of steps before the first one: all of a cache [2, batch, heads, steps, size], or those of it that an input
// counts, where the cache has room for more.
int64_t StepsBefore(const OnnxCall& call, size_t input, size_t count) {
  const std::span<const int64_t> cache = call.Shape(input);
  const int64_t all = cache.size() == 5 ? cache[3] : 0;
  if (call.Int("past_present_share_buffer") == 0) return all;
  return std::clamp<int64_t>(call.IntIn(count, all), 0, all);
}

// Puts the first steps of a cache in front of keys and values.
Status PrependPast(const OnnxCall& call, size_t input, int64_t steps, Heads& key, Heads& value) {
  if (!call.Has(input)) return {};
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> past, call.NumbersIn(input));
  const std::span<const int64_t> cache = call.Shape(input);
  if (cache.size() != 5 || cache[0] != 2 || cache[1] != key.batch || cache[2] != key.heads || cache[4] != key.size ||
      key.size != value.size)
    return call.Fail("the cache does not fit the keys");
  const double* before = past.data();
  for (Heads* part : {&key, &value}) {
    Heads all(part->batch, part->heads, steps + part->steps, part->size);
    ForEachStep(all, [&](int64_t b, int64_t h, int64_t s) {
      const double* from =
          s < steps ? before + ((b * all.heads + h) * cache[3] + s) * all.size : part->At(b, h, s - steps);
      std::copy_n(from, all.size, all.At(b, h, s));
    });
    *part = std::move(all);
    before += past.size() / 2;
  }
  return {};
}

// Turns queries and keys by their positions, which follow the past. The angles are those of the operator, not inputs.
Status RotateByPosition(const OnnxCall& call, int64_t begin, Heads& query, Heads& key) {
  if (call.Int("do_rotary") == 0) return {};
  const int64_t given = call.Int("rotary_embedding_dim");
  const int64_t size = given > 0 ? given : query.size;
  if (size % 2 != 0 || size > query.size) return call.Fail("the size of the rotary embedding does not fit the heads");
  constexpr double kBase = 10000;
  Rotation rotation;
  rotation.half = size / 2;
  for (int64_t position = begin; position < begin + query.steps; ++position) {
    for (int64_t i = 0; i < rotation.half; ++i) {
      const double angle =
          static_cast<double>(position) / std::pow(kBase, static_cast<double>(2 * i) / static_cast<double>(size));
      rotation.cosines.push_back(std::cos(angle));
      rotation.sines.push_back(std::sin(angle));
    }
  }
  const auto row_of = [](int64_t, int64_t s) { return s; };
  IROPT_RETURN_IF_ERROR(RotateAll(call, rotation, query, false, row_of));
  return RotateAll(call, rotation, key, false, row_of);
}

// Keys and values in a cache [2, batch, heads, length, size], after the steps of the old one; what is not written
// stays.
Result<HostValue> PresentOf(const OnnxCall& call, size_t past, const Heads& key, const Heads& value, DataType dtype) {
  if (key.size != value.size) return call.Fail("keys and values differ in size");
  const bool is_shared = call.Int("past_present_share_buffer") != 0 && call.Has(past);
  const int64_t length = is_shared ? call.Shape(past)[3] : key.steps;
  if (length < key.steps) return call.Fail("the cache is too short");
  const int64_t shape[] = {2, key.batch, key.heads, length, key.size};
  std::vector<double> numbers;
  if (is_shared) {
    IROPT_ASSIGN_OR_RETURN(numbers, call.NumbersIn(past));
  } else {
    numbers.resize(2 * key.numbers.size());
  }
  double* half = numbers.data();
  for (const Heads* part : {&key, &value}) {
    ForEachStep(*part, [&](int64_t b, int64_t h, int64_t s) {
      std::copy_n(part->At(b, h, s), part->size, half + ((b * part->heads + h) * length + s) * part->size);
    });
    half += numbers.size() / 2;
  }
  return HostValue(FromNumbers(dtype, shape, numbers));
}

// The inputs that come after the weights, where the operators differ.
struct AttentionInputs {
  size_t mask;
  size_t past;
  size_t bias;   // of the scores
  size_t steps;  // the number of those of the past that count
};

Result<HostValue> AttendPacked(OnnxCall& call, const PackedProduct& product, const AttentionInputs& inputs,
                               DataType dtype) {
  const int64_t heads = call.Int("num_heads");
  Heads parts[3];
  int64_t first = 0;
  for (size_t i = 0; i < 3; ++i) {
    const int64_t width = product.widths[i];
    parts[i] = SplitHeads(product.numbers, product.batch, product.steps, heads, product.width, first, width / heads);
    first += width;
  }
  auto& [query, key, value] = parts;
  const int64_t before = StepsBefore(call, inputs.past, inputs.steps);
  IROPT_RETURN_IF_ERROR(RotateByPosition(call, before, query, key));
  IROPT_RETURN_IF_ERROR(PrependPast(call, inputs.past, before, key, value));
  IROPT_ASSIGN_OR_RETURN(const AttentionRule rule, ContribRule(call, query, key, inputs.mask, inputs.bias));
  IROPT_ASSIGN_OR_RETURN(const Attended result, Attend(call, query, key, value, rule));
  if (call.num_outputs() <= 1) return ResultOf(call, {JoinedTensor(dtype, result.y)});
  IROPT_ASSIGN_OR_RETURN(HostValue present, PresentOf(call, inputs.past, key, value, dtype));
  return ResultOf(call, {JoinedTensor(dtype, result.y), std::move(present)});
}

// data, weights, bias, mask, past keys and values, bias of the scores, steps of the past
Result<HostValue> RunContribAttention(OnnxCall& call) {
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> data, call.NumbersIn(0));
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> weights, call.NumbersIn(1));
  IROPT_ASSIGN_OR_RETURN(const PackedProduct product, PackedProductOf(call, data, weights));
  return AttendPacked(call, product, {.mask = 3, .past = 4, .bias = 5, .steps = 6}, call.Dtype(0));
}

// data, weights, bias, the scales of data and weights, mask, their zero points, past keys and values
Result<HostValue> RunQAttention(OnnxCall& call) {
  IROPT_ASSIGN_OR_RETURN(std::vector<double> data, Centered(call, 0, 6, true));
  IROPT_ASSIGN_OR_RETURN(std::vector<double> weights, Centered(call, 1, 7, false));
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> scales, call.NumbersIn(4));
  const std::span<const int64_t> shape = call.Shape(1);
  const auto columns = static_cast<size_t>(shape.empty() ? 1 : shape.back());
  if (scales.size() != 1 && scales.size() != columns) return call.Fail("the scale does not fit the weights");
  IROPT_ASSIGN_OR_RETURN(const double scale, OneNumber(call, 3, 1));
  for (double& value : data) value *= scale;
  for (size_t i = 0; i < weights.size(); ++i) weights[i] *= scales[scales.size() == 1 ? 0 : i % columns];
  IROPT_ASSIGN_OR_RETURN(const PackedProduct product, PackedProductOf(call, data, weights));
  constexpr size_t kNone = 9;
  return AttendPacked(call, product, {.mask = 5, .past = 8, .bias = kNone, .steps = kNone}, call.Dtype(3));
}

// Adds the part of a bias that begins at `first`, a number for each of all heads' columns.
void AddHeadBias(Heads& x, std::span<const double> bias, int64_t first) {
  if (bias.empty()) return;
  ForEachStep(x, [&](int64_t b, int64_t h, int64_t s) {
    for (int64_t d = 0; d < x.size; ++d) x.At(b, h, s)[d] += bias[static_cast<size_t>(first + h * x.size + d)];
  });
}

// The parts of a query that holds keys and values after it, or of keys that hold values.
struct QueryKeyValue {
  Heads query, key, value;
};

// Part `part` of a tensor [batch, steps, heads, parts, size].
Result<Heads> PartIn(const OnnxCall& call, size_t input, int64_t part, int64_t parts) {
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> x, call.NumbersIn(input));
  const std::span<const int64_t> shape = call.Shape(input);
  if (shape.size() != 5 || shape[3] != parts)
    return call.Fail(fmt::format("input {} does not hold {} parts", input, parts));
  Heads result(shape[0], shape[2], shape[1], shape[4]);
  ForEachStep(result, [&](int64_t b, int64_t h, int64_t s) {
    const int64_t at = (((b * shape[1] + s) * shape[2] + h) * parts + part) * shape[4];
    std::copy_n(x.data() + at, shape[4], result.At(b, h, s));
  });
  return result;
}

Result<QueryKeyValue> MultiHeadInputs(const OnnxCall& call) {
  const int64_t heads = call.Int("num_heads");
  QueryKeyValue inputs;
  if (!call.Has(1)) {
    IROPT_ASSIGN_OR_RETURN(inputs.query, PartIn(call, 0, 0, 3));
    IROPT_ASSIGN_OR_RETURN(inputs.key, PartIn(call, 0, 1, 3));
    IROPT_ASSIGN_OR_RETURN(inputs.value, PartIn(call, 0, 2, 3));
    return inputs;
  }
  IROPT_ASSIGN_OR_RETURN(inputs.query, HeadsIn(call, 0, heads));
  if (!call.Has(2)) {
    IROPT_ASSIGN_OR_RETURN(inputs.key, PartIn(call, 1, 0, 2));
    IROPT_ASSIGN_OR_RETURN(inputs.value, PartIn(call, 1, 1, 2));
    return inputs;
  }
  IROPT_ASSIGN_OR_RETURN(inputs.key, HeadsIn(call, 1, heads));
  IROPT_ASSIGN_OR_RETURN(inputs.value, HeadsIn(call, 2, heads));
  return inputs;
}

// Scores with a number for those of keys that are left out.
Heads WithoutMasked(Heads scores, double masked) {
  std::ranges::replace(scores.numbers, kMasked, masked);
  return scores;
}

// query, key, value, bias, mask of keys, bias of the scores, past key, past value
Result<HostValue> RunMultiHeadAttention(OnnxCall& call) {
  IROPT_ASSIGN_OR_RETURN(QueryKeyValue inputs, MultiHeadInputs(call));
  auto& [query, key, value] = inputs;
  if (call.Has(3)) {
    IROPT_ASSIGN_OR_RETURN(const std::vector<double> bias, call.NumbersIn(3));
    const int64_t widths[] = {query.heads * query.size, key.heads * key.size, value.heads * value.size};
    if (static_cast<int64_t>(bias.size()) != widths[0] + widths[1] + widths[2])
      return call.Fail("the bias does not fit query, key and value");
    AddHeadBias(query, bias, 0);
    // Keys and values that come from a cache have theirs already.
    const auto is_cached = [&](size_t input) { return call.Shape(input).size() == 4; };
    if (!is_cached(1)) AddHeadBias(key, bias, widths[0]);
    if (!is_cached(2)) AddHeadBias(value, bias, widths[0] + widths[1]);
  }
  IROPT_ASSIGN_OR_RETURN(key, Appended(call, 6, key));
  IROPT_ASSIGN_OR_RETURN(value, Appended(call, 7, value));
  IROPT_ASSIGN_OR_RETURN(AttentionRule rule, ContribRule(call, query, key, 4, 5));
  rule.kept_stage = 2;
  IROPT_ASSIGN_OR_RETURN(const Attended result, Attend(call, query, key, value, rule));
  const DataType dtype = call.Dtype(0);
  return ResultOf(call, {JoinedTensor(dtype, result.y), TensorOf(dtype, key), TensorOf(dtype, value),
                         TensorOf(dtype, WithoutMasked(result.scores, std::numeric_limits<float>::lowest()))});
}

// Steps written into a cache that has room for them, after those of the past.
Result<Heads> Written(const OnnxCall& call, size_t past, const Heads& now, const std::vector<int64_t>& begins,
                      int64_t length) {
  const int64_t shape[] = {now.batch, now.heads, length, now.size};
  IROPT_RETURN_IF_ERROR(call.CheckShape(shape));
  Heads cache(now.batch, now.heads, length, now.size);
  if (call.Has(past)) {
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

Result<QueryKeyValue> GroupedInputs(const OnnxCall& call) {
  const int64_t heads = call.Int("num_heads");
  const int64_t kv_heads = call.Int("kv_num_heads");
  QueryKeyValue parts;
  if (call.Has(1)) {
    IROPT_ASSIGN_OR_RETURN(parts.query, HeadsIn(call, 0, heads));
    IROPT_ASSIGN_OR_RETURN(parts.key, HeadsIn(call, 1, kv_heads));
    IROPT_ASSIGN_OR_RETURN(parts.value, HeadsIn(call, 2, kv_heads));
    return parts;
  }
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> x, call.NumbersIn(0));
  const std::span<const int64_t> shape = call.Shape(0);
  const int64_t all = heads + 2 * kv_heads;
  if (shape.size() != 3 || heads < 1 || kv_heads < 1 || shape[2] % all != 0)
    return call.Fail("the query cannot be split into heads");
  const int64_t size = shape[2] / all;
  parts.query = SplitHeads(x, shape[0], shape[1], heads, shape[2], 0, size);
  parts.key = SplitHeads(x, shape[0], shape[1], kv_heads, shape[2], heads * size, size);
  parts.value = SplitHeads(x, shape[0], shape[1], kv_heads, shape[2], (heads + kv_heads) * size, size);
  return parts;
}

// The scores of keys that are not there: one for each head, or 0.
Result<std::vector<double>> SinksIn(const OnnxCall& call, size_t input, int64_t heads) {
  std::vector<double> sinks;
  if (call.Has(input)) {
    IROPT_ASSIGN_OR_RETURN(sinks, call.NumbersIn(input));
    if (static_cast<int64_t>(sinks.size()) != heads) return call.Fail("there is not a sink for each head");
  } else if (call.Int("smooth_softmax") > 0) {
    sinks.assign(static_cast<size_t>(heads), 0);
  }
  return sinks;
}

// Turns queries and keys by their positions: those of an input, or those that follow the past.
Status RotateGrouped(const OnnxCall& call, const std::vector<int64_t>& begins, QueryKeyValue& parts) {
  if (call.Int("do_rotary") == 0) return {};
  IROPT_ASSIGN_OR_RETURN(const Rotation rotation, RotationIn(call, 7, 8));
  std::vector<int64_t> positions;
  const int64_t steps = parts.query.steps;
  if (call.Has(9)) {
    IROPT_ASSIGN_OR_RETURN(positions, call.IntsIn(9));
    if (static_cast<int64_t>(positions.size()) != parts.query.batch * steps)
      return call.Fail("there is not a position for each step");
  }
  const bool interleaved = call.Int("rotary_interleaved") != 0;
  const auto row_of = [&](int64_t b, int64_t s) {
    return positions.empty() ? begins[static_cast<size_t>(b)] + s : positions[static_cast<size_t>(b * steps + s)];
  };
  IROPT_RETURN_IF_ERROR(RotateAll(call, rotation, parts.query, interleaved, row_of));
  return RotateAll(call, rotation, parts.key, interleaved, row_of);
}

// query, key, value, past key, past value, lengths less 1, the greatest length, cosines, sines, positions, bias,
// sinks
Result<HostValue> RunGroupQueryAttention(OnnxCall& call) {
  IROPT_ASSIGN_OR_RETURN(QueryKeyValue parts, GroupedInputs(call));
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> lasts, call.NumbersIn(5));
  const int64_t total = call.IntIn(6, 0);
  const int64_t steps = parts.query.steps;
  if (call.num_inputs() > 12 || static_cast<int64_t>(lasts.size()) != parts.query.batch)
    return call.Fail("this form of the operator cannot be run");
  // The first steps have no past, even if shorter ones are padded.
  std::vector<int64_t> begins;
  for (const double last : lasts) begins.push_back(steps == total ? 0 : static_cast<int64_t>(last) + 1 - steps);
  IROPT_RETURN_IF_ERROR(RotateGrouped(call, begins, parts));
  const std::span<const int64_t> past = call.Shape(3);
  const int64_t room = past.size() == 4 ? past[2] : 0;
  const int64_t length = std::max(room, total);
  IROPT_ASSIGN_OR_RETURN(const Heads key, Written(call, 3, parts.key, begins, length));
  IROPT_ASSIGN_OR_RETURN(const Heads value, Written(call, 4, parts.value, begins, length));
  IROPT_ASSIGN_OR_RETURN(const ScoreBias bias, BiasIn(call, 10, parts.query));
  const int64_t window = call.Int("local_window_size", -1);
  AttentionRule rule{
      .scale = DefaultScale(call, parts.query.size), .softcap = call.Float("softcap"), .bias = {}, .kept_stage = 3};
  if (call.Int("qk_output") == 1) rule.kept_stage = 2;
  IROPT_ASSIGN_OR_RETURN(rule.sinks, SinksIn(call, 11, parts.query.heads));
  rule.bias = [&](int64_t b, int64_t h, int64_t s, int64_t t) {
    const int64_t at = begins[static_cast<size_t>(b)] + s;
    return t > at || (window >= 0 && t <= at - window) ? kMasked : bias.At(b, h, s, t);
  };
  IROPT_ASSIGN_OR_RETURN(const Attended result, Attend(call, parts.query, key, value, rule));
  const DataType dtype = call.Dtype(0);
  return ResultOf(call, {JoinedTensor(dtype, result.y), TensorOf(dtype, key), TensorOf(dtype, value),
                         TensorOf(dtype, WithoutMasked(result.scores, 0))});
}

constexpr KernelRow kContribAttentionKernels[] = {
    {"com.microsoft.Attention", "01", RunContribAttention},
    {"com.microsoft.GroupQueryAttention", "056", RunGroupQueryAttention},
    {"com.microsoft.MultiHeadAttention", "0", RunMultiHeadAttention},
    {"com.microsoft.QAttention", "01234", RunQAttention},
};

}  // namespace

std::span<const KernelRow> ContribAttentionKernels() { return kContribAttentionKernels; }

}  // namespace iropt::onnx
