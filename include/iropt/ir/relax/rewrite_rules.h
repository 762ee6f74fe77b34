// Rules that rewrite expressions by patterns, and the rewriter that applies a set of them to a function:
//
//   RuleSet rules;
//   const Pattern x = Wildcard();
//   rules.Add({"log-of-exp", IsCall(log, {IsCall(exp, {x})}), [=](const Match& match, BlockBuilder&) { return match[x];
//   }}); RuleRewriter rewriter(rules, workspace, inferrer); const Function* result = rewriter.Run(function);
//
// The rules are indexed by the operator of the root and the operators that compute its operands, so a call costs a few
// look-ups, however many rules there are.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "iropt/ir/relax/mutator.h"
#include "iropt/ir/relax/pattern.h"
#include "iropt/support/lookup.h"

namespace iropt {

struct RewriteRule {
  // The expression that replaces the root, which may be nested and may use what the pattern matched; null to leave the
  // root as it is. The builder makes calls with their types; nothing is to be emitted.
  using Replace = std::function<const Expr*(const Match&, BlockBuilder&)>;

  std::string name;
  Pattern pattern;  // of a call or a projection
  Replace replace;
};

class RuleSet {
 public:
  void Add(RewriteRule rule);
  const std::vector<RewriteRule>& rules() const { return rules_; }
  // Returns whether some rule counts uses.
  bool counts_uses() const { return counts_uses_; }

  // The rules that may match an expression, in the order in which they were added, in `scratch`.
  void FindCandidates(const Expr& root, const Definitions& definitions, std::vector<uint32_t>& scratch) const;

 private:
  using Indices = std::vector<uint32_t>;
  // The rules with the same root.
  struct Root {
    Indices always;
    // By the operand that must be a call of an operator, and that operator.
    std::vector<std::unordered_map<const Expr*, Indices>> by_operand;
  };

  void AddRoot(const Pattern& pattern, uint32_t index);
  static void AddOperand(Root& root, size_t position, const Pattern& operand, uint32_t index);
  // The root of an expression: the operator; null for projections. Nothing else is rewritten.
  static bool RootOf(const Expr& expr, const Expr*& root);

  std::vector<RewriteRule> rules_;
  LookupMap<const Expr*, Root> roots_;
  Indices any_root_;  // rules whose root is a call of anything
  bool counts_uses_ = false;
};

// Applies rules to the values of bindings until none applies. What the pattern sees of an operand is its definition in
// the same block. A replacement is normalized into bindings, which are rewritten in turn; rules that never come to an
// end are stopped after kMaxRewrites for one binding. The result may contain dead bindings. O(nodes).
class RuleRewriter : public ExprMutator, private Definitions {
 public:
  static constexpr uint32_t kMaxRewrites = 64;

  // `uses` counts the uses of variables by their numbers, for rules that count uses.
  RuleRewriter(const RuleSet& rules, Workspace& workspace, TypeInferrer& inferrer, std::vector<uint32_t> uses = {});

  const Function* Run(const Function* function) {
    function_ = function;
    return To<Function>(VisitExpr(function));
  }
  // The number of times that each rule was applied.
  const std::vector<uint64_t>& applied() const { return applied_; }
  // Returns whether the rewrites of a binding were stopped.
  bool was_stopped() const { return was_stopped_; }

 protected:
  void VisitVarBinding(const VarBinding* binding) override;
  void VisitMatchCast(const MatchCast* binding) override;
  const BindingBlock* VisitBlock(const BindingBlock* block) override;
  const Expr* VisitCall(const Call* call) override;
  const Expr* VisitTupleGetItem(const TupleGetItem* item) override;

 private:
  struct Definition {
    const Expr* value = nullptr;
    uint32_t block = 0;
  };

  const Expr* ValueOf(const Var* var) const override;
  bool IsUsedOnce(const Var* var) const override { return var->id < uses_.size() && uses_[var->id] == 1; }
  bool IsShared(const Constant* constant) const override;
  void Define(const Var* var, const Expr* value);
  // Applies rules to an expression of leaves. The result is one, too, or a leaf.
  const Expr* Rewrite(const Expr* expr);
  // The replacement by the first rule that applies; null if none does.
  const Expr* ApplyRules(const Expr* expr);
  // Binds the operands of a replacement, which are rewritten first.
  const Expr* BindOperands(const Expr* expr);
  const Expr* BindOperand(const Expr* operand);
  void CountUses(const Expr* expr, int change);

  const RuleSet& rules_;
  std::vector<Definition> definitions_;  // by Var::id
  std::vector<uint32_t> uses_;           // by Var::id
  const Function* function_ = nullptr;   // before the rewrites
  // The uses of each constant in it, once a rule asks for them.
  mutable LookupMap<const NDArray*, uint32_t> constant_uses_;
  std::vector<uint64_t> applied_;  // by rule
  std::vector<uint32_t> candidates_;
  std::unordered_map<const Expr*, const Expr*> bound_;  // the operands of one replacement that were bound
  uint32_t block_ = 0;                                  // the number of the current block
  uint32_t num_blocks_ = 0;
  uint32_t fuel_ = 0;
  bool was_stopped_ = false;
};

}  // namespace iropt
