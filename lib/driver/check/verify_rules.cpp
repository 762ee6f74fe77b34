#include "iropt/driver/verify_rules.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "driver/script_reader.h"
#include "iropt/driver/compiler_instance.h"
#include "iropt/semantics/rule_proof.h"
#include "iropt/transform/relax/rule_texts.h"

namespace iropt {

namespace {

using Json = nlohmann::ordered_json;
using Answer = ProofRecord::Answer;

class RuleReport {
 public:
  explicit RuleReport(ShownForm form) : form_(form) {}

  void Add(const std::string& file, const RuleText& rule, const RuleProof& proof) {
    ++counts_[static_cast<size_t>(proof.answer)];
    text_ += form_ == ShownForm::Json ? ToJson(file, rule, proof).dump() + '\n' : ToText(rule, proof);
  }
  size_t count(Answer answer) const { return counts_[static_cast<size_t>(answer)]; }
  std::string Finish() {
    if (form_ == ShownForm::Json) return text_;
    return text_ + fmt::format("rules: {} proved, {} refuted, {} not decided\n", count(Answer::kProved),
                               count(Answer::kRefuted), count(Answer::kNotDecided));
  }

 private:
  static std::string ToText(const RuleText& rule, const RuleProof& proof) {
    std::string text = fmt::format("{:11}  {}", NameOf(proof.answer), rule.name);
    if (proof.answer == Answer::kProved)
      return text + fmt::format(": {}, {} types{}\n", DescribeLaws(proof.laws), proof.num_types,
                                proof.is_of_any_rank ? ", any rank" : "");
    if (proof.num_types != 0) text += fmt::format(", with {}", proof.types);
    if (proof.answer == Answer::kNotDecided) text += fmt::format(": {}", proof.reason);
    text += '\n';
    for (const std::string& line : proof.counterexample) text += fmt::format("             {}\n", line);
    return text;
  }

  static Json ToJson(const std::string& file, const RuleText& rule, const RuleProof& proof) {
    Json row = {{"file", file}, {"rule", rule.name}, {"answer", NameOf(proof.answer)}};
    row["proved"] = proof.num_proved;
    row["types"] = proof.num_types;
    if (proof.answer == Answer::kProved) row["laws"] = DescribeLaws(proof.laws);
    if (proof.answer == Answer::kProved) row["any_rank"] = proof.is_of_any_rank;
    if (!proof.types.empty()) row["with"] = proof.types;
    if (!proof.reason.empty()) row["reason"] = proof.reason;
    if (!proof.counterexample.empty()) row["counterexample"] = proof.counterexample;
    return row;
  }

  ShownForm form_;
  std::string text_;
  std::array<size_t, 3> counts_ = {};
};

// With the values of the names of the rule, if it is not proved.
RuleProof Prove(const RuleText& rule, const SemanticCheckOptions& options) {
  RuleProof proof = ProveRule(*rule.function, rule.name, rule.changes, options);
  if (proof.answer != Answer::kProved && !rule.values.empty())
    proof.types = fmt::format("{}{}{}", rule.values, proof.types.empty() ? "" : ", ", proof.types);
  return proof;
}

bool IsSameRule(const RuleText& a, const RuleText& b) {
  return !a.values.empty() && a.name == b.name && a.span == b.span;
}

// Adds the proof for other values: a rule is proved if it is for all of them.
void AddValues(RuleProof proof, RuleProof& all) {
  const bool is_first =
      proof.answer == Answer::kRefuted || (proof.answer == Answer::kNotDecided && all.answer == Answer::kProved);
  if (is_first) std::swap(proof, all);
  all.num_proved += proof.num_proved;
  all.num_types += proof.num_types;
  all.laws = std::max(all.laws, proof.laws);
  all.is_of_any_rank = all.is_of_any_rank && proof.is_of_any_rank;
}

}  // namespace

int VerifyRules(const VerifyRulesOptions& options) {
  CompilerInstance compiler(options.compiler);
  if (const Status loaded = compiler.LoadPlugins(options.plugins); !loaded.ok())
    return compiler.Report(loaded.error(), "usage");
  const ScriptReader reader(compiler.sources());
  SemanticCheckOptions check;
  check.proofs = options.proofs;
  RuleReport report(options.form);
  for (const std::string& file : options.inputs) {
    const auto rules = ReadRuleTexts(file, reader, compiler.diagnostics());
    if (!rules) return ExitCode(ErrorCode::Parse);
    for (size_t i = 0; i < rules->size(); ++i) {
      const RuleText& rule = (*rules)[i];
      RuleProof proof = Prove(rule, check);
      // The same rule with other values of its names.
      while (i + 1 < rules->size() && IsSameRule(rule, (*rules)[i + 1])) {
        ++i;
        if (proof.answer == Answer::kRefuted) continue;
        AddValues(Prove((*rules)[i], check), proof);
      }
      report.Add(file, rule, proof);
    }
  }
  OutputStream out(STDOUT_FILENO);
  out.Append(report.Finish());
  if (const Status written = out.Flush(); !written.ok()) return compiler.Report(written.error(), "file");
  const bool must_prove = options.compiler.warnings_as_errors;
  const bool ok = report.count(Answer::kRefuted) == 0 && !(must_prove && report.count(Answer::kNotDecided) != 0);
  return ok ? 0 : ExitCode(ErrorCode::SemanticCheck);
}

}  // namespace iropt
