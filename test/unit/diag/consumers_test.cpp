#include "iropt/diag/consumers.h"

#include <nlohmann/json.hpp>
#include <string>

#include "catch.h"

namespace iropt {
namespace {

constexpr std::string_view kShownKind = "too-many-errors";

// One source and one diagnostic, in the form of the text consumer.
class Fixture {
 public:
  explicit Fixture(std::string text) : text_(std::move(text)), base_(*sources_.AddBuffer("in.ir", text_, nullptr)) {}

  SourceSpan SpanOf(std::string_view part) const {
    const auto begin = base_ + static_cast<uint32_t>(text_.find(part));
    return {begin, begin + static_cast<uint32_t>(part.size())};
  }
  uint32_t end() const { return base_ + static_cast<uint32_t>(text_.size()); }

  std::string Text(const Diagnostic& diagnostic, const TextStyle& style) {
    std::string result;
    OutputStream out(&result);
    TextConsumer(&out, &sources_, style).Consume(diagnostic);
    return result;
  }
  std::string Text(const Diagnostic& diagnostic, bool colour = false) {
    return Text(diagnostic, TextStyle{.colour = colour});
  }
  std::string Text(SourceSpan span) { return Text({Severity::Error, kShownKind, span, "bad", {}, {}}); }
  nlohmann::json Json(const Diagnostic& diagnostic) {
    std::string result;
    OutputStream out(&result);
    JsonConsumer(&out, &sources_).Consume(diagnostic);
    CHECK(result.find('\n') == result.size() - 1);
    return nlohmann::json::parse(result);
  }

 private:
  SourceManager sources_;
  std::string text_;
  uint32_t base_;
};

TEST_CASE("text shows place, line and caret range", "[diag]") {
  Fixture f("first\nlv = R.ad(x)\n");
  CHECK(f.Text(f.SpanOf("R.ad")) ==
        "in.ir:2:6: error: bad\n"
        "  lv = R.ad(x)\n"
        "       ^~~~\n");
}

TEST_CASE("an excerpt of a long line fits the terminal", "[diag]") {
  const std::string long_line = std::string(200, 'a') + "bad" + std::string(200, 'c') + "\n";
  Fixture f(long_line);
  const Diagnostic diagnostic = {Severity::Error, kShownKind, f.SpanOf("bad"), "bad", {}, {}};
  for (const size_t columns : {60, 80, 200}) {
    const std::string text = f.Text(diagnostic, TextStyle{.columns = columns});
    const size_t begin = text.find("  ...a");
    REQUIRE(begin != std::string::npos);
    CHECK(text.find('\n', begin) - begin == columns);
    CHECK(text.find("bad", begin) - begin == text.find('^') - text.rfind('\n', text.find('^')) - 1);
  }
}

TEST_CASE("a diagnostic that is not about an input names the program", "[diag]") {
  Fixture f("a");
  const TextStyle style = {.program = "ir-opt"};
  Diagnostic diagnostic = {Severity::Error, kShownKind, {}, "bad", {{{}, "because"}}, {}};
  CHECK(f.Text(diagnostic, style) == "ir-opt: error: bad\nnote: because\n");
  diagnostic.file = "in.ir";
  CHECK(f.Text(diagnostic, style) == "in.ir: error: bad\nnote: because\n");
}

TEST_CASE("text keeps tabs and counts code points", "[diag]") {
  Fixture f("\té\tbar\n");
  CHECK(f.Text(f.SpanOf("bar")) ==
        "in.ir:1:4: error: bad\n"
        "  \té\tbar\n"
        "  \t \t^~~\n");
}

TEST_CASE("a range over several lines is marked to the end of the first", "[diag]") {
  Fixture f("a = b(\n  c)\n");
  CHECK(f.Text(f.SpanOf("b(\n  c)")) ==
        "in.ir:1:5: error: bad\n"
        "  a = b(\n"
        "      ^~\n");
}

TEST_CASE("an empty range and the end of the source have a caret", "[diag]") {
  Fixture f("ab");
  CHECK(f.Text({f.end(), f.end()}) ==
        "in.ir:1:3: error: bad\n"
        "  ab\n"
        "    ^\n");
}

TEST_CASE("a long line is cut around the place", "[diag]") {
  Fixture f(std::string(100'000, 'a') + "BAD" + std::string(100'000, 'b') + "\n");
  const std::string text = f.Text(f.SpanOf("BAD"));
  CHECK(text.size() < 400);
  CHECK_THAT(text, Catch::StartsWith("in.ir:1:100001: error: bad\n  ...aaa"));
  CHECK_THAT(text, Catch::Contains("bbb...\n"));
  const size_t line = text.find('\n') + 1;
  const size_t carets = text.find('\n', line) + 1;
  CHECK(text.find("BAD") - line == text.find("^~~") - carets);
}

TEST_CASE("cutting keeps code points whole", "[diag]") {
  std::string wide;
  for (int i = 0; i < 200; ++i) wide += "é";
  for (const std::string lead : {"", "x"}) {
    Fixture f(lead + wide + "BAD" + wide + lead);
    CHECK(f.Text(f.SpanOf("BAD")).find("\uFFFD") == std::string::npos);
  }
}

TEST_CASE("notes and hints follow", "[diag]") {
  Fixture f("x = foo\ny = bar\n");
  const Diagnostic diagnostic{Severity::Warning,
                              kShownKind,
                              f.SpanOf("bar"),
                              "odd",
                              {{f.SpanOf("foo"), "seen here"}, {{}, "in general"}},
                              {{f.SpanOf("bar"), "baz"}}};
  CHECK(f.Text(diagnostic) ==
        "in.ir:2:5: warning: odd\n"
        "  y = bar\n"
        "      ^~~\n"
        "      baz\n"
        "in.ir:1:5: note: seen here\n"
        "  x = foo\n"
        "      ^~~\n"
        "note: in general\n");
}

TEST_CASE("an unknown place is left out", "[diag]") {
  Fixture f("x");
  CHECK(f.Text(SourceSpan{}) == "error: bad\n");
}

TEST_CASE("nothing of the input reaches the terminal as a control sequence", "[diag]") {
  Fixture f("a\x1b[31m \xC2\x9B \xFF b\n");
  const Diagnostic diagnostic{Severity::Error, kShownKind, f.SpanOf("b\n"), "unexpected '\x1b[2J'", {}, {}};
  const std::string text = f.Text(diagnostic);
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find("\xC2\x9B") == std::string::npos);
  CHECK(text.find('\xFF') == std::string::npos);
  CHECK_THAT(text, Catch::Contains("unexpected '\uFFFD[2J'"));
  CHECK_THAT(text, Catch::Contains("a\uFFFD[31m \uFFFD \uFFFD b\n"));
}

TEST_CASE("colour is off by default", "[diag]") {
  Fixture f("x = 1\n");
  const Diagnostic diagnostic{Severity::Error, kShownKind, f.SpanOf("x"), "bad", {}, {}};
  CHECK(f.Text(diagnostic, false).find('\x1b') == std::string::npos);
  CHECK_THAT(f.Text(diagnostic, true), Catch::Contains("\x1b[1;31merror:\x1b[0m"));
}

TEST_CASE("JSON lines hold everything", "[diag]") {
  Fixture f("x = foo\ny = bar\n");
  const Diagnostic diagnostic{Severity::Error,
                              kShownKind,
                              f.SpanOf("bar"),
                              "odd \"one\"",
                              {{f.SpanOf("foo"), "seen here"}, {{}, "in general"}},
                              {{f.SpanOf("bar"), "baz"}}};
  const nlohmann::json expected = nlohmann::json::parse(R"({
    "severity": "error", "kind": "too-many-errors", "message": "odd \"one\"",
    "file": "in.ir", "line": 2, "column": 5, "end_line": 2, "end_column": 8,
    "notes": [{"message": "seen here", "file": "in.ir", "line": 1, "column": 5, "end_line": 1, "end_column": 8},
              {"message": "in general"}],
    "fixits": [{"replacement": "baz", "file": "in.ir", "line": 2, "column": 5, "end_line": 2, "end_column": 8}]})");
  CHECK(f.Json(diagnostic) == expected);
}

