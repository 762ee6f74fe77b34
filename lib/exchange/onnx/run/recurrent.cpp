// RNN, GRU and LSTM, by the equations of the standard.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "exchange/onnx/run/kernels.h"
#include "exchange/onnx/run/numbers.h"
#include "exchange/onnx/run/quantized.h"

namespace iropt::onnx {

namespace {

using Row = std::vector<double>;

// An activation with its parameters, of which some have none.
struct Activation {
  std::string_view name;
  double (*function)(double x, double alpha, double beta);
  std::optional<double> alpha = std::nullopt;
  std::optional<double> beta = std::nullopt;
  double operator()(double x) const { return function(x, alpha.value_or(0), beta.value_or(0)); }
};

// With the parameters that are not given.
constexpr Activation kActivations[] = {
    {"Affine", [](double x, double alpha, double beta) { return alpha * x + beta; }, 1, 0},
    {"Elu", [](double x, double alpha, double) { return x < 0 ? alpha * (std::exp(x) - 1) : x; }, 1},
    {"HardSigmoid", [](double x, double alpha, double beta) { return std::clamp(alpha * x + beta, 0.0, 1.0); }, 0.2,
     0.5},
    {"LeakyRelu", [](double x, double alpha, double) { return x < 0 ? alpha * x : x; }, 0.01},
    {"Relu", [](double x, double, double) { return std::max(x, 0.0); }},
    {"ScaledTanh", [](double x, double alpha, double beta) { return alpha * std::tanh(beta * x); }, 0, 0},
    {"Sigmoid", [](double x, double, double) { return 1 / (1 + std::exp(-x)); }},
    {"Softplus", [](double x, double, double) { return std::log1p(std::exp(x)); }},
    {"Softsign", [](double x, double, double) { return x / (1 + std::abs(x)); }},
    {"Tanh", [](double x, double, double) { return std::tanh(x); }},
    {"ThresholdedRelu", [](double x, double alpha, double) { return x > alpha ? x : 0; }, 1},
};

// The operands of one of the operators as numbers; W, R and B of one direction at a time.
struct Network {
  int64_t steps, batch, input, hidden, directions, gates;
  Row x, w, r, b, first_h, first_c, peepholes;
  std::vector<int64_t> lengths;  // of the sequences
  std::vector<Activation> activations;
  double clip = 0;  // 0: no limit
  bool batch_first = false;
  bool is_quantized = false;  // the input and the states are rounded to numbers of uint8 for products
  DataType dtype;

