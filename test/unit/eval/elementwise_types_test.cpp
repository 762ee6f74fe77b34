// Element-by-element operators on every dtype, with numbers at its limits, against formulas on exact numbers that are
// rounded, or wrapped around, once. An operator without a formula for a kind of dtypes must refuse it.
#include <functional>

#include "exact.h"
#include "reference.h"

namespace iropt {

namespace {

using RealFormula = Exact (*)(Exact);
using WholeFormula = Whole (*)(Whole);

struct UnaryCase {
  std::string_view op;
  RealFormula real;    // of floats
  WholeFormula whole;  // of integers; null: refused
  WholeFormula boolean = nullptr;
  bool approximate = false;
};

Whole Same128(Whole x) { return x; }

const UnaryCase kUnary[] = {
    {"abs", [](Exact x) { return std::fabs(x); }, [](Whole x) { return x < 0 ? -x : x; }},
    {"negative", [](Exact x) { return -x; }, [](Whole x) { return -x; }},
    {"square", [](Exact x) { return x * x; },
     [](Whole x) { return static_cast<Whole>(static_cast<unsigned __int128>(x) * static_cast<unsigned __int128>(x)); }},
    {"sign", [](Exact x) { return std::isnan(x) || x == 0 ? Exact{0}
                                  : x > 0                 ? Exact{1}
                                                          : Exact{-1}; },
     [](Whole x) { return x == 0  ? Whole{0}
                          : x > 0 ? Whole{1}
                                  : Whole{-1}; }},
    {"ceil", [](Exact x) { return std::ceil(x); }, Same128},
    {"floor", [](Exact x) { return std::floor(x); }, Same128},
    {"round", [](Exact x) { return std::nearbyint(x); }, Same128},
    {"bitwise_not", nullptr, [](Whole x) { return -x - 1; }, [](Whole x) { return 1 - x; }},
    {"logical_not", nullptr, nullptr, [](Whole x) { return 1 - x; }},
    {"nn.relu", [](Exact x) { return x > 0 || std::isnan(x) ? x : Exact{0}; },
     [](Whole x) { return x > 0 ? x : Whole{0}; }},
    {"sqrt", [](Exact x) { return std::sqrt(x); }, nullptr, nullptr, true},
    {"rsqrt", [](Exact x) { return 1 / std::sqrt(x); }, nullptr, nullptr, true},
    {"acos", [](Exact x) { return std::acos(x); }, nullptr, nullptr, true},
    {"acosh", [](Exact x) { return std::acosh(x); }, nullptr, nullptr, true},
    {"asin", [](Exact x) { return std::asin(x); }, nullptr, nullptr, true},
    {"asinh", [](Exact x) { return std::asinh(x); }, nullptr, nullptr, true},
    {"atan", [](Exact x) { return std::atan(x); }, nullptr, nullptr, true},
    {"atanh", [](Exact x) { return std::atanh(x); }, nullptr, nullptr, true},
    {"cos", [](Exact x) { return std::cos(x); }, nullptr, nullptr, true},
    {"cosh", [](Exact x) { return std::cosh(x); }, nullptr, nullptr, true},
    {"erf", [](Exact x) { return std::erf(x); }, nullptr, nullptr, true},
    {"exp", [](Exact x) { return std::exp(x); }, nullptr, nullptr, true},
    {"log", [](Exact x) { return std::log(x); }, nullptr, nullptr, true},
    {"sin", [](Exact x) { return std::sin(x); }, nullptr, nullptr, true},
    {"sinh", [](Exact x) { return std::sinh(x); }, nullptr, nullptr, true},
    {"tan", [](Exact x) { return std::tan(x); }, nullptr, nullptr, true},
    {"tanh", [](Exact x) { return std::tanh(x); }, nullptr, nullptr, true},
    {"sigmoid", [](Exact x) { return 1 / (1 + std::exp(-x)); }, nullptr, nullptr, true},
    {"nn.silu", [](Exact x) { return x / (1 + std::exp(-x)); }, nullptr, nullptr, true},
};

// The result of the formula for one number; nullopt if the operator refuses the dtype.
std::optional<Exact> Expected(const UnaryCase& c, DataType dtype, Exact x) {
  if (dtype.is_floating()) return c.real ? std::optional(RoundedTo(dtype, c.real(x))) : std::nullopt;
  const WholeFormula formula = dtype.is_bool() ? c.boolean : c.whole;
  return formula ? std::optional(WrappedTo(dtype, formula(static_cast<Whole>(x)))) : std::nullopt;
}

}  // namespace

TEST_CASE("types: functions of one number", "[eval]") {
  for (const UnaryCase& c : kUnary) {
    for (const DataType dtype : AllTypes()) {
      for (const Exact x : Interesting(dtype)) {
        INFO(c.op << " of " << x << " as " << dtype.ToString());
        const std::optional<Exact> expected = Expected(c, dtype, x);
        const Result<HostValue> result = Try(c.op, {ExactScalar(dtype, x)});
        REQUIRE(result.ok() == expected.has_value());
        if (!expected) continue;
        CHECK(result->tensor()->dtype() == dtype);
        const Exact found = ExactElements(*result->tensor())[0];
        INFO(found << ", expected " << *expected);
        CHECK((Same(found, *expected) || (c.approximate && SameOrNext(dtype, found, *expected))));
      }
    }
  }
}

TEST_CASE("types: activations", "[eval]") {
  for (const DataType dtype : AllTypes()) {
    for (const Exact x : {-3.0L, -0.5L, 0.0L, 0.75L, 1.0L, 4.0L}) {
      const auto close = [&](std::string_view op, Exact exact, const Attr* attrs = nullptr) {
        INFO(op << " of " << x << " as " << dtype.ToString());
        const Result<HostValue> result =
            Try(op, {ExactScalar(dtype, dtype.is_floating() ? x : std::fabs(std::round(x)))}, attrs);
        REQUIRE(result.ok() == dtype.is_floating());
        if (!result) return;
        // Near -1 the tail of the error function cancels, and the result has few digits.
        const Exact found = ExactElements(*result->tensor())[0];
        CHECK((SameOrNext(dtype, found, RoundedTo(dtype, exact)) ||
               std::fabs(found - exact) <= std::fabs(x) * Precision(dtype)));
      };
      close("nn.gelu", x * std::erfc(-x / std::sqrt(2.0L)) / 2);
      close("nn.gelu_tanh", x / 2 * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0L)) * (x + 0.044715L * x * x * x))));
      close("nn.leakyrelu", x > 0 ? x : x / 4, Attrs({{"alpha", FloatAttr::Get(0.25)}}));
    }
  }
}

