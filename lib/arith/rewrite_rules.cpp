#include "rewrite_rules.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <map>
#include <set>

#include "iropt/ir/structural.h"
#include "iropt/support/check.h"

namespace iropt::arith {
namespace {

// Parses the terms of rewrite_rules.def. The table is part of the program, so a mistake in it is a bug.
class RuleParser {
 public:
  RuleParser(RewriteRule& rule, std::string_view text) : rule_(rule), text_(text) {}

  // pattern { "|" pattern }
  void Alternatives() {
    do {
      const std::vector<uint16_t> orders = Orders(Or());
      rule_.patterns.insert(rule_.patterns.end(), orders.begin(), orders.end());
    } while (Take("|"));
    End();
  }
  uint16_t Single() {
    const uint16_t term = Or();
    End();
    return term;
  }

 private:
  void Skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  void End() {
    Skip();
    IROPT_CHECK(at_ == text_.size(), "rewrite rule '{}': stray text", text_);
  }
  bool Take(std::string_view token) {
    Skip();
    // Most tokens that are looked for are not there: the first character decides.
    if (at_ == text_.size() || text_[at_] != token[0]) return false;
    if (!text_.substr(at_).starts_with(token)) return false;
    // "|" is not the start of "||", "<" not that of "<=", "/" not that of "//".
    const char next = at_ + token.size() < text_.size() ? text_[at_ + token.size()] : ' ';
    if (token.size() == 1 && (next == '=' || (next == token[0] && (token == "|" || token == "&" || token == "/"))))
      return false;
    at_ += token.size();
    return true;
  }
  uint16_t Add(RuleTerm term) {
    rule_.terms.push_back(term);
    return static_cast<uint16_t>(rule_.terms.size() - 1);
  }
  uint16_t Make(NodeKind kind, std::span<const uint16_t> children) {
    RuleTerm term;
    term.tag = RuleTerm::Tag::kNode;
    term.kind = kind;
    for (const uint16_t child : children) {
      term.child[term.arity++] = child;
      term.constant = term.constant && rule_.terms[child].constant;
    }
    return Add(term);
  }

  // `either`: the operands may be exchanged.
  uint16_t MakeOperation(NodeKind kind, std::span<const uint16_t> children, bool either) {
    const uint16_t term = Make(kind, children);
    if (either) either_order_.insert(term);
    return term;
  }
  // The rest of `left` OPERATION ["~"] right.
  uint16_t MakeInfix(NodeKind kind, uint16_t left, uint16_t (RuleParser::*operand)()) {
    const bool either = Take("~");
    const uint16_t children[] = {left, (this->*operand)()};
    return MakeOperation(kind, children, either);
  }

  // The term with the operands of its operations in the orders that ~ allows. Those of the first operand vary fastest.
  std::vector<uint16_t> Orders(uint16_t term) {
    const RuleTerm node = rule_.terms[term];
    if (node.tag != RuleTerm::Tag::kNode) return {term};
    std::vector<std::vector<uint16_t>> choices = {{}};
    for (int i = node.arity - 1; i >= 0; --i) {
      std::vector<std::vector<uint16_t>> longer;
      for (const std::vector<uint16_t>& chosen : choices) {
        for (const uint16_t operand : Orders(node.child[static_cast<size_t>(i)])) {
          longer.push_back({operand});
          longer.back().insert(longer.back().end(), chosen.begin(), chosen.end());
        }
      }
      choices = std::move(longer);
    }
    std::vector<uint16_t> orders;
    for (const auto& operands : choices) orders.push_back(choices.size() == 1 ? term : Make(node.kind, operands));
    if (!either_order_.contains(term)) return orders;
    for (const auto& operands : choices) orders.push_back(Make(node.kind, std::array{operands[1], operands[0]}));
    return orders;
  }