  double X(int64_t step, int64_t n, int64_t i) const {
    return x[static_cast<size_t>(batch_first ? (n * steps + step) * input + i : (step * batch + n) * input + i)];
  }
  // x W^T of gate `g` with the bias of the input.
  double FromInput(int64_t d, int64_t g, int64_t step, int64_t n, int64_t k) const {
    const int64_t row = (d * gates + g) * hidden + k;
    double sum = b.empty() ? 0 : b[static_cast<size_t>((d * 2 * gates + g) * hidden + k)];
    for (int64_t i = 0; i < input; ++i) sum += X(step, n, i) * w[static_cast<size_t>(row * input + i)];
    return sum;
  }
  // h R^T of gate `g`, without a bias.
  double FromState(int64_t d, int64_t g, const Row& h, int64_t k) const {
    const int64_t row = (d * gates + g) * hidden + k;
    double sum = 0;
    for (int64_t i = 0; i < hidden; ++i) sum += h[static_cast<size_t>(i)] * r[static_cast<size_t>(row * hidden + i)];
    return sum;
  }
  double StateBias(int64_t d, int64_t g, int64_t k) const {
    return b.empty() ? 0 : b[static_cast<size_t>((d * 2 * gates + gates + g) * hidden + k)];
  }
  double Peephole(int64_t d, int64_t g, int64_t k) const {
    return peepholes.empty() ? 0 : peepholes[static_cast<size_t>((d * 3 + g) * hidden + k)];
  }
  double Limit(double value) const { return clip > 0 ? std::clamp(value, -clip, clip) : value; }
  const Activation& F(int64_t d, int64_t i) const {
    return activations[static_cast<size_t>(d) * (activations.size() / static_cast<size_t>(directions)) +
                       static_cast<size_t>(i)];
  }
  bool IsReverse(int64_t d, std::string_view direction) const { return direction == "reverse" || d == 1; }
};

// The numbers that numbers of uint8 with the range of all of them stand for.
void RoundToBytes(std::span<double> x) {
  const DynamicRange range = QuantizeDynamically(x);
  for (size_t i = 0; i < x.size(); ++i) x[i] = (range.numbers[i] - range.zero) * range.scale;
}

// One step of one sequence in one direction: the new states from the old ones.
using StepFunction = void (*)(const OnnxCall& call, const Network& net, int64_t d, int64_t step, int64_t n, Row& h,
                              Row& c);

void StepRnn(const OnnxCall& /*call*/, const Network& net, int64_t d, int64_t step, int64_t n, Row& h, Row& /*c*/) {
  Row next(h.size());
  for (int64_t k = 0; k < net.hidden; ++k) {
    const double sum = net.FromInput(d, 0, step, n, k) + net.FromState(d, 0, h, k) + net.StateBias(d, 0, k);
    next[static_cast<size_t>(k)] = net.F(d, 0)(net.Limit(sum));
  }
  h = std::move(next);
}

// Gates z, r, h.
void StepGru(const OnnxCall& call, const Network& net, int64_t d, int64_t step, int64_t n, Row& h, Row& /*c*/) {
  Row z(h.size());
  Row reset(h.size());
  for (int64_t k = 0; k < net.hidden; ++k) {
    const auto gate = [&](int64_t g) {
      return net.F(d,
                   0)(net.Limit(net.FromInput(d, g, step, n, k) + net.FromState(d, g, h, k) + net.StateBias(d, g, k)));
    };
    z[static_cast<size_t>(k)] = gate(0);
    reset[static_cast<size_t>(k)] = gate(1);
  }
  const bool reset_after = call.Int("linear_before_reset") != 0;
  Row scaled = h;
  for (size_t k = 0; k < h.size(); ++k) scaled[k] *= reset[k];
  Row next(h.size());
  for (int64_t k = 0; k < net.hidden; ++k) {
    const auto at = static_cast<size_t>(k);
    const double state = reset_after ? reset[at] * (net.FromState(d, 2, h, k) + net.StateBias(d, 2, k))
                                     : net.FromState(d, 2, scaled, k) + net.StateBias(d, 2, k);
    const double candidate = net.F(d, 1)(net.Limit(net.FromInput(d, 2, step, n, k) + state));
    next[at] = (1 - z[at]) * candidate + z[at] * h[at];
  }
  h = std::move(next);
}

// Gates i, o, f, c.
void StepLstm(const OnnxCall& call, const Network& net, int64_t d, int64_t step, int64_t n, Row& h, Row& c) {
  const bool couples = call.Int("input_forget") != 0;
  Row next_h(h.size());
  Row next_c(c.size());
  for (int64_t k = 0; k < net.hidden; ++k) {
    const auto at = static_cast<size_t>(k);
    const auto sum = [&](int64_t g) {
      return net.FromInput(d, g, step, n, k) + net.FromState(d, g, h, k) + net.StateBias(d, g, k);
    };
    const double input = net.F(d, 0)(net.Limit(sum(0) + net.Peephole(d, 0, k) * c[at]));
    const double forget = couples ? 1 - input : net.F(d, 0)(net.Limit(sum(2) + net.Peephole(d, 2, k) * c[at]));
    next_c[at] = forget * c[at] + input * net.F(d, 1)(net.Limit(sum(3)));
    const double output = net.F(d, 0)(net.Limit(sum(1) + net.Peephole(d, 1, k) * next_c[at]));
    next_h[at] = output * net.F(d, 2)(next_c[at]);
  }
  h = std::move(next_h);
  c = std::move(next_c);
}

// The activations take the numbers one after the other, each as many as it has parameters.
void TakeParameter(const Row& numbers, size_t& taken, std::optional<double>& parameter) {
  if (parameter && taken < numbers.size()) parameter = numbers[taken++];
}

Status ReadActivations(const OnnxCall& call, std::span<const std::string_view> defaults, Network& net) {
  std::vector<std::string_view> names = call.Strings("activations");
  if (names.empty()) {
    for (int64_t d = 0; d < net.directions; ++d) names.insert(names.end(), defaults.begin(), defaults.end());
  }
  if (names.size() != defaults.size() * static_cast<size_t>(net.directions))
    return call.Fail(fmt::format("has {} activations: expected {} for each direction", names.size(), defaults.size()));
  const Row alphas = call.Floats("activation_alpha");
  const Row betas = call.Floats("activation_beta");
  size_t num_alphas = 0;
  size_t num_betas = 0;
  for (const std::string_view name : names) {
    const auto* found = std::ranges::find(kActivations, name, &Activation::name);
    if (found == std::end(kActivations)) return call.Fail(fmt::format("unknown activation '{}'", name));
    Activation& activation = net.activations.emplace_back(*found);
    TakeParameter(alphas, num_alphas, activation.alpha);
    TakeParameter(betas, num_betas, activation.beta);
  }
  return {};
}

Status ReadOptional(const OnnxCall& call, size_t input, int64_t size, Row& row) {
  if (!call.Has(input)) return {};
  IROPT_ASSIGN_OR_RETURN(row, call.NumbersIn(input));
  if (row.size() == static_cast<size_t>(size)) return {};
  return call.Fail(fmt::format("input {} has {} elements: expected {}", input, row.size(), size));
}

// The weights of DynamicQuantizeLSTM, integers of shape [directions, columns, rows] with a scale and a zero point for
// each direction or each row, as those of LSTM: [directions, rows, columns].
Status ReadQuantized(const OnnxCall& call, size_t input, size_t scale_input, std::span<const int64_t> shape,
                     Row& weights) {
  IROPT_ASSIGN_OR_RETURN(const Row numbers, call.NumbersIn(input));
  IROPT_ASSIGN_OR_RETURN(const Row scales, call.NumbersIn(scale_input));
  IROPT_ASSIGN_OR_RETURN(const Row zeros, call.NumbersIn(scale_input + 1));
  const int64_t directions = shape[0], columns = shape[1], rows = shape[2];
  const auto fits = [&](const Row& parameter) {
    const auto count = static_cast<int64_t>(parameter.size());
    return count == directions || count == directions * rows;
  };
  if (!fits(scales) || !fits(zeros)) return call.Fail("the scales or zero points do not fit the weights");
  const auto at = [&](const Row& parameter, int64_t d, int64_t row) {
    const bool is_per_row = static_cast<int64_t>(parameter.size()) != directions;
    return parameter[static_cast<size_t>(is_per_row ? d * rows + row : d)];
  };
  weights.reserve(numbers.size());
  for (int64_t d = 0; d < directions; ++d) {
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t column = 0; column < columns; ++column) {
        const double number = numbers[static_cast<size_t>((d * columns + column) * rows + row)];
        weights.push_back((number - at(zeros, d, row)) * at(scales, d, row));
      }
    }
  }
  return {};
}