TEST_CASE("types: tests for special numbers", "[eval]") {
  for (const DataType dtype : AllTypes()) {
    for (const Exact x : Interesting(dtype)) {
      INFO(x << " as " << dtype.ToString());
      const Tensor tensor = ExactScalar(dtype, x);
      CHECK(Values("isnan", {tensor})[0] == (std::isnan(x) ? 1 : 0));
      CHECK(Values("isinf", {tensor})[0] == (std::isinf(x) ? 1 : 0));
      CHECK(Values("isfinite", {tensor})[0] == (std::isfinite(x) ? 1 : 0));
    }
  }
}

namespace {

struct BinaryCase {
  std::string_view op;
  std::function<Exact(DataType, Exact, Exact)> real;
  // Nullopt: undefined.
  std::function<std::optional<Whole>(DataType, Whole, Whole)> whole;
  std::function<Whole(Whole, Whole)> boolean = nullptr;
  bool approximate = false;
  bool compares = false;
};

Whole FloorQuotient(Whole a, Whole b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }

// Modulo 2^64, which suffices for results truncated to 64 bits and less.
std::optional<Whole> Power(DataType, Whole a, Whole b) {
  if (b < 0) return std::nullopt;
  const Whole modulus = static_cast<Whole>(1) << 64;
  uint64_t power = 1;
  uint64_t base = static_cast<uint64_t>((a % modulus + modulus) % modulus);
  for (; b > 0; b /= 2) {
    if (b % 2 == 1) power *= base;
    base *= base;
  }
  return power;
}

std::vector<BinaryCase> BinaryCases() {
  std::vector<BinaryCase> cases{
      {"add", [](DataType, Exact a, Exact b) { return a + b; }, [](DataType, Whole a, Whole b) { return a + b; },
       [](Whole a, Whole b) { return a ^ b; }},
      {"subtract", [](DataType, Exact a, Exact b) { return a - b; }, [](DataType, Whole a, Whole b) { return a - b; },
       [](Whole a, Whole b) { return a ^ b; }},
      {"multiply", [](DataType, Exact a, Exact b) { return a * b; },
       [](DataType, Whole a, Whole b) {
         return static_cast<Whole>(static_cast<unsigned __int128>(a) * static_cast<unsigned __int128>(b));
       },
       [](Whole a, Whole b) { return a & b; }},
      {"divide", [](DataType, Exact a, Exact b) { return a / b; },
       [](DataType, Whole a, Whole b) { return b == 0 ? std::nullopt : std::optional(a / b); },
       [](Whole a, Whole) { return a; }},
      {"floor_divide", [](DataType t, Exact a, Exact b) { return std::floor(RoundedTo(t, a / b)); },
       [](DataType, Whole a, Whole b) { return b == 0 ? std::nullopt : std::optional(FloorQuotient(a, b)); }},
      {"power", [](DataType, Exact a, Exact b) { return std::pow(a, b); }, Power, nullptr, true},
      {"maximum", [](DataType, Exact a, Exact b) { return a > b || std::isnan(a) ? a : b; },
       [](DataType, Whole a, Whole b) { return std::max(a, b); }, [](Whole a, Whole b) { return a | b; }},
      {"minimum", [](DataType, Exact a, Exact b) { return a < b || std::isnan(a) ? a : b; },
       [](DataType, Whole a, Whole b) { return std::min(a, b); }, [](Whole a, Whole b) { return a & b; }},
      {"bitwise_and", nullptr, [](DataType, Whole a, Whole b) { return a & b; },
       [](Whole a, Whole b) { return a & b; }},
      {"bitwise_or", nullptr, [](DataType, Whole a, Whole b) { return a | b; }, [](Whole a, Whole b) { return a | b; }},
      {"bitwise_xor", nullptr, [](DataType, Whole a, Whole b) { return a ^ b; },
       [](Whole a, Whole b) { return a ^ b; }},
      {"left_shift", nullptr,
       [](DataType t, Whole a, Whole b) {
         return b < 0 || b >= t.bits ? std::nullopt : std::optional(a * (Whole{1} << b));
       }},
      {"right_shift", nullptr,
       [](DataType t, Whole a, Whole b) {
         return b < 0 || b >= t.bits ? std::nullopt : std::optional(FloorQuotient(a, Whole{1} << b));
       }},
      {"logical_and", nullptr, nullptr, [](Whole a, Whole b) { return a * b; }},
      {"logical_or", nullptr, nullptr, [](Whole a, Whole b) { return std::max(a, b); }},
      {"logical_xor", nullptr, nullptr, [](Whole a, Whole b) { return (a + b) % 2; }},
  };
  const auto compare = [&](std::string_view op, bool less, bool equal, bool greater, bool unordered) {
    const auto of = [=](auto a, auto b) { return a < b ? less : a == b ? equal : a > b ? greater : unordered; };
    cases.push_back({op, [of](DataType, Exact a, Exact b) { return of(a, b) ? Exact{1} : Exact{0}; },
                     [of](DataType, Whole a, Whole b) { return std::optional<Whole>(of(a, b)); },
                     [of](Whole a, Whole b) { return Whole{of(a, b)}; }, false, true});
  };
  compare("equal", false, true, false, false);
  compare("not_equal", true, false, true, true);
  compare("less", true, false, false, false);
  compare("less_equal", true, true, false, false);
  compare("greater", false, false, true, false);
  compare("greater_equal", false, true, true, false);
  return cases;
}

std::optional<Exact> Expected(const BinaryCase& c, DataType dtype, Exact a, Exact b) {
  const DataType out = c.compares ? DataType::Bool() : dtype;
  if (dtype.is_floating()) {
    if (!c.real) return std::nullopt;
    const Exact value = c.real(dtype, a, b);
    return c.compares ? value : RoundedTo(dtype, value);
  }
  const Whole x = static_cast<Whole>(a);
  const Whole y = static_cast<Whole>(b);
  if (dtype.is_bool()) return c.boolean ? std::optional(WrappedTo(out, c.boolean(x, y))) : std::nullopt;
  const std::optional<Whole> value = c.whole ? c.whole(dtype, x, y) : std::nullopt;
  return value ? std::optional(WrappedTo(out, *value)) : std::nullopt;
}

}  // namespace

