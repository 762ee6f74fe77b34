// Index expressions as sums of products, for quick proofs about pairs of threads.
//
// Remainders are written by quotients: z % 64 is z - 64 * (z // 64), and quotients are brought to one form, so that
// z // 64 * 64 + z % 64 is z, also where z has other coefficients in the remainder, as simplified code has it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "iropt/arith/analyzer.h"

namespace iropt::races {

using Monomial = std::vector<uint32_t>;   // ascending numbers of atoms; empty for the constant
using Sum = std::map<Monomial, int64_t>;  // without zeros

// The sums of a proof and their atoms, which are variables, quotients, and what has another form.
class Sums {
 public:
  // On which variables an atom depends: a set of bits.
  enum Sides : uint8_t { kCommon = 0, kFirst = 1, kSecond = 2 };

  // The analyzer knows the ranges of variables.
  explicit Sums(arith::Analyzer& analyzer) : analyzer_(analyzer) {}

  void SetSide(const tir::Var* var, Sides side) { sides_[var] = side; }
  Sum Of(const PrimExpr* expr);
  static Sum Constant(int64_t value) { return value == 0 ? Sum() : Sum{{{}, value}}; }
  static int64_t ConstantOf(const Sum& sum);

  Sum Plus(const Sum& a, const Sum& b, int64_t scale = 1);
  Sum Times(const Sum& a, const Sum& b);

  // The sum is at most 0.
  void AddFact(Sum sum);
  // Returns whether the sum is never positive, by the bounds of atoms and by facts.
  bool IsNeverPositive(const Sum& sum);

  // The atom has the value from now on, in what Apply returns.
  void Assign(uint32_t atom, Sum value);
  Sum Apply(const Sum& sum);
  // Writes variables with several quotients by digits, 16 * c + 4 * b + a, and facts with them.
  void SplitIntoDigits();

  // Some number did not fit 64 bits, or there were too many atoms: no result is known to be right.
  bool overflowed() const { return overflowed_; }
  uint8_t SidesOf(const Sum& sum) const;

 private:
  struct Atom {
    const PrimExpr* expr = nullptr;  // null for quotients and digits
    arith::IntBound bound;
    uint8_t sides = kCommon;
    Sum numerator = {};  // of a quotient
    int64_t divisor = 0;
  };

  uint32_t AtomOf(const PrimExpr* expr);
  uint32_t AddAtom(Atom atom);
  Sum OfAtom(uint32_t atom) { return {{{atom}, 1}}; }
  Sum OfCall(const tir::Call& call);
  Sum OfDivision(const tir::BinaryExpr& expr, bool is_quotient);
  std::optional<Sum> Quotient(const Sum& sum, const Sum& divisor);
  Sum Quotient(const Sum& sum, int64_t divisor);
  Sum ReducedQuotient(const Sum& rest, int64_t divisor);
  void AddFactsOfRest(const Sum& dividend, const Sum& quotient, const Sum& divisor);
  uint32_t QuotientAtom(const Sum& numerator, int64_t divisor);
  arith::IntBound BoundOf(const Sum& sum) const;
  arith::IntBound BoundOf(const Monomial& monomial) const;
  // The greatest value of a sum whose atoms belong to one side.
  int64_t UpperBound(const Sum& sum, int depth);

  arith::Analyzer& analyzer_;
  LookupMap<const tir::Var*, uint8_t> sides_;
  std::vector<Atom> atoms_;
  LookupMap<const tir::Var*, uint32_t> vars_;
  std::map<std::pair<Sum, int64_t>, uint32_t> quotients_;
  std::vector<Sum> facts_;
  std::map<uint32_t, Sum> values_;
  std::map<uint32_t, Sum> applied_;  // quotients with the values in their numerators
  int depth_ = 0;                    // of values that are applied
  bool overflowed_ = false;
};

}  // namespace iropt::races