Status ReadQuantizedWeights(const OnnxCall& call, Network& net) {
  const std::span<const int64_t> w = call.Shape(1);
  const std::span<const int64_t> r = call.Shape(2);
  if (w[1] != net.input || r.size() != 3 || r[0] != w[0] || r[1] != net.hidden || r[2] != w[2])
    return call.Fail("the weights do not fit each other");
  IROPT_RETURN_IF_ERROR(ReadQuantized(call, 1, 8, w, net.w));
  IROPT_RETURN_IF_ERROR(ReadQuantized(call, 2, 10, r, net.r));
  RoundToBytes(net.x);
  return {};
}

Status ReadWeights(const OnnxCall& call, Network& net) {
  if (net.is_quantized) return ReadQuantizedWeights(call, net);
  IROPT_RETURN_IF_ERROR(ReadOptional(call, 1, net.directions * net.gates * net.hidden * net.input, net.w));
  IROPT_ASSIGN_OR_RETURN(const Tensor r, call.TensorIn(2));
  return ReadOptional(call, 2, net.directions * net.gates * net.hidden * net.hidden, net.r);
}

Result<Network> ReadNetwork(const OnnxCall& call, int64_t gates, std::span<const std::string_view> defaults,
                            bool is_quantized) {
  Network net{};
  net.gates = gates;
  net.is_quantized = is_quantized;
  net.batch_first = call.Int("layout") != 0;
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorIn(0));
  IROPT_ASSIGN_OR_RETURN(const Tensor w, call.TensorIn(1));
  const size_t rows = is_quantized ? 2 : 1;  // the dimension of the weights
  if (x->shape().size() != 3 || w->shape().size() != 3 || w->shape()[rows] % gates != 0)
    return call.Fail("the input and the weights must be tensors of rank 3");
  net.dtype = x->dtype();
  net.steps = x->shape()[net.batch_first ? 1 : 0];
  net.batch = x->shape()[net.batch_first ? 0 : 1];
  net.input = x->shape()[2];
  net.directions = w->shape()[0];
  net.hidden = w->shape()[rows] / gates;
  if (net.directions < 1 || net.directions > 2) return call.Fail("there are one or two directions");
  IROPT_ASSIGN_OR_RETURN(net.x, call.NumbersIn(0));
  IROPT_RETURN_IF_ERROR(ReadWeights(call, net));
  IROPT_RETURN_IF_ERROR(ReadOptional(call, 3, net.directions * 2 * gates * net.hidden, net.b));
  Row lengths;
  IROPT_RETURN_IF_ERROR(ReadOptional(call, 4, net.batch, lengths));
  for (int64_t n = 0; n < net.batch; ++n) {
    const double length = lengths.empty() ? static_cast<double>(net.steps) : lengths[static_cast<size_t>(n)];
    net.lengths.push_back(static_cast<int64_t>(std::clamp(length, 0.0, static_cast<double>(net.steps))));
  }
  const int64_t state = net.directions * net.batch * net.hidden;
  IROPT_RETURN_IF_ERROR(ReadOptional(call, 5, state, net.first_h));
  IROPT_RETURN_IF_ERROR(ReadOptional(call, 6, state, net.first_c));
  IROPT_RETURN_IF_ERROR(ReadOptional(call, 7, net.directions * 3 * net.hidden, net.peepholes));
  net.clip = call.Float("clip");
  IROPT_RETURN_IF_ERROR(ReadActivations(call, defaults, net));
  return net;
}

