// The values of scalar expressions of integers, computed with exact integers, without the library's folding and without
// its interpreter.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "iropt/ir/tir/expr.h"

namespace iropt::generate {

__extension__ using Exact = __int128;

// The variables and their values.
class Assignment {
 public:
  void Set(const tir::Var* var, Exact value);
  std::optional<Exact> Find(const tir::Var* var) const;
  const std::vector<std::pair<const tir::Var*, Exact>>& entries() const { return entries_; }
  // "i=3 n=-1"
  std::string ToString() const;

 private:
  std::vector<std::pair<const tir::Var*, Exact>> entries_;
};

std::string ToString(Exact value);
Exact LeastOf(DataType dtype);
Exact GreatestOf(DataType dtype);
// The value modulo 2^bits, as the dtype holds it; for booleans, whether it is odd.
Exact WrapTo(Exact value, DataType dtype);

// Sums, differences, products and quotients of int32 and int64 that overflow
//   kExact: have no value, as in loops;
//   kWrapping: wrap around, as in compiled code;
//   kUnbounded: have the value that they have in mathematics. That of a simplified expression, whose terms have another
//   order, must be right even so.
enum class Overflow : uint8_t { kExact, kWrapping, kUnbounded };
// The value of expressions that exceed 100 bits on the way.
inline constexpr Exact kTooBig = Exact{1} << 100;

// The value of the lane. Nothing if it is undefined: by a variable without a value, a division by zero, a shift by a
// negative number or by all bits, the conversion of a float that does not fit, or an overflow.
std::optional<Exact> ValueOf(const PrimExpr* e, const Assignment& values, Overflow overflow, int lane = 0);

}  // namespace iropt::generate
