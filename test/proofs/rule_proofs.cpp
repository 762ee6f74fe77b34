// Proves the rewrite rules of lib/arith/rewrite_rules.def with Z3, for all integers:
//
//   rule_proofs [--unproven=FILE] [--steps=N] [--smt=FOLDER] [--only=TEXT]
//
// The terms are those that the simplifier works with, so that a new rule is proved without more ado. A proof shows for
// each pattern that, where no divisor in it is 0 and the condition holds, the result is defined and equal to it. The
// rules for vectors are proved for one lane. FILE has a line for each rule that Z3 cannot prove: the rule, " -- ", and
// the reason why it holds. With --smt, what Z3 is asked is written to files.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "arith/rewrite_rules.h"
#include "arithmetic.h"
#include "iropt/ir/context.h"

namespace iropt::proofs {
namespace {

using arith::RewriteRule;
using arith::RuleTerm;
using Tag = RuleTerm::Tag;

struct Options {
  std::string unproven;
  std::string smt;
  std::string only;
  unsigned steps = 100'000;
};

// One pattern of a rule, in the language of Z3.
class RuleProof {
 public:
  // `condition` is that of the rule, or one of its alternatives.
  RuleProof(const RewriteRule& rule, uint16_t pattern, std::optional<uint16_t> condition, z3::context& context)
      : rule_(rule), arithmetic_(context), lane_(context.int_const("lane")) {
    FindConditions(pattern);
    FindConditions(rule.result);
    left_ = Term(pattern);
    assumptions_.push_back(arithmetic_.TakeDefined());
    assumptions_.push_back(lane_ >= 0);
    num_in_pattern_ = arithmetic_.num_quotients();
    if (condition) {
      condition_ = Term(*condition);
      assumptions_.push_back(arithmetic_.TakeDefined());
      assumptions_.push_back(*condition_);
    }
    num_given_ = arithmetic_.num_quotients();
    right_ = Term(rule.result);
    result_defined_ = arithmetic_.TakeDefined();
  }

  // What must have no solution: an instance where the result is not defined, and one where it is another number.
  // `effort` adds lemmas.
  z3::solver Undefined(int effort, unsigned max_steps) {
    z3::solver solver = Solver(effort, max_steps);
    for (size_t i = num_given_; i < arithmetic_.num_quotients(); ++i)
      solver.add(z3::implies(arithmetic_.DivisorOf(i) != 0, arithmetic_.AxiomOf(i)));
    solver.add(!*result_defined_);
    return solver;
  }
  z3::solver Different(int effort, unsigned max_steps) {
    z3::solver solver = Solver(effort, max_steps);
    for (size_t i = num_given_; i < arithmetic_.num_quotients(); ++i) solver.add(arithmetic_.AxiomOf(i));
    solver.add(*result_defined_);
    if (effort > 0) {
      for (const z3::expr& lemma : arithmetic_.UniqueQuotients(Candidates(effort == 3))) solver.add(lemma);
    }
    solver.add(*left_ != *right_);
    return solver;
  }

 private:
  z3::solver Solver(int effort, unsigned max_steps) {
    z3::context& context = arithmetic_.context();
    z3::params sums(context);
    sums.set("som", true);
    const z3::tactic prepare = z3::with(z3::tactic(context, "simplify"), sums) &
                               z3::tactic(context, "propagate-values") & z3::tactic(context, "solve-eqs") &
                               z3::with(z3::tactic(context, "simplify"), sums);
    z3::solver solver = (prepare & z3::tactic(context, effort == 1 ? "qfnia" : "smt")).mk_solver();
    z3::params params(context);
    // Steps are the same on all machines, and the timer of some versions of Z3 waits forever.
    params.set("rlimit", max_steps);
    solver.set(params);
    for (size_t i = 0; i < num_given_; ++i) solver.add(arithmetic_.AxiomOf(i));
    for (const z3::expr& assumption : assumptions_) solver.add(assumption);
    return solver;
  }

  // Variables that stand for truth values: operands of logical operations, and the first of a selection.
  void FindConditions(uint16_t index) {
    const RuleTerm& term = rule_.terms[index];
    if (term.tag != Tag::kNode) return;
    const bool is_logic = term.kind == NodeKind::kAnd || term.kind == NodeKind::kOr || term.kind == NodeKind::kNot;
    for (uint8_t i = 0; i < term.arity; ++i) {
      const RuleTerm& child = rule_.terms[term.child[i]];
      if (child.tag == Tag::kAny && (is_logic || (term.kind == NodeKind::kSelect && i == 0)))
        conditions_.insert(child.slot);
      FindConditions(term.child[i]);
    }
  }

