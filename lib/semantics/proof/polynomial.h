// Polynomials over terms: the normal form of sums and products.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "semantics/proof/term_builder.h"

namespace iropt::proof {

// A sum of products of terms with constant coefficients, of integers modulo 2^n or of reals.
class Polynomial {
 public:
  // Sorted; equal ones repeat.
  using Factors = std::vector<const Term*>;

  explicit Polynomial(DataType dtype) : dtype_(dtype) {}
  static Polynomial OfTerm(const Term* term, TermBuilder& terms);
  // Nothing if the operator is not one of a ring, or the result would be too long.
  static std::optional<Polynomial> OfCall(OpId op, const std::vector<const Term*>& args, DataType dtype,
                                          TermBuilder& terms);
  const Term* ToTerm(TermBuilder& terms) const;

  void Add(Factors factors, const Term* coefficient, TermBuilder& terms);

  struct Order {
    bool operator()(const Factors& a, const Factors& b) const;
  };
  // A coefficient is a number or an element of a constant; null if it could not be computed.
  const std::map<Factors, const Term*, Order>& monomials() const { return monomials_; }

 private:
  // False if the result would be too long.
  bool Multiply(const Polynomial& other, TermBuilder& terms);

  DataType dtype_;
  std::map<Factors, const Term*, Order> monomials_;
};

// Returns whether the term comes before the other one in sums and products.
bool TermBefore(const Term* a, const Term* b);

}  // namespace iropt::proof
