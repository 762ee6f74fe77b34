// Functions of float32 numbers that compiled loops compute by polynomials.
#include <bit>
#include <limits>

#include "codegen_test_util.h"

namespace iropt::codegen {

namespace {

struct FloatFunctionCase {
  const char* name;
  double (*exact)(double);
  double error;  // in units of the last place
};

constexpr int64_t kNumbers = 1 << 18;

// Numbers of all sizes, and of those at which functions change.
Tensor NumbersOfAllSizes() {
  std::shared_ptr<NDArray> tensor = NDArray::Make(DataType::Float(32), {kNumbers});
  std::span<float> numbers = tensor->MutableAs<float>();
  for (size_t i = 0; i < numbers.size(); ++i) {
    const auto bits = static_cast<uint32_t>(i * 16411);
    const float small = static_cast<float>(static_cast<double>(i) / kNumbers * 8 - 4);
    numbers[i] = i % 2 == 0 ? std::bit_cast<float>(bits) : i % 4 == 1 ? small : small * 30;
  }
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float special[] = {0.0f,    -0.0f,    kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN(),
                           1.0f,    -1.0f,    88.7228f,  88.73f,     -87.4f,
                           -103.9f, -103.98f, 128.0f,    -149.0f,    -150.5f};
  std::ranges::copy(special, numbers.begin());
  return tensor;
}

// The distance in units of the last place of the expected number.
double ErrorOf(float actual, double expected) {
  const auto rounded = static_cast<float>(expected);
  if (std::isnan(expected)) return std::isnan(actual) ? 0 : 1e9;
  if (std::isinf(rounded) || std::isinf(actual)) return rounded == actual ? 0 : 1e9;
  const float size = std::abs(rounded);
  const double unit = static_cast<double>(std::nextafter(size, std::numeric_limits<float>::infinity())) - size;
  return std::abs(actual - expected) / unit;
}

std::vector<float> Compute(const std::string& name, bool by_vectors, const Tensor& numbers) {
  const std::string loops =
      by_vectors ? "for j in range({1}):\n    for k in T.vectorized(16):\n        out[j * 16 + k] = {0}(A[j * 16 + k])"
                 : "for i in range({2}):\n    out[i] = {0}(A[i])";
  const Module module =
      Parse(Func(fmt::format("A: T.Buffer(({0},), \"float32\"), out: T.Buffer(({0},), \"float32\")", kNumbers),
                 fmt::format(fmt::runtime(loops), name, kNumbers / 16, kNumbers)));
  const CallSpec call{.inputs = {HostValue(numbers)}, .outputs = {{DataType::Float(32), {kNumbers}}}, .tir_vars = {}};
  const auto results = RunCompiled(SharedCompiler(), module, "main", call);
  REQUIRE(results.ok());
  const std::span<const float> values = (*results)[0]->As<float>();
  return {values.begin(), values.end()};
}

}  // namespace

TEST_CASE("exp, erf and tanh of float32 have the errors that their header states") {
  constexpr FloatFunctionCase kCases[] = {
      {"T.exp", [](double x) { return std::exp(x); }, 1},
      {"T.exp2", [](double x) { return std::exp2(x); }, 1},
      {"T.erf", [](double x) { return std::erf(x); }, 1.5},
      {"T.tanh", [](double x) { return std::tanh(x); }, 1.5},
  };
  const Tensor numbers = NumbersOfAllSizes();
  const std::span<const float> x = numbers->As<float>();
  for (const FloatFunctionCase& function : kCases) {
    const std::vector<float> values = Compute(function.name, false, numbers);
    double greatest = 0;
    size_t place = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      const double error = ErrorOf(values[i], function.exact(x[i]));
      if (error > greatest) place = i;
      greatest = std::max(greatest, error);
    }
    INFO(function.name << " of " << x[place] << " is " << values[place] << ", error " << greatest);
    CHECK(greatest <= function.error);
    const std::vector<float> by_vectors = Compute(function.name, true, numbers);
    const auto same = [](float a, float b) { return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b); };
    CHECK(std::ranges::equal(values, by_vectors,
                             [&](float a, float b) { return same(a, b) || (std::isnan(a) && std::isnan(b)); }));
  }
}

}  // namespace iropt::codegen
