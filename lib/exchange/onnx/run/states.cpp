// Operators that carry a state from step to step: linear attention, and causal convolutions of channels.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "exchange/onnx/run/heads.h"
#include "exchange/onnx/run/kernels.h"
#include "exchange/onnx/run/numbers.h"

namespace iropt::onnx {

namespace {

// ---- Linear attention

// How a step changes the state, a matrix for each head of keys.
struct UpdateRule {
  bool decays = false;
  bool corrects = false;  // by what the state has for the key
};

Result<UpdateRule> UpdateRuleOf(const OnnxCall& call) {
  const std::string_view name = call.String("update_rule", "gated_delta");
  if (name == "linear") return UpdateRule{};
  if (name == "gated") return UpdateRule{.decays = true};
  if (name == "delta") return UpdateRule{.corrects = true};
  if (name == "gated_delta") return UpdateRule{.decays = true, .corrects = true};
  return call.Fail(fmt::format("the rule '{}' is not known", name));
}

// Factors of a step: one for each number of a head, each head, or all heads.
Result<Heads> FactorsIn(const OnnxCall& call, size_t input, bool is_used, const Heads& key, bool for_all) {
  if (!is_used) return Heads();
  IROPT_ASSIGN_OR_RETURN(const Tensor factors, call.TensorIn(input));
  const std::span<const int64_t> shape = factors->shape();
  const int64_t heads = for_all && shape.size() == 3 && shape[2] == 1 ? 1 : key.heads;
  IROPT_ASSIGN_OR_RETURN(Heads result, HeadsIn(call, input, heads));
  const bool fits = shape.size() == 3 && result.batch == key.batch && result.steps == key.steps &&
                    (result.size == 1 || result.size == key.size);
  if (!fits) return call.Fail(fmt::format("input {} does not fit the keys", input));
  return result;
}

// The states by batch and head, a row for each number of a key.
Result<Heads> FirstStates(const OnnxCall& call, const Heads& key, const Heads& value) {
  if (!call.Has(3)) return Heads(key.batch, key.heads, key.size, value.size);
  IROPT_ASSIGN_OR_RETURN(Heads states, HeadsIn(call, 3, 0));
  const int64_t expected[] = {key.batch, key.heads, key.size, value.size};
  if (!std::ranges::equal(states.shape(), expected)) return call.Fail("the state does not fit the keys");
  return states;
}

struct Recurrence {
  UpdateRule rule;
  Heads key, value, decay, beta, states;

  // Of one head at one step.
  void Step(int64_t b, int64_t h, int64_t step) {
    const double* k = key.At(b, h, step);
    std::vector<double> v(value.At(b, h, step), value.At(b, h, step) + value.size);
    for (int64_t i = 0; rule.decays && i < key.size; ++i) {
      const double factor = std::exp(decay.At(b, h, step)[decay.size == 1 ? 0 : i]);
      std::ranges::for_each(Row(b, h, i), [&](double& number) { number *= factor; });
    }
    for (int64_t m = 0; rule.corrects && m < value.size; ++m) {
      double known = 0;
      for (int64_t i = 0; i < key.size; ++i) known += states.At(b, h, i)[m] * k[i];
      double& number = v[static_cast<size_t>(m)];
      number = *beta.At(b, beta.heads == 1 ? 0 : h, step) * (number - known);
    }
    for (int64_t i = 0; i < key.size; ++i) {
      for (int64_t m = 0; m < value.size; ++m) states.At(b, h, i)[m] += k[i] * v[static_cast<size_t>(m)];
    }
  }