TEST_CASE("types: functions of two numbers", "[eval]") {
  for (const BinaryCase& c : BinaryCases()) {
    for (const DataType dtype : AllTypes()) {
      for (const Exact a : Interesting(dtype)) {
        for (const Exact b : Interesting(dtype)) {
          const std::optional<Exact> expected = Expected(c, dtype, a, b);
          const Result<HostValue> result = Try(c.op, {ExactScalar(dtype, a), ExactScalar(dtype, b)});
          const bool same_kind = result.ok() == expected.has_value();
          const Exact found = result ? ExactElements(*result->tensor())[0] : 0;
          // Assertions are slow, and there are many numbers.
          if (same_kind && (!expected || Same(found, *expected))) continue;
          INFO(c.op << " of " << a << " and " << b << " as " << dtype.ToString());
          REQUIRE(same_kind);
          INFO(found << ", expected " << *expected);
          CHECK((c.approximate && SameOrNext(dtype, found, *expected)));
        }
      }
    }
  }
}

TEST_CASE("types: conversions", "[eval]") {
  for (const DataType from : AllTypes()) {
    for (const DataType to : AllTypes()) {
      for (const Exact x : Interesting(from)) {
        std::optional<Exact> expected;
        if (to.is_bool()) {
          expected = x != 0 ? 1 : 0;
        } else if (to.is_floating()) {
          expected = RoundedTo(to, x);
        } else if (!from.is_floating()) {
          expected = WrappedTo(to, static_cast<Whole>(x));
        } else if (std::isfinite(x) && std::trunc(x) >= static_cast<Exact>(LeastOf(to)) &&
                   std::trunc(x) <= static_cast<Exact>(GreatestOf(to))) {
          expected = std::trunc(x) + Exact{0};
        }
        INFO(x << " from " << from.ToString() << " to " << to.ToString());
        for (const std::string_view op : {"astype", "wrap_param"}) {
          const Result<HostValue> result = Try(op, {ExactScalar(from, x)}, Attrs({{"dtype", DType(to)}}));
          REQUIRE(result.ok() == expected.has_value());
          if (result) CHECK(Same(ExactElements(*result->tensor())[0], *expected));
        }
      }
    }
  }
}

