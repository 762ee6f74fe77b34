// Proves the rewrite rules of lib/arith/rewrite_rules.def with Z3, for all integers:
//
//   rule_proofs [--unproven=FILE] [--steps=N] [--smt=FOLDER] [--only=TEXT]
//   rule_proofs --without-conditions=FILE [--steps=N] [--smt=FOLDER] [--only=TEXT]
//
// The terms are those that the simplifier works with, so that a new rule needs nothing else, and written as
// indices are in all other proofs (iropt/arith/smt_script.h). A proof shows for each pattern that, where no divisor in
// it is 0 and the condition holds, the result is defined and equal to it. The rules for vectors are proved for one
// lane. FILE has a line for each rule that Z3 cannot prove: the rule, " -- ", and the reason why it holds. In the
// second form nothing may be proved of a rule without its condition but what FILE has a reason for: wrong laws would
// prove it. With
// --smt, what Z3 is asked is written to files.
#include <fmt/format.h>

#include <array>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arith/rewrite_rules.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/arith/smt_script.h"
#include "iropt/arith/smt_solver.h"
#include "iropt/ir/context.h"
#include "iropt/support/arena.h"

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
  bool has_conditions = true;
};

// One pattern of a rule as expressions of any integers, for one lane. Nothing is folded.
class RuleExprs {
 public:
  RuleExprs(const RewriteRule& rule, uint16_t pattern) : rule_(rule) {
    FindConditions(pattern);
    FindConditions(rule.result);
  }

  const PrimExpr* Make(uint16_t index) {
    const RuleTerm& term = rule_.terms[index];
    if (term.tag == Tag::kBool) return make_.Bool(term.literal != 0);
    if (term.tag == Tag::kLiteral) return make_.Int(term.literal);
    if (term.tag != Tag::kNode) return Variable(term.slot);
    const PrimExpr* a = Make(term.child[0]);
    if (term.kind == NodeKind::kNot) return make_.Keep(tir::Not(a));
    if (term.kind == NodeKind::kBroadcast) return a;
    const PrimExpr* b = Make(term.child[1]);
    if (term.kind == NodeKind::kRamp)
      return make_.Node(NodeKind::kAdd, a, make_.Node(NodeKind::kMul, b, Variable(kLane)));
    if (term.kind == NodeKind::kSelect) return make_.Keep(tir::Select(a, b, Make(term.child[2])));
    return make_.Node(term.kind, a, b);
  }

 private:
  static constexpr size_t kLane = arith::kMaxRuleSlots;

  // Variables that stand for truth values: operands of logical operations, and the first of a selection.
  void FindConditions(uint16_t index) {
    const RuleTerm& term = rule_.terms[index];
    if (term.tag != Tag::kNode) return;
    const bool is_logic = term.kind == NodeKind::kAnd || term.kind == NodeKind::kOr || term.kind == NodeKind::kNot;
    for (uint8_t i = 0; i < term.arity; ++i) {
      const RuleTerm& child = rule_.terms[term.child[i]];
      if (child.tag == Tag::kAny && (is_logic || (term.kind == NodeKind::kSelect && i == 0)))
        is_condition_[child.slot] = true;
      FindConditions(term.child[i]);
    }
  }

  const PrimExpr* Variable(size_t slot) {
    const PrimExpr*& var = variables_[slot];
    const DataType dtype = is_condition_[slot] ? DataType::Bool() : DataType::Int(64);
    if (var == nullptr && slot == kLane) var = arena_.New<tir::SizeVar>("lane", dtype, slot);
    if (var == nullptr) var = arena_.New<tir::Var>("x", dtype, slot);
    return var;
  }

  const RewriteRule& rule_;
  Arena arena_;
  arith::PrimBuilder make_{arena_, TextVersion::kV0_18};
  std::array<bool, kLane + 1> is_condition_{};
  std::array<const PrimExpr*, kLane + 1> variables_{};
};

