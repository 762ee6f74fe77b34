#include "block_terms.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace iropt::generate {

int64_t CountOf(const BlockDims& dims) {
  int64_t count = 1;
  for (const BlockDim& dim : dims) count *= dim.size;
  return count;
}

std::vector<int64_t> SizesOf(const BlockDims& dims) {
  std::vector<int64_t> sizes;
  for (const BlockDim& dim : dims) sizes.push_back(dim.size);
  return sizes;
}

void ForEachPoint(const BlockDims& dims, FunctionRef<void(const Point& point)> f) {
  Point point(dims.size());
  for (int64_t left = CountOf(dims); left > 0; --left) {
    f(point);
    for (size_t i = dims.size(); i > 0 && ++point[i - 1] == dims[i - 1].size; --i) point[i - 1] = 0;
  }
}

int64_t Wrap(int64_t value, DataType dtype) {
  if (dtype.is_bool()) return value != 0 ? 1 : 0;
  if (dtype.is_floating() || dtype.bits == 64) return value;
  const int64_t size = int64_t{1} << dtype.bits;
  const int64_t rest = (value % size + size) % size;
  return dtype.is_int() && rest >= size / 2 ? rest - size : rest;
}

bool IsLess(int64_t a, int64_t b, DataType dtype) {
  return dtype == DataType::UInt(64) ? static_cast<uint64_t>(a) < static_cast<uint64_t>(b) : a < b;
}

double ExactUpTo(DataType dtype) {
  if (dtype == DataType::Float(16)) return 2048;
  if (dtype == DataType::Float(32)) return std::exp2(24);
  return dtype == DataType::Int(32) ? std::exp2(31) - 1 : std::exp2(53);
}

int64_t BlockArray::At(const Point& point) const {
  int64_t flat = 0;
  for (size_t i = 0; i < dims.size(); ++i) flat = flat * dims[i].size + point[i];
  return values.at(static_cast<size_t>(flat));
}

double BlockArray::Greatest() const {
  double greatest = 0;
  for (const int64_t value : values) {
    const bool is_huge = dtype == DataType::UInt(64) && value < 0;
    greatest = std::max(greatest, is_huge ? std::exp2(64) : std::abs(static_cast<double>(value)));
  }
  return greatest;
}

Term Axis(size_t i) {
  return {fmt::format("v{}", i), [i](const Point& point) { return point[i]; }};
}

namespace {

template <class F>
Term Both(const Term& a, std::string_view op, const Term& b, double bound, F combine) {
  const auto wrapping = [a = a.value, b = b.value, combine](const Point& p) {
    return static_cast<int64_t>(combine(static_cast<uint64_t>(a(p)), static_cast<uint64_t>(b(p))));
  };
  return {fmt::format("({} {} {})", a.text, op, b.text), wrapping, bound};
}

}  // namespace

Term Sum(const Term& a, const Term& b) { return Both(a, "+", b, a.bound + b.bound, std::plus<>()); }
Term Difference(const Term& a, const Term& b) { return Both(a, "-", b, a.bound + b.bound, std::minus<>()); }
Term Product(const Term& a, const Term& b) {
  return Both(a, "*", b, std::max({a.bound, b.bound, a.bound * b.bound}), std::multiplies<>());
}
Term Quotient(const Term& a, const Term& b) { return Both(a, "//", b, a.bound, std::divides<>()); }
Term Remainder(const Term& a, const Term& b) { return Both(a, "%", b, a.bound, std::modulus<>()); }

Term Cast(const Term& a, DataType from, DataType to) {
  if (from == to) return a;
  return {fmt::format("T.Cast(\"{}\", {})", to.ToString(), a.text),
          [a = a.value, from, to](const Point& p) { return Wrap(Wrap(a(p), from), to); }, a.bound};
}

Term Extreme(bool is_max, const Term& a, const Term& b, DataType dtype) {
  return {fmt::format("T.{}({}, {})", is_max ? "max" : "min", a.text, b.text),
          [=, a = a.value, b = b.value](const Point& p) {
            const int64_t x = Wrap(a(p), dtype), y = Wrap(b(p), dtype);
            return IsLess(x, y, dtype) == is_max ? y : x;
          },
          std::max(a.bound, b.bound)};
}

Term Less(const Term& a, const Term& b, DataType dtype) {
  return {fmt::format("({} < {})", a.text, b.text),
          [dtype, a = a.value, b = b.value](const Point& p) {
            return IsLess(Wrap(a(p), dtype), Wrap(b(p), dtype), dtype) ? 1 : 0;
          },
          std::max({a.bound, b.bound, 1.0})};
}

Term Choice(std::string_view function, const Term& condition, const Term& yes, const Term& no) {
  return {fmt::format("{}({}, {}, {})", function, condition.text, yes.text, no.text),
          [c = condition.value, a = yes.value, b = no.value](const Point& p) { return c(p) != 0 ? a(p) : b(p); },
          std::max({condition.bound, yes.bound, no.bound})};
}

Term Load(const BlockArray& array, const std::vector<Term>& indices) {
  std::vector<std::string> texts;
  for (const Term& index : indices) texts.push_back(index.text);
  return {fmt::format("{}[{}]", array.name, fmt::join(texts, ", ")),
          [array, indices](const Point& point) {
            Point at;
            for (const Term& index : indices) at.push_back(index.value(point));
            return array.At(at);
          },
          array.Greatest()};
}

}  // namespace iropt::generate