  uint16_t Or() {
    uint16_t left = And();
    while (Take("||")) left = MakeInfix(NodeKind::kOr, left, &RuleParser::And);
    return left;
  }
  uint16_t And() {
    uint16_t left = Comparison();
    while (Take("&&")) left = MakeInfix(NodeKind::kAnd, left, &RuleParser::Comparison);
    return left;
  }
  uint16_t Comparison() {
    const uint16_t left = Sum();
    if (Take("==")) return MakeInfix(NodeKind::kEQ, left, &RuleParser::Sum);
    if (Take("!=")) return MakeInfix(NodeKind::kNE, left, &RuleParser::Sum);
    if (Take("<=")) return MakeInfix(NodeKind::kLE, left, &RuleParser::Sum);
    if (Take(">=")) return MakeInfix(NodeKind::kGE, left, &RuleParser::Sum);
    if (Take("<")) return MakeInfix(NodeKind::kLT, left, &RuleParser::Sum);
    if (Take(">")) return MakeInfix(NodeKind::kGT, left, &RuleParser::Sum);
    return left;
  }
  uint16_t Sum() {
    uint16_t left = Product();
    for (;;) {
      if (Take("+"))
        left = MakeInfix(NodeKind::kAdd, left, &RuleParser::Product);
      else if (Take("-"))
        left = MakeInfix(NodeKind::kSub, left, &RuleParser::Product);
      else
        return left;
    }
  }
  uint16_t Product() {
    uint16_t left = Unary();
    for (;;) {
      if (Take("*"))
        left = MakeInfix(NodeKind::kMul, left, &RuleParser::Unary);
      else if (Take("//"))
        left = MakeInfix(NodeKind::kFloorDiv, left, &RuleParser::Unary);
      else if (Take("%"))
        left = MakeInfix(NodeKind::kFloorMod, left, &RuleParser::Unary);
      else
        return left;
    }
  }
  uint16_t Unary() {
    if (Take("!")) return Make(NodeKind::kNot, std::array{Unary()});
    if (Take("(")) {
      const uint16_t inner = Or();
      IROPT_CHECK(Take(")"), "rewrite rule '{}': expected ')'", text_);
      return inner;
    }
    Skip();
    const size_t start = at_;
    if (at_ < text_.size() && text_[at_] == '-') ++at_;
    while (at_ < text_.size() && std::isalnum(static_cast<unsigned char>(text_[at_]))) ++at_;
    return Atom(text_.substr(start, at_ - start));
  }
  uint16_t Atom(std::string_view name) {
    IROPT_CHECK(!name.empty(), "rewrite rule '{}': expected a term", text_);
    const bool either = Take("~");
    if (Take("(")) return FunctionCall(name, either);
    RuleTerm term;
    if (name == "true" || name == "false") {
      term.tag = RuleTerm::Tag::kBool;
      term.literal = name == "true";
    } else if (name[0] == '-' || std::isdigit(static_cast<unsigned char>(name[0]))) {
      term.literal = std::stoll(std::string(name));
    } else {
      term.tag = name[0] == 'c' ? RuleTerm::Tag::kConst : RuleTerm::Tag::kAny;
      term.constant = term.tag == RuleTerm::Tag::kConst;
      term.slot = Slot(name);
    }
    return Add(term);
  }
  // c1..c4 are constants; x y z w, b1 b2, s1 s2 and l any expressions.
  uint8_t Slot(std::string_view name) {
    static constexpr std::string_view kNames[] = {"c1", "c2", "c3", "c4", "x",  "y", "z",
                                                  "w",  "b1", "b2", "s1", "s2", "l"};
    for (size_t i = 0; i < std::size(kNames); ++i) {
      if (kNames[i] == name) return static_cast<uint8_t>(i);
    }
    IROPT_CHECK(false, "rewrite rule '{}': unknown variable '{}'", text_, name);
  }
  uint16_t FunctionCall(std::string_view name, bool either) {
    static const std::map<std::string_view, NodeKind> functions = {
        {"min", NodeKind::kMin},        {"max", NodeKind::kMax},       {"div", NodeKind::kDiv},
        {"mod", NodeKind::kMod},        {"select", NodeKind::kSelect}, {"ramp", NodeKind::kRamp},
        {"bcast", NodeKind::kBroadcast}};
    const auto it = functions.find(name);
    IROPT_CHECK(it != functions.end(), "rewrite rule '{}': unknown function '{}'", text_, name);
    std::array<uint16_t, 3> args{};
    size_t n = 0;
    do {
      IROPT_CHECK(n < args.size(), "rewrite rule '{}': too many arguments", text_);
      args[n++] = Or();
    } while (Take(","));
    IROPT_CHECK(Take(")"), "rewrite rule '{}': expected ')'", text_);
    IROPT_CHECK(n >= 2, "rewrite rule '{}': wrong number of arguments", text_);
    return MakeOperation(it->second, std::span(args).first(n), either);
  }

