// Integer arithmetic of ours in the language of Z3: for all integers, without limits of dtypes.
#pragma once

#include <z3++.h>

#include <string>
#include <vector>

#include "iropt/ir/node.h"

namespace iropt::proofs {

// Builds terms and remembers the divisions in them, which Z3 has no operations for that round as ours.
class Arithmetic {
 public:
  explicit Arithmetic(z3::context& context) : context_(context) {}

  z3::context& context() { return context_; }
  // The operation of two numbers or truth values. Those of truth values are And, Or, EQ and NE.
  z3::expr Apply(NodeKind kind, const z3::expr& a, const z3::expr& b);
  z3::expr Integer(int64_t value) { return context_.int_val(value); }

  // The number of quotients so far, in the order of their first use.
  size_t num_quotients() const { return divisions_.size(); }
  // What is true of a quotient, if its divisor is not 0.
  z3::expr AxiomOf(size_t quotient) const;
  z3::expr DivisorOf(size_t quotient) const { return divisions_[quotient].b; }
  z3::expr QuotientOf(size_t quotient) const { return divisions_[quotient].quotient; }
  // That no divisor since the last call is 0.
  z3::expr TakeDefined();
  // That a quotient is each of the numbers by which it would leave the right remainder: it is the only such number.
  // They follow from the axioms, but Z3 rarely finds them.
  z3::expr_vector UniqueQuotients(const std::vector<z3::expr>& candidates);

 private:
  // a = b * quotient + remainder.
  struct Division {
    z3::expr a;
    z3::expr b;
    z3::expr quotient;
    z3::expr remainder;
    bool truncates;
  };
  const Division& Divide(const z3::expr& a, const z3::expr& b, bool truncates);
  // That the remainder fits the divisor, and the sign of what is divided.
  static z3::expr Fits(const z3::expr& a, const z3::expr& b, const z3::expr& remainder, bool truncates);

  z3::context& context_;
  std::vector<Division> divisions_;
  std::vector<z3::expr> divisors_;
};

}  // namespace iropt::proofs
