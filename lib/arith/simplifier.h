// The two rewriters of Analyzer::Simplify.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "iropt/arith/analyzer.h"
#include "iropt/support/hash.h"
#include "iropt/support/lookup.h"
#include "known_orders.h"
#include "rewrite_rules.h"

namespace iropt::arith {

// What CanonicalSimplifier remembers.
struct RememberedForms {
  virtual ~RememberedForms() = default;
};

// Results of the rewriters by node. Rules ask for proofs about parts of the matched expression, which rewrite these
// parts: without a cache the parts of a big expression would be rewritten again for each part that contains them. A
// result is valid for one rewriter at one depth of proofs and of repetition, because these limit the rules that are
// tried.
class Analyzer::Memo {
 public:
  struct Key {
    const PrimExpr* expr;
    uint32_t state;
    friend bool operator==(const Key&, const Key&) = default;
  };
  // Null if the result is not known.
  const PrimExpr* Find(const Key& key, size_t epoch) const {
    const auto* it = results_.Find(key);
    return !it || it->epoch != epoch ? nullptr : it->expr;
  }
  void Keep(const Key& key, const PrimExpr* result, size_t epoch) {
    results_.insert_or_assign(key, Result{result, epoch});
  }

  // At the begin of the outermost simplifier: most are done after a few rewrites.
  void Begin() {
    num_rewrites_ = 0;
    forms.reset();
  }
  void CountRewrite() { ++num_rewrites_; }
  // Returns whether the current simplification is a long one, in which rewriting probably repeats itself.
  bool is_long() const { return num_rewrites_ > kManyRewrites; }

  // The expression, in a long simplification the one that stands for all like it.
  const PrimExpr* KeyOf(const PrimExpr* e) { return is_long() ? Unique(e) : e; }

  // What CanonicalSimplifier remembers: the next proof asks about the same parts.
  std::unique_ptr<RememberedForms> forms;

 private:
  static constexpr size_t kManyRewrites = 512;

  // One of the expressions that are the same arithmetic of the same leaves, for all of them. Rewriting makes the same
  // nodes again for each proof; as nodes of their own they would be rewritten, and proved things about, again. O(1) for
  // each node that was not seen before.
  const PrimExpr* Unique(const PrimExpr* e);

  // What a node is made of: its kind, dtype and operands, or the value of a constant.
  struct Parts {
    NodeKind kind;
    DataType dtype;
    std::array<const PrimExpr*, 3> operands;
    int64_t value;
    friend bool operator==(const Parts&, const Parts&) = default;
  };
  struct PartsHash {
    size_t operator()(const Parts& parts) const;
  };
  std::optional<Parts> PartsOf(const PrimExpr* e);

  struct Hash {
    size_t operator()(const Key& key) const { return HashCombine(reinterpret_cast<uintptr_t>(key.expr), key.state); }
  };
  struct Result {
    const PrimExpr* expr;
    size_t epoch;  // of the analyzer; changes with the known facts
  };
  LookupMap<Key, Result, Hash> results_;
  size_t num_rewrites_ = 0;  // of the outermost simplifier
  LookupMap<const PrimExpr*, const PrimExpr*> unique_;
  LookupMap<Parts, const PrimExpr*, PartsHash> by_parts_;
};

// The nesting of proofs on this thread.
int ProofDepth();
// The number of simplifiers at work on this thread.
int& ActiveSimplifiers();

// Returns whether a condition has so many conjunctions and disjunctions that it keeps its form. Rules that rebuild one
// go on in its parts, a few levels at a time: on nested conditions, each of which they rebuild, that takes cubic time.
bool IsBigCondition(const PrimExpr* e);

// Rewrites bottom-up by the rules of rewrite_rules.def and a few rules that need more than a pattern.
class RuleSimplifier {
 public:
  explicit RuleSimplifier(Analyzer& analyzer) : analyzer_(analyzer), make_(analyzer.make()) {
    if (++ActiveSimplifiers() == 1 && analyzer.memo_) analyzer.memo_->Begin();
  }
  virtual ~RuleSimplifier() { --ActiveSimplifiers(); }
  RuleSimplifier(const RuleSimplifier&) = delete;
  RuleSimplifier& operator=(const RuleSimplifier&) = delete;

  virtual const PrimExpr* Visit(const PrimExpr* e);

 protected:
  // The result of `rewrite`, cached by node.
  template <class F>
  const PrimExpr* Remember(uint32_t rewriter, const PrimExpr* e, F&& rewrite) {
    if (e->kind == NodeKind::kIntImm || tir::Var::ClassOf(e->kind)) return rewrite();
    // Most proofs are about small expressions, for which caching would take longer than rewriting.
    if (!analyzer_.memo_) {
      if (++analyzer_.num_rewrites_ < kRewritesBeforeMemo) return rewrite();
      analyzer_.memo_ = std::make_unique<Analyzer::Memo>();
    }
    Analyzer::Memo& memo = *analyzer_.memo_;
    const Analyzer::Memo::Key key{memo.KeyOf(e), Depths() << 1 | rewriter};
    const size_t epoch = Epoch();
    if (const PrimExpr* known = memo.Find(key, epoch)) return known;
    memo.CountRewrite();
    const PrimExpr* result = memo.KeyOf(rewrite());
    if (Epoch() == epoch) memo.Keep(key, result, epoch);
    return result;
  }

