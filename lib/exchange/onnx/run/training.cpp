// Optimizers of ai.onnx.preview.training, and the vectorizer of n-grams.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "exchange/onnx/run/kernels.h"
#include "exchange/onnx/run/numbers.h"

namespace iropt::onnx {

namespace {

// ---- Optimizers: the rate, the number of updates so far, then groups of tensors (weights, gradients, states), each
// for all weights.

struct OptimizerInputs {
  double rate = 0;
  double updates = 0;
  size_t weights = 0;
  std::vector<std::vector<std::vector<double>>> groups;
};

Result<OptimizerInputs> ReadOptimizer(const OnnxCall& call, size_t groups) {
  OptimizerInputs inputs{call.NumberIn(0, 0), call.NumberIn(1, 0), 0, {}};
  if (call.num_inputs() < 2 || (call.num_inputs() - 2) % groups != 0)
    return call.Fail("the inputs are not groups of tensors");
  inputs.weights = (call.num_inputs() - 2) / groups;
  for (size_t g = 0; g < groups; ++g) {
    std::vector<std::vector<double>>& group = inputs.groups.emplace_back();
    for (size_t i = 0; i < inputs.weights; ++i) {
      IROPT_ASSIGN_OR_RETURN(std::vector<double> numbers, call.NumbersIn(2 + g * inputs.weights + i));
      if (g > 0 && numbers.size() != inputs.groups[0][i].size())
        return call.Fail("tensors of one weight have several sizes");
      group.push_back(std::move(numbers));
    }
  }
  return inputs;
}

// The new weights and states: `update` gets the numbers of one element, the gradient with its regularization.
template <class F>
Result<HostValue> UpdateWeights(OnnxCall& call, size_t groups, F&& update) {
  IROPT_ASSIGN_OR_RETURN(OptimizerInputs inputs, ReadOptimizer(call, groups));
  const double norm = call.Float("norm_coefficient");
  for (size_t i = 0; i < inputs.weights; ++i) {
    for (size_t k = 0; k < inputs.groups[0][i].size(); ++k) {
      std::vector<double*> element;
      for (std::vector<std::vector<double>>& group : inputs.groups) element.push_back(&group[i][k]);
      *element[1] += norm * *element[0];
      update(inputs, element);
    }
  }
  std::vector<HostValue> results;
  for (size_t g = 0; g < groups; ++g) {
    if (g == 1) continue;  // the gradients
    for (size_t i = 0; i < inputs.weights; ++i) {
      const size_t old = 2 + g * inputs.weights + i;
      results.emplace_back(FromNumbers(call.Dtype(old), call.Shape(old), inputs.groups[g][i]));
    }
  }
  return ResultOf(call, std::move(results));
}

Result<HostValue> RunAdagrad(OnnxCall& call) {
  return UpdateWeights(call, 3, [&](const OptimizerInputs& inputs, const std::vector<double*>& element) {
    const double rate = inputs.rate / (1 + inputs.updates * call.Float("decay_factor"));
    *element[2] += *element[1] * *element[1];
    *element[0] -= rate * *element[1] / (std::sqrt(*element[2]) + call.Float("epsilon", 1e-6));
  });
}

Result<HostValue> RunAdam(OnnxCall& call) {
  return UpdateWeights(call, 4, [&](const OptimizerInputs& inputs, const std::vector<double*>& element) {
    const double alpha = call.Float("alpha", 0.9);
    const double beta = call.Float("beta", 0.999);
    const double gradient = *element[1];
    *element[2] = alpha * *element[2] + (1 - alpha) * gradient;
    *element[3] = beta * *element[3] + (1 - beta) * gradient * gradient;
    double rate = inputs.rate;
    if (inputs.updates > 0)
      rate *= std::sqrt(1 - std::pow(beta, inputs.updates)) / (1 - std::pow(alpha, inputs.updates));
    *element[0] -= rate * *element[2] / (std::sqrt(*element[3]) + call.Float("epsilon", 1e-6));
    *element[0] *= 1 - call.Float("norm_coefficient_post");
  });
}

Result<HostValue> RunMomentum(OnnxCall& call) {
  return UpdateWeights(call, 3, [&](const OptimizerInputs& inputs, const std::vector<double*>& element) {
    const double alpha = call.Float("alpha");
    const double beta = inputs.updates > 0 ? call.Float("beta") : 1;
    *element[2] = alpha * *element[2] + beta * *element[1];
    const double step = call.String("mode") == "nesterov" ? *element[1] + alpha * *element[2] : *element[2];
    *element[0] -= inputs.rate * step;
  });
}

// ---- TfIdfVectorizer

struct NGrams {
  std::vector<int64_t> pool, starts, places;
  std::vector<double> weights;
  int64_t shortest = 1, longest = 1, most_skips = 0, size = 0;
  std::string_view mode;
};

Result<NGrams> ReadNGrams(const OnnxCall& call) {
  NGrams grams{call.Ints("pool_int64s"),
               call.Ints("ngram_counts"),
               call.Ints("ngram_indexes"),
               call.Floats("weights"),
               call.Int("min_gram_length", 1),
               call.Int("max_gram_length", 1),
               call.Int("max_skip_count"),
               0,
               call.String("mode")};
  for (const int64_t place : grams.places) {
    if (place < 0 || place > INT32_MAX) return call.Fail("an index of an n-gram is out of range");
    grams.size = std::max(grams.size, place + 1);
  }
  int64_t before = 0;
  for (const int64_t start : grams.starts) {
    if (start < before || start > static_cast<int64_t>(grams.pool.size()))
      return call.Fail("the counts of n-grams are not in order");
    before = start;
  }
  if (grams.shortest < 1 || grams.longest < grams.shortest || grams.most_skips < 0)
    return call.Fail("a length of n-grams is out of range");
  return grams;
}

// Adds the number of occurrences of each n-gram of a length in a row of words.
Status CountNGrams(const OnnxCall& call, const NGrams& grams, std::span<const double> words,
                   std::vector<double>& counts) {
  size_t number = 0;  // of the n-gram in the pool
  for (size_t length = 1; length <= grams.starts.size(); ++length) {
    const auto begin = static_cast<size_t>(grams.starts[length - 1]);
    const size_t end = length < grams.starts.size() ? static_cast<size_t>(grams.starts[length]) : grams.pool.size();
    for (size_t at = begin; at + length <= end; at += length, ++number) {
      if (number >= grams.places.size()) return call.Fail("there are more n-grams than indices");
      if (static_cast<int64_t>(length) < grams.shortest || static_cast<int64_t>(length) > grams.longest) continue;
      // A single word has no distance to skip.
      for (int64_t skip = 0; skip <= (length == 1 ? 0 : grams.most_skips); ++skip) {
        const size_t step = static_cast<size_t>(skip) + 1;
        for (size_t i = 0; i + (length - 1) * step < words.size(); ++i) {
          bool same = true;
          for (size_t k = 0; same && k < length; ++k)
            same = words[i + k * step] == static_cast<double>(grams.pool[at + k]);
          if (same) ++counts[static_cast<size_t>(grams.places[number])];
        }
      }
    }
  }
  return {};
}

Result<HostValue> RunTfIdfVectorizer(OnnxCall& call) {
  IROPT_ASSIGN_OR_RETURN(const NGrams grams, ReadNGrams(call));
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> x, call.NumbersIn(0));
  const std::span<const int64_t> shape = call.Shape(0);
  if (shape.empty() || shape.size() > 2) return call.Fail("the input must be a row of words, or several");
  const int64_t rows = shape.size() == 1 ? 1 : shape[0];
  std::vector<double> y;
  for (int64_t row = 0; row < rows; ++row) {
    std::vector<double> counts(static_cast<size_t>(grams.size));
    const auto words = std::span(x).subspan(static_cast<size_t>(row * shape.back()), static_cast<size_t>(shape.back()));
    IROPT_RETURN_IF_ERROR(CountNGrams(call, grams, words, counts));
    for (size_t i = 0; grams.mode != "TF" && i < counts.size(); ++i) {
      // The weight of a place is that of the n-gram that has it.
      const auto place = std::ranges::find(grams.places, static_cast<int64_t>(i));
      const auto number = static_cast<size_t>(place - grams.places.begin());
      const double weight = number < grams.weights.size() ? grams.weights[number] : 1;
      counts[i] = grams.mode == "IDF" && counts[i] != 0 ? weight : counts[i] * weight;
    }
    y.insert(y.end(), counts.begin(), counts.end());
  }
  std::vector<int64_t> result(shape.begin(), shape.end());
  result.back() = grams.size;
  return HostValue(FromNumbers(DataType::Float(32), result, y));
}

constexpr KernelRow kTrainingKernels[] = {
    {"TfIdfVectorizer", "0", RunTfIdfVectorizer},
    {"ai.onnx.preview.training.Adagrad", "01", RunAdagrad},
    {"ai.onnx.preview.training.Adam", "01", RunAdam},
    {"ai.onnx.preview.training.Momentum", "01", RunMomentum},
};

}  // namespace

std::span<const KernelRow> TrainingKernels() { return kTrainingKernels; }

}  // namespace iropt::onnx