  RewriteRule& rule_;
  std::string_view text_;
  size_t at_ = 0;
  std::set<uint16_t> either_order_;  // operations with ~
};

// Selections and copies to lanes commute with any operation.
bool SelectsOperands(const RewriteRule& rule) {
  const RuleTerm& root = rule.terms[rule.patterns[0]];
  bool selects = root.arity == 2;
  bool copies = selects;
  for (int i = 0; i < root.arity; ++i) {
    const RuleTerm& operand = rule.terms[root.child[static_cast<size_t>(i)]];
    const bool node = operand.tag == RuleTerm::Tag::kNode;
    selects = selects && (operand.tag == RuleTerm::Tag::kAny || (node && operand.kind == NodeKind::kSelect));
    copies = copies && node && operand.kind == NodeKind::kBroadcast;
  }
  const auto is_select = [](const RuleTerm& term) {
    return term.tag == RuleTerm::Tag::kNode && term.kind == NodeKind::kSelect;
  };
  return copies || (selects && std::ranges::any_of(rule.terms, is_select));
}

RewriteRule ParseRule(std::string_view name, RuleMode mode, std::string_view pattern, std::string_view result,
                      std::string_view condition, VersionRange versions) {
  RewriteRule rule;
  rule.name = name;
  rule.mode = mode;
  rule.versions = versions;
  rule.text = pattern;
  RuleParser(rule, pattern).Alternatives();
  rule.is_vector = std::ranges::any_of(rule.terms, [](const RuleTerm& term) {
    return term.tag == RuleTerm::Tag::kNode && (term.kind == NodeKind::kRamp || term.kind == NodeKind::kBroadcast);
  });
  rule.result = RuleParser(rule, result).Single();
  rule.any_dtype = condition.empty() && SelectsOperands(rule);
  if (!condition.empty()) rule.condition = RuleParser(rule, condition).Single();
  return rule;
}

using PatternSet = RuleCandidates::Set;

void Insert(PatternSet& set, size_t i) { set[i / 64] |= uint64_t{1} << i % 64; }

PatternSet Intersect(const PatternSet& a, const PatternSet& b) {
  PatternSet both;
  for (size_t i = 0; i < both.size(); ++i) both[i] = a[i] & b[i];
  return both;
}

// The patterns with one root, in the order of the table, and which of them an operand of some kind fits.
struct PatternIndex {
  // The kinds that operands of patterns have; all others have one number.
  static constexpr size_t kMaxOperandKinds = 24;

  std::vector<RulePattern> patterns;
  std::array<std::array<PatternSet, kMaxOperandKinds>, 2> by_operand{};
  std::array<PatternSet, 3> by_operands{};  // by RuleOperands
};

struct RuleTable {
  std::vector<RewriteRule> rules;
  std::array<uint8_t, kNumNodeKinds> operand_kind{};  // number in PatternIndex
  std::array<uint8_t, kNumNodeKinds> index_of{};      // number in `indices`; 0: no pattern has this root
  std::vector<PatternIndex> indices{1};