TEST_CASE("types: choices, bounds, fused multiply-add", "[eval]") {
  for (const DataType dtype : AllTypes()) {
    const std::vector<Exact> numbers = Interesting(dtype);
    const auto one = [&](Exact x) { return HostValue(ExactScalar(dtype, x)); };
    for (const Exact a : numbers) {
      INFO(a << " as " << dtype.ToString());
      const Exact b = numbers[3 % numbers.size()];
      CHECK(Same(ExactElements(*Run("where", {B({}, {1}), one(a), one(b)}))[0], a));
      CHECK(Same(ExactElements(*Run("where", {B({}, {0}), one(b), one(a)}))[0], a));
      const Exact least = a > 7 ? 7 : a;
      const Result<HostValue> clipped = Try("clip", {one(a), Scalar::Int(1), Scalar::Int(7)});
      if (clipped) CHECK(Same(ExactElements(*clipped->tensor())[0], dtype.is_bool() ? 1 : least < 1 ? 1 : least));
      if (dtype.is_bool()) {
        CHECK_FALSE(Try("ewise_fma", {one(a), one(b), one(b)}).ok());
        continue;
      }
      for (const Exact c : numbers) {
        const Exact found = ExactElements(*Run("ewise_fma", {one(a), one(Exact{3}), one(c)}))[0];
        INFO(" * 3 + " << c << ": " << found);
        // Three times a number has two more digits; a long double can hold the sum if the sum in double does not round
        // (the others are for the test of single rounding).
        const Exact product = a * 3;
        if (dtype.is_floating()) {
          const bool exact = !(std::isfinite(product) && std::isfinite(c)) || (product + c) - product == c;
          if (exact) CHECK(Same(found, RoundedTo(dtype, product + c)));
        } else {
          CHECK(found == WrappedTo(dtype, static_cast<Whole>(a) * 3 + static_cast<Whole>(c)));
        }
      }
    }
  }
}

}  // namespace iropt