// The question whether a pattern has an instance for which its result is wrong.
class Question {
 public:
  // `condition` is that of the rule, or one of its alternatives.
  Question(const RewriteRule& rule, uint16_t pattern, std::optional<uint16_t> condition)
      : rule_(rule), exprs_(rule, pattern) {
    script_.NameQuotients(/*is_defined=*/true);
    left_ = script_.Write(exprs_.Make(pattern));
    const size_t num_in_pattern = script_.divisions().size();
    if (condition) script_.Assert(script_.Write(exprs_.Make(*condition)));
    num_given_ = script_.divisions().size();
    for (size_t i = num_in_pattern; i < num_given_; ++i) multiples_.push_back(script_.divisions()[i].quotient);
  }

  // That there is one where the result is not defined, or another number. `effort` adds lemmas.
  std::string Undefined() {
    arith::SmtScript script = script_;
    script.NameQuotients(/*is_defined=*/false);
    script.Write(exprs_.Make(rule_.result));
    std::string is_zero = "false";
    for (size_t i = num_given_; i < script.divisions().size(); ++i)
      is_zero = fmt::format("(or {} (= {} 0))", is_zero, script.divisions()[i].b);
    script.Assert(is_zero);
    return script.text();
  }
  std::string Different(int effort) {
    arith::SmtScript script = script_;
    const std::string right = script.Write(exprs_.Make(rule_.result));
    if (effort > 0) {
      const std::vector<std::string> candidates = Candidates(script, effort == 3 || effort == 5);
      effort < 4 ? script.AssertUniqueQuotients(candidates) : script.AssertOrders(candidates);
    }
    script.Assert(fmt::format("(not (= {} {}))", left_, right));
    return script.text();
  }

 private:
  // Numbers that quotients may be: those in the rule, then others that are made of quotients.
  std::vector<std::string> Candidates(const arith::SmtScript& script, bool has_more) const {
    std::vector<std::string> found = script.integers();
    if (!has_more) return found;
    const std::vector<std::string> numbers = found;
    std::vector<std::string> quotients;
    for (const auto& division : script.divisions()) quotients.push_back(division.quotient);
    for (const std::string& quotient : quotients) found.push_back(fmt::format("(- {})", quotient));
    // The condition may say that a constant is a multiple of another one.
    std::vector<std::string> multiples = multiples_;
    for (const std::string& multiple : multiples_) {
      for (const std::string& number : numbers) {
        if (number.starts_with('v')) multiples.push_back(fmt::format("(* {} {})", number, multiple));
      }
    }
    for (const std::string& multiple : multiples) {
      found.push_back(multiple);
      for (const std::string& quotient : quotients) {
        found.push_back(fmt::format("(+ {} {})", multiple, quotient));
        found.push_back(fmt::format("(- {} {})", multiple, quotient));
      }
    }
    return found;
  }

  const RewriteRule& rule_;
  RuleExprs exprs_;
  arith::SmtScript script_;  // of what is given: the pattern is defined, and the condition holds
  std::string left_;
  size_t num_given_ = 0;                // quotients in it
  std::vector<std::string> multiples_;  // quotients in the condition
};

struct Verdict {
  enum class Kind : uint8_t { kProved, kWrong, kUnknown, kError } kind = Kind::kUnknown;
  std::string text = {};  // the model of a wrong rule, or the error
};

Verdict Ask(const std::string& script, bool is_nonlinear, const Options& options) {
  // Steps are the same on all machines.
  const std::string limit = fmt::format("(set-option :rlimit {})\n", options.steps);
  const std::string check = fmt::format(
      "(check-sat-using (then (using-params simplify :som true) propagate-values solve-eqs"
      " (using-params simplify :som true) {}))\n",
      is_nonlinear ? "qfnia" : "smt");
  Verdict verdict;
  arith::SmtSolver::Get()->InSession([&](arith::SmtSolver::Eval eval) {
    const std::string answer = eval(limit + script + check);
    if (answer.starts_with("unsat"))
      verdict.kind = Verdict::Kind::kProved;
    else if (answer.starts_with("sat"))
      verdict = {Verdict::Kind::kWrong, eval("(get-model)\n")};
    else if (!answer.starts_with("unknown"))
      verdict = {Verdict::Kind::kError, answer};
  });
  return verdict;
}

