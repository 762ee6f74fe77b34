#include "iropt/support/edit_distance.h"

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include "catch.h"

namespace iropt {
namespace {

TEST_CASE("distances of insertion, deletion, replacement and swap", "[support]") {
  CHECK(EditDistance("", "", 5) == 0);
  CHECK(EditDistance("abc", "abc", 5) == 0);
  CHECK(EditDistance("abc", "abcd", 5) == 1);
  CHECK(EditDistance("abc", "ac", 5) == 1);
  CHECK(EditDistance("abc", "axc", 5) == 1);
  CHECK(EditDistance("abc", "acb", 5) == 1);
  CHECK(EditDistance("kitten", "sitting", 5) == 3);
  CHECK(EditDistance("kitten", "sitting", 2) == 3);
  CHECK(EditDistance("a", "abcdefgh", 3) == 4);
}

TEST_CASE("a limit changes no distance within it", "[support]") {
  std::mt19937 random(7);
  const auto word = [&] {
    std::string text(random() % 9, ' ');
    for (char& c : text) c = static_cast<char>('a' + random() % 3);
    return text;
  };
  for (int i = 0; i < 20'000; ++i) {
    const std::string a = word();
    const std::string b = word();
    const size_t distance = EditDistance(a, b, 100);
    CAPTURE(a, b, distance);
    for (size_t limit = 0; limit < 9; ++limit) REQUIRE(EditDistance(a, b, limit) == std::min(distance, limit + 1));
  }
}

TEST_CASE("the nearest name is found, or none", "[support]") {
  constexpr std::array<std::string_view, 4> kNames = {"FoldConstant", "FuseOps", "FuseTIR", "relax.add"};
  CHECK(NearestName("FoldConstnat", kNames) == "FoldConstant");
  CHECK(NearestName("foldconstant", kNames) == "FoldConstant");
  CHECK(NearestName("fuseops", kNames) == "FuseOps");
  CHECK(NearestName("Fuze", kNames) == std::nullopt);
  CHECK(NearestName("", kNames) == std::nullopt);
  CHECK(NearestName(std::string(100'000, 'x'), kNames) == std::nullopt);
  CHECK(NearestName("x", {}) == std::nullopt);
}

TEST_CASE("names that begin with the name, without regard to case, come after misspelled ones", "[support]") {
  constexpr std::array<std::string_view, 4> kNames = {"FoldConstants", "FoldConstant", "Foldconrt", "fo"};
  CHECK(NearestName("foldconst", kNames) == "Foldconrt");
  CHECK(NearestName("foldcons", kNames) == "Foldconrt");
  CHECK(NearestName("FOLDCONSTA", kNames) == "FoldConstant");
  CHECK(LeastNearestName("FOLDCONSTA", kNames) == "FoldConstant");
  CHECK(NearestName("FuldConstants", kNames) == "FoldConstants");
}

TEST_CASE("of names that are as near, one of the same case is taken", "[support]") {
  constexpr std::array<std::string_view, 3> kNames = {"EQ", "EXP", "exp"};
  CHECK(NearestName("exq", kNames) == "exp");
  CHECK(NearestName("EXQ", kNames) == "EQ");
}

TEST_CASE("a short name is near to those with a letter in common", "[support]") {
  constexpr std::array<std::string_view, 3> kNames = {"y", "add", "lv1"};
  CHECK(NearestName("yy", kNames) == "y");
  CHECK(NearestName("ad", kNames) == "add");
  CHECK(NearestName("lv", kNames) == "lv1");
  CHECK(NearestName("z", kNames) == std::nullopt);
}

TEST_CASE("of equally near names the first is taken", "[support]") {
  constexpr std::array<std::string_view, 2> kNames = {"abcx", "abcy"};
  CHECK(NearestName("abcz", kNames) == "abcx");
}

TEST_CASE("where no name is near, a few names are listed, and many are not", "[support]") {
  constexpr std::array<std::string_view, 2> kNames = {"batch", "length"};
  CHECK(DidYouMeanOr("; it has ", "bacth", kNames) == "; did you mean 'batch'?");
  CHECK(DidYouMeanOr("; it has ", "channels", kNames) == "; it has batch, length");
  CHECK(DidYouMeanOr("; it has ", "channels", {}).empty());
  const std::vector<std::string_view> many(17, "length");
  CHECK(DidYouMeanOr("; it has ", "channels", many).empty());
  CHECK(DidYouMeanOr("; it has ", "lenght", many) == "; did you mean 'length'?");
}

}  // namespace
}  // namespace iropt
