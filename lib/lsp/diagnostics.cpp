// Diagnostics, and the code actions that repair them.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "features.h"
#include "iropt/infer/infer.h"
#include "test_comments.h"
#include "virtual_documents.h"

namespace iropt::lsp {

namespace {

int SeverityNumber(Severity severity) {
  switch (severity) {
    case Severity::Error: return 1;
    case Severity::Warning: return 2;
    case Severity::Remark: return 3;
    case Severity::Note: return 4;
  }
  return 1;
}

// A range of at least one character, so that it is seen.
TextSpan Visible(const TextDocument& text, TextSpan span) {
  if (span.begin == span.end && span.end < text.size()) ++span.end;
  return {std::min(span.begin, text.size()), std::min(span.end, text.size())};
}

Json DiagnosticOf(const Document& document, const Problem& problem) {
  const TextDocument& text = document.text();
  Json diagnostic = {{"range", ToJson(text.RangeOf(Visible(text, problem.span)))},
                     {"severity", SeverityNumber(problem.severity)},
                     {"code", problem.kind},
                     {"source", "ir-opt"},
                     {"message", problem.message}};
  for (const Problem::Related& related : problem.related) {
    diagnostic["relatedInformation"].push_back(
        {{"location", Location(document.uri(), text.RangeOf(Visible(text, related.span)))},
         {"message", related.message}});
  }
  return diagnostic;
}

Json EditsOf(const Document& document, const Problem& problem) {
  Json edits = Json::array();
  for (const Problem::Fix& fix : problem.fixes)
    edits.push_back(TextEdit(document.text().RangeOf(fix.span), fix.replacement));
  return {{"changes", {{document.uri(), edits}}}};
}

// Returns whether the cursor is in the comments of a test that FileCheck compares.
bool HasChecks(const Document& document, TextSpan span) {
  const TextDocument& text = document.text();
  const std::string_view line = text.Text(text.Line(text.LineAt(span.begin)));
  if (line.find("RUN:") == std::string_view::npos && line.find("CHECK") == std::string_view::npos) return false;
  return text.text().find("FileCheck %s") != std::string::npos;
}

// The comment that makes an error of a test the expected one, at the end of its line; nothing in other files.
std::optional<Json> ExpectationOf(const Document& document, const Problem& problem) {
  const TextDocument& text = document.text();
  const std::string message = problem.message.substr(0, problem.message.find('\n'));
  if (problem.severity != Severity::Error || problem.kind == kExpectedDiagnostic || message.find("}}") != message.npos)
    return std::nullopt;
  const std::vector<RunLine> runs = RunLines(text);
  const bool is_verified = std::ranges::any_of(runs, [&](const RunLine& run) {
    return text.Text(run.command).find("-verify-diagnostics") != std::string_view::npos;
  });
  const TextSpan line = text.Line(text.LineAt(problem.span.begin));
  if (!is_verified || text.Text(line).find("expected-") != std::string_view::npos) return std::nullopt;
  return TextEdit(text.RangeOf({line.end, line.end}), fmt::format("  # expected-error {{{{{}}}}}", message));
}

// Hints about variables of Relax that nothing uses, which editors show in grey. A name that begins with "_" is meant
// so.
void AddUnusedBindings(Document& document, Json& diagnostics) {
  constexpr int kHint = 4;
  constexpr int kUnnecessary = 1;
  const TextDocument& text = document.text();
  for (const ModulePart& part : document.analysis().parts()) {
    for (const FunctionPart& function : part.reading->functions()) {
      const FunctionReading& reading = *function.reading;
      if (!reading.func) continue;
      std::vector<bool> is_used(reading.symbols.size());
      for (const Occurrence& occurrence : reading.occurrences) {
        if (occurrence.kind == OccurrenceKind::kUse) is_used[occurrence.symbol] = true;
      }
      for (const Occurrence& occurrence : reading.occurrences) {
        if (occurrence.kind != OccurrenceKind::kDefinition || is_used[occurrence.symbol]) continue;
        const Node* node = reading.symbols[occurrence.symbol];
        const TextSpan span = part.SpanOf(function, occurrence);
        const std::string_view name = text.Text(span);
        if (!node || !Var::ClassOf(node->kind) || occurrence.begin < reading.body_begin || name.starts_with('_'))
          continue;
        diagnostics.push_back({{"range", ToJson(text.RangeOf(span))},
                               {"severity", kHint},
                               {"code", "unused-binding"},
                               {"source", "ir-opt"},
                               {"message", fmt::format("'{}' is not used", name)},
                               {"tags", {kUnnecessary}}});
      }
    }
  }
}

bool Overlap(TextSpan a, TextSpan b) { return a.begin <= b.end && b.begin <= a.end; }

}  // namespace

Json Diagnostics(Document& document, const PassRegistry& registry) {
  Json diagnostics = Json::array();
  for (const Problem& problem : ProblemsOf(document, registry)) diagnostics.push_back(DiagnosticOf(document, problem));
  AddUnusedBindings(document, diagnostics);
  return diagnostics;
}

std::vector<Problem> ProblemsOf(Document& document, const PassRegistry& registry) {
  std::vector<Problem> problems = document.analysis().Problems();
  if (document.kind() == DocumentKind::kScript) {
    CheckComments(document.text(), registry, problems);
  } else if (document.kind() == DocumentKind::kPipeline) {
    CheckPipelineFile(document.text(), registry, problems);
  }
  return problems;
}

Json CodeActions(Document& document, TextSpan span, const PassRegistry& registry) {
  Json actions = Json::array();
  for (const Problem& problem : ProblemsOf(document, registry)) {
    if (!Overlap(problem.span, span)) continue;
    if (const std::optional<Json> expectation = ExpectationOf(document, problem)) {
      actions.push_back({{"title", "Expect this error"},
                         {"kind", "quickfix"},
                         {"diagnostics", {DiagnosticOf(document, problem)}},
                         {"edit", {{"changes", {{document.uri(), {*expectation}}}}}}});
    }
    if (problem.fixes.empty()) continue;
    actions.push_back({{"title", fmt::format("Replace by '{}'", problem.fixes.front().replacement)},
                       {"kind", "quickfix"},
                       {"isPreferred", true},
                       {"diagnostics", {DiagnosticOf(document, problem)}},
                       {"edit", EditsOf(document, problem)}});
  }
  if (HasChecks(document, span)) {
    actions.push_back({{"title", "Regenerate the CHECK lines"},
                       {"kind", "source"},
                       {"data", {{"uri", document.uri()}, {"action", "checks"}}}});
  }
  if (document.kind() == DocumentKind::kScript && document.analysis().PartAt(span.begin)) {
    actions.push_back({{"title", "Write the text as ir-opt prints it"},
                       {"kind", "source"},
                       {"data", {{"uri", document.uri()}, {"action", "canonical"}}}});
  }
  for (const Json& hint : InlayHints(document, span)) {
    if (!hint.contains("textEdits")) continue;
    actions.push_back({{"title", "Add the type annotation"},
                       {"kind", "refactor.rewrite"},
                       {"edit", {{"changes", {{document.uri(), hint["textEdits"]}}}}}});
  }
  return actions;
}

Json ResolveCodeAction(Document& document, const Json& action) {
  const TextDocument& text = document.text();
  if (action["data"].value("action", "") == "canonical") {
    Json resolved = action;
    resolved["edit"] = {{"changes", {{document.uri(), CanonicalText(document)}}}};
    return resolved;
  }
  std::vector<std::string_view> modules = {text.text()};
  const std::vector<RunLine> runs = RunLines(text);
  const bool splits = std::ranges::any_of(
      runs, [&](const RunLine& run) { return text.Text(run.command).find("-split-input-file") != std::string::npos; });
  if (splits) {
    modules.clear();
    for (const ModulePart& part : document.analysis().parts()) modules.push_back(text.Text(part.span));
  }
  Result<std::string> renewed = RenewedChecks(document.uri(), text.text(), modules, PipelineOf(document));
  if (!renewed.ok()) throw RequestError{RequestError::kRequestFailed, renewed.error().message};
  *renewed = WithLineBreaksOf(text, *renewed);
  Json resolved = action;
  resolved["edit"] = {{"changes", {{document.uri(), {TextEdit(text.RangeOf({0, text.size()}), *renewed)}}}}};
  return resolved;
}

}  // namespace iropt::lsp
