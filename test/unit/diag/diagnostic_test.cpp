#include "iropt/diag/diagnostic.h"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "catch.h"
#include "iropt/diag/joint_spans.h"

namespace iropt {
namespace {

constexpr DiagId kKind = "too-many-errors";

TEST_CASE("a built diagnostic arrives with its parts", "[diag]") {
  DiagnosticBuffer buffer;
  DiagnosticEngine engine(&buffer);
  engine.Error({1, 2}, kKind, "wrong").Note({3, 4}, "there").Note("in general").FixIt({1, 2}, "right");
  engine.Warning({5, 6}, kKind, "odd");
  engine.Remark({}, kKind, "by the way");
  REQUIRE(buffer.diagnostics().size() == 3);
  const Diagnostic& error = buffer.diagnostics()[0];
  CHECK(error.severity == Severity::Error);
  CHECK(error.kind == kKind.name());
  CHECK(error.span == SourceSpan{1, 2});
  CHECK(error.message == "wrong");
  REQUIRE(error.notes.size() == 2);
  CHECK(error.notes[0].span == SourceSpan{3, 4});
  CHECK_FALSE(error.notes[1].span.known());
  REQUIRE(error.fix_its.size() == 1);
  CHECK(error.fix_its[0].replacement == "right");
  CHECK(engine.error_count() == 1);
  CHECK(engine.warning_count() == 1);
  CHECK(engine.has_errors());
}

TEST_CASE("a place that stands for several is shown with all of them", "[diag]") {
  const SourceSpan parts[] = {{10, 12}, {}, {20, 25}, {10, 12}};
  const SourceSpan joint = Join(parts);
  CHECK(IsJoint(joint));
  CHECK(Join(parts) == joint);
  const SourceSpan more[] = {{30, 31}, joint};
  CHECK(PartsOf(Join(more)) == std::vector<SourceSpan>{{30, 31}, {10, 12}, {20, 25}});
  CHECK(Join(std::span(parts).first(2)) == SourceSpan{10, 12});
  CHECK(Join({}) == SourceSpan());
  DiagnosticBuffer buffer;
  DiagnosticEngine engine(&buffer);
  engine.Error(joint, kKind, "wrong").Note(joint, "there").Note({3, 4}, "last");
  const Diagnostic& error = buffer.diagnostics()[0];
  CHECK(error.span == SourceSpan{10, 12});
  REQUIRE(error.notes.size() == 4);
  CHECK(error.notes[0].span == SourceSpan{10, 12});
  CHECK(error.notes[0].message == "there");
  CHECK(error.notes[2].message == "last");
  for (const size_t i : {1, 3}) {
    CHECK(error.notes[i].span == SourceSpan{20, 25});
    CHECK(error.notes[i].message == "and from here");
  }
}

TEST_CASE("kinds that nobody declared are reported under a general one", "[diag]") {
  DiagnosticBuffer buffer;
  DiagnosticEngine engine(&buffer);
  engine.Remark({}, DiagId::Dynamic("test-undeclared"), "something");
  REQUIRE(buffer.diagnostics().size() == 1);
  CHECK(buffer.diagnostics()[0].kind == "undeclared-kind");
  REQUIRE(buffer.diagnostics()[0].notes.size() == 1);
  CHECK(buffer.diagnostics()[0].notes[0].message == "the kind 'test-undeclared' of this message is not declared");
  REQUIRE(AddDiagnosticKind({"test-undeclared", Severity::Remark, "a test"}));
  engine.Remark({}, DiagId::Dynamic("test-undeclared"), "something");
  CHECK(buffer.diagnostics()[1].kind == "test-undeclared");
  CHECK(buffer.diagnostics()[1].notes.empty());
  // Again, and as another one.
  CHECK(AddDiagnosticKind({"test-undeclared", Severity::Remark, "a test"}));
  CHECK_FALSE(AddDiagnosticKind({"test-undeclared", Severity::Error, "a test"}));
  CHECK_FALSE(AddDiagnosticKind({"syntax", Severity::Remark, "a test"}));
  for (const std::string_view id : {"", "-a", "a-", "a--b", "A", "a b"}) {
    CHECK_FALSE(AddDiagnosticKind({id, Severity::Remark, "a test"}));
  }
}

TEST_CASE("captured diagnostics do not count and have no limit", "[diag]") {
  DiagnosticBuffer buffer;
  DiagnosticEngine engine(&buffer, 1);
  engine.set_input("in.ir", "chunk 2");
  engine.Warning({}, kKind, "before");
  {
    const DiagnosticCapture capture(engine);
    for (int i = 0; i < 3; ++i) engine.Error({}, kKind, "captured");
    CHECK(engine.error_count() == 3);
    REQUIRE(capture.diagnostics().size() == 3);
    CHECK(capture.diagnostics()[2].message == "captured");
    CHECK(capture.diagnostics()[2].notes.empty());
  }
  CHECK(engine.error_count() == 0);
  CHECK(engine.warning_count() == 1);
  engine.Error({}, kKind, "after");
  REQUIRE(buffer.diagnostics().size() == 2);
  CHECK(buffer.diagnostics()[1].message == "after");
  REQUIRE(buffer.diagnostics()[1].notes.size() == 1);
}

TEST_CASE("diagnostics without a location name the input", "[diag]") {
  DiagnosticBuffer buffer;
  DiagnosticEngine engine(&buffer);
  engine.set_input("in.ir", "chunk 2");
  engine.Error({}, kKind, "nowhere");
  engine.Error({1, 2}, kKind, "somewhere");
  engine.set_input("in.ir", {});
  engine.Error({}, kKind, "in the file");
  engine.set_input({}, {});
  engine.Error({}, kKind, "nowhere");
  REQUIRE(buffer.diagnostics().size() == 4);
  CHECK(buffer.diagnostics()[0].file == "in.ir");
  REQUIRE(buffer.diagnostics()[0].notes.size() == 1);
  CHECK(buffer.diagnostics()[0].notes[0].message == "in chunk 2");
  CHECK(buffer.diagnostics()[1].file.empty());
  CHECK(buffer.diagnostics()[1].notes.empty());
  CHECK(buffer.diagnostics()[2].file == "in.ir");
  CHECK(buffer.diagnostics()[2].notes.empty());
  CHECK(buffer.diagnostics()[3].file.empty());
}

TEST_CASE("errors beyond the limit are counted and announced once", "[diag]") {
  DiagnosticBuffer buffer;
  DiagnosticEngine engine(&buffer, 3);
  for (int i = 0; i < 10; ++i) {
    CHECK(engine.error_limit_reached() == (i >= 3));
    engine.Error({}, kKind, std::to_string(i));
  }
  engine.Warning({}, kKind, "still shown");
  std::vector<std::string> messages;
  for (const Diagnostic& d : buffer.diagnostics()) messages.push_back(d.message);
  CHECK(messages == std::vector<std::string>{"0", "1", "2", "too many errors", "still shown"});
  CHECK(engine.error_count() == 10);
}

TEST_CASE("without a limit every error is shown", "[diag]") {
  DiagnosticBuffer buffer;
  DiagnosticEngine engine(&buffer, 0);
  for (int i = 0; i < 100; ++i) engine.Error({}, kKind, "x");
  CHECK(buffer.diagnostics().size() == 100);
  CHECK_FALSE(engine.error_limit_reached());
}

TEST_CASE("buffers replay in the order of their items", "[diag]") {
  DiagnosticBuffer all;
  DiagnosticEngine engine(&all);
  DiagnosticBuffer parts[2];
  for (const int i : {1, 0}) DiagnosticEngine(&parts[i], 0).Error({}, kKind, std::to_string(i));
  for (DiagnosticBuffer& part : parts) part.ReplayInto(engine);
  REQUIRE(all.diagnostics().size() == 2);
  CHECK(all.diagnostics()[0].message == "0");
  CHECK(all.diagnostics()[1].message == "1");
  CHECK(parts[0].diagnostics().empty());
  CHECK(engine.error_count() == 2);
}

TEST_CASE("what is reported in a context has its notes, innermost first", "[diag]") {
  DiagnosticBuffer buffer;
  DiagnosticEngine engine(&buffer);
  {
    const DiagnosticContext outer(engine, {1, 2}, "outer");
    const DiagnosticContext inner(engine, {3, 4}, "inner");
    engine.Error({}, "syntax", "both").Note("own");
  }
  engine.Error({}, "syntax", "none");
  REQUIRE(buffer.diagnostics().size() == 2);
  const std::vector<DiagnosticNote>& notes = buffer.diagnostics()[0].notes;
  REQUIRE(notes.size() == 3);
  CHECK(notes[0].message == "own");
  CHECK(notes[1].message == "inner");
  CHECK(notes[2].message == "outer");
  CHECK(buffer.diagnostics()[1].notes.empty());
}

TEST_CASE("kinds are found by their ids, which are lower case words", "[diag]") {
  REQUIRE_FALSE(DiagnosticKinds().empty());
  for (const DiagnosticKind& kind : DiagnosticKinds()) {
    CAPTURE(kind.id);
    CHECK(FindDiagnosticKind(kind.id) == &kind);
    CHECK(std::ranges::all_of(kind.id,
                              [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; }));
    CHECK_FALSE(kind.meaning.empty());
    CHECK_FALSE(kind.meaning.ends_with('.'));
    CHECK(kind.severity != Severity::Note);
  }
  CHECK(FindDiagnosticKind("no-such-kind") == nullptr);
  CHECK(FindDiagnosticKind("") == nullptr);
}

}  // namespace
}  // namespace iropt
