// Every row of rewrite_rules.def holds for random numbers, and for all numbers of a small range.
#include "arith/rewrite_rules.h"

#include <algorithm>
#include <array>
#include <random>
#include <set>

#include "catch.h"
#include "expr_eval.h"
#include "iropt/ir/context.h"

namespace iropt::arith::test {
namespace {

class RuleChecker {
 public:
  explicit RuleChecker(const RewriteRule& rule) : rule_(rule) {}

  // Tries all numbers of a small range, as far as they are not too many, and random ones; returns how many instances
  // satisfied the condition.
  int Check(int attempts) {
    int tried = 0;
    for (const uint16_t pattern : rule_.patterns) {
      const std::vector<Slot> slots = Slots();
      tried += CheckAll(pattern, slots);
      for (int i = 0; i < attempts && !failed_; ++i) {
        const bool small = random_() % 2 == 0;
        tried += CheckOne(pattern, slots, [&](const Slot&) {
          return static_cast<int64_t>(random_() % (small ? 9 : 41)) - (small ? 4 : 20);
        });
      }
    }
    return tried;
  }

  // The pattern with variables, and constants of some size.
  const PrimExpr* Instance(uint16_t pattern) const {
    RuleMatch match;
    for (const Slot& slot : Slots()) {
      const PrimExpr* constant = IRContext::Current().Int(4 + 2 * slot.index);
      match.slots[slot.index] = slot.var ? static_cast<const PrimExpr*>(slot.var) : constant;
    }
    return BuildTerm(rule_, pattern, match, DataType::Int(64), PrimBuilder());
  }

 private:
  // A variable of the rule.
  struct Slot {
    uint8_t index;
    bool is_bool;
    const tir::Var* var;  // null for a constant
  };

  bool IsVectorRule() const {
    for (const RuleTerm& term : rule_.terms) {
      if (term.tag == RuleTerm::Tag::kNode && (term.kind == NodeKind::kRamp || term.kind == NodeKind::kBroadcast))
        return true;
    }
    return false;
  }
  // Returns whether the variable matches a condition: it is an operand of a logical operation or the first of a
  // selection.
  bool IsBool(uint8_t slot) const {
    for (const RuleTerm& term : rule_.terms) {
      if (term.tag != RuleTerm::Tag::kNode) continue;
      const bool logic = term.kind == NodeKind::kAnd || term.kind == NodeKind::kOr || term.kind == NodeKind::kNot;
      for (int i = 0; i < term.arity; ++i) {
        const RuleTerm& child = rule_.terms[term.child[static_cast<size_t>(i)]];
        if (child.tag == RuleTerm::Tag::kAny && child.slot == slot &&
            (logic || (term.kind == NodeKind::kSelect && i == 0)))
          return true;
      }
    }
    return false;
  }

  std::vector<Slot> Slots() const {
    std::vector<Slot> slots;
    for (const RuleTerm& term : rule_.terms) {
      const bool is_const = term.tag == RuleTerm::Tag::kConst;
      if (term.tag != RuleTerm::Tag::kAny && !is_const) continue;
      if (std::ranges::any_of(slots, [&](const Slot& slot) { return slot.index == term.slot; })) continue;
      const bool is_bool = !is_const && IsBool(term.slot);
      const DataType dtype = is_bool ? DataType::Bool() : DataType::Int(64);
      slots.push_back({term.slot, is_bool, is_const ? nullptr : IRContext::Current().NewSymVar("v", dtype)});
    }
    return slots;
  }

  // All numbers from -kReach to kReach.
  int CheckAll(uint16_t pattern, const std::vector<Slot>& slots) {
    constexpr int64_t kReach = 3;
    constexpr int64_t kMaxInstances = 20000;
    int64_t count = 1;
    for (const Slot& slot : slots) count *= slot.is_bool ? 2 : 2 * kReach + 1;
    if (count > kMaxInstances) return 0;
    int tried = 0;
    for (int64_t i = 0; i < count && !failed_; ++i) {
      int64_t rest = i;
      tried += CheckOne(pattern, slots, [&](const Slot& slot) {
        const int64_t size = slot.is_bool ? 2 : 2 * kReach + 1;
        const int64_t digit = rest % size;
        rest /= size;
        return slot.is_bool ? digit : digit - kReach;
      });
    }
    return tried;
  }

  template <class F>
  bool CheckOne(uint16_t pattern, const std::vector<Slot>& slots, F&& choose) {
    if (IsVectorRule()) return true;  // by lanes they are the rows of scalars
    RuleMatch match;
    Env env;
    for (const Slot& slot : slots) {
      const int64_t value = choose(slot);
      if (slot.var) env[slot.var] = slot.is_bool ? value % 2 != 0 : value;
      match.slots[slot.index] = slot.var ? static_cast<const PrimExpr*>(slot.var) : IRContext::Current().Int(value);
    }
    // Plain nodes on the left side, so that constants in the pattern are not folded away.
    const std::optional<int64_t> left = EvalPattern(pattern, match, env);
    if (!left) return false;
    if (rule_.condition) {
      const auto holds = EvalPattern(*rule_.condition, match, env);
      if (!holds || !*holds) return false;
    }
    const auto right = EvalPattern(rule_.result, match, env);
    INFO("rule " << rule_.name << ": " << rule_.text << Values(match, env));
    // A result may divide where the pattern did not only if it has the same divisors.
    failed_ = !right || *left != *right;
    CHECK(right.has_value());
    CHECK(left == right);
    return true;
  }

