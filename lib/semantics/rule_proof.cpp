#include "iropt/semantics/rule_proof.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "function_check.h"
#include "iropt/infer/infer.h"
#include "iropt/semantics/semantic_check.h"
#include "semantics/proof/prover.h"
#include "semantics/proof/rule_instance.h"

namespace iropt {

namespace {

// Rules are run for a few types only, with a few seeds: their tensors are small, so a single run meets few pairs of
// numbers that are not finite.
constexpr size_t kMostRuns = 4;
constexpr int64_t kSeeds = 4;

std::string Describe(const Function& rule, const proof::RuleTypes& types) {
  std::string text;
  for (uint32_t i = 0; i < rule.params.size(); ++i) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", rule.params[i]->name(), TypeToString(types[i]));
  }
  return text;
}

// The laws that a proof needs; nothing if there is none, with the reason.
std::optional<FloatLaws> Prove(const Module& before, const Module& after, const proof::RuleConditions& conditions,
                               const SemanticCheckOptions& options, std::string& reason) {
  for (const FloatLaws laws : {FloatLaws::kBits, FloatLaws::kRounding, FloatLaws::kFinite}) {
    const proof::Proof proof = proof::Prove(before, after, *before.functions()[0].var, {},
                                            {.reals = laws != FloatLaws::kBits,
                                             .finite = laws == FloatLaws::kFinite,
                                             .solver_limit = options.proofs.solver_limit,
                                             .conditions = conditions.conditions,
                                             .solves_indices = true});
    if (proof.is_proved) return laws;
    reason = proof.reason;
  }
  return std::nullopt;
}

// What runs of both sides have shown.
struct Runs {
  std::vector<std::string> difference = {};  // empty if there was none
  bool is_defined = true;                    // false if an operator of the pattern does not take the dtype
};

Runs RunOnce(const Module& before, const Module& after, const PassInfo& rule, const SemanticCheckOptions& options) {
  DiagnosticBuffer buffer;
  DiagnosticEngine diagnostics(&buffer);
  std::string text;
  OutputStream out(&text);
  SemanticCheckOptions runs = options;
  runs.each = true;
  runs.proofs.is_wanted = false;
  const auto check = SemanticCheck::Make(diagnostics, out, runs, NetworkMode::Auto);
  if (!check.ok()) return {};
  Runs result;
  (*check)->Begin(before);
  if ((*check)->RunAfterPass(after, rule, PassOutcome::Changed).ok()) {
    const std::string& reason = (*check)->first_not_compared();
    result.is_defined = !(reason.find(kFailsOnAllInputs) != std::string::npos && reason.ends_with("is not supported"));
    return result;
  }
  for (const Diagnostic& diagnostic : buffer.diagnostics()) {
    if (diagnostic.severity != Severity::Error || !result.difference.empty()) continue;
    for (const auto& note : diagnostic.notes) result.difference.push_back(note.message);
  }
  return result;
}

Runs RunSides(const Module& before, const Module& after, const PassInfo& rule, const SemanticCheckOptions& options) {
  SemanticCheckOptions seeded = options;
  for (int64_t i = 0; i < kSeeds; ++i, ++seeded.seed) {
    Runs runs = RunOnce(before, after, rule, seeded);
    if (!runs.is_defined || !runs.difference.empty()) return runs;
  }
  return {};
}

// Runs both sides with a few small sizes, if there are conditions that not all sizes meet.
Runs RunSides(const Function& rule, const proof::RuleTypes& types, const std::vector<SymVarMap>& sizes,
              const std::pair<Module, Module>& sides, const PassInfo& info, const SemanticCheckOptions& options) {
  if (sizes.empty()) return RunSides(sides.first, sides.second, info, options);
  Runs runs;
  for (const SymVarMap& some : sizes) {
    const auto instance = proof::Instantiate(rule, types, some);
    if (!instance) continue;
    runs = RunSides(instance->first, instance->second, info, options);
    if (!runs.is_defined || !runs.difference.empty()) break;
  }
  return runs;
}

// Returns whether the rule is proved without the ranks that it does not state, by laws that it needs with ranks as
// well.
bool HoldsForAnyRank(const Function& rule, const std::vector<proof::RuleTypes>& proved, const SymVarMap& solved,
                     const proof::RuleConditions& conditions, FloatLaws allowed, const SemanticCheckOptions& options) {
  std::vector<proof::RuleTypes> tried;
  for (const proof::RuleTypes& types : proved) {
    const proof::RuleTypes unranked = proof::WithoutRanks(rule, types);
    if (std::ranges::equal(unranked, types, TypeEqual)) return false;
    const auto is_same = [&](const proof::RuleTypes& other) { return std::ranges::equal(unranked, other, TypeEqual); };
    if (std::ranges::any_of(tried, is_same)) continue;
    tried.push_back(unranked);
    const auto sides = proof::Instantiate(rule, unranked, solved);
    std::string reason;
    const auto laws = sides ? Prove(sides->first, sides->second, conditions, options, reason) : std::nullopt;
    if (!laws || *laws > allowed) return false;
  }
  return true;
}

}  // namespace

