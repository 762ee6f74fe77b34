#include "iropt/diag/source.h"

#include <array>
#include <string>
#include <thread>
#include <vector>

#include "catch.h"
#include "iropt/diag/joint_spans.h"
#include "iropt/diag/location_comment.h"

namespace iropt {
namespace {

TEST_CASE("positions become file, line and column", "[diag]") {
  SourceManager sources;
  const std::string first = "ab\ncd\r\n\nlast";
  const std::string second = "x\n";
  const uint32_t a = *sources.AddBuffer("a.ir", first, nullptr);
  const uint32_t b = *sources.AddBuffer("b.ir", second, nullptr);
  const auto expect = [&](uint32_t offset, std::string_view name, uint32_t line, uint32_t column,
                          std::string_view text) {
    const SourceLocation where = sources.Locate(offset);
    CHECK(where.name == name);
    CHECK(where.line == line);
    CHECK(where.column == column);
    CHECK(where.line_text == text);
  };
  expect(a, "a.ir", 1, 1, "ab");
  expect(a + 2, "a.ir", 1, 3, "ab");
  expect(a + 3, "a.ir", 2, 1, "cd");
  expect(a + 6, "a.ir", 2, 3, "cd");
  expect(a + 7, "a.ir", 3, 1, "");
  expect(a + 8, "a.ir", 4, 1, "last");
  expect(a + 12, "a.ir", 4, 5, "last");
  expect(b, "b.ir", 1, 1, "x");
  expect(b + 2, "b.ir", 2, 1, "");
  CHECK(sources.Text({a + 3, a + 5}) == "cd");
  CHECK(sources.Text({}).empty());
}

TEST_CASE("a comment at the end of a line says where it comes from", "[diag]") {
  SourceManager sources;
  const std::string text =
      "y = x  # loc(\"a \\22b\\5C\\FF.ir\":7:12)\n"
      "z = y  # loc(fused[\"a.ir\":1:2, \"b.ir\":3:4])\n"
      "w = z  # loc(a.ir:1:2)\n";
  const uint32_t base = *sources.AddBuffer("<stdin>", text, nullptr);
  const SourceLocation first = sources.Locate(base + 4);
  CHECK(first.name == "a \"b\\\xff.ir");
  CHECK(first.line == 7);
  CHECK(first.column == 12);
  CHECK(first.line_text.starts_with("y = x"));
  CHECK(first.byte_in_line == 4);
  const auto second = static_cast<uint32_t>(base + text.find("z = y"));
  CHECK(sources.Locate(second).name == "a.ir");
  CHECK(sources.Locate(static_cast<uint32_t>(base + text.find("w = z"))).name == "<stdin>");

  // What is printed reads back, and all places stay.
  CHECK(LocationComment({base, base + 1}, sources) == R"(# loc("a \22b\5C\FF.ir":7:12))");
  const std::array<SourceSpan, 2> both = {SourceSpan{base, base + 1}, SourceSpan{second, second + 1}};
  const std::string joint = LocationComment(Join(both), sources);
  CHECK(joint == R"(# loc(fused["a \22b\5C\FF.ir":7:12, "a.ir":1:2, "b.ir":3:4]))");
  CHECK(PlacesInComment("y " + joint).size() == 3);
  CHECK(LocationComment({}, sources).empty());
}

TEST_CASE("comments that name no place", "[diag]") {
  const std::string_view lines[] = {"",
                                    ")",
                                    "# loc()",
                                    "# loc(\"a\")",
                                    "# loc(\"a\":1)",
                                    "# loc(\"a\":0:1)",
                                    "# loc(\"a\":1:0)",
                                    "# loc(",
                                    "# loc(\"a",
                                    "# loc(\"a\":1:2",
                                    "# loc(\"a\":1:2) ",
                                    "# loc(\"\\2\":1:2)",
                                    "# loc(\"\\zz\":1:2)",
                                    "# loc(\"a\":1:2, \"b\":1:2)",
                                    "# loc(fused[\"a\":1:2)",
                                    "# loc(fused[])",
                                    "# loc(\"a\":99999999999:2)"};
  for (const std::string_view line : lines) CHECK(PlacesInComment(line).empty());
}

TEST_CASE("offsets of no source have no location", "[diag]") {
  SourceManager sources;
  CHECK(sources.Locate(0).line == 0);
  CHECK(sources.Locate(5).line == 0);
  const uint32_t base = *sources.AddBuffer("empty", "", nullptr);
  CHECK(base != 0);
  CHECK(sources.Locate(base).line == 1);
  CHECK(sources.Locate(base + 1).line == 0);
  CHECK_FALSE(SourceSpan{}.known());
}

TEST_CASE("a part of a file counts lines from its first line", "[diag]") {
  SourceManager sources;
  const uint32_t base = *sources.AddBuffer("part", "a\nb", nullptr, 10);
  CHECK(sources.Locate(base + 2).line == 11);
}

TEST_CASE("columns count code points, and malformed bytes one each", "[diag]") {
  CHECK(CountCodePoints("") == 0);
  CHECK(CountCodePoints("aé€😀") == 4);
  CHECK(CountCodePoints("\x80\xFF") == 2);
  CHECK(CountCodePoints("\xE2\x82") == 2);      // cut short
  CHECK(CountCodePoints("\xC0\xAF") == 2);      // overlong
  CHECK(CountCodePoints("\xED\xA0\x80") == 3);  // surrogate
  CHECK(CountCodePoints("\xF4\x90\x80\x80") == 4);
  SourceManager sources;
  const std::string text = "é = x";
  const uint32_t base = *sources.AddBuffer("u", text, nullptr);
  CHECK(sources.Locate(base + 2).column == 2);
}

TEST_CASE("more than 4 GiB of source is refused", "[diag]") {
  SourceManager sources;
  const char byte = 'x';
  // Never read: only the size counts until a position is located.
  REQUIRE(sources.AddBuffer("big", std::string_view(&byte, 0xFFEFFF00u), nullptr).ok());
  const auto more = sources.AddBuffer("more", std::string(1000, 'x'), nullptr);
  REQUIRE_FALSE(more.ok());
  CHECK(more.error().message == "cannot read 'more': more than 4 GiB of source text");
}

TEST_CASE("threads locate while sources are added", "[diag]") {
  SourceManager sources;
  const std::string text = "one\ntwo\nthree\n";
  const uint32_t base = *sources.AddBuffer("first", text, nullptr);
  std::vector<std::thread> threads;
  std::vector<uint32_t> lines(4);
  for (uint32_t& line : lines) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) line = sources.Locate(base + 9).line;
    });
  }
  for (int i = 0; i < 1000; ++i) static_cast<void>(sources.AddBuffer("other", text, nullptr));
  for (std::thread& thread : threads) thread.join();
  CHECK(lines == std::vector<uint32_t>(4, 3));
}

}  // namespace
}  // namespace iropt
