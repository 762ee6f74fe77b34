// Vectors by batch, head and step, and attention on them, for the kernels of ONNX and of onnxruntime.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "exchange/onnx/run/onnx_call.h"

namespace iropt::onnx {

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

// Of [batch, steps, width]: `size` numbers for each head, from `first` on.
Heads SplitHeads(std::span<const double> x, int64_t batch, int64_t steps, int64_t heads, int64_t width, int64_t first,
                 int64_t size);
// An input [batch, steps, heads * size] or [batch, heads, steps, size].
Result<Heads> HeadsIn(const OnnxCall& call, size_t input, int64_t heads);
// The steps of a cache, and those after them.
Result<Heads> Appended(const OnnxCall& call, size_t past, const Heads& now);
// [batch, heads, steps, size]
HostValue TensorOf(DataType dtype, const Heads& x);
// [batch, steps, heads * size]
HostValue JoinedTensor(DataType dtype, const Heads& x);

// ---- Attention

inline constexpr double kMasked = -std::numeric_limits<double>::infinity();

// What is done to the scores of a query.
struct AttentionRule {
  double scale = 1;
  double softcap = 0;
  // What is added to the score of a key; masked keys get kMasked.
  std::function<double(int64_t batch, int64_t head, int64_t query, int64_t key)> bias;
  // The score, by head, of a key that is not there and has no value; none without such keys.
  std::vector<double> sinks = {};
  // The stage of which the scores are kept: the product, with the cap, with the bias, the probabilities.
  int64_t kept_stage = 0;
};

// Makes weights of scores, in their order; zeros if all keys are masked. `sink` is the score of one more key.
void SoftmaxOf(std::span<double> row, double sink);
// The sums of values by the weights of each query.
Heads Weighted(const Heads& weights, const Heads& value);

struct Attended {
  Heads y;
  Heads scores;
};

Result<Attended> Attend(const OnnxCall& call, const Heads& query, const Heads& key, const Heads& value,
                        const AttentionRule& rule);
// The attribute, or the inverse of the root of the size of a head.
double DefaultScale(const OnnxCall& call, int64_t size);

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

Result<ScoreBias> BiasIn(const OnnxCall& call, size_t input, const Heads& query);

// ---- Rotary embeddings

// Turns pairs of the first `size` numbers of a vector: neighbours, or those of its halves.
inline void Rotate(double* x, const double* cosines, const double* sines, int64_t size, bool interleaved) {
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

Result<Rotation> RotationIn(const OnnxCall& call, size_t cosines, size_t sines);

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

}  // namespace iropt::onnx