  z3::expr Term(uint16_t index) {
    const RuleTerm& term = rule_.terms[index];
    z3::context& context = arithmetic_.context();
    switch (term.tag) {
      case Tag::kBool: return context.bool_val(term.literal != 0);
      case Tag::kLiteral: return arithmetic_.Integer(term.literal);
      case Tag::kAny:
      case Tag::kConst: {
        const std::string name = fmt::format("{}{}", term.tag == Tag::kConst ? 'c' : 'x', term.slot);
        if (conditions_.contains(term.slot)) return context.bool_const(name.c_str());
        numbers_.push_back(context.int_const(name.c_str()));
        return numbers_.back();
      }
      case Tag::kNode: break;
    }
    const z3::expr a = Term(term.child[0]);
    if (term.kind == NodeKind::kNot) return !a;
    if (term.kind == NodeKind::kBroadcast) return a;
    const z3::expr b = Term(term.child[1]);
    if (term.kind == NodeKind::kRamp) return a + b * lane_;
    if (term.kind == NodeKind::kSelect) return z3::ite(a, b, Term(term.child[2]));
    return arithmetic_.Apply(term.kind, a, b);
  }

  // Numbers that quotients may be: those in the rule, then others that are made of quotients.
  std::vector<z3::expr> Candidates(bool has_more) {
    std::vector<z3::expr> found;
    const auto add = [&](const z3::expr& expr) {
      const bool known = std::ranges::any_of(found, [&](const z3::expr& other) { return z3::eq(other, expr); });
      if (expr.is_int() && !known) found.push_back(expr);
    };
    std::vector<z3::expr> left = {*left_, *right_};
    if (condition_) left.push_back(*condition_);
    while (!left.empty()) {
      const z3::expr expr = left.back();
      left.pop_back();
      add(expr);
      for (unsigned i = 0; i < expr.num_args(); ++i) left.push_back(expr.arg(i));
    }
    if (!has_more) return found;
    const size_t num_quotients = arithmetic_.num_quotients();
    for (size_t i = 0; i < num_quotients; ++i) {
      add(arithmetic_.QuotientOf(i));
      add(-arithmetic_.QuotientOf(i));
    }
    // The condition may say that a constant is a multiple of another one.
    std::vector<z3::expr> multiples;
    for (const z3::expr& number : numbers_) add(number);
    for (size_t i = num_in_pattern_; i < num_given_; ++i) {
      multiples.push_back(arithmetic_.QuotientOf(i));
      for (const z3::expr& number : numbers_) multiples.push_back(number * arithmetic_.QuotientOf(i));
    }
    for (const z3::expr& multiple : multiples) {
      add(multiple);
      for (size_t i = 0; i < num_quotients; ++i) {
        add(multiple + arithmetic_.QuotientOf(i));
        add(multiple - arithmetic_.QuotientOf(i));
      }
    }
    return found;
  }

