#include "iropt/driver/expected_diagnostics.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "iropt/support/regular_expression.h"

namespace iropt {

namespace {

constexpr std::string_view kKeyword = "expected-";
constexpr std::string_view kLineBlanks = " \t\r";

bool Consume(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

std::optional<Severity> ConsumeSeverity(std::string_view& text) {
  for (const Severity severity : {Severity::Error, Severity::Warning, Severity::Note, Severity::Remark}) {
    if (Consume(text, SeverityName(severity))) return severity;
  }
  return std::nullopt;
}

// The text with its parts outside of {{ }} escaped, in parentheses.
std::string ExpressionOf(std::string_view text) {
  std::string expression;
  while (!text.empty()) {
    const size_t open = text.find("{{");
    for (const char c : text.substr(0, open)) {
      if (std::string_view("\\^$.[]|()*+?{}").find(c) != std::string_view::npos) expression += '\\';
      expression += c;
    }
    if (open == std::string_view::npos) break;
    const size_t close = text.find("}}", open);
    expression += fmt::format("({})", text.substr(open + 2, close - open - 2));
    text.remove_prefix(close == std::string_view::npos ? text.size() : close + 2);
  }
  return expression;
}

// The size of the text before the "}}" that ends it. Braces right before it are part of the text, pairs of {{ }} nest
// if the text is an expression.
size_t FindEnd(std::string_view text, bool nests) {
  int depth = 0;
  for (size_t i = 0; i + 1 < text.size(); ++i) {
    const std::string_view pair = text.substr(i, 2);
    if (nests && pair == "{{") {
      ++depth;
      ++i;
    } else if (pair == "}}" && depth > 0) {
      --depth;
      ++i;
    } else if (pair == "}}" && (i + 2 == text.size() || text[i + 2] != '}')) {
      return i;
    }
  }
  return std::string_view::npos;
}

class ExpectationReader {
 public:
  ExpectationReader(std::string_view text, uint32_t base, uint32_t first_line, DiagnosticEngine& diagnostics)
      : text_(text), base_(base), first_line_(first_line), diagnostics_(diagnostics) {}

  std::vector<ExpectedDiagnostic> Read() && {
    uint32_t line = first_line_;
    for (size_t begin = 0; begin < text_.size(); ++line) {
      const size_t end = std::min(text_.find('\n', begin), text_.size());
      ReadLine(text_.substr(begin, end - begin), line);
      begin = end + 1;
    }
    for (const Neighbour& neighbour : neighbours_) Resolve(neighbour);
    return std::move(expected_);
  }

 private:
  // An expectation whose line is @above or @below.
  struct Neighbour {
    size_t index;
    bool is_above;
  };

  void ReadLine(std::string_view line, uint32_t number) {
    const size_t comment = line.find('#');
    if (comment == std::string_view::npos) return;
    std::string_view rest = line.substr(comment);
    for (size_t at = 0; (at = rest.find(kKeyword)) != std::string_view::npos;) {
      rest.remove_prefix(at);
      const size_t begin = OffsetOf(rest);
      rest.remove_prefix(kKeyword.size());
      if (const std::optional<std::string> problem = ReadExpectation(rest, begin, number))
        Report(begin, rest, *problem);
    }
  }

  // Reads what follows the keyword and removes it from `rest`. Returns the problem of a malformed expectation.
  std::optional<std::string> ReadExpectation(std::string_view& rest, size_t begin, uint32_t number) {
    const std::optional<Severity> severity = ConsumeSeverity(rest);
    const bool is_expression = severity && Consume(rest, "-re");
    const bool is_word = !rest.empty() && std::string_view("@:{ \t\r").find(rest[0]) == std::string_view::npos;
    if (!severity || is_word) return std::nullopt;  // a word that only begins as the keywords do
    ExpectedDiagnostic expected;
    expected.severity = *severity;
    expected.line = number;
    if (Consume(rest, "@") && !ReadPlace(rest, expected.line))
      return "expected @LINE, @+N, @-N, @above, @below or @unknown";
    rest.remove_prefix(std::min(rest.find_first_not_of(kLineBlanks), rest.size()));
    if (!Consume(rest, "{{")) return "expected '{{' and the text of the diagnostic";
    const size_t end = FindEnd(rest, is_expression);
    if (end == std::string_view::npos) return "expected '}}' after the text of the diagnostic";
    expected.text = rest.substr(0, end);
    rest.remove_prefix(end + 2);
    if (is_expression) {
      expected.expression = ExpressionOf(expected.text);
      const Result<RegularExpression> made = RegularExpression::Make(*expected.expression);
      if (!made) return fmt::format("invalid regular expression: {}", made.error().message);
    }
    expected.span = SpanOf(begin, rest);
    expected_.push_back(std::move(expected));
    if (lines_.empty() || lines_.back() != number) lines_.push_back(number);
    return std::nullopt;
  }

  // Reads what follows '@'. `line` is that of the comment and becomes the expected one. False if it is malformed.
  bool ReadPlace(std::string_view& rest, uint32_t& line) {
    const bool is_above = Consume(rest, "above");
    if (is_above || Consume(rest, "below")) {
      neighbours_.push_back({expected_.size(), is_above});
      return true;
    }
    if (Consume(rest, "unknown")) {
      line = ExpectedDiagnostic::kUnknownLine;
      return true;
    }
    const bool is_before = Consume(rest, "-");
    const bool is_after = !is_before && Consume(rest, "+");
    uint32_t count = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), count);
    if (error != std::errc() || (is_before && count >= line) || (is_after && count > UINT32_MAX - line)) return false;
    rest.remove_prefix(static_cast<size_t>(end - rest.data()));
    if (is_before) count = line - count;
    if (is_after) count += line;
    line = count;
    return line != ExpectedDiagnostic::kUnknownLine;
  }

