#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "eval_test_util.h"

namespace iropt {

namespace {

// A number wrapped around to the range of an integer dtype.
double Wrapped(__int128 value, DataType dtype) {
  const __int128 modulus = static_cast<__int128>(1) << dtype.bits;
  value %= modulus;
  if (value < 0) value += modulus;
  if (dtype.is_int() && value >= modulus / 2) value -= modulus;
  return static_cast<double>(value);
}

}  // namespace

TEST_CASE("elementwise: arithmetic of all dtypes", "[eval]") {
  const std::vector<double> a = {0, 1, 7, 100, 120, 127};
  const std::vector<double> b = {3, 127, 5, 100, 2, 127};
  for (const DataType dtype : NumberTypes()) {
    INFO(dtype.ToString());
    const auto check = [&](std::string_view op, const std::function<double(double, double)>& exact) {
      const std::vector<double> got = Values(op, {T(dtype, {6}, a), T(dtype, {6}, b)});
      for (size_t i = 0; i < a.size(); ++i) {
        const double value = exact(a[i], b[i]);
        // The floats here hold every result except for 127 * 127, which float16 and bfloat16 round.
        double expected = dtype.is_integer() ? Wrapped(static_cast<__int128>(value), dtype) : value;
        if (dtype == DataType::Float(16)) expected = static_cast<float>(Float16(value));
        if (dtype == DataType::BFloat(16)) expected = static_cast<float>(BFloat16(value));
        REQUIRE(got[i] == expected);
      }
    };
    check("add", [](double x, double y) { return x + y; });
    check("subtract", [](double x, double y) { return x - y; });
    check("multiply", [](double x, double y) { return x * y; });
    check("maximum", [](double x, double y) { return std::max(x, y); });
    check("minimum", [](double x, double y) { return std::min(x, y); });
  }
}

TEST_CASE("elementwise: float32 is computed in float32", "[eval]") {
  const float a[] = {0.1F, 1e30F, 16777216.0F, 1e-45F};
  const float b[] = {0.2F, 1e30F, 1.0F, 0.5F};
  for (int i = 0; i < 4; ++i) {
    const std::vector<HostValue> args = {F32({}, {a[i]}), F32({}, {b[i]})};
    CHECK(static_cast<float>(Values("add", args)[0]) == a[i] + b[i]);
    CHECK(static_cast<float>(Values("multiply", args)[0]) == a[i] * b[i]);
    CHECK(static_cast<float>(Values("divide", args)[0]) == a[i] / b[i]);
    CHECK(static_cast<float>(Values("subtract", args)[0]) == a[i] - b[i]);
  }
}

TEST_CASE("elementwise: float16 is rounded to nearest even", "[eval]") {
  const DataType f16 = DataType::Float(16);
  // 2048 + 1 is a tie between 2048 and 2050; 2050 + 1 one between 2050 and 2052.
  CHECK(Values("add", {T(f16, {2}, {2048, 2050}), T(f16, {}, {1})}) == std::vector<double>{2048, 2052});
  CHECK(Values("multiply", {T(f16, {}, {60000}), T(f16, {}, {2})}) == std::vector<double>{kInf});
}

TEST_CASE("elementwise: division", "[eval]") {
  CHECK(Values("divide", {I32({4}, {7, -7, 7, -7}), I32({4}, {2, 2, -2, -2})}) == std::vector<double>{3, -3, -3, 3});
  CHECK(Values("floor_divide", {I32({4}, {7, -7, 7, -7}), I32({4}, {2, 2, -2, -2})}) ==
        std::vector<double>{3, -4, -4, 3});
  CHECK(Values("floor_divide", {F32({2}, {7, -7}), F32({}, {2})}) == std::vector<double>{3, -4});
  CHECK(Values("divide", {I32({}, {-2147483648.0}), I32({}, {-1})}) == std::vector<double>{-2147483648.0});
  CHECK(Values("divide", {F32({2}, {1, -1}), F32({}, {0})}) == std::vector<double>{kInf, -kInf});
  CHECK_FALSE(Try("divide", {I32({2}, {1, 2}), I32({2}, {1, 0})}).ok());
  CHECK_FALSE(Try("floor_divide", {I32({}, {1}), I32({}, {0})}).ok());
  CHECK_FALSE(Try("divide", {T(DataType::UInt(8), {}, {1}), T(DataType::UInt(8), {}, {0})}).ok());
}

TEST_CASE("elementwise: powers and shifts", "[eval]") {
  CHECK(Values("power", {I32({4}, {2, -3, 0, 7}), I32({4}, {10, 3, 0, 1})}) == std::vector<double>{1024, -27, 1, 7});
  CHECK(Values("power", {F32({}, {2}), F32({2}, {0.5, -1})})[1] == 0.5);
  CHECK(Values("power", {I32({}, {3}), I32({}, {40})}) ==
        std::vector<double>{static_cast<double>(static_cast<int32_t>(12157665459056928801ull))});
  CHECK_FALSE(Try("power", {I32({}, {2}), I32({}, {-1})}).ok());
  CHECK(Values("left_shift", {I32({2}, {1, -1}), I32({2}, {31, 4})}) == std::vector<double>{-2147483648.0, -16});
  CHECK(Values("right_shift", {I32({2}, {-16, 16}), I32({}, {2})}) == std::vector<double>{-4, 4});
  CHECK(Values("right_shift", {T(DataType::UInt(8), {}, {200}), T(DataType::UInt(8), {}, {3})}) ==
        std::vector<double>{25});
  CHECK_FALSE(Try("left_shift", {I32({}, {1}), I32({}, {32})}).ok());
  CHECK_FALSE(Try("right_shift", {I32({}, {1}), I32({}, {-1})}).ok());
  CHECK_FALSE(Try("left_shift", {F32({}, {1}), F32({}, {1})}).ok());
}

TEST_CASE("elementwise: logic and bits", "[eval]") {
  const Tensor a = B({4}, {0, 0, 1, 1});
  const Tensor b = B({4}, {0, 1, 0, 1});
  CHECK(Values("logical_and", {a, b}) == std::vector<double>{0, 0, 0, 1});
  CHECK(Values("logical_or", {a, b}) == std::vector<double>{0, 1, 1, 1});
  CHECK(Values("logical_xor", {a, b}) == std::vector<double>{0, 1, 1, 0});
  CHECK(Values("bitwise_xor", {a, b}) == std::vector<double>{0, 1, 1, 0});
  CHECK(Values("logical_not", {a}) == std::vector<double>{1, 1, 0, 0});
  CHECK(Values("bitwise_and", {I32({}, {12}), I32({}, {10})}) == std::vector<double>{8});
  CHECK(Values("bitwise_or", {I32({}, {12}), I32({}, {10})}) == std::vector<double>{14});
  CHECK(Values("bitwise_xor", {I32({}, {12}), I32({}, {10})}) == std::vector<double>{6});
  CHECK(Values("bitwise_not", {I32({}, {12})}) == std::vector<double>{-13});
  CHECK(Values("bitwise_not", {T(DataType::UInt(8), {}, {12})}) == std::vector<double>{243});
  CHECK_FALSE(Try("logical_and", {I32({}, {1}), I32({}, {1})}).ok());
  CHECK_FALSE(Try("bitwise_and", {F32({}, {1}), F32({}, {1})}).ok());
}

TEST_CASE("elementwise: comparisons", "[eval]") {
  const std::vector<double> a = {1, 2, 3, kNan};
  const std::vector<double> b = {2, 2, 2, 2};
  const std::pair<std::string_view, std::function<bool(double, double)>> ops[] = {
      {"equal", std::equal_to<>()},  {"not_equal", std::not_equal_to<>()}, {"less", std::less<>()},
      {"greater", std::greater<>()}, {"less_equal", std::less_equal<>()},  {"greater_equal", std::greater_equal<>()}};
  for (const auto& [op, compare] : ops) {
    const Tensor result = Run(op, {F32({4}, a), F32({4}, b)});
    CHECK(result->dtype() == DataType::Bool());
    for (size_t i = 0; i < a.size(); ++i) CHECK((Elements(*result)[i] != 0) == compare(a[i], b[i]));
  }
  // Numbers that differ only beyond the precision of double.
  const std::shared_ptr<NDArray> big = NDArray::Make(DataType::Int(64), {2});
  big->MutableAs<int64_t>()[0] = INT64_MAX;
  big->MutableAs<int64_t>()[1] = INT64_MAX - 1;
  const std::shared_ptr<NDArray> most = NDArray::Make(DataType::Int(64), {});
  most->MutableAs<int64_t>()[0] = INT64_MAX;
  CHECK(Values("equal", {Tensor(big), Tensor(most)}) == std::vector<double>{1, 0});
  CHECK(Values("greater", {B({2}, {1, 0}), B({2}, {0, 0})}) == std::vector<double>{1, 0});
}

TEST_CASE("elementwise: of a NaN and a number NaN is the extreme", "[eval]") {
  CHECK(std::isnan(Values("maximum", {F32({}, {kNan}), F32({}, {1})})[0]));
  CHECK(std::isnan(Values("maximum", {F32({}, {1}), F32({}, {kNan})})[0]));
  CHECK(std::isnan(Values("minimum", {F32({}, {kNan}), F32({}, {1})})[0]));
  CHECK(std::isnan(Values("minimum", {F32({}, {1}), F32({}, {kNan})})[0]));
  CHECK(std::isnan(Values("nn.relu", {F32({1}, {kNan})})[0]));
  CHECK(Values("nn.relu", {F32({2}, {-1, 2})}) == std::vector<double>{0, 2});
}

TEST_CASE("elementwise: functions of one number", "[eval]") {
  const std::pair<std::string_view, double (*)(double)> functions[] = {
      {"acos", std::acos}, {"acosh", std::acosh}, {"asin", std::asin}, {"asinh", std::asinh},
      {"atan", std::atan}, {"atanh", std::atanh}, {"ceil", std::ceil}, {"cos", std::cos},
      {"cosh", std::cosh}, {"erf", std::erf},     {"exp", std::exp},   {"floor", std::floor},
      {"log", std::log},   {"sin", std::sin},     {"sinh", std::sinh}, {"sqrt", std::sqrt},
      {"tan", std::tan},   {"tanh", std::tanh},   {"abs", std::fabs},  {"round", std::nearbyint}};
  const std::vector<double> inputs = {-2.5, -1, -0.5, 0, 0.25, 0.5, 1, 1.5, 2.5, 30};
  for (const auto& [op, function] : functions) {
    for (const double x : inputs) {
      INFO(op << " of " << x);
      const double expected = function(x);
      const double f64 = Values(op, {T(DataType::Float(64), {}, {x})})[0];
      const double f32 = Values(op, {F32({}, {x})})[0];
      const double f16 = Values(op, {T(DataType::Float(16), {}, {x})})[0];
      if (std::isnan(expected)) {
        CHECK((std::isnan(f64) && std::isnan(f32) && std::isnan(f16)));
      } else {
        CHECK(f64 == expected);
        CHECK(f32 == static_cast<double>(static_cast<float>(expected)));
        CHECK(f16 == static_cast<double>(static_cast<float>(Float16(expected))));
      }
    }
  }
}

TEST_CASE("elementwise: activations", "[eval]") {
  for (const double x : {-3.0, -0.5, 0.0, 0.75, 4.0}) {
    const HostValue arg(T(DataType::Float(64), {}, {x}));
    const double logistic = 1 / (1 + std::exp(-x));
    CHECK(Values("sigmoid", {arg})[0] == Approx(logistic));
    CHECK(Values("nn.silu", {arg})[0] == Approx(x * logistic));
    CHECK(Values("nn.gelu", {arg})[0] == Approx(x * std::erfc(-x / std::sqrt(2.0)) / 2));
    const double inner = std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
    CHECK(Values("nn.gelu_tanh", {arg})[0] == Approx(x / 2 * (1 + std::tanh(inner))));
    CHECK(Values("rsqrt", {T(DataType::Float(64), {}, {x * x + 1})})[0] == Approx(std::pow(x * x + 1, -0.5)));
    CHECK(Values("nn.leakyrelu", {arg}, Attrs({{"alpha", FloatAttr::Get(0.25)}}))[0] == (x > 0 ? x : x / 4));
  }
}

TEST_CASE("elementwise: integers through operators that mostly see floats", "[eval]") {
  for (const std::string_view op : {"ceil", "floor", "round"})
    CHECK(Values(op, {I32({2}, {-3, 4})}) == std::vector<double>{-3, 4});
  CHECK(Values("abs", {T(DataType::Int(8), {2}, {-128, -5})}) == std::vector<double>{-128, 5});
  CHECK(Values("negative", {T(DataType::UInt(8), {}, {1})}) == std::vector<double>{255});
  CHECK(Values("square", {T(DataType::Int(8), {}, {16})}) == std::vector<double>{0});
  CHECK(Values("sign", {I32({3}, {-9, 0, 9})}) == std::vector<double>{-1, 0, 1});
  CHECK(Values("sign", {F32({4}, {-9, 0, 9, kNan})}) == std::vector<double>{-1, 0, 1, 0});
  CHECK_FALSE(Try("exp", {I32({}, {1})}).ok());
}

TEST_CASE("elementwise: tests for special numbers", "[eval]") {
  const Tensor x = F32({4}, {1, kInf, -kInf, kNan});
  CHECK(Values("isnan", {x}) == std::vector<double>{0, 0, 0, 1});
  CHECK(Values("isinf", {x}) == std::vector<double>{0, 1, 1, 0});
  CHECK(Values("isfinite", {x}) == std::vector<double>{1, 0, 0, 0});
  CHECK(Values("isfinite", {I32({}, {1})}) == std::vector<double>{1});
  CHECK(Values("isnan", {I32({}, {1})}) == std::vector<double>{0});
}

TEST_CASE("elementwise: broadcasting follows the indices", "[eval]") {
  const Dims shapes[][2] = {{{2, 3}, {3}}, {{2, 1, 3}, {4, 1}}, {{1}, {2, 2}},   {{}, {2, 3}},
                            {{2, 3}, {}},  {{5, 1}, {1, 4}},    {{0, 3}, {1, 3}}};
  for (const auto& pair : shapes) {
    const auto count = [](const Dims& dims) {
      return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
    };
    const Tensor a = I32(pair[0], Iota(count(pair[0]), 100));
    const Tensor b = I32(pair[1], Iota(count(pair[1])));
    const Tensor result = Run("subtract", {a, b});
    const Dims out = ShapeOf(*result);
    const std::vector<double> got = Elements(*result);
    for (size_t i = 0; i < got.size(); ++i) {
      // The position of the element in each operand, digit by digit from the last dimension.
      const auto at = [&](const Dims& dims) {
        int64_t rest = static_cast<int64_t>(i);
        int64_t place = 0;
        int64_t stride = 1;
        for (size_t d = 0; d < out.size(); ++d) {
          const int64_t index = rest % out[out.size() - 1 - d];
          rest /= out[out.size() - 1 - d];
          if (d < dims.size() && dims[dims.size() - 1 - d] != 1) place += index * stride;
          if (d < dims.size()) stride *= dims[dims.size() - 1 - d];
        }
        return place;
      };
      REQUIRE(got[i] == 100 + static_cast<double>(at(pair[0])) - static_cast<double>(at(pair[1])));
    }
  }
  CHECK_FALSE(Try("add", {I32({2}, {1, 2}), I32({3}, {1, 2, 3})}).ok());
  CHECK_FALSE(Try("add", {I32({}, {1}), F32({}, {1})}).ok());
  CHECK_FALSE(Try("add", {I32({}, {1})}).ok());
}

TEST_CASE("elementwise: casts between all dtypes", "[eval]") {
  std::vector<DataType> dtypes = NumberTypes();
  dtypes.push_back(DataType::Bool());
  for (const DataType from : dtypes) {
    for (const DataType to : dtypes) {
      const std::vector<double> numbers =
          from.is_bool() ? std::vector<double>{0, 1} : std::vector<double>{0, 1, 3, 100};
      const Tensor result = Run("astype", {T(from, {static_cast<int64_t>(numbers.size())}, numbers)},
                                Attrs({{"dtype", DTypeAttr::Get(to)}}));
      CHECK(result->dtype() == to);
      for (size_t i = 0; i < numbers.size(); ++i)
        CHECK(Elements(*result)[i] == (to.is_bool() ? (numbers[i] != 0) : numbers[i]));
    }
  }
  CHECK(Values("astype", {F32({2}, {-1.9, 1.9})}, Attrs({{"dtype", DTypeAttr::Get(DataType::Int(32))}})) ==
        std::vector<double>{-1, 1});
  CHECK(Values("astype", {I32({}, {300})}, Attrs({{"dtype", DTypeAttr::Get(DataType::UInt(8))}})) ==
        std::vector<double>{44});
  CHECK_FALSE(Try("astype", {F32({}, {300})}, Attrs({{"dtype", DTypeAttr::Get(DataType::Int(8))}})).ok());
  CHECK_FALSE(Try("astype", {F32({}, {kNan})}, Attrs({{"dtype", DTypeAttr::Get(DataType::Int(8))}})).ok());
  CHECK_FALSE(Try("astype", {F32({}, {1})}, Attrs({{"dtype", DTypeAttr::Get(DataType::Int(4))}})).ok());
}

TEST_CASE("elementwise: where, clip, fused multiply-add", "[eval]") {
  CHECK(Values("where", {B({2, 1}, {1, 0}), F32({2}, {1, 2}), F32({}, {9})}) == std::vector<double>{1, 2, 9, 9});
  CHECK_FALSE(Try("where", {I32({}, {1}), F32({}, {1}), F32({}, {2})}).ok());
  CHECK(Values("clip", {F32({4}, {-5, 0.5, 5, 2}), Scalar::Int(0), Scalar::Float(2.5)}) ==
        std::vector<double>{0, 0.5, 2.5, 2});
  CHECK(Values("clip", {I32({3}, {-5, 1, 5}), Scalar::Int(0), Scalar::Int(3)}) == std::vector<double>{0, 1, 3});
  CHECK(Values("clip", {T(DataType::Int(8), {2}, {1, -1}), Scalar::Int(-1000), Scalar::Float(1e9)}) ==
        std::vector<double>{1, -1});
  CHECK_FALSE(Try("clip", {T(DataType::Int(8), {}, {1}), Scalar::Int(0), Scalar::Float(kNan)}).ok());
  CHECK(Values("ewise_fma", {I32({2}, {2, 3}), I32({}, {10}), I32({2}, {1, 2})}) == std::vector<double>{21, 32});
  // One rounding: the product alone would round the small part away.
  const float a = 1.0F + std::ldexp(1.0F, -23);
  CHECK(Values("ewise_fma", {F32({}, {a}), F32({}, {a}), F32({}, {-1})})[0] == std::fma(a, a, -1.0F));
}

}  // namespace iropt
