// Reductions, scans, sorting, matrix products; and the limits of all evaluations.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "eval_test_util.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/ops/arithmetic.h"
#include "iropt/op/ops/call_tir.h"

namespace iropt {

namespace {

const ObjectAttr* Axes(std::initializer_list<int64_t> axes, bool keepdims = false) {
  return Attrs({{"axis", Ints(axes)}, {"keepdims", IntAttr::Bool(keepdims)}});
}

}  // namespace

TEST_CASE("reduce: sums of all dtypes, over every set of axes", "[eval]") {
  const Dims shape = {2, 3, 4};
  for (const DataType dtype : NumberTypes()) {
    const Tensor x = T(dtype, shape, Iota(24));
    for (int set = 0; set < 8; ++set) {
      std::vector<const Attr*> axes;
      Dims out;
      for (int d = 0; d < 3; ++d) {
        if (set >> d & 1)
          axes.push_back(IntAttr::Get(d));
        else
          out.push_back(shape[static_cast<size_t>(d)]);
      }
      std::vector<double> expected(
          static_cast<size_t>(std::accumulate(out.begin(), out.end(), int64_t{1}, std::multiplies<>())), 0);
      for (int64_t i = 0; i < 24; ++i) {
        const int64_t index[] = {i / 12, i / 4 % 3, i % 4};
        int64_t place = 0;
        for (int d = 0; d < 3; ++d) {
          if (!(set >> d & 1)) place = place * shape[static_cast<size_t>(d)] + index[d];
        }
        expected[static_cast<size_t>(place)] += static_cast<double>(i);
      }
      // The sum of all is 276: int8 wraps around, bfloat16 rounds at each step.
      if (set == 7 && (dtype.bits == 8 || dtype.code == TypeCode::kBFloat)) continue;
      const Tensor sum = Run("sum", {x}, Attrs({{"axis", ListAttr::Get(axes)}}));
      CHECK(ShapeOf(*sum) == out);
      if (dtype.bits != 8 && dtype.code != TypeCode::kBFloat) CHECK(Elements(*sum) == expected);
    }
  }
  CHECK(Values("sum", {T(DataType::Int(8), {2}, {100, 100})}) == std::vector<double>{-56});
}

TEST_CASE("reduce: each step is rounded, in row-major order", "[eval]") {
  std::vector<double> values;
  for (int i = 0; i < 1000; ++i) values.push_back(0.1 + 0.001 * i);
  float f32 = 0;
  Float16 f16(0);
  for (const double value : values) {
    f32 += static_cast<float>(value);
    f16 = Float16(static_cast<float>(f16) + static_cast<float>(Float16(value)));
  }
  CHECK(static_cast<float>(Values("sum", {F32({10, 100}, values)})[0]) == f32);
  std::vector<double> rounded;
  for (const double value : values) rounded.push_back(static_cast<float>(Float16(value)));
  CHECK(static_cast<float>(Values("sum", {T(DataType::Float(16), {1000}, rounded)})[0]) == static_cast<float>(f16));
}

TEST_CASE("reduce: products, extremes, means", "[eval]") {
  const Tensor x = F32({2, 3}, {3, 1, 2, -4, 6, 5});
  CHECK(Values("prod", {x}, Axes({1})) == std::vector<double>{6, -120});
  CHECK(Values("max", {x}, Axes({0})) == std::vector<double>{3, 6, 5});
  CHECK(Values("min", {x}, Axes({-1})) == std::vector<double>{1, -4});
  CHECK(ShapeOf(*Run("max", {x}, Axes({0}, true))) == Dims{1, 3});
  CHECK(Values("mean", {x}, Axes({1})) == std::vector<double>{2, static_cast<double>(7.0F / 3.0F)});
  CHECK(Values("mean", {I32({3}, {1, 2, 5})}) == std::vector<double>{2});
  CHECK(Values("variance", {F32({4}, {1, 2, 3, 4})}) == std::vector<double>{1.25});
  CHECK(Values("std", {F32({4}, {1, 1, 5, 5})}) == std::vector<double>{2});
  CHECK(Values("variance", {x}, Axes({1}))[0] == Approx(2.0 / 3));
  CHECK(Values("max", {B({3}, {0, 1, 0})}) == std::vector<double>{1});
  // Booleans are added by `or`, and multiplied by `and`.
  CHECK(Values("sum", {B({3, 2}, {1, 1, 0, 1, 0, 0})}, Axes({1})) == std::vector<double>{1, 1, 0});
  CHECK(Values("prod", {B({3, 2}, {1, 1, 0, 1, 0, 0})}, Axes({1})) == std::vector<double>{1, 0, 0});
  CHECK(Values("sum", {B({1, 0}, {})}, Axes({1})) == std::vector<double>{0});
  CHECK(Values("prod", {B({1, 0}, {})}, Axes({1})) == std::vector<double>{1});
  // Neither the sum nor the number of elements is one of int8.
  CHECK(Values("mean", {T(DataType::Int(8), {3}, {100, 100, 103})}) == std::vector<double>{101});
  CHECK(Values("mean", {T(DataType::Int(8), {512}, std::vector<double>(512, -7))}) == std::vector<double>{-7});
  CHECK_FALSE(Try("max", {F32({2, 0}, {})}, Axes({1})).ok());
  CHECK(Values("sum", {F32({2, 0}, {})}, Axes({1})) == std::vector<double>{0, 0});
  CHECK(Values("prod", {F32({2, 0}, {})}, Axes({1})) == std::vector<double>{1, 1});
  CHECK_FALSE(Try("sum", {x}, Axes({2})).ok());
  CHECK_FALSE(Try("sum", {x}, Axes({0, -2})).ok());
}

TEST_CASE("reduce: places of extremes", "[eval]") {
  const Tensor x = F32({2, 4}, {3, 9, 9, 1, -4, -4, 5, 5});
  const auto axis = [](int64_t a) { return Attrs({{"axis", IntAttr::Get(a)}, {"keepdims", IntAttr::Bool(false)}}); };
  CHECK(Values("argmax", {x}, axis(1)) == std::vector<double>{1, 2});
  CHECK(Values("argmin", {x}, axis(1)) == std::vector<double>{3, 0});
  CHECK(Values("argmax", {x}, axis(0)) == std::vector<double>{0, 0, 0, 1});
  CHECK(Values("argmax", {x}) == std::vector<double>{1});
  CHECK(ShapeOf(*Run("argmax", {x}, Attrs({{"keepdims", IntAttr::Bool(true)}}))) == Dims{1, 1});
  CHECK(Run("argmax", {x})->dtype() == DataType::Int(64));
  // A NaN is found first, as in numpy and PyTorch.
  CHECK(Values("argmax", {F32({5}, {2, kNan, kInf, kNan, 0})}) == std::vector<double>{1});
  CHECK(Values("argmin", {F32({5}, {2, kNan, -kInf, kNan, 0})}) == std::vector<double>{1});
  // Equal elements are found at the first place, also if they are as extreme as the dtype has them.
  CHECK(Values("argmax", {F32({3}, {-kInf, -kInf, -kInf})}) == std::vector<double>{0});
  CHECK(Values("argmin", {F32({3}, {kInf, kInf, kInf})}) == std::vector<double>{0});
  CHECK(Values("argmax", {T(DataType::UInt(8), {3}, {0, 0, 0})}) == std::vector<double>{0});
  CHECK(Values("argmin", {T(DataType::Int(8), {3}, {127, 127, 127})}) == std::vector<double>{0});
  CHECK_FALSE(Try("argmax", {F32({0}, {})}).ok());
}

TEST_CASE("scan: running sums and products", "[eval]") {
  const Tensor x = I32({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto axis = [](int64_t a, bool exclusive) {
    return Attrs({{"axis", IntAttr::Get(a)}, {"exclusive", IntAttr::Bool(exclusive)}});
  };
  CHECK(Values("cumsum", {x}, axis(1, false)) == std::vector<double>{1, 3, 6, 4, 9, 15});
  CHECK(Values("cumsum", {x}, axis(0, false)) == std::vector<double>{1, 2, 3, 5, 7, 9});
  CHECK(Values("cumsum", {x}, axis(1, true)) == std::vector<double>{0, 1, 3, 0, 4, 9});
  CHECK(Values("cumprod", {x}, axis(1, false)) == std::vector<double>{1, 2, 6, 4, 20, 120});
  CHECK(Values("cumprod", {x}) == std::vector<double>{1, 2, 6, 24, 120, 720});
  const ObjectAttr* wide = Attrs({{"dtype", DTypeAttr::Get(DataType::Int(64))}});
  CHECK(Values("cumsum", {T(DataType::Int(8), {2}, {100, 100})}, wide) == std::vector<double>{100, 200});
}

TEST_CASE("sort: stable, NaN last", "[eval]") {
  const Tensor x = F32({2, 3}, {3, kNan, 1, 2, 2, 0});
  const auto order = [](bool descending) {
    return Attrs({{"axis", IntAttr::Get(-1)}, {"descending", IntAttr::Bool(descending)}});
  };
  const std::vector<double> sorted = Values("sort", {x}, order(false));
  CHECK((sorted[0] == 1 && sorted[1] == 3 && std::isnan(sorted[2]) && sorted[3] == 0));
  CHECK(Values("argsort", {x}, order(false)) == std::vector<double>{2, 0, 1, 2, 0, 1});
  CHECK(Values("argsort", {x}, order(true)) == std::vector<double>{0, 2, 1, 0, 1, 2});
  CHECK(Run("argsort", {x}, order(false))->dtype() == DataType::Int(32));
  CHECK(Values("sort", {I32({2, 2}, {4, 1, 3, 2})}, Attrs({{"axis", IntAttr::Get(0)}})) ==
        std::vector<double>{3, 1, 4, 2});
}

TEST_CASE("matmul: batches, vectors, dtypes", "[eval]") {
  const Tensor a = I32({2, 1, 2, 3}, Iota(12));
  const Tensor b = I32({4, 3, 2}, Iota(24));
  const Tensor c = Run("matmul", {a, b});
  REQUIRE(ShapeOf(*c) == Dims{2, 4, 2, 2});
  const std::vector<double> got = Elements(*c);
  for (int64_t i = 0; i < 32; ++i) {
    const int64_t n = i / 16;
    const int64_t m = i / 4 % 4;
    const int64_t row = i / 2 % 2;
    const int64_t column = i % 2;
    double expected = 0;
    for (int64_t k = 0; k < 3; ++k) expected += static_cast<double>((n * 6 + row * 3 + k) * (m * 6 + k * 2 + column));
    CHECK(got[static_cast<size_t>(i)] == expected);
  }
  CHECK(Values("matmul", {F32({3}, {1, 2, 3}), F32({3}, {4, 5, 6})}) == std::vector<double>{32});
  CHECK(ShapeOf(*Run("matmul", {F32({3}, {1, 2, 3}), F32({3, 2}, Iota(6))})) == Dims{2});
  CHECK(ShapeOf(*Run("matmul", {F32({2, 3}, Iota(6)), F32({3}, Iota(3))})) == Dims{2});
  const ObjectAttr* i32 = Attrs({{"out_dtype", DTypeAttr::Get(DataType::Int(32))}});
  CHECK(Values("matmul", {T(DataType::Int(8), {1}, {100}), T(DataType::Int(8), {1}, {100})}, i32) ==
        std::vector<double>{10000});
  CHECK(Values("matmul", {F32({2, 0}, {}), F32({0, 1}, {})}) == std::vector<double>{0, 0});
  CHECK_FALSE(Try("matmul", {F32({2}, {1, 2}), F32({3}, {1, 2, 3})}).ok());
  CHECK_FALSE(Try("matmul", {F32({}, {1}), F32({1}, {1})}).ok());
}

TEST_CASE("softmax: sums to one, and its logarithm", "[eval]") {
  const std::vector<double> x = {1, 2, 3, 1000, 1000, 1000};
  const ObjectAttr* axis = Attrs({{"axis", IntAttr::Get(-1)}});
  const std::vector<double> soft = Values("nn.softmax", {F32({2, 3}, x)}, axis);
  const std::vector<double> logs = Values("nn.log_softmax", {F32({2, 3}, x)}, axis);
  const double total = std::exp(1.0) + std::exp(2.0) + std::exp(3.0);
  for (size_t i = 0; i < 3; ++i) {
    CHECK(soft[i] == Approx(std::exp(x[i]) / total));
    CHECK(logs[i] == Approx(x[i] - std::log(total)));
    CHECK(soft[i + 3] == Approx(1.0 / 3));
    CHECK(logs[i + 3] == Approx(-std::log(3.0)));
  }
}

TEST_CASE("limits: memory and work", "[eval]") {
  const ObjectAttr* f32 = Attrs({{"dtype", DTypeAttr::Get(DataType::Float(32))}});
  CHECK(Try("zeros", {ShapeValue{256}}, f32, {.max_bytes = 1024}).ok());
  const Result<HostValue> big = Try("zeros", {ShapeValue{257}}, f32, {.max_bytes = 1024});
  REQUIRE_FALSE(big.ok());
  CHECK(big.error().code == ErrorCode::Budget);
  CHECK_FALSE(Try("zeros", {ShapeValue{INT64_MAX, INT64_MAX}}, f32, {.max_bytes = SIZE_MAX}).ok());
  CHECK(ShapeOf(*(*Try("zeros", {ShapeValue{1000000, 0}}, f32, {.max_bytes = 16})).tensor()) == Dims{1000000, 0});

  const Tensor m = F32({16, 16}, Iota(256));
  CHECK(Try("matmul", {m, m}, nullptr, {.max_work = 16 * 16 * 16}).ok());
  const Result<HostValue> slow = Try("matmul", {m, m}, nullptr, {.max_work = 16 * 16 * 16 - 1});
  REQUIRE_FALSE(slow.ok());
  CHECK(slow.error().code == ErrorCode::Budget);
  CHECK_FALSE(Try("tile", {m}, Attrs({{"repeats", Ints({1000, 1000})}}), {.max_bytes = 1 << 20}).ok());
  CHECK_FALSE(Try("tile", {m}, Attrs({{"repeats", Ints({INT64_MAX, INT64_MAX})}})).ok());
}

TEST_CASE("evaluator: unsupported operations are errors", "[eval]") {
  const Result<HostValue> unknown = Try("nn.conv2d", {});
  REQUIRE_FALSE(unknown.ok());
  CHECK_THAT(unknown.error().message, Catch::Contains("relax.nn.conv2d"));
  CHECK_FALSE(HasKernel(OpInfoOf(op::kCallTir)));
  CHECK_FALSE(HasKernel(OpInfoOf(op::kTirExp)));
  CHECK(HasKernel(OpInfoOf(op::kAdd)));
  CHECK_FALSE(Try("add", {HostValue(ShapeValue{1}), F32({}, {1})}).ok());
  CHECK_FALSE(Try("zeros", {F32({}, {1})}).ok());
  CHECK_FALSE(Try("concat", {F32({}, {1})}).ok());
  CHECK_FALSE(Try("sum", {F32({1}, {1})}, Attrs({{"axis", StrAttr::Get("x")}})).ok());
}

}  // namespace iropt
