// Rewrite rules as data: the rows of rewrite_rules.def, parsed once into patterns.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "iropt/arith/prim_builder.h"
#include "iropt/support/text_version.h"

namespace iropt::arith {

// A node of a pattern, result or condition.
struct RuleTerm {
  enum class Tag : uint8_t { kAny, kConst, kLiteral, kBool, kNode };
  Tag tag = Tag::kLiteral;
  uint8_t slot = 0;      // kAny, kConst: index in RuleMatch
  uint8_t arity = 0;     // kNode
  bool constant = true;  // no kAny below
  NodeKind kind{};       // kNode
  std::array<uint16_t, 3> child{};
  int64_t literal = 0;  // kLiteral, kBool
};

// kAgain: the result is simplified again.
enum class RuleMode : uint8_t { kOnce, kAgain };

struct RewriteRule {
  std::string_view name;
  std::vector<RuleTerm> terms;
  std::vector<uint16_t> patterns;  // roots of the alternatives
  uint16_t result = 0;
  std::optional<uint16_t> condition;
  RuleMode mode = RuleMode::kOnce;
  VersionRange versions;   // of TVM that have the rule
  bool is_vector = false;  // the pattern has ramps or copies to lanes
  bool any_dtype = false;  // holds for floats, too: operands are only selected or copied
  std::string_view text;   // the patterns as written
};

inline constexpr int kMaxRuleSlots = 16;

// The expressions matched by the variables of a pattern.
struct RuleMatch {
  std::array<const PrimExpr*, kMaxRuleSlots> slots{};
};

// One alternative of a rule.
struct RulePattern {
  const RewriteRule* rule;
  uint16_t root;  // a term of the rule
};

// Kinds of operands of an expression, which decide the rules that apply.
enum class RuleOperands : uint8_t {
  kIndices,  // index types, or truth values
  kVectors,  // vectors of index types
  kOther,
};

// The patterns that an expression may match, as far as the kinds of its operands tell, in the order of the table. The
// sets of patterns by kind are intersected, so the cost does not grow with the patterns that do not fit.
class RuleCandidates {
 public:
  RuleCandidates(const PrimExpr* e, RuleOperands operands);
  // Null after the last one.
  const RulePattern* Next();

  static constexpr size_t kMaxPatterns = 192;  // of one root
  using Set = std::array<uint64_t, kMaxPatterns / 64>;

 private:
  const RulePattern* patterns_;
  Set left_;
  size_t word_ = 0;
};

// All rules, for tests.
std::span<const RewriteRule> AllRules();

bool MatchTerm(const RewriteRule& rule, uint16_t term, const PrimExpr* e, RuleMatch& match);
// Builds the expression that a term stands for; `dtype` is that of integer literals. Null if a constant of the rule
// does not fit in the dtype of the operands.
const PrimExpr* BuildTerm(const RewriteRule& rule, uint16_t term, const RuleMatch& match, DataType dtype,
                          const PrimBuilder& make);
// The value of a term of constants only; nothing if it has no value (overflow, division by zero).
std::optional<int64_t> EvalTerm(const RewriteRule& rule, uint16_t term, const RuleMatch& match);

}  // namespace iropt::arith