std::string_view DescribeLaws(FloatLaws laws) {
  switch (laws) {
    case FloatLaws::kBits: return "every bit stays";
    case FloatLaws::kRounding: return "up to rounding";
    case FloatLaws::kFinite: return "for finite numbers";
  }
  return {};
}

RuleProof ProveRule(const Function& rule, std::string_view name, std::span<const PassChange> changes,
                    const SemanticCheckOptions& options) {
  const PassInfo info{.name = std::string(name), .changes = {changes.begin(), changes.end()}};
  const bool is_finite = std::ranges::find(changes, PassChange::NonFinite) != changes.end();
  const FloatLaws allowed = !options.proofs.reals ? FloatLaws::kBits
                            : is_finite           ? FloatLaws::kFinite
                                                  : FloatLaws::kRounding;
  RuleProof result;
  size_t num_runs = 0;
  proof::RuleConditions conditions = proof::ConditionsOf(rule);
  const bool has_conditions = !conditions.conditions.empty();
  const SymVarMap solved = proof::SolveEquations(conditions);
  const std::vector<SymVarMap> small =
      has_conditions ? proof::SmallSizes(conditions, solved) : std::vector<SymVarMap>();
  if (has_conditions && small.empty()) {
    result.reason = "no small sizes were found that meet its conditions";
    return result;
  }
  std::vector<proof::RuleTypes> proved;
  for (const proof::RuleTypes& types : proof::TypesOf(rule)) {
    const auto sides = proof::Instantiate(rule, types, solved);
    if (!sides) continue;
    ++result.num_types;
    std::string reason;
    const auto laws = Prove(sides->first, sides->second, conditions, options, reason);
    if (laws && *laws <= allowed) {
      ++result.num_proved;
      proved.push_back(types);
      result.laws = std::max(result.laws, *laws);
      continue;
    }
    const Runs runs = num_runs < kMostRuns ? RunSides(rule, types, small, *sides, info, options) : Runs();
    if (!runs.is_defined) {
      --result.num_types;
      continue;
    }
    ++num_runs;
    if (laws) reason = fmt::format("the proof holds only {}", DescribeLaws(*laws));
    if (result.reason.empty()) {
      result.reason = reason;
      result.types = Describe(rule, types);
    }
    if (runs.difference.empty()) continue;
    result.counterexample = runs.difference;
    result.answer = ProofRecord::Answer::kRefuted;
    result.types = Describe(rule, types);
    return result;
  }
  if (result.num_types == 0) result.reason = "no types were found to which it applies";
  if (result.num_types == 0 || result.num_proved != result.num_types) return result;
  result.answer = ProofRecord::Answer::kProved;
  result.is_of_any_rank = HoldsForAnyRank(rule, proved, solved, conditions, result.laws, options);
  return result;
}

}  // namespace iropt
