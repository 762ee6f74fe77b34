// Expressions of the elements of random arrays, as text and as what they compute, without the library.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/ir/dtype.h"
#include "iropt/support/function_ref.h"

namespace iropt::generate {

using Point = std::vector<int64_t>;  // values of axes

// A number, or a symbolic size.
struct BlockDim {
  std::string text;
  int64_t size;
  bool is_symbolic = false;
};

using BlockDims = std::vector<BlockDim>;

int64_t CountOf(const BlockDims& dims);
std::vector<int64_t> SizesOf(const BlockDims& dims);
// Calls the function for each point of a box, the last axis first.
void ForEachPoint(const BlockDims& dims, FunctionRef<void(const Point& point)> f);

// The element that a computation with wrapping integers of 64 bits gives in the dtype. Floats are taken as exact.
int64_t Wrap(int64_t value, DataType dtype);
bool IsLess(int64_t a, int64_t b, DataType dtype);
// Up to here, floats of the dtype are exact, and signed integers do not overflow where that is not defined.
double ExactUpTo(DataType dtype);

// Elements are integers, those of unsigned 64 bits as the same bits.
struct BlockArray {
  std::string name;
  DataType dtype;
  BlockDims dims;
  std::vector<int64_t> values = {};

  int64_t At(const Point& point) const;
  double Greatest() const;
};

struct Term {
  std::string text;
  std::function<int64_t(const Point&)> value;
  double bound = 0;  // of the size of all that is computed for it
};

Term Axis(size_t i);
Term Sum(const Term& a, const Term& b);
Term Difference(const Term& a, const Term& b);
Term Product(const Term& a, const Term& b);
// Of terms that are not negative, by a number.
Term Quotient(const Term& a, const Term& b);
Term Remainder(const Term& a, const Term& b);
// Elements as such of another dtype.
Term Cast(const Term& a, DataType from, DataType to);
// "T.min(a, b)" or "T.max(a, b)".
Term Extreme(bool is_max, const Term& a, const Term& b, DataType dtype);
// 1 or 0.
Term Less(const Term& a, const Term& b, DataType dtype);
Term Choice(std::string_view function, const Term& condition, const Term& yes, const Term& no);
// Without its being evaluated where it is not needed.
Term Load(const BlockArray& array, const std::vector<Term>& indices);

}  // namespace iropt::generate
