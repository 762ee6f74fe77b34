// Proofs that indices are within sizes that are not numbers: i * 768 + j < n * 768, where i < n and j < 768.
//
// Expressions become polynomials of variables, of which those of loops are replaced by their bounds, inner ones first,
// until only sizes are left. What is proved is about the exact values of sums and products. A value that wraps around
// in the program is the exact one again if that one is in the range of its dtype.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "index_ranges.h"

namespace iropt::codegen {

class SymbolicBounds {
 public:
  // A number of bytes: the product of the extents and of the bytes of an element.
  struct Size {
    List<const PrimExpr*> extents;
    int64_t bytes;
  };

  explicit SymbolicBounds(const IndexRanges& ranges) : ranges_(ranges) {}

  // Returns whether 0 <= index < extent always holds; for a vector, in all lanes.
  bool IsInBounds(const PrimExpr* index, const PrimExpr* extent);
  // Returns whether a <= b always holds, where all extents of `a` are at least 0.
  bool IsAtMost(const Size& a, const Size& b);

 private:
  __extension__ using Wide = __int128;
  using Monomial = std::vector<uint32_t>;  // ascending numbers of atoms
  using Terms = std::map<Monomial, Wide>;  // without zeros

  // What is not a sum or product: a variable, a quotient, or another expression.
  struct Atom {
    const PrimExpr* expr;           // null for a quotient; for a size, it is what is more than the least value
    IntRange range;                 // of its values
    const PrimExpr* end = nullptr;  // it is less than that
    Terms dividend = {};            // of a quotient, rounded down
    int64_t divisor = 0;
    uint32_t order = 0;  // greater for inner loops; 0 for sizes
  };

  std::optional<Terms> Expand(const PrimExpr* expr);
  std::optional<Terms> ExpandVar(const tir::Var* var);
  std::optional<Terms> ExpandBinary(const tir::BinaryExpr& expr);
  std::optional<Terms> Quotient(const tir::BinaryExpr& expr, Terms dividend, int64_t divisor);
  std::optional<Terms> Expand(const Size& size);
  Terms AtomOf(Atom atom);
  bool IsExact(const PrimExpr* expr, int& budget) const;
  bool IsExact(const PrimExpr* expr) const;

  bool IsNonNegative(Terms terms);
  bool EliminateAtom(Terms& terms, uint32_t atom);
  bool HasOneSign(const Terms& terms, bool negative) const;
  // Replaces factor * atom, of which `factor` is nowhere negative or nowhere positive, by a lower bound.
  std::optional<Terms> LowerBound(const Terms& factor, uint32_t atom, bool negative);
  std::optional<Terms> LowerBoundByEnd(const Terms& factor, const Atom& atom);
  std::optional<Terms> LowerBoundByFacts(const Terms& factor, uint32_t atom);

  static std::optional<Terms> Sum(Terms a, const Terms& b, Wide factor = 1);
  static std::optional<Terms> Product(const Terms& a, const Terms& b);
  static std::optional<Terms> Divide(const Terms& a, int64_t divisor);
  static Terms Constant(Wide value);

  const IndexRanges& ranges_;
  std::vector<Atom> atoms_;
  int budget_ = 512;  // nodes that are visited
};

}  // namespace iropt::codegen