  void Resolve(const Neighbour& neighbour) {
    if (neighbour.index >= expected_.size()) return;  // malformed after its place
    uint32_t& line = expected_[neighbour.index].line;
    do {
      line += neighbour.is_above ? -1 : 1;
    } while (std::ranges::binary_search(lines_, line));
  }

  size_t OffsetOf(std::string_view rest) const { return static_cast<size_t>(rest.data() - text_.data()); }
  SourceSpan SpanOf(size_t begin, std::string_view rest) const {
    return {static_cast<uint32_t>(base_ + begin), static_cast<uint32_t>(base_ + OffsetOf(rest))};
  }
  void Report(size_t begin, std::string_view rest, std::string_view problem) {
    diagnostics_.Error(SpanOf(begin, rest), "malformed-expectation", fmt::format("malformed expectation: {}", problem));
  }

  std::string_view text_;
  uint32_t base_;
  uint32_t first_line_;
  DiagnosticEngine& diagnostics_;
  std::vector<ExpectedDiagnostic> expected_;
  std::vector<Neighbour> neighbours_;
  std::vector<uint32_t> lines_;  // with expectations
};

// A diagnostic or a note.
struct Found {
  Severity severity;
  SourceSpan span;
  uint32_t line;
  const std::string& message;
};

class DiagnosticComparison {
 public:
  DiagnosticComparison(const std::vector<ExpectedDiagnostic>& expected, bool only_expected, std::string_view input,
                       const SourceManager& sources)
      : expected_(expected),
        satisfied_(expected.size()),
        only_expected_(only_expected),
        input_(input),
        sources_(sources) {
    for (const ExpectedDiagnostic& each : expected) {
      expressions_.emplace_back();
      if (each.expression) expressions_.back() = *RegularExpression::Make(*each.expression);
    }
  }

  // The number of differences, which it reports.
  size_t Run(const std::vector<Diagnostic>& found, DiagnosticEngine& diagnostics) {
    size_t count = 0;
    for (const Diagnostic& diagnostic : found) {
      count += Check({diagnostic.severity, diagnostic.span, LineOf(diagnostic.span), diagnostic.message}, diagnostics);
      for (const DiagnosticNote& note : diagnostic.notes) {
        const SourceSpan span = note.span.known() ? note.span : diagnostic.span;
        count += Check({Severity::Note, span, LineOf(span), note.message}, diagnostics);
      }
    }
    for (size_t i = 0; i < expected_.size(); ++i) {
      if (satisfied_[i]) continue;
      ++count;
      diagnostics.Error(
          expected_[i].span, "missing-diagnostic",
          fmt::format("expected {} '{}' was not reported", SeverityName(expected_[i].severity), expected_[i].text));
    }
    return count;
  }

 private:
  // kUnknownLine outside of the input.
  uint32_t LineOf(SourceSpan span) const {
    if (!span.known()) return ExpectedDiagnostic::kUnknownLine;
    const SourceLocation location = sources_.Locate(span.begin);
    return location.name == input_ ? location.line : ExpectedDiagnostic::kUnknownLine;
  }

  bool Fits(size_t i, const Found& found) const {
    const ExpectedDiagnostic& expected = expected_[i];
    if (satisfied_[i] || expected.severity != found.severity || expected.line != found.line) return false;
    return expressions_[i] ? expressions_[i]->Matches(found.message)
                           : found.message.find(expected.text) != std::string::npos;
  }

  // Returns whether the diagnostic is unexpected.
  bool Check(const Found& found, DiagnosticEngine& diagnostics) {
    for (size_t i = 0; i < expected_.size(); ++i) {
      if (!Fits(i, found)) continue;
      satisfied_[i] = true;
      return false;
    }
    if (only_expected_) return false;
    diagnostics.Error(found.span, "unexpected-diagnostic",
                      fmt::format("unexpected {}: {}", SeverityName(found.severity), found.message));
    return true;
  }

  const std::vector<ExpectedDiagnostic>& expected_;
  std::vector<std::optional<RegularExpression>> expressions_;  // nothing where the text is compared
  std::vector<bool> satisfied_;
  bool only_expected_;
  std::string_view input_;
  const SourceManager& sources_;
};

}  // namespace

std::vector<ExpectedDiagnostic> ReadExpectations(std::string_view text, uint32_t base, uint32_t first_line,
                                                 DiagnosticEngine& diagnostics) {
  return ExpectationReader(text, base, first_line, diagnostics).Read();
}

bool CompareDiagnostics(const std::vector<ExpectedDiagnostic>& expected, const std::vector<Diagnostic>& found,
                        bool only_expected, std::string_view input, const SourceManager& sources,
                        DiagnosticEngine& diagnostics) {
  return DiagnosticComparison(expected, only_expected, input, sources).Run(found, diagnostics) == 0;
}

}  // namespace iropt
