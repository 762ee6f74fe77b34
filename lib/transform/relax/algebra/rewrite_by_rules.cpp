// RewriteByRules: rewrites by rules of the user.
//
//   {"rules": [{"name": "two negations",                  lv = R.negative(x)
//               "variables": {"x": "R.Tensor"},           y = R.negative(lv)     -->      y = x
//               "pattern": "R.negative(R.negative(x))",
//               "replacement": "x"}]}
//
// Both sides are expressions of the language; docs/rewriting.md explains them. Rules are tried in their order until
// none applies. A rule is not applied if its replacement would have a less precise type. Changed functions are cleaned
// up: CanonicalizeBindings, EliminateCommonSubexpr, dead bindings. O(nodes), nearly independent of the number of rules.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "iropt/pass/located_text.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/file.h"
#include "iropt/support/json.h"
#include "iropt/transform/options/RewriteByRules.h"
#include "iropt/transform/relax/rule_texts.h"
#include "text_rules.h"
#include "transform/relax/util/apply_rules.h"

namespace iropt {

namespace {

// Without sources, messages name the file and the place in it.
std::optional<OptionValue> ReadUnlocated(const std::string& path, std::string_view text, SourceSpan span,
                                         DiagnosticEngine& diagnostics) {
  if (const Result<JsonText> json = JsonText::Parse(text); !json) {
    return diagnostics.Error(span, "file", fmt::format("{}: {}", path, json.error().message)), std::nullopt;
  }
  return ReadOptionValue(text, span, diagnostics);
}

// The list of rules in a file; nothing after an error.
std::optional<OptionValue> ReadRuleFile(const std::string& path, SourceSpan span, const TextReader& reader,
                                        DiagnosticEngine& diagnostics) {
  const Result<std::shared_ptr<const FileBuffer>> file = ReadFile(path);
  if (!file) return diagnostics.Error(span, "file", file.error().message), std::nullopt;
  const auto* sources = dynamic_cast<const SourceReader*>(&reader);
  const std::optional<uint32_t> base = sources != nullptr ? sources->AddSource(path, *file) : std::nullopt;
  const std::string_view text = (*file)->text();
  const std::optional<OptionValue> root =
      base ? ReadLocatedOptionValue(text, *base, diagnostics) : ReadUnlocated(path, text, span, diagnostics);
  if (!root) return std::nullopt;
  const OptionValue* rules = root->Find("rules");
  if (rules && rules->as_list()) return *rules;
  diagnostics.Error(span, "file", fmt::format("{}: expected an object with a list 'rules'", path));
  return std::nullopt;
}

void AddRules(const OptionValue& list, SourceSpan span, const PassOptions& options, TextRules& rules) {
  for (const OptionValue& rule : *list.as_list()) {
    const SourceSpan at = rule.span().known() ? rule.span() : span;
    AddTextRule(rule, *options.reader(), at, options.diagnostics(), rules);
  }
}

TextRules ReadRules(const PassOptions& options) {
  const pass_options::RewriteByRules given(options);
  TextRules rules;
  const std::string& path = *given.file;
  const OptionValue& inline_rules = *given.rules;
  if (!inline_rules.as_list()) options.Refuse(given.rules, "must be a list of rules");
  const bool has_rules = !path.empty() || (inline_rules.as_list() && !inline_rules.as_list()->empty());
  if (has_rules && !options.reader()) options.Refuse(given.rules, "cannot be read: the context has no reader of text");
  if (!has_rules || !options.reader()) return rules;
  if (!path.empty()) {
    const std::optional<OptionValue> list =
        ReadRuleFile(path, given.file.span(), *options.reader(), options.diagnostics());
    if (list) AddRules(*list, given.file.span(), options, rules);
  }
  if (inline_rules.as_list()) AddRules(inline_rules, inline_rules.span(), options, rules);
  return rules;
}

}  // namespace

std::optional<std::vector<RuleText>> ReadRuleTexts(const std::string& path, const TextReader& reader,
                                                   DiagnosticEngine& diagnostics) {
  const std::optional<OptionValue> list = ReadRuleFile(path, {}, reader, diagnostics);
  if (!list) return std::nullopt;
  TextRules rules;
  bool ok = true;
  for (const OptionValue& rule : *list->as_list()) ok &= AddTextRule(rule, reader, rule.span(), diagnostics, rules);
  if (!ok) return std::nullopt;
  return std::move(rules.texts);
}

Pass CreateRewriteByRules(const PassOptions& options) {
  TextRules rules = ReadRules(options);
  PassInfo info = options.info();
  info.changes.insert(info.changes.end(), rules.changes.begin(), rules.changes.end());
  return CreateRulePass(info, std::make_shared<const RuleSet>(std::move(rules.rules)));
}

}  // namespace iropt