  std::span<double> Row(int64_t b, int64_t h, int64_t i) {
    return {states.At(b, h, i), static_cast<size_t>(states.size)};
  }
};

Result<HostValue> RunLinearAttention(OnnxCall& call) {
  const int64_t query_heads = call.Int("q_num_heads");
  IROPT_ASSIGN_OR_RETURN(const UpdateRule rule, UpdateRuleOf(call));
  IROPT_ASSIGN_OR_RETURN(const Heads query, HeadsIn(call, 0, query_heads));
  IROPT_ASSIGN_OR_RETURN(Heads key, HeadsIn(call, 1, call.Int("kv_num_heads")));
  IROPT_ASSIGN_OR_RETURN(Heads value, HeadsIn(call, 2, call.Int("kv_num_heads")));
  const bool fits = key.heads > 0 && query.heads % key.heads == 0 && query.size == key.size &&
                    key.heads == value.heads && query.steps == key.steps && key.steps == value.steps &&
                    query.batch == key.batch && key.batch == value.batch;
  if (!fits) return call.Fail("query, key and value do not fit each other");
  IROPT_ASSIGN_OR_RETURN(Heads decay, FactorsIn(call, 4, rule.decays, key, false));
  IROPT_ASSIGN_OR_RETURN(Heads beta, FactorsIn(call, 5, rule.corrects, key, true));
  if (rule.corrects && beta.size != 1) return call.Fail("there is not one rate for each head");
  IROPT_ASSIGN_OR_RETURN(Heads states, FirstStates(call, key, value));
  Recurrence net{rule, std::move(key), std::move(value), std::move(decay), std::move(beta), std::move(states)};
  const double scale = DefaultScale(call, query.size);
  const int64_t shared = query.heads / net.key.heads;
  Heads y(query.batch, query.heads, query.steps, net.value.size);
  for (int64_t step = 0; step < query.steps; ++step) {
    for (int64_t b = 0; b < query.batch; ++b) {
      for (int64_t h = 0; h < net.key.heads; ++h) net.Step(b, h, step);
      for (int64_t h = 0; h < query.heads; ++h) {
        for (int64_t i = 0; i < query.size; ++i) {
          const double factor = scale * query.At(b, h, step)[i];
          const double* row = net.states.At(b, h / shared, i);
          for (int64_t m = 0; m < y.size; ++m) y.At(b, h, step)[m] += factor * row[m];
        }
      }
    }
  }
  const DataType dtype = call.Dtype(0);
  return ResultOf(call, {JoinedTensor(dtype, y), TensorOf(call.Dtype(3, dtype), net.states)});
}

// ---- Causal convolutions

// [batch, channels, steps] after the steps of the state, or zeros.
Result<HostValue> RunCausalConvWithState(OnnxCall& call) {
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> x, call.NumbersIn(0));
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> weight, call.NumbersIn(1));
  const std::span<const int64_t> shape = call.Shape(0);
  const std::span<const int64_t> taps = call.Shape(1);
  if (shape.size() != 3 || taps.size() != 3 || taps[0] != shape[1] || taps[1] != 1 || taps[2] < 1)
    return call.Fail("the kernel does not fit the data");
  const int64_t channels = shape[1];
  const int64_t length = shape[2];
  const int64_t before = taps[2] - 1;
  const int64_t state_shape[] = {shape[0], channels, before};
  std::vector<double> bias(static_cast<size_t>(channels));
  std::vector<double> past(static_cast<size_t>(Product(state_shape)));
  if (call.Has(2)) {
    IROPT_ASSIGN_OR_RETURN(bias, call.NumbersIn(2));
  }
  if (call.Has(3)) {
    IROPT_ASSIGN_OR_RETURN(past, call.NumbersIn(3));
  }
  if (static_cast<int64_t>(bias.size()) != channels || static_cast<int64_t>(past.size()) != Product(state_shape))
    return call.Fail("the bias or the state does not fit the data");
  const std::string_view activation = call.String("activation", "none");
  if (activation != "none" && activation != "silu" && activation != "swish")
    return call.Fail(fmt::format("the activation '{}' is not known", activation));
  std::vector<double> y;
  std::vector<double> state;
  for (int64_t row = 0; row < shape[0] * channels; ++row) {
    const int64_t channel = row % channels;
    std::vector<double> all(past.begin() + row * before, past.begin() + (row + 1) * before);
    all.insert(all.end(), x.begin() + row * length, x.begin() + (row + 1) * length);
    for (int64_t i = 0; i < length; ++i) {
      double sum = bias[static_cast<size_t>(channel)];
      for (int64_t k = 0; k <= before; ++k)
        sum += all[static_cast<size_t>(i + k)] * weight[static_cast<size_t>(channel * (before + 1) + k)];
      y.push_back(activation == "none" ? sum : sum / (1 + std::exp(-sum)));
    }
    state.insert(state.end(), all.end() - before, all.end());
  }
  const DataType dtype = call.Dtype(0);
  return ResultOf(call, {FromNumbers(dtype, shape, y), FromNumbers(dtype, state_shape, state)});
}

constexpr KernelRow kStateKernels[] = {
    {"CausalConvWithState", "01", RunCausalConvWithState},
    {"LinearAttention", "012", RunLinearAttention},
};

}  // namespace

std::span<const KernelRow> StateKernels() { return kStateKernels; }

}  // namespace iropt::onnx
