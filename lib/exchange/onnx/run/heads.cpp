#include "exchange/onnx/run/heads.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "exchange/onnx/run/numbers.h"

namespace iropt::onnx {

Heads SplitHeads(std::span<const double> x, int64_t batch, int64_t steps, int64_t heads, int64_t width, int64_t first,
                 int64_t size) {
  Heads result(batch, heads, steps, size);
  ForEachStep(result, [&](int64_t b, int64_t h, int64_t s) {
    std::copy_n(x.data() + (b * steps + s) * width + first + h * size, size, result.At(b, h, s));
  });
  return result;
}

namespace {

std::vector<double> JoinHeads(const Heads& x) {
  std::vector<double> result(x.numbers.size());
  ForEachStep(x, [&](int64_t b, int64_t h, int64_t s) {
    std::copy_n(x.At(b, h, s), x.size, result.data() + ((b * x.steps + s) * x.heads + h) * x.size);
  });
  return result;
}

}  // namespace

Result<Heads> HeadsIn(const OnnxCall& call, size_t input, int64_t heads) {
  IROPT_ASSIGN_OR_RETURN(std::vector<double> x, call.NumbersIn(input));
  const std::span<const int64_t> shape = call.Shape(input);
  if (shape.size() == 4) {
    Heads result(shape[0], shape[1], shape[2], shape[3]);
    result.numbers = std::move(x);
    return result;
  }
  if (shape.size() != 3 || heads < 1 || shape[2] % heads != 0)
    return call.Fail(fmt::format("input {} cannot be split into {} heads", input, heads));
  return SplitHeads(x, shape[0], shape[1], heads, shape[2], 0, shape[2] / heads);
}

Result<Heads> Appended(const OnnxCall& call, size_t past, const Heads& now) {
  if (!call.Has(past)) return now;
  IROPT_ASSIGN_OR_RETURN(const Heads before, HeadsIn(call, past, now.heads));
  if (before.batch != now.batch || before.heads != now.heads || before.size != now.size)
    return call.Fail("the cache does not fit the keys");
  Heads all(now.batch, now.heads, before.steps + now.steps, now.size);
  ForEachStep(all, [&](int64_t b, int64_t h, int64_t s) {
    std::copy_n(s < before.steps ? before.At(b, h, s) : now.At(b, h, s - before.steps), all.size, all.At(b, h, s));
  });
  return all;
}

HostValue TensorOf(DataType dtype, const Heads& x) { return FromNumbers(dtype, x.shape(), x.numbers); }

HostValue JoinedTensor(DataType dtype, const Heads& x) {
  const int64_t shape[] = {x.batch, x.steps, x.heads * x.size};
  return FromNumbers(dtype, shape, JoinHeads(x));
}

// ---- Attention

void SoftmaxOf(std::span<double> row, double sink) {
  double greatest = sink;
  for (const double value : row) greatest = std::max(greatest, value);
  double sum = sink == kMasked ? 0 : std::exp(sink - greatest);
  for (double& value : row) sum += value = greatest == kMasked ? 0 : std::exp(value - greatest);
  for (double& value : row) value = sum == 0 ? 0 : value / sum;
}

Heads Weighted(const Heads& weights, const Heads& value) {
  Heads y(weights.batch, weights.heads, weights.steps, value.size);
  const int64_t shared = weights.heads / std::max<int64_t>(1, value.heads);
  ForEachStep(weights, [&](int64_t b, int64_t h, int64_t s) {
    double* row = y.At(b, h, s);
    for (int64_t t = 0; t < value.steps; ++t) {
      const double* v = value.At(b, h / shared, t);
      for (int64_t d = 0; d < value.size; ++d) row[d] += weights.At(b, h, s)[t] * v[d];
    }
  });
  return y;
}

Result<Attended> Attend(const OnnxCall& call, const Heads& query, const Heads& key, const Heads& value,
                        const AttentionRule& rule) {
  const bool fits = key.heads > 0 && query.heads % key.heads == 0 && query.size == key.size &&
                    key.heads == value.heads && key.steps == value.steps && query.batch == key.batch &&
                    key.batch == value.batch;
  if (!fits) return call.Fail("query, key and value do not fit each other");
  const int64_t scores[] = {query.batch, query.heads, query.steps, key.steps};
  IROPT_RETURN_IF_ERROR(call.CheckShape(scores));
  Heads weights(query.batch, query.heads, query.steps, key.steps);
  Heads kept = weights;
  const int64_t shared = query.heads / key.heads;
  ForEachStep(query, [&](int64_t b, int64_t h, int64_t s) {
    const std::span<double> row(weights.At(b, h, s), static_cast<size_t>(key.steps));
    const auto keep = [&](int64_t stage) {
      if (stage == rule.kept_stage) std::ranges::copy(row, kept.At(b, h, s));
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
    double sink = kMasked;
    if (!rule.sinks.empty()) sink = rule.sinks[static_cast<size_t>(h)];
    SoftmaxOf(row, sink);
    keep(3);
  });
  return Attended{Weighted(weights, value), std::move(kept)};
}

double DefaultScale(const OnnxCall& call, int64_t size) {
  const double given = call.Float("scale");
  return given != 0 ? given : 1 / std::sqrt(static_cast<double>(size));
}

Result<ScoreBias> BiasIn(const OnnxCall& call, size_t input, const Heads& query) {
  ScoreBias bias;
  if (!call.Has(input)) return bias;
  IROPT_ASSIGN_OR_RETURN(bias.numbers, call.NumbersIn(input));
  bias.keeps = call.Dtype(input).is_bool();
  bias.shape.assign(call.Shape(input).begin(), call.Shape(input).end());
  if (bias.shape.empty() || bias.shape.size() > 4) return call.Fail("the mask has an unknown form");
  bias.shape.insert(bias.shape.begin(), 4 - bias.shape.size(), 1);
  const int64_t sizes[] = {query.batch, query.heads, query.steps};
  for (size_t i = 0; i < 3; ++i) {
    if (bias.shape[i] != 1 && bias.shape[i] != sizes[i]) return call.Fail("the mask does not fit the queries");
  }
  return bias;
}

Result<Rotation> RotationIn(const OnnxCall& call, size_t cosines, size_t sines) {
  Rotation rotation;
  IROPT_ASSIGN_OR_RETURN(rotation.cosines, call.NumbersIn(cosines));
  IROPT_ASSIGN_OR_RETURN(rotation.sines, call.NumbersIn(sines));
  const std::span<const int64_t> shape = call.Shape(cosines);
  if (shape.size() < 2 || rotation.cosines.size() != rotation.sines.size())
    return call.Fail("the caches of cosines and sines do not fit each other");
  rotation.half = shape.back();
  return rotation;
}

}  // namespace iropt::onnx