  std::optional<int64_t> EvalPattern(uint16_t index, const RuleMatch& match, const Env& env) {
    const RuleTerm& term = rule_.terms[index];
    switch (term.tag) {
      case RuleTerm::Tag::kLiteral:
      case RuleTerm::Tag::kBool: return term.literal;
      case RuleTerm::Tag::kConst:
      case RuleTerm::Tag::kAny: return Eval(match.slots[term.slot], env);
      case RuleTerm::Tag::kNode: break;
    }
    const auto a = EvalPattern(term.child[0], match, env);
    if (!a) return std::nullopt;
    if (term.kind == NodeKind::kNot) return *a == 0;
    if (term.kind == NodeKind::kSelect) return EvalPattern(term.child[*a ? 1 : 2], match, env);
    const auto b = EvalPattern(term.child[1], match, env);
    if (term.kind == NodeKind::kAnd && !*a) return 0;
    if (term.kind == NodeKind::kOr && *a) return 1;
    if (!b) return std::nullopt;
    if (term.kind == NodeKind::kAnd || term.kind == NodeKind::kOr) return *b != 0;
    return FoldIntegers(term.kind, *a, *b);
  }

  std::string Values(const RuleMatch& match, const Env& env) {
    std::string text = " with";
    for (const PrimExpr* slot : match.slots) text += slot ? " " + std::to_string(*Eval(slot, env)) : " _";
    return text;
  }

  const RewriteRule& rule_;
  std::mt19937 random_{20240607};
  bool failed_ = false;
};

TEST_CASE("every rewrite rule is an identity", "[arith]") {
  IRContext context;
  const IRContext::Scope scope(context);
  REQUIRE(AllRules().size() > 300);
  for (const RewriteRule& rule : AllRules()) {
    INFO("rule " << rule.name << ": " << rule.text);
    // Conditions are rarely true of random numbers, but some attempt must have satisfied it.
    CHECK(RuleChecker(rule).Check(3000) > 0);
  }
}

TEST_CASE("a rewrite rule is known by its name in each version", "[arith]") {
  for (const TextVersion version : {TextVersion::kV0_18, TextVersion::kV0_27}) {
    std::set<std::string_view> names;
    for (const RewriteRule& rule : AllRules()) {
      INFO("rule " << rule.name);
      if (rule.versions.Has(version)) CHECK(names.insert(rule.name).second);
    }
  }
}

TEST_CASE("an operation with ~ matches its operands in either order", "[arith]") {
  const auto rule = std::ranges::find(AllRules(), "add_product_to_factor", &RewriteRule::name);
  REQUIRE(rule != AllRules().end());
  REQUIRE(rule->text == "x *~ y +~ x");
  IRContext context;
  const IRContext::Scope scope(context);
  const tir::Var* x = context.NewSymVar("x", DataType::Int(64));
  const tir::Var* y = context.NewSymVar("y", DataType::Int(64));
  const PrimBuilder make;
  const auto add = [&](const PrimExpr* a, const PrimExpr* b) { return make.Node(NodeKind::kAdd, a, b); };
  const auto mul = [&](const PrimExpr* a, const PrimExpr* b) { return make.Node(NodeKind::kMul, a, b); };
  const std::array sums = {add(mul(x, y), x), add(mul(y, x), x), add(x, mul(x, y)), add(x, mul(y, x))};
  REQUIRE(rule->patterns.size() == sums.size());
  for (size_t i = 0; i < sums.size(); ++i) {
    for (size_t j = 0; j < sums.size(); ++j) {
      RuleMatch match;
      CHECK(MatchTerm(*rule, rule->patterns[i], sums[j], match) == (i == j));
    }
  }
}

using Matches = std::vector<std::pair<const RewriteRule*, uint16_t>>;

// By trying all patterns.
Matches AllMatches(const PrimExpr* e) {
  Matches matches;
  for (const RewriteRule& rule : AllRules()) {
    for (const uint16_t pattern : rule.patterns) {
      RuleMatch match;
      if (MatchTerm(rule, pattern, e, match)) matches.emplace_back(&rule, pattern);
    }
  }
  return matches;
}

Matches MatchesOfCandidates(const PrimExpr* e) {
  Matches matches;
  RuleCandidates candidates(e, RuleOperands::kIndices);
  while (const RulePattern* candidate = candidates.Next()) {
    RuleMatch match;
    if (MatchTerm(*candidate->rule, candidate->root, e, match)) matches.emplace_back(candidate->rule, candidate->root);
  }
  return matches;
}

TEST_CASE("every pattern that matches is a candidate, in the order of the table", "[arith]") {
  IRContext context;
  const IRContext::Scope scope(context);
  size_t num_matches = 0;
  for (const RewriteRule& rule : AllRules()) {
    for (const uint16_t pattern : rule.patterns) {
      if (rule.is_vector) continue;
      INFO("rule " << rule.name << ": " << rule.text);
      const PrimExpr* instance = RuleChecker(rule).Instance(pattern);
      const Matches expected = AllMatches(instance);
      CHECK(MatchesOfCandidates(instance) == expected);
      num_matches += expected.size();
    }
  }
  // More than one pattern matches some instances; others fold.
  CHECK(num_matches > 400);
}

TEST_CASE("rules for indices do not apply to floats", "[arith]") {
  IRContext context;
  const IRContext::Scope scope(context);
  const tir::Var* x = context.NewSymVar("x", DataType::Int(64));
  const PrimExpr* sum = PrimBuilder().Node(NodeKind::kAdd, x, x);
  CHECK(RuleCandidates(sum, RuleOperands::kIndices).Next() != nullptr);
  CHECK(RuleCandidates(sum, RuleOperands::kVectors).Next() == nullptr);
  CHECK(RuleCandidates(sum, RuleOperands::kOther).Next() == nullptr);
  RuleCandidates done(x, RuleOperands::kIndices);
  CHECK(done.Next() == nullptr);
  CHECK(done.Next() == nullptr);
}

}  // namespace
}  // namespace iropt::arith::test