// Y, Y_h and Y_c.
struct States {
  Row all, last_h, last_c;
};

// The place of a sequence's row in a state of all directions.
size_t StateAt(const Network& net, int64_t d, int64_t n) {
  return static_cast<size_t>((net.batch_first ? n * net.directions + d : d * net.batch + n) * net.hidden);
}

// The states of all sequences as the products of a step see them.
std::vector<Row> SeenStates(const Network& net, const std::vector<Row>& h) {
  if (!net.is_quantized) return h;
  Row all;
  for (const Row& row : h) all.insert(all.end(), row.begin(), row.end());
  RoundToBytes(all);
  std::vector<Row> seen;
  for (auto from = all.begin(); seen.size() < h.size(); from += net.hidden) seen.emplace_back(from, from + net.hidden);
  return seen;
}

void RunDirection(const OnnxCall& call, const Network& net, StepFunction step, int64_t d, States& states) {
  const auto hidden = static_cast<size_t>(net.hidden);
  const auto first = [&](const Row& given, size_t at) {
    return given.empty() ? Row(hidden)
                         : Row(given.begin() + static_cast<std::ptrdiff_t>(at),
                               given.begin() + static_cast<std::ptrdiff_t>(at + hidden));
  };
  std::vector<Row> h, c;
  for (int64_t n = 0; n < net.batch; ++n) {
    h.push_back(first(net.first_h, StateAt(net, d, n)));
    c.push_back(first(net.first_c, StateAt(net, d, n)));
  }
  const bool is_reverse = net.IsReverse(d, call.String("direction", "forward"));
  for (int64_t i = 0; i < net.steps; ++i) {
    std::vector<Row> next = SeenStates(net, h);
    for (int64_t n = 0; n < net.batch; ++n) {
      const auto at = static_cast<size_t>(n);
      const int64_t length = net.lengths[at];
      if (i >= length) continue;
      const int64_t t = is_reverse ? length - 1 - i : i;
      step(call, net, d, t, n, next[at], c[at]);
      h[at] = std::move(next[at]);
      const int64_t place =
          net.batch_first ? (n * net.steps + t) * net.directions + d : (t * net.directions + d) * net.batch + n;
      std::ranges::copy(h[at], states.all.begin() + static_cast<std::ptrdiff_t>(place * net.hidden));
    }
  }
  for (int64_t n = 0; n < net.batch; ++n) {
    const auto place = static_cast<std::ptrdiff_t>(StateAt(net, d, n));
    std::ranges::copy(h[static_cast<size_t>(n)], states.last_h.begin() + place);
    std::ranges::copy(c[static_cast<size_t>(n)], states.last_c.begin() + place);
  }
}

