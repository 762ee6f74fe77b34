// Elements of tensors in the language of Z3: integers as bit vectors, which wrap around as they do, and floats.
#pragma once

#include <z3++.h>

#include <map>
#include <optional>
#include <string>

#include "iropt/ir/relax/expr.h"

namespace iropt::proofs {

// What one element of a tensor is in terms of the elements of the parameters at the same place. Operators that work
// element by element are known, those of floats only as far as conversions go; all others have no element.
class Elements {
 public:
  explicit Elements(z3::context& context) : context_(context), defined_(context) {}

  // The parameters of both functions are called the same.
  std::optional<z3::expr> ResultOf(const Function& function);
  // That the last result is defined: floats become integers only if these have them.
  z3::expr Defined() const { return z3::mk_and(defined_); }

 private:
  std::optional<z3::expr> ValueOf(const Expr* expr);
  std::optional<z3::expr> CallValue(const Call& call);
  std::optional<z3::expr> Unary(const Call& call, const z3::expr& x);
  std::optional<z3::expr> Binary(const Call& call, const z3::expr& a, const z3::expr& b);
  std::optional<z3::expr> Clip(const Call& call);
  // The operand's limit as a number that is wider than every dtype.
  std::optional<z3::expr> Limit(const Expr* operand);
  z3::expr Convert(const z3::expr& x, DataType from, DataType to);
  z3::expr ToInteger(const z3::expr& x, DataType to);
  std::optional<z3::expr> Literal(const NDArray& array);
  z3::sort SortOf(DataType dtype);

  z3::context& context_;
  std::map<const Var*, z3::expr> values_;
  z3::expr_vector defined_;
};

}  // namespace iropt::proofs
