// The two rewriters behind Analyzer::Simplify.
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "iropt/arith/analyzer.h"
#include "rewrite_rules.h"

namespace iropt::arith {

// Rewrites bottom-up by the rules of rewrite_rules.def and a few that need more than a pattern.
class RuleSimplifier {
 public:
  explicit RuleSimplifier(Analyzer& analyzer) : analyzer_(analyzer), make_(analyzer.make()) {}
  virtual ~RuleSimplifier() = default;

  virtual const PrimExpr* Visit(const PrimExpr* e);

 protected:
  // How one expression compares with another, as far as is known.
  enum class Order : uint8_t { kUnknown, kEqual, kLess, kLessEqual, kGreater, kGreaterEqual, kNotEqual };

  // Rewrites a node whose operands are simplified.
  const PrimExpr* Rewrite(const PrimExpr* e);
  // Visits the operands; returns the same node when none changed.
  const PrimExpr* VisitOperands(const PrimExpr* e);
  const PrimExpr* VisitBranches(const PrimExpr* e);
  const PrimExpr* VisitLet(const tir::Let* let);
  const PrimExpr* Again(const PrimExpr* e);

  Order CompareWith(const PrimExpr* e, int64_t value);
  Order Compare(const PrimExpr* a, const PrimExpr* b);

  Analyzer& analyzer_;
  const PrimBuilder& make_;

 private:
  const PrimExpr* RewriteBinary(const tir::BinaryExpr* e);
  const PrimExpr* RewriteFloorDiv(const tir::BinaryExpr* e);
  const PrimExpr* RewriteFloorMod(const tir::BinaryExpr* e);
  const PrimExpr* RewriteTruncMod(const tir::BinaryExpr* e);
  const PrimExpr* RewriteMinMax(const tir::BinaryExpr* e);
  const PrimExpr* RewriteEqual(const tir::BinaryExpr* e);
  const PrimExpr* RewriteNotEqual(const tir::BinaryExpr* e);
  const PrimExpr* RewriteLess(const tir::BinaryExpr* e);
  const PrimExpr* RewriteLessEqual(const tir::BinaryExpr* e);
  const PrimExpr* RewriteCall(const tir::Call* call);
  const PrimExpr* MergeOffsets(const tir::BinaryExpr* less);
  const PrimExpr* ApplyRules(const PrimExpr* e);
  bool Holds(const RewriteRule& rule, uint16_t condition, const RuleMatch& match, DataType dtype);

  static constexpr int kMaxAgain = 5;
  int again_depth_ = 0;
};

// Sees an expression as a sum of terms (index % upper // lower) * scale, adds up terms of the same index, and divides
// sums by constants term by term.
class CanonicalSimplifier : public RuleSimplifier {
 public:
  using RuleSimplifier::RuleSimplifier;
  const PrimExpr* Visit(const PrimExpr* e) override;

 private:
  struct Split;
  struct Sum;
  struct Form;
  Form Canonicalize(const PrimExpr* e);
  Form AddSub(const tir::BinaryExpr* e);
  Form Multiply(const tir::BinaryExpr* e);
  Form Divide(const tir::BinaryExpr* e);
  Form Modulo(const tir::BinaryExpr* e);
  Form CanonicalizeCast(const tir::Cast* e);
  const PrimExpr* CanonicalizeLess(const tir::BinaryExpr* e);

  Form DivideSum(Sum sum, int64_t divisor, bool floor);
  std::optional<Form> ModuloSum(Sum& sum, int64_t divisor, bool floor);
  Split DivideSplit(Split split, int64_t divisor, bool floor);
  Split ModuloSplit(Split split, int64_t divisor, bool floor);
  Split WithMode(Split split, bool floor);

  const PrimExpr* Normal(const Form& form);
  const PrimExpr* Normal(const Split& split, int64_t scale = 1);
  const PrimExpr* Normal(const Sum& sum);
  Split ToSplit(const Form& form);
  Split ToSplit(const PrimExpr* e);
  Split ToSplit(const Sum& sum);
  Sum ToSum(const Form& form);
  bool CanPushCast(const Sum& sum, DataType dtype);
  bool CanPushCast(const Split& split, DataType dtype);
  bool CastIsSafe(DataType dtype, const PrimExpr* value);
  bool CancelFactors(const PrimExpr*& a, const PrimExpr*& b, const PrimExpr*& common);
  int64_t Scale(int64_t a, int64_t b);
  int64_t Plus(int64_t a, int64_t b);
  void AddTo(Sum& sum, Split term, int64_t scale);

  // Set when a coefficient does not fit: the expression is then left as it is.
  bool overflow_ = false;
};

}  // namespace iropt::arith
