#include "iropt/driver/split_input.h"

#include "../catch.h"

namespace iropt {
namespace {

TEST_CASE("markers split a text only as lines of their own") {
  const std::vector<InputPart> parts =
      SplitInput("a\n# -----\nb # -----\n # -----\n# ------\n# ----- \r\n\n# -----", "# -----");
  REQUIRE(parts.size() == 4);
  CHECK(parts[0].text == "a\n");
  CHECK(parts[0].first_line == 1);
  CHECK(parts[1].text == "b # -----\n # -----\n# ------\n");
  CHECK(parts[1].first_line == 3);
  CHECK(parts[2].text == "\n");
  CHECK(parts[2].first_line == 7);
  CHECK(parts[3].text.empty());
  CHECK(parts[3].first_line == 8);
}

TEST_CASE("a text without a marker is one part") {
  CHECK(SplitInput("", "#").size() == 1);
  CHECK(SplitInput("a\nb", "#").size() == 1);
  CHECK(SplitInput("#", "#").size() == 2);
}

}  // namespace
}  // namespace iropt
