// Integer expressions as polynomials, for proofs. Expanded products do not depend on the order of factors and terms,
// which the normal form of Simplify keeps, because it is printed.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "iropt/arith/prim_builder.h"

namespace iropt::arith {

// A sum of products of atoms, which are the parts that are not sums, differences or products. Atoms are equal if their
// operands are equal as polynomials: (n * m) // 4 and (m * n) // 4 are one.
class Polynomial {
 public:
  // a - b, expanded; nothing if that has too many terms, or a coefficient does not fit 64 bits. Linear in the
  // expressions, because big ones are given up early.
  static std::optional<Polynomial> Difference(const PrimExpr* a, const PrimExpr* b);

  // Whether the expression is a multiple of the divisor: each product has its factors once remainders by the divisor
  // are replaced by what they are remainders of. Linear in the expressions, as Difference.
  static bool IsMultiple(const PrimExpr* e, const PrimExpr* divisor);

  // The value of a polynomial without atoms.
  std::optional<int64_t> AsConstant() const;
  // The sum as an expression of this dtype, terms in order of first occurrence of their atoms.
  const PrimExpr* ToExpr(DataType dtype, const PrimBuilder& make) const;

 private:
  using Monomial = std::vector<uint32_t>;  // ascending numbers of atoms
  using Terms = std::map<Monomial, int64_t>;
  class Expander;

  Terms terms_;  // without zeros
  std::vector<const PrimExpr*> atoms_;
};

}  // namespace iropt::arith