  RuleTable() {
    using enum TextVersion;
#define IROPT_REWRITE(name, mode, pattern, result, condition, ...)                                                     \
  rules.push_back(ParseRule(#name, RuleMode::mode, pattern, result, condition, VersionRange{__VA_ARGS__}));
#include "rewrite_rules.def"
    NumberOperandKinds();
    for (const RewriteRule& rule : rules) {
      for (const uint16_t root : rule.patterns) AddPattern({&rule, root});
    }
  }

  const PatternIndex& IndexFor(NodeKind root) const { return indices[index_of[static_cast<size_t>(root)]]; }

 private:
  void NumberOperandKinds() {
    uint8_t last = 0;
    const auto number = [&](NodeKind kind) {
      uint8_t& at = operand_kind[static_cast<size_t>(kind)];
      if (at == 0) at = ++last;
    };
    number(NodeKind::kIntImm);
    for (const RewriteRule& rule : rules) {
      for (const RuleTerm& term : rule.terms) {
        if (term.tag == RuleTerm::Tag::kNode) number(term.kind);
      }
    }
    IROPT_CHECK(last < PatternIndex::kMaxOperandKinds, "{} kinds of operands in rewrite rules", last);
  }

  void AddPattern(RulePattern pattern) {
    const RewriteRule& rule = *pattern.rule;
    const RuleTerm& root = rule.terms[pattern.root];
    uint8_t& at = index_of[static_cast<size_t>(root.kind)];
    if (at == 0) {
      at = static_cast<uint8_t>(indices.size());
      indices.emplace_back();
    }
    PatternIndex& index = indices[at];
    const size_t i = index.patterns.size();
    IROPT_CHECK(i < RuleCandidates::kMaxPatterns, "too many rewrite rules with the root of '{}'", rule.name);
    index.patterns.push_back(pattern);
    Insert(index.by_operands[static_cast<size_t>(RuleOperands::kIndices)], i);
    if (rule.any_dtype || rule.is_vector) Insert(index.by_operands[static_cast<size_t>(RuleOperands::kVectors)], i);
    if (rule.any_dtype) Insert(index.by_operands[static_cast<size_t>(RuleOperands::kOther)], i);
    for (size_t side = 0; side < 2; ++side) {
      const bool has_operand = side < root.arity;
      const RuleTerm* operand = has_operand ? &rule.terms[root.child[side]] : nullptr;
      for (size_t kind = 0; kind < PatternIndex::kMaxOperandKinds; ++kind) {
        if (!operand || Fits(*operand, kind)) Insert(index.by_operand[side][kind], i);
      }
    }
  }

  bool Fits(const RuleTerm& term, size_t kind) const {
    if (term.tag == RuleTerm::Tag::kAny) return true;
    const NodeKind needed = term.tag == RuleTerm::Tag::kNode ? term.kind : NodeKind::kIntImm;
    return operand_kind[static_cast<size_t>(needed)] == kind;
  }
};

const RuleTable& Table() {
  static const RuleTable table;
  return table;
}

int ChildrenOf(const PrimExpr* e, const PrimExpr* (&children)[3]) {
  if (const auto* binary = As<tir::BinaryExpr>(e)) {
    children[0] = binary->a;
    children[1] = binary->b;
    return 2;
  }
  switch (e->kind) {
    case NodeKind::kNot: children[0] = static_cast<const tir::Not*>(e)->a; return 1;
    case NodeKind::kSelect: {
      const auto* select = static_cast<const tir::Select*>(e);
      children[0] = select->condition;
      children[1] = select->true_value;
      children[2] = select->false_value;
      return 3;
    }
    case NodeKind::kRamp: {
      const auto* ramp = static_cast<const tir::Ramp*>(e);
      children[0] = ramp->base;
      children[1] = ramp->stride;
      children[2] = ramp->lanes;
      return 3;
    }
    case NodeKind::kBroadcast: {
      const auto* broadcast = static_cast<const tir::Broadcast*>(e);
      children[0] = broadcast->value;
      children[1] = broadcast->lanes;
      return 2;
    }
    default: return 0;
  }
}

const PrimExpr* BuildVector(NodeKind kind, const PrimExpr* const (&args)[3], const PrimBuilder& make) {
  const PrimExpr* lanes = kind == NodeKind::kRamp ? args[2] : args[1];
  const DataType dtype = VectorDType(args[0]->dtype, lanes);
  if (kind == NodeKind::kRamp) return make.Keep(tir::Ramp(dtype, args[0], args[1], lanes));
  return make.Keep(tir::Broadcast(dtype, args[0], lanes));
}

}  // namespace

RuleCandidates::RuleCandidates(const PrimExpr* e, RuleOperands operands) {
  const RuleTable& table = Table();
  const PatternIndex& index = table.IndexFor(e->kind);
  patterns_ = index.patterns.data();
  left_ = index.by_operands[static_cast<size_t>(operands)];
  const PrimExpr* children[3];
  const int n = std::min(ChildrenOf(e, children), 2);
  for (int i = 0; i < n; ++i) {
    const size_t kind = table.operand_kind[static_cast<size_t>(children[i]->kind)];
    left_ = Intersect(left_, index.by_operand[static_cast<size_t>(i)][kind]);
  }
}

const RulePattern* RuleCandidates::Next() {
  while (left_[word_] == 0) {
    if (++word_ == left_.size()) {
      word_ = 0;
      return nullptr;
    }
  }
  const auto bit = static_cast<size_t>(std::countr_zero(left_[word_]));
  left_[word_] &= left_[word_] - 1;
  return patterns_ + word_ * 64 + bit;
}

std::span<const RewriteRule> AllRules() { return Table().rules; }

bool MatchTerm(const RewriteRule& rule, uint16_t index, const PrimExpr* e, RuleMatch& match) {
  const RuleTerm& term = rule.terms[index];
  switch (term.tag) {
    case RuleTerm::Tag::kLiteral: return IsInt(e, term.literal);
    case RuleTerm::Tag::kBool: return e->dtype.is_bool() && IsInt(e, term.literal);
    case RuleTerm::Tag::kConst:
      if (e->kind != NodeKind::kIntImm) return false;
      [[fallthrough]];
    case RuleTerm::Tag::kAny: {
      const PrimExpr*& slot = match.slots[term.slot];
      if (slot) return DeepEqual(slot, e);
      slot = e;
      return true;
    }
    case RuleTerm::Tag::kNode: break;
  }
  if (e->kind != term.kind) return false;
  const PrimExpr* children[3];
  if (ChildrenOf(e, children) != term.arity) return false;
  for (int i = 0; i < term.arity; ++i) {
    if (!MatchTerm(rule, term.child[i], children[i], match)) return false;
  }
  return true;
}

const PrimExpr* BuildTerm(const RewriteRule& rule, uint16_t index, const RuleMatch& match, DataType dtype,
                          const PrimBuilder& make) {
  const RuleTerm& term = rule.terms[index];
  switch (term.tag) {
    case RuleTerm::Tag::kLiteral: return make.Const(term.literal, dtype);
    case RuleTerm::Tag::kBool: return make.Bool(term.literal != 0);
    case RuleTerm::Tag::kConst:
    case RuleTerm::Tag::kAny: return match.slots[term.slot];
    case RuleTerm::Tag::kNode: break;
  }
  const PrimExpr* args[3] = {};
  const bool has_lanes = term.kind == NodeKind::kRamp || term.kind == NodeKind::kBroadcast;
  if (has_lanes) dtype = dtype.with_lanes(1);
  for (int i = 0; i < term.arity; ++i) {
    args[i] = BuildTerm(rule, term.child[i], match, dtype, make);
    if (!args[i]) return nullptr;
  }
  switch (term.kind) {
    case NodeKind::kNot: return make.Not(args[0]);
    case NodeKind::kSelect: return make.Select(args[0], args[1], args[2]);
    case NodeKind::kRamp:
    case NodeKind::kBroadcast: return BuildVector(term.kind, args, make);
    default: {
      const PrimExpr* result = make.Binary(term.kind, args[0], args[1]);
      return AsInt(args[0]) && AsInt(args[1]) && !AsInt(result) ? nullptr : result;
    }
  }
}

std::optional<int64_t> EvalTerm(const RewriteRule& rule, uint16_t index, const RuleMatch& match) {
  const RuleTerm& term = rule.terms[index];
  switch (term.tag) {
    case RuleTerm::Tag::kLiteral:
    case RuleTerm::Tag::kBool: return term.literal;
    case RuleTerm::Tag::kConst: return *AsInt(match.slots[term.slot]);
    case RuleTerm::Tag::kAny: return std::nullopt;
    case RuleTerm::Tag::kNode: break;
  }
  const auto a = EvalTerm(rule, term.child[0], match);
  if (term.kind == NodeKind::kNot) return a ? std::optional<int64_t>(*a == 0) : std::nullopt;
  const auto b = EvalTerm(rule, term.child[1], match);
  if (term.kind == NodeKind::kAnd) return a && b ? std::optional<int64_t>(*a != 0 && *b != 0) : std::nullopt;
  if (term.kind == NodeKind::kOr) return a && b ? std::optional<int64_t>(*a != 0 || *b != 0) : std::nullopt;
  if (!a || !b) return std::nullopt;
  return FoldIntegers(term.kind, *a, *b);
}

}  // namespace iropt::arith
