// Reductions, scans, sorting and matrix products for every dtype, against sums that are rounded, or wrapped
// around, after every step.
#include <algorithm>
#include <numeric>

#include "exact.h"
#include "reference.h"

namespace iropt {

namespace {

// A number converted to the dtype.
Exact Held(DataType dtype, Exact value) {
  return dtype.is_floating() ? RoundedTo(dtype, value) : WrappedTo(dtype, static_cast<Whole>(value));
}

Exact ProductHeld(DataType dtype, Exact a, Exact b) {
  if (dtype.is_floating()) return RoundedTo(dtype, a * b);
  const auto whole = [](Exact x) { return static_cast<unsigned __int128>(static_cast<Whole>(x)); };
  return WrappedTo(dtype, static_cast<Whole>(whole(a) * whole(b)));
}

// Three rows of numbers whose sums do not fit the small dtypes.
std::vector<Exact> Rows(DataType dtype) {
  std::vector<Exact> values;
  for (int i = 0; i < 15; ++i) {
    const Exact value = dtype.is_floating() ? (i * 7 % 15) * 0.37L - 1 : Exact(i * 13 % 15 * 9);
    values.push_back(dtype.is_bool() ? (i * 7 % 15 > 6) : Held(dtype, value));
  }
  return values;
}

using Row = std::vector<Exact>;

Row RowOf(const std::vector<Exact>& values, size_t row) {
  return Row(values.begin() + static_cast<int64_t>(row * 5), values.begin() + static_cast<int64_t>(row * 5 + 5));
}

Exact SumOf(DataType dtype, const Row& row) {
  return std::accumulate(row.begin(), row.end(), Exact{0}, [&](Exact a, Exact b) { return Held(dtype, a + b); });
}
Exact ProductOf(DataType dtype, const Row& row) {
  return std::accumulate(row.begin(), row.end(), Exact{1}, [&](Exact a, Exact b) { return ProductHeld(dtype, a, b); });
}
Exact QuotientOf(DataType dtype, Exact a, Exact b) {
  return dtype.is_floating() ? Held(dtype, a / b) : std::trunc(a / b);
}
Exact AnyOf(DataType, const Row& row) { return std::find(row.begin(), row.end(), 1) != row.end(); }
Exact SumOrAnyOf(DataType dtype, const Row& row) { return dtype.is_bool() ? AnyOf(dtype, row) : SumOf(dtype, row); }
// Sums of integers do not wrap around.
Exact MeanOf(DataType dtype, const Row& row) {
  const Exact sum = dtype.is_floating() ? SumOf(dtype, row) : std::accumulate(row.begin(), row.end(), Exact{0});
  return QuotientOf(dtype, sum, 5);
}
Exact VarianceOf(DataType dtype, const Row& row) {
  const Exact mean = MeanOf(dtype, row);
  Row squares;
  for (const Exact x : row) {
    const Exact distance = Held(dtype, x - mean);
    squares.push_back(ProductHeld(dtype, distance, distance));
  }
  return MeanOf(dtype, squares);
}
Exact DeviationOf(DataType dtype, const Row& row) { return Held(dtype, std::sqrt(VarianceOf(dtype, row))); }
Exact GreatestIn(DataType, const Row& row) { return *std::max_element(row.begin(), row.end()); }
Exact LeastIn(DataType, const Row& row) { return *std::min_element(row.begin(), row.end()); }

enum class Takes { kAll, kNumbers, kFloats };

bool IsTaken(Takes takes, DataType dtype) {
  return takes == Takes::kAll || (takes == Takes::kNumbers ? !dtype.is_bool() : dtype.is_floating());
}

}  // namespace

TEST_CASE("types: reductions of rows", "[eval]") {
  const struct {
    std::string_view op;
    Exact (*formula)(DataType, const Row&);
    Takes takes;
  } cases[] = {{"sum", SumOrAnyOf, Takes::kAll},     {"prod", ProductOf, Takes::kAll},
               {"mean", MeanOf, Takes::kNumbers},    {"variance", VarianceOf, Takes::kNumbers},
               {"std", DeviationOf, Takes::kFloats}, {"max", GreatestIn, Takes::kAll},
               {"min", LeastIn, Takes::kAll}};
  for (const auto& c : cases) {
    for (const DataType dtype : AllTypes()) {
      INFO(c.op << " of " << dtype.ToString());
      const std::vector<Exact> values = Rows(dtype);
      const Result<HostValue> result = Try(c.op, {ExactTensor(dtype, {3, 5}, values)},
                                           Attrs({{"axis", Ints({1})}, {"keepdims", IntAttr::Bool(false)}}));
      REQUIRE(result.ok() == IsTaken(c.takes, dtype));
      if (!result) continue;
      CHECK(result->tensor()->dtype() == dtype);
      const std::vector<Exact> found = ExactElements(*result->tensor());
      for (size_t row = 0; row < 3; ++row) {
        INFO("row " << row << ": " << found[row] << ", expected " << c.formula(dtype, RowOf(values, row)));
        CHECK(found[row] == c.formula(dtype, RowOf(values, row)));
      }
    }
  }
}

TEST_CASE("types: sums over broadcast axes", "[eval]") {
  for (const DataType dtype : AllTypes()) {
    INFO(dtype.ToString());
    const std::vector<Exact> values = Rows(dtype);
    const Tensor x = ExactTensor(dtype, {3, 5}, values);
    const Tensor to = Run("collapse_sum_to", {x, ShapeValue{3, 1}});
    const Tensor like = Run("collapse_sum_like", {x, ExactTensor(dtype, {3, 1}, {0, 0, 0})});
    std::vector<Exact> expected;
    for (size_t row = 0; row < 3; ++row) expected.push_back(SumOrAnyOf(dtype, RowOf(values, row)));
    CHECK(ExactElements(*to) == expected);
    CHECK(ExactElements(*like) == expected);
  }
}

TEST_CASE("types: places of extremes, and sorting", "[eval]") {
  for (const DataType dtype : AllTypes()) {
    INFO(dtype.ToString());
    const std::vector<Exact> values = Rows(dtype);
    const Tensor x = ExactTensor(dtype, {3, 5}, values);
    const ObjectAttr* axis = Attrs({{"axis", Int(1)}, {"keepdims", IntAttr::Bool(false)}});
    std::vector<Exact> greatest;
    std::vector<Exact> least;
    std::vector<Exact> sorted;
    std::vector<Exact> order;
    std::vector<Exact> best;
    for (size_t r = 0; r < 3; ++r) {
      Row row = RowOf(values, r);
      greatest.push_back(static_cast<Exact>(std::max_element(row.begin(), row.end()) - row.begin()));
      least.push_back(static_cast<Exact>(std::min_element(row.begin(), row.end()) - row.begin()));
      std::vector<size_t> places{0, 1, 2, 3, 4};
      std::stable_sort(places.begin(), places.end(), [&](size_t a, size_t b) { return row[a] < row[b]; });
      for (const size_t place : places) {
        order.push_back(static_cast<Exact>(place));
        sorted.push_back(row[place]);
      }
      best.insert(best.end(), {sorted.back(), sorted[sorted.size() - 2]});
    }
    CHECK(ExactElements(*Run("argmax", {x}, axis)) == greatest);
    CHECK(ExactElements(*Run("argmin", {x}, axis)) == least);
    CHECK(ExactElements(*Run("sort", {x}, axis)) == sorted);
    CHECK(ExactElements(*Run("argsort", {x}, axis)) == order);
    const ObjectAttr* two = Attrs({{"k", Int(2)},
                                   {"axis", Int(1)},
                                   {"ret_type", Text("values")},
                                   {"largest", IntAttr::Bool(true)},
                                   {"dtype", DType(DataType::Int(32))}});
    CHECK(ExactElements(*Run("topk", {x}, two)) == best);
  }
}

TEST_CASE("types: running sums and products", "[eval]") {
  for (const DataType dtype : AllTypes()) {
    const std::vector<Exact> values = Rows(dtype);
    for (const DataType out : {dtype, DataType::Int(64), DataType::Float(32)}) {
      // Floats can be summed in an integer dtype only if it can hold them.
      if (dtype.is_floating() && !out.is_floating()) continue;
      INFO(dtype.ToString() << " as " << out.ToString());
      const ObjectAttr* attrs = Attrs({{"axis", Int(1)}, {"dtype", DType(out)}});
      const Result<HostValue> sums = Try("cumsum", {ExactTensor(dtype, {3, 5}, values)}, attrs);
      const Result<HostValue> products = Try("cumprod", {ExactTensor(dtype, {3, 5}, values)}, attrs);
      REQUIRE(sums.ok());
      REQUIRE(products.ok());
      for (size_t r = 0; r < 3; ++r) {
        Exact sum = 0;
        Exact product = 1;
        for (size_t i = 0; i < 5; ++i) {
          const Exact value = Held(out, values[r * 5 + i]);
          sum = Held(out, sum + value);
          product = ProductHeld(out, product, value);
          CHECK(ExactElements(*sums->tensor())[r * 5 + i] == sum);
          CHECK(ExactElements(*products->tensor())[r * 5 + i] == product);
        }
      }
    }
  }
}

TEST_CASE("types: matrix products", "[eval]") {
  const Ref a = Ref::Whole({3, 2}, 71, 0, 2);
  const Ref b = Ref::Whole({2, 4}, 72, 0, 1);
  for (const DataType dtype : AllTypes()) {
    INFO(dtype.ToString());
    Ref expected({3, 4});
    expected.ForEach([&](const Dims& i) {
      for (int64_t k = 0; k < 2; ++k) expected.at(i) += a.at({i[0], k}) * b.at({k, i[1]});
    });
    const Result<HostValue> result = Try("matmul", {a.As(dtype), b.As(dtype)});
    REQUIRE(result.ok() == !dtype.is_bool());
    if (result) CheckExact(*result->tensor(), expected, dtype);
  }
  // Integers wrap around.
  for (const DataType dtype : NumberTypes()) {
    if (dtype.is_floating()) continue;
    const Exact most = static_cast<Exact>(GreatestOf(dtype));
    const Exact found =
        ExactElements(*Run("matmul", {ExactTensor(dtype, {2}, {most, 3}), ExactTensor(dtype, {2}, {2, 5})}))[0];
    CHECK(found == WrappedTo(dtype, GreatestOf(dtype) * 2 + 15));
  }
}

TEST_CASE("types: softmax and its logarithm", "[eval]") {
  const ObjectAttr* axis = Attrs({{"axis", Int(-1)}});
  for (const DataType dtype : FloatTypes()) {
    INFO(dtype.ToString());
    const Ref x = Ref::Fractions({2, 5}, 73);
    const auto total = [&](int64_t row) {
      double sum = 0;
      for (int64_t i = 0; i < 5; ++i) sum += std::exp(x.at({row, i}));
      return sum;
    };
    CheckClose(*Run("nn.softmax", {x.As(dtype)}, axis),
               Ref::Of(x.shape, [&](const Dims& i) { return std::exp(x.at(i)) / total(i[0]); }), 8);
    CheckClose(*Run("nn.log_softmax", {x.As(dtype)}, axis),
               Ref::Of(x.shape, [&](const Dims& i) { return x.at(i) - std::log(total(i[0])); }), 8);
  }
}

}  // namespace iropt
