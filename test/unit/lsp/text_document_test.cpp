#include "iropt/lsp/text_document.h"

#include <random>
#include <string>

#include "catch.h"

namespace iropt::lsp {
namespace {

TEST_CASE("TextDocument counts UTF-16 code units", "[lsp]") {
  const TextDocument document(
      "a\xf0\x9f\x98\x80"
      "b\r\n\xc3\xa4x\n");  // an emoji, an umlaut
  CHECK(document.num_lines() == 3);
  CHECK(document.PositionOf(5) == Position{0, 3});
  CHECK(document.OffsetOf({0, 3}) == 5);
  CHECK(document.OffsetOf({0, 2}) == 1);   // within a surrogate pair
  CHECK(document.OffsetOf({0, 99}) == 6);  // before the line break
  CHECK(document.OffsetOf({1, 1}) == 10);
  CHECK(document.PositionOf(11) == Position{1, 2});
  CHECK(document.OffsetOf({9, 0}) == document.size());
  CHECK(Utf16Length("\xf0\x9f\x98\x80\xff") == 3);
}

TEST_CASE("TextDocument takes line breaks of all kinds", "[lsp]") {
  TextDocument document("a\rb\r\nc\nd");
  CHECK(document.num_lines() == 4);
  CHECK(document.Text(document.Line(1)) == "b");
  document.Replace({1, 1}, "\n");  // \n\r is two line breaks
  CHECK(document.num_lines() == 5);
  document.Replace({1, 2}, "");
  document.Replace({2, 2}, "\n");  // \r\n is one
  CHECK(document.num_lines() == 4);
  CHECK(document.PositionOf(3) == Position{1, 0});
}

TEST_CASE("TextDocument knows the lines of any edited text", "[lsp]") {
  std::mt19937 random(7);
  TextDocument document;
  for (int i = 0; i < 20'000; ++i) {
    const uint32_t size = document.size();
    const auto begin = static_cast<uint32_t>(random() % (size + 1));
    const auto end = static_cast<uint32_t>(begin + random() % (std::min<uint32_t>(size - begin, 6) + 1));
    std::string text;
    for (auto n = random() % 5; n > 0; --n) text += "ab\n\r\n\r"[random() % 6];
    document.Replace({begin, end}, size > 60 ? "" : text);
    const TextDocument fresh(document.text());
    REQUIRE(document.num_lines() == fresh.num_lines());
    for (uint32_t line = 0; line < fresh.num_lines(); ++line) REQUIRE(document.Line(line) == fresh.Line(line));
  }
}

}  // namespace
}  // namespace iropt::lsp
