#include "test_comments.h"

#include <fmt/format.h>

#include <algorithm>

#include "call_context.h"
#include "iropt/driver/expected_diagnostics.h"
#include "iropt/pass/pipeline.h"
#include "iropt/support/regular_expression.h"

namespace iropt::lsp {

namespace {

constexpr uint32_t kTextBase = 1;  // the source offset of the first byte of the text

// Calls f with what stands from the first '#' of a line to its end, for all lines that have one.
template <class F>
void ForEachComment(const TextDocument& text, F&& f) {
  const std::string& content = text.text();
  for (size_t at = content.find('#'); at != std::string::npos;) {
    const TextSpan line = text.Line(text.LineAt(static_cast<uint32_t>(at)));
    f(TextSpan{static_cast<uint32_t>(at), line.end});
    at = content.find('#', std::max<size_t>(line.end, at + 1));
  }
}

// The value after a flag, quoted or up to a blank.
TextSpan ValueAt(std::string_view text, uint32_t begin, uint32_t end) {
  if (begin < end && (text[begin] == '\'' || text[begin] == '"')) {
    const size_t close = text.find(text[begin], begin + 1);
    return {begin + 1, static_cast<uint32_t>(std::min<size_t>(close, end))};
  }
  const size_t blank = text.find_first_of(" \t\r\n", begin);
  return {begin, static_cast<uint32_t>(std::min<size_t>(blank, end))};
}

TextSpan PipelineOf(std::string_view text, TextSpan command) {
  constexpr std::string_view kFlag = "-passes=";
  const size_t flag = text.substr(0, command.end).find(kFlag, command.begin);
  if (flag == std::string_view::npos) return {command.end, command.end};
  const auto begin = static_cast<uint32_t>(flag + kFlag.size());
  // The whole word may be in quotes: '-passes=A,B'.
  const size_t word = flag > command.begin && text[flag - 1] == '-' ? flag - 1 : flag;
  const char before = word > command.begin ? text[word - 1] : ' ';
  if (before != '\'' && before != '"') return ValueAt(text, begin, command.end);
  return {begin, static_cast<uint32_t>(std::min<size_t>(text.find(before, begin), command.end))};
}

Problem ProblemInText(const Diagnostic& diagnostic, TextSpan fallback) {
  const auto place = [&](SourceSpan span) {
    return span.known() ? TextSpan{span.begin - kTextBase, span.end - kTextBase} : fallback;
  };
  Problem problem{diagnostic.severity, std::string(diagnostic.kind), place(diagnostic.span), diagnostic.message};
  for (const FixItHint& hint : diagnostic.fix_its) problem.fixes.push_back({place(hint.span), hint.replacement});
  return problem;
}

void CheckPipeline(const TextDocument& text, const RunLine& run, const PassRegistry& registry,
                   std::vector<Problem>& problems) {
  const std::string_view pipeline = text.Text(run.pipeline);
  // lit replaces what begins with %.
  if (pipeline.empty() || pipeline.find('%') != std::string_view::npos) return;
  DiagnosticBuffer buffer;
  DiagnosticEngine engine(&buffer);
  const std::optional<Pipeline> parsed = ParsePipeline(pipeline, kTextBase + run.pipeline.begin, engine);
  if (parsed) static_cast<void>(BuildPipeline(*parsed, registry, engine));
  for (const Diagnostic& diagnostic : buffer.diagnostics()) problems.push_back(ProblemInText(diagnostic, run.pipeline));
}

// Returns whether a test runs commands that must fail: their errors are meant to be.
bool ExpectsFailure(std::string_view command) {
  return command.find("not ") != std::string_view::npos ||
         command.find("-verify-diagnostics") != std::string_view::npos;
}

bool Matches(const ExpectedDiagnostic& expected, const Problem& problem) {
  if (expected.severity != problem.severity) return false;
  if (!expected.expression) return problem.message.find(expected.text) != std::string::npos;
  const Result<RegularExpression> expression = RegularExpression::Make(*expected.expression);
  return expression.ok() && expression->Matches(problem.message);
}

void CheckExpectations(const TextDocument& text, bool all_are_known, std::vector<Problem>& problems) {
  DiagnosticBuffer buffer;
  DiagnosticEngine engine(&buffer);
  std::vector<ExpectedDiagnostic> expectations = ReadExpectations(text.text(), kTextBase, 1, engine);
  std::vector<bool> met(expectations.size());
  for (Problem& problem : problems) {
    const uint32_t line = text.LineAt(problem.span.begin) + 1;
    for (size_t i = 0; i < expectations.size(); ++i) {
      if (met[i] || expectations[i].line != line || !Matches(expectations[i], problem)) continue;
      met[i] = true;
      problem.severity = Severity::Remark;
      break;
    }
  }
  for (size_t i = 0; i < expectations.size() && all_are_known; ++i) {
    if (met[i] || expectations[i].severity != Severity::Error ||
        expectations[i].line == ExpectedDiagnostic::kUnknownLine)
      continue;
    const SourceSpan span = expectations[i].span;
    problems.push_back({Severity::Error,
                        std::string(kExpectedDiagnostic),
                        {span.begin - kTextBase, span.end - kTextBase},
                        fmt::format("line {} has no such error: {}", expectations[i].line, expectations[i].text)});
  }
  for (const Diagnostic& diagnostic : buffer.diagnostics()) problems.push_back(ProblemInText(diagnostic, {}));
}

struct TestComments {
  std::vector<RunLine> runs;
  bool has_expectations = false;
};

TestComments ReadTestComments(const TextDocument& text) {
  constexpr std::string_view kRun = "RUN:";
  TestComments found;
  ForEachComment(text, [&](TextSpan comment) {
    const std::string_view content = text.Text(comment);
    found.has_expectations |= content.find("expected-") != std::string_view::npos;
    const size_t at = content.find(kRun);
    if (at == std::string_view::npos) return;
    const TextSpan command{static_cast<uint32_t>(comment.begin + at + kRun.size()), comment.end};
    found.runs.push_back({command, PipelineOf(text.text(), command)});
  });
  return found;
}

}  // namespace

std::vector<RunLine> RunLines(const TextDocument& text) { return ReadTestComments(text).runs; }

std::string DescribePassName(std::string_view name, const PassRegistry& registry) {
  if (const PassEntry* pass = registry.Find(name)) {
    std::string text = fmt::format("**{}** ({} pass, level {})\n\n{}", pass->info.name, PassKindName(pass->info.kind),
                                   pass->info.opt_level, pass->summary);
    for (const OptionSpec& option : pass->options)
      text += fmt::format("\n- `{}`: {}; {}", option.name, option.summary, DescribeValues(option));
    return text;
  }
  for (const PipelineEntry& pipeline : registry.pipelines()) {
    if (pipeline.name == name)
      return fmt::format("**{}** (pipeline)\n\n{}\n\n`{}`", name, pipeline.summary, pipeline.passes);
  }
  const OptionSpec* config = registry.FindConfig(name);
  return config ? fmt::format("**{}** (configuration option)\n\n{}; {}", name, config->summary, DescribeValues(*config))
                : std::string();
}

std::optional<HoverText> HoverOfComment(const Document& document, uint32_t offset, const PassRegistry& registry) {
  const TextDocument& text = document.text();
  const TextSpan line = text.Line(text.LineAt(offset));
  if (document.kind() == DocumentKind::kScript && text.Text(line).find("RUN:") == std::string_view::npos)
    return std::nullopt;
  const auto is_part = [&](uint32_t p) { return IsNameCharacter(text.text()[p]) || text.text()[p] == '.'; };
  TextSpan word{offset, offset};
  while (word.begin > line.begin && is_part(word.begin - 1)) --word.begin;
  while (word.end < line.end && is_part(word.end)) ++word.end;
  std::string described = DescribePassName(text.Text(word), registry);
  if (described.empty()) return std::nullopt;
  return HoverText{word, std::move(described)};
}

void CheckPipelineFile(const TextDocument& text, const PassRegistry& registry, std::vector<Problem>& problems) {
  DiagnosticBuffer buffer;
  DiagnosticEngine engine(&buffer);
  const std::optional<PipelineFile> file = ParsePipelineFile(text.text(), kTextBase, engine);
  if (file && file->passes) static_cast<void>(BuildPipeline(*file->passes, registry, engine));
  for (const Diagnostic& diagnostic : buffer.diagnostics()) problems.push_back(ProblemInText(diagnostic, {}));
}

void CheckComments(const TextDocument& text, const PassRegistry& registry, std::vector<Problem>& problems) {
  bool runs_passes = false;
  const TestComments comments = ReadTestComments(text);
  for (const RunLine& run : comments.runs) {
    const std::string_view command = text.Text(run.command);
    runs_passes |= command.find("-passes") != std::string_view::npos || command.find("-O") != std::string_view::npos;
    if (!ExpectsFailure(command)) CheckPipeline(text, run, registry, problems);
  }
  if (comments.has_expectations) CheckExpectations(text, !runs_passes, problems);
}

}  // namespace iropt::lsp
