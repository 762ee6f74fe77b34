// Polynomials over terms: the normal form of sums and products.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "semantics/proof/term_builder.h"

namespace iropt::proof {

// A sum of products of terms with coefficients, of integers modulo 2^n or of reals.
class Polynomial {
 public:
  explicit Polynomial(DataType dtype) : dtype_(dtype) {}

  static Polynomial OfTerm(const Term* term, const TermBuilder& terms);
  // Nothing if the operator is not one of a ring, or the result would be too long.
  static std::optional<Polynomial> OfCall(OpId op, const std::vector<const Term*>& args, DataType dtype,
                                          TermBuilder& terms);
  const Term* ToTerm(TermBuilder& terms) const;

  // Factors by their ids, in which equal ones repeat.
  using Factors = std::vector<const Term*>;
  struct Order {
    bool operator()(const Factors& a, const Factors& b) const;
  };
  // Coefficients are integers for dtypes of integers.
  struct Coefficient {
    int64_t integer = 0;
    double real = 0;
  };
  const std::map<Factors, Coefficient, Order>& monomials() const { return monomials_; }
  void Add(const Factors& factors, const Coefficient& coefficient, bool drops_zeros);

 private:
  bool is_integer() const { return dtype_.is_integer(); }
  Coefficient Times(const Coefficient& a, const Coefficient& b) const;

  DataType dtype_;
  std::map<Factors, Coefficient, Order> monomials_;
};

}  // namespace iropt::proof