TEST_CASE("JSON copes with malformed text", "[diag]") {
  Fixture f("x");
  const Diagnostic diagnostic{Severity::Error, kShownKind, {}, "bad \xFF", {}, {}};
  CHECK(f.Json(diagnostic)["message"] == "bad \uFFFD");
}

TEST_CASE("other output between diagnostics is one line of JSON for each flush", "[diag]") {
  std::string result;
  {
    const SourceManager sources;
    OutputStream out(&result);
    JsonConsumer consumer(&out, &sources);
    OutputStream other(&consumer);
    other.Append("a table\nwith \"two\" lines\n");
    CHECK(other.Flush().ok());
    CHECK(other.Flush().ok());
    consumer.Consume({Severity::Error, kShownKind, {}, "bad", {}, {}});
    other.Append("\xff");
  }
  CHECK(result == R"({"kind":"output","text":"a table\nwith \"two\" lines\n"})"
                  "\n"
                  R"({"severity":"error","kind":"too-many-errors","message":"bad","notes":[],"fixits":[]})"
                  "\n"
                  "{\"kind\":\"output\",\"text\":\"\uFFFD\"}"
                  "\n");
}

// The document of one diagnostic about the first three bytes of a file.
nlohmann::json SarifOf(const std::string& path, const Diagnostic& diagnostic) {
  std::string result;
  {
    SourceManager sources;
    const uint32_t base = *sources.AddBuffer(path, "one two", nullptr);
    OutputStream out(&result);
    SarifConsumer consumer(&out, &sources);
    Diagnostic located = diagnostic;
    located.span = {base, base + 3};
    consumer.Consume(located);
    consumer.Consume(located);
  }
  return nlohmann::json::parse(result)["runs"][0];
}

TEST_CASE("SARIF has a rule for each kind, and levels for all severities", "[diag]") {
  const nlohmann::json run = SarifOf("in.ir", {Severity::Remark, kShownKind, {}, "odd", {}, {}});
  CHECK(run["tool"]["driver"]["rules"].size() == 1);
  CHECK(run["results"].size() == 2);
  CHECK(run["results"][1]["level"] == "note");
  CHECK(run["invocations"][0]["executionSuccessful"] == true);
  const nlohmann::json failed = SarifOf("in.ir", {Severity::Error, kShownKind, {}, "bad", {}, {}});
  CHECK(failed["invocations"][0]["executionSuccessful"] == false);
}

TEST_CASE("SARIF encodes paths as URIs", "[diag]") {
  const auto uri = [](const std::string& path) {
    const nlohmann::json run = SarifOf(path, {Severity::Error, kShownKind, {}, "bad", {}, {}});
    return run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].get<std::string>();
  };
  CHECK(uri("a/b c.ir") == "a/b%20c.ir");
  CHECK(uri("/tmp/é:1.ir") == "file:///tmp/%C3%A9%3A1.ir");
}

}  // namespace
}  // namespace iropt
