#include "iropt/support/line_diff.h"

#include <algorithm>
#include <random>
#include <string>

#include "catch.h"

namespace iropt {

namespace {

// Both texts as the script has them.
std::pair<std::string, std::string> Apply(const std::vector<DiffLine>& script) {
  std::pair<std::string, std::string> texts;
  for (const DiffLine& line : script) {
    if (line.change != LineChange::Added) texts.first += std::string(line.text) + '\n';
    if (line.change != LineChange::Removed) texts.second += std::string(line.text) + '\n';
  }
  return texts;
}

size_t Changes(const std::vector<DiffLine>& script) {
  return static_cast<size_t>(
      std::ranges::count_if(script, [](const DiffLine& line) { return line.change != LineChange::Kept; }));
}

}  // namespace

TEST_CASE("line diff: equal texts", "[support]") {
  CHECK(UnifiedDiff("", "").empty());
  CHECK(UnifiedDiff("a\nb\n", "a\nb\n").empty());
  CHECK(DiffLines("a\n", "a\n") == std::vector<DiffLine>{{LineChange::Kept, "a"}});
}

TEST_CASE("line diff: hunks as diff -u writes them", "[support]") {
  CHECK(UnifiedDiff("", "a\n") == "@@ -0,0 +1,1 @@\n+a\n");
  CHECK(UnifiedDiff("a\n", "") == "@@ -1,1 +0,0 @@\n-a\n");
  CHECK(UnifiedDiff("a\nb\nc\n", "a\nB\nc\n") == "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n");
  CHECK(UnifiedDiff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\n5\n6\n7\n8\nx\n", {.context = 1}) ==
        "@@ -8,2 +8,2 @@\n 8\n-9\n+x\n");
  // Contexts that touch make one hunk, others two.
  CHECK(UnifiedDiff("a\n1\n2\nb\n", "A\n1\n2\nB\n", {.context = 1}) == "@@ -1,4 +1,4 @@\n-a\n+A\n 1\n 2\n-b\n+B\n");
  CHECK(UnifiedDiff("a\n1\n2\n3\nb\n", "A\n1\n2\n3\nB\n", {.context = 1}) ==
        "@@ -1,2 +1,2 @@\n-a\n+A\n 1\n@@ -4,2 +4,2 @@\n 3\n-b\n+B\n");
  CHECK(UnifiedDiff("a\n", "b\n", {.colour = true}) ==
        "\033[36m@@ -1,1 +1,1 @@\033[0m\n\033[31m-a\033[0m\n\033[32m+b\033[0m\n");
}

TEST_CASE("line diff: removed lines come before those that replace them", "[support]") {
  CHECK(UnifiedDiff("x\na\na\ny\n", "x\nb\nb\ny\n", {.context = 0}) == "@@ -2,2 +2,2 @@\n-a\n-a\n+b\n+b\n");
}

TEST_CASE("line diff: a unique line that moved", "[support]") {
  const std::vector<DiffLine> script = DiffLines("move\na\nb\nc\n", "a\nb\nc\nmove\n");
  CHECK(Changes(script) == 2);
  CHECK(Apply(script) == std::pair<std::string, std::string>("move\na\nb\nc\n", "a\nb\nc\nmove\n"));
}

TEST_CASE("line diff: the script gives both texts back", "[support]") {
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    const auto text = [&](int lines, int kinds) {
      std::string made;
      for (int i = 0; i < lines; ++i) made += std::to_string(static_cast<int>(random() % kinds)) + '\n';
      return made;
    };
    const int kinds = 2 + static_cast<int>(random() % 40);
    const std::string before = text(static_cast<int>(random() % 40), kinds);
    const std::string after = text(static_cast<int>(random() % 40), kinds);
    const std::vector<DiffLine> script = DiffLines(before, after);
    REQUIRE(Apply(script) == std::pair(before, after));
  }
}

TEST_CASE("line diff: texts with nothing in common, of any length", "[support]") {
  std::string before;
  std::string after;
  for (int i = 0; i < 50000; ++i) {
    before += "a\nb\n";
    after += "c\nd\n";
  }
  const std::vector<DiffLine> script = DiffLines(before, after);
  CHECK(script.size() == 200000);
  CHECK(Changes(script) == 200000);
}

}  // namespace iropt