  // Null until much was rewritten.
  Analyzer::Memo* memo() const { return analyzer_.memo_.get(); }
  // Changes with the known facts.
  size_t Epoch() const { return analyzer_.epoch_; }
  uint32_t Depths() const { return static_cast<uint32_t>(ProofDepth()) << 8 | static_cast<uint32_t>(again_depth_); }

  // Visits the operands (by the class's Visit) and then the node.
  const PrimExpr* VisitByRules(const PrimExpr* e);
  // Rewrites a node whose operands are simplified.
  const PrimExpr* Rewrite(const PrimExpr* e);
  // Visits the operands; returns the same node when none changed.
  const PrimExpr* VisitOperands(const PrimExpr* e);
  const PrimExpr* VisitBranches(const PrimExpr* e);
  const PrimExpr* VisitJunction(const tir::BinaryExpr* e);
  const PrimExpr* WithOperands(const tir::BinaryExpr* e, std::span<const PrimExpr* const>& operands);
  const PrimExpr* VisitWhereOthersDecideNothing(NodeKind kind, std::span<const PrimExpr* const> operands, size_t i);
  const PrimExpr* VisitLet(const tir::Let* let);
  const PrimExpr* Again(const PrimExpr* e);

  Order CompareWith(const PrimExpr* e, int64_t value);
  Order Compare(const PrimExpr* a, const PrimExpr* b);

  Analyzer& analyzer_;
  const PrimBuilder& make_;

 private:
  const PrimExpr* RewriteBinary(const tir::BinaryExpr* e);
  const PrimExpr* RewriteDiv(const tir::BinaryExpr* e);
  const PrimExpr* RewriteFloorDiv(const tir::BinaryExpr* e);
  const PrimExpr* RewriteFloorMod(const tir::BinaryExpr* e);
  const PrimExpr* RewriteTruncMod(const tir::BinaryExpr* e);
  const PrimExpr* RewriteMinMax(const tir::BinaryExpr* e);
  const PrimExpr* ChooseByDifference(const tir::BinaryExpr* e);
  const PrimExpr* RewriteEqual(const tir::BinaryExpr* e);
  const PrimExpr* RewriteNotEqual(const tir::BinaryExpr* e);
  const PrimExpr* RewriteLess(const tir::BinaryExpr* e);
  const PrimExpr* RewriteLessEqual(const tir::BinaryExpr* e);
  const PrimExpr* RewriteVectorQuotient(const tir::BinaryExpr* e);
  const PrimExpr* RewriteOtherSum(const tir::BinaryExpr* e);
  const PrimExpr* RewriteOtherDifference(const tir::BinaryExpr* e);
  const PrimExpr* RewriteCall(const tir::Call* call);
  const PrimExpr* RewriteIfThenElse(const tir::Call* call);
  const PrimExpr* MergeOffsets(const tir::BinaryExpr* less);
  const PrimExpr* ApplyRules(const PrimExpr* e);
  bool Holds(const RewriteRule& rule, uint16_t condition, const RuleMatch& match, DataType dtype);

  static constexpr int kMaxAgain = 5;
  static constexpr size_t kRewritesBeforeMemo = 512;
  int again_depth_ = 0;
  int nested_junctions_ = 0;
};

// Treats an expression as a sum of terms (index % upper // lower) * scale, adds up terms of the same index, and divides
// sums by constants term by term.
class CanonicalSimplifier : public RuleSimplifier {
 public:
  explicit CanonicalSimplifier(Analyzer& analyzer) : RuleSimplifier(analyzer) {}
  const PrimExpr* Visit(const PrimExpr* e) override;

 private:
  struct Split;
  struct Sum;
  struct Form;
  class FormCache;
  FormCache& forms();
  template <class F>
  Form RememberForm(const PrimExpr* e, F&& compute);
  Form Canonicalize(const PrimExpr* e);
  Form AddSub(const tir::BinaryExpr* e);
  Form Multiply(const tir::BinaryExpr* e);
  Form Divide(const tir::BinaryExpr* e);
  Form Modulo(const tir::BinaryExpr* e);
  Form CanonicalizeCast(const tir::Cast* e);
  const PrimExpr* CanonicalizeLess(const tir::BinaryExpr* e);

  Form DivideSum(const Sum& sum, int64_t divisor, bool floor);
  std::optional<Form> ModuloSum(Sum& sum, int64_t divisor, bool floor);
  Split DivideSplit(Split split, int64_t divisor, bool floor);
  Split ModuloSplit(Split split, int64_t divisor, bool floor);
  Split WithMode(Split split, bool floor);

  const PrimExpr* Remainder(const PrimExpr* e, int64_t divisor, bool floor);
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
  // The constant; sets overflow_ if the dtype does not hold it.
  const PrimExpr* Constant(int64_t value, DataType dtype);
  int64_t Scale(int64_t a, int64_t b);
  int64_t Plus(int64_t a, int64_t b);
  void AddTo(Sum& sum, Split term, int64_t scale);

  // Set when a coefficient does not fit: the expression is then left as it is.
  bool overflow_ = false;
};

}  // namespace iropt::arith