Verdict ProveFor(const RewriteRule& rule, uint16_t pattern, std::optional<uint16_t> condition, const Options& options,
                 const std::string& file) {
  // Each law is in one of the last two kinds, with all candidates.
  constexpr int kEfforts[] = {0, 1, 2, 4, 3, 5};
  const std::span<const int> efforts = options.has_conditions ? std::span(kEfforts) : std::span(kEfforts).last(2);
  Question question(rule, pattern, condition);
  for (const bool of_result : {false, true}) {
    Verdict verdict;
    for (const int effort : efforts) {
      if (verdict.kind != Verdict::Kind::kUnknown) break;
      const std::string script = of_result ? question.Different(effort) : question.Undefined();
      if (!options.smt.empty()) std::ofstream(file) << script;
      verdict = Ask(script, effort == 1, options);
    }
    if (verdict.kind != Verdict::Kind::kProved) return verdict;
  }
  return {Verdict::Kind::kProved};
}

// Proves the rule for each alternative of its condition.
Verdict Prove(const RewriteRule& rule, uint16_t pattern, const Options& options, const std::string& file) {
  if (!rule.condition || !options.has_conditions) return ProveFor(rule, pattern, std::nullopt, options, file);
  std::vector<uint16_t> left = {*rule.condition};
  while (!left.empty()) {
    const RuleTerm& term = rule.terms[left.back()];
    const uint16_t condition = left.back();
    left.pop_back();
    if (term.tag == Tag::kNode && term.kind == NodeKind::kOr) {
      left.insert(left.end(), {term.child[1], term.child[0]});
      continue;
    }
    Verdict verdict = ProveFor(rule, pattern, condition, options, file);
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
  std::set<std::string> excused;  // are as the file says
  size_t expected = 0;
  size_t failures = 0;
  size_t number = 0;
  for (const RewriteRule& rule : arith::AllRules()) {
    for (size_t i = 0; i < rule.patterns.size(); ++i, ++number) {
      const std::string name = NameOf(rule, i);
      names.insert(name);
      if (name.find(options.only) == std::string::npos || (!options.has_conditions && !rule.condition)) continue;
      const Verdict verdict =
          Prove(rule, rule.patterns[i], options, fmt::format("{}/rule{}.smt2", options.smt, number));
      const bool is_proved = verdict.kind == Verdict::Kind::kProved;
      const bool is_failure =
          verdict.kind == Verdict::Kind::kError || (verdict.kind == Verdict::Kind::kWrong && options.has_conditions);
      if (!is_failure && is_proved == options.has_conditions) {
        ++expected;
        continue;
      }
      if (!is_failure && reasons->contains(name)) {
        excused.insert(name);
        continue;
      }
      ++failures;
      fmt::print("{}: {}\n{}", name,
                 is_proved                               ? "proved"
                 : verdict.kind == Verdict::Kind::kError ? "cannot be asked"
                 : verdict.kind == Verdict::Kind::kWrong ? "wrong"
                                                         : "not proved",
                 verdict.text);
      std::fflush(stdout);
    }
  }
  // Other versions of Z3 prove other rules, but what holds without its condition does so for all.
  const bool needs_all = !options.has_conditions && options.only.empty();
  for (const auto& [name, reason] : *reasons) {
    if (names.contains(name) && (excused.contains(name) || !needs_all)) continue;
    ++failures;
    fmt::print("{}: {}; take it from {}\n", name,
               names.contains(name) ? "is not proved without its condition" : "is not a rule", options.unproven);
  }
  fmt::print("{} patterns {}, {} rules with a reason instead, {} failures\n", expected,
             options.has_conditions ? "proved" : "not proved without their conditions", excused.size(), failures);
  return failures == 0 && expected > 0 ? 0 : 1;
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
    } else if (const auto conditions = value_of("--without-conditions=")) {
      options.unproven = *conditions;
      options.has_conditions = false;
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
  if (const auto& solver = iropt::arith::SmtSolver::Get(); !solver.ok()) {
    fmt::print("skipped: Z3: {}\n", solver.error().message);
    return 0;
  }
  iropt::IRContext context;
  const iropt::IRContext::Scope scope(context);
  return iropt::proofs::Run(options);
}