  const RewriteRule& rule_;
  Arithmetic arithmetic_;
  z3::expr lane_;
  std::set<uint8_t> conditions_;
  std::vector<z3::expr> assumptions_;
  std::optional<z3::expr> left_;
  std::optional<z3::expr> right_;
  std::optional<z3::expr> condition_;
  std::optional<z3::expr> result_defined_;
  std::vector<z3::expr> numbers_;  // the variables of the rule that are numbers
  size_t num_in_pattern_ = 0;      // quotients in the pattern
  size_t num_given_ = 0;           // and in the condition
};

struct Verdict {
  enum class Kind : uint8_t { kProved, kWrong, kUnknown } kind = Kind::kUnknown;
  std::string model = {};  // of a wrong rule
};

Verdict ProveFor(const RewriteRule& rule, uint16_t pattern, std::optional<uint16_t> condition, const Options& options,
                 const std::string& file) {
  constexpr int kEfforts = 4;
  for (const auto wrong : {&RuleProof::Undefined, &RuleProof::Different}) {
    Verdict verdict;
    for (int effort = 0; effort < kEfforts && verdict.kind == Verdict::Kind::kUnknown; ++effort) {
      z3::context context;
      RuleProof proof(rule, pattern, condition, context);
      z3::solver solver = (proof.*wrong)(effort, options.steps);
      if (!options.smt.empty()) std::ofstream(file) << solver.to_smt2();
      const z3::check_result result = solver.check();
      if (result == z3::unsat) verdict.kind = Verdict::Kind::kProved;
      if (result == z3::sat)
        verdict = {Verdict::Kind::kWrong, Z3_model_to_string(context, solver.get_model()) + std::string("\n")};
    }
    if (verdict.kind != Verdict::Kind::kProved) return verdict;
  }
  return {Verdict::Kind::kProved};
}

// Proves the rule for each alternative of its condition.
Verdict Prove(const RewriteRule& rule, uint16_t pattern, const Options& options, const std::string& file) {
  if (!rule.condition) return ProveFor(rule, pattern, std::nullopt, options, file);
  std::vector<uint16_t> left = {*rule.condition};
  while (!left.empty()) {
    const RuleTerm& term = rule.terms[left.back()];
    const uint16_t condition = left.back();
    left.pop_back();
    if (term.tag == Tag::kNode && term.kind == NodeKind::kOr) {
      left.insert(left.end(), {term.child[1], term.child[0]});
      continue;
    }
    const Verdict verdict = ProveFor(rule, pattern, condition, options, file);
    if (verdict.kind != Verdict::Kind::kProved) return verdict;
  }
  return {Verdict::Kind::kProved};
}

// The rule as in a line of the file: its name, with the number of the alternative if there are several.
std::string NameOf(const RewriteRule& rule, size_t pattern) {
  return rule.patterns.size() == 1 ? std::string(rule.name) : fmt::format("{}[{}]", rule.name, pattern + 1);
}

std::optional<std::map<std::string, std::string>> ReadUnproven(const std::string& path) {
  std::map<std::string, std::string> reasons;
  if (path.empty()) return reasons;
  std::ifstream in(path);
  if (!in) return std::nullopt;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    const size_t at = line.find(" -- ");
    if (at == std::string::npos) return std::nullopt;
    reasons[line.substr(0, at)] = line.substr(at + 4);
  }
  return reasons;
}

int Run(const Options& options) {
  const auto reasons = ReadUnproven(options.unproven);
  if (!reasons) {
    fmt::print(stderr, "{}: expected lines 'RULE -- REASON'\n", options.unproven);
    return 1;
  }
  std::set<std::string> names;
  std::set<std::string> unproven;
  size_t proved = 0;
  size_t failures = 0;
  size_t number = 0;
  for (const RewriteRule& rule : arith::AllRules()) {
    for (size_t i = 0; i < rule.patterns.size(); ++i, ++number) {
      const std::string name = NameOf(rule, i);
      names.insert(name);
      if (name.find(options.only) == std::string::npos) continue;
      const Verdict verdict =
          Prove(rule, rule.patterns[i], options, fmt::format("{}/rule{}.smt2", options.smt, number));
      if (verdict.kind == Verdict::Kind::kProved) {
        ++proved;
        continue;
      }
      unproven.insert(name);
      if (verdict.kind == Verdict::Kind::kUnknown && reasons->contains(name)) continue;
      ++failures;
      fmt::print("{}: {}\n{}", name, verdict.kind == Verdict::Kind::kWrong ? "wrong" : "not proved", verdict.model);
      std::fflush(stdout);
    }
  }
  for (const auto& [name, reason] : *reasons) {
    if (names.contains(name)) continue;
    ++failures;
    fmt::print("{}: is not a rule; take it from {}\n", name, options.unproven);
  }
  fmt::print("{} patterns proved, {} with a reason instead, {} failures\n", proved, unproven.size(), failures);
  return failures == 0 && proved > 0 ? 0 : 1;
}

}  // namespace
}  // namespace iropt::proofs

int main(int argc, char** argv) {
  iropt::proofs::Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view arg = argv[i];
    const auto value_of = [&](std::string_view flag) -> std::optional<std::string> {
      if (!arg.starts_with(flag)) return std::nullopt;
      return std::string(arg.substr(flag.size()));
    };
    if (const auto value = value_of("--unproven=")) {
      options.unproven = *value;
    } else if (const auto smt = value_of("--smt=")) {
      options.smt = *smt;
    } else if (const auto only = value_of("--only=")) {
      options.only = *only;
    } else if (const auto steps = value_of("--steps=")) {
      options.steps = static_cast<unsigned>(std::stoul(*steps));
    } else {
      fmt::print(stderr, "unknown flag '{}'\n", arg);
      return 2;
    }
  }
  iropt::IRContext context;
  const iropt::IRContext::Scope scope(context);
  return iropt::proofs::Run(options);
}
