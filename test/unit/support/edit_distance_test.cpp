#include "iropt/support/edit_distance.h"

#include <array>
#include <string>

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

TEST_CASE("the nearest name is found, or none", "[support]") {
  constexpr std::array<std::string_view, 4> kNames = {"FoldConstant", "FuseOps", "FuseTIR", "relax.add"};
  CHECK(NearestName("FoldConstnat", kNames) == "FoldConstant");
  CHECK(NearestName("foldconstant", kNames) == "FoldConstant");
  CHECK(NearestName("fuseops", kNames) == "FuseOps");
  CHECK(NearestName("Fuse", kNames) == std::nullopt);
  CHECK(NearestName("", kNames) == std::nullopt);
  CHECK(NearestName(std::string(100'000, 'x'), kNames) == std::nullopt);
  CHECK(NearestName("x", {}) == std::nullopt);
}

TEST_CASE("of equally near names the first is taken", "[support]") {
  constexpr std::array<std::string_view, 2> kNames = {"abcx", "abcy"};
  CHECK(NearestName("abcz", kNames) == "abcx");
}

}  // namespace
}  // namespace iropt