Result<HostValue> RunRecurrent(const OnnxCall& call, int64_t gates, std::span<const std::string_view> defaults,
                               StepFunction step, bool is_quantized = false) {
  IROPT_ASSIGN_OR_RETURN(const Network net, ReadNetwork(call, gates, defaults, is_quantized));
  const auto state = static_cast<size_t>(net.directions * net.batch * net.hidden);
  States states{Row(state * static_cast<size_t>(net.steps)), Row(state), Row(state)};
  for (int64_t d = 0; d < net.directions; ++d) RunDirection(call, net, step, d, states);
  const int64_t all[] = {net.steps, net.directions, net.batch, net.hidden};
  const int64_t all_by_batch[] = {net.batch, net.steps, net.directions, net.hidden};
  const int64_t last[] = {net.directions, net.batch, net.hidden};
  const int64_t last_by_batch[] = {net.batch, net.directions, net.hidden};
  const std::span<const int64_t> last_shape = net.batch_first ? last_by_batch : last;
  return ResultOf(
      call, {FromNumbers(net.dtype, net.batch_first ? all_by_batch : all, states.all),
             FromNumbers(net.dtype, last_shape, states.last_h), FromNumbers(net.dtype, last_shape, states.last_c)});
}

Result<HostValue> RunRnn(OnnxCall& call) {
  constexpr std::string_view kDefaults[] = {"Tanh"};
  return RunRecurrent(call, 1, kDefaults, StepRnn);
}
Result<HostValue> RunGru(OnnxCall& call) {
  constexpr std::string_view kDefaults[] = {"Sigmoid", "Tanh"};
  return RunRecurrent(call, 3, kDefaults, StepGru);
}
constexpr std::string_view kLstmDefaults[] = {"Sigmoid", "Tanh", "Tanh"};
Result<HostValue> RunLstm(OnnxCall& call) { return RunRecurrent(call, 4, kLstmDefaults, StepLstm); }
Result<HostValue> RunQuantizedLstm(OnnxCall& call) { return RunRecurrent(call, 4, kLstmDefaults, StepLstm, true); }

constexpr KernelRow kRecurrentKernels[] = {
    {"GRU", "012", RunGru},
    {"LSTM", "012", RunLstm},
    {"com.microsoft.DynamicQuantizeLSTM", "0128", RunQuantizedLstm},
    {"RNN", "012", RunRnn},
};

}  // namespace

std::span<const KernelRow> RecurrentKernels() { return kRecurrentKernels; }

}  // namespace iropt::onnx
