#include "iropt/ir/map_list.h"

#include <optional>
#include <vector>

#include "catch.h"
#include "testing.h"

namespace iropt {
namespace {

using namespace testing;
using Dims = List<const PrimExpr*>;

TEST_CASE("lists are copied when an item changes", "[ir]") {
  Workspace workspace;
  const Dims old = workspace.Copy(std::vector<const PrimExpr*>{Int(1), Int(2), Int(3)});
  std::vector<const PrimExpr*> seen;
  const auto replace = [&](const PrimExpr* from, const PrimExpr* to) {
    seen.clear();
    return MapList(old, workspace, [&](const PrimExpr* item) {
      seen.push_back(item);
      return item == from ? to : item;
    });
  };
  CHECK(IsSameList(replace(Int(4), Int(5)), old));
  for (const PrimExpr* from : old) {
    const Dims changed = replace(from, Int(9));
    CHECK_FALSE(IsSameList(changed, old));
    CHECK(seen == std::vector(old.begin(), old.end()));
    REQUIRE(changed.size() == 3);
    for (uint32_t i = 0; i < 3; ++i) CHECK(changed[i] == (old[i] == from ? Int(9) : old[i]));
  }
  CHECK(old == Dims(workspace.Copy(std::vector<const PrimExpr*>{Int(1), Int(2), Int(3)})));
}

TEST_CASE("items of lists are left out", "[ir]") {
  Arena arena;
  const std::vector<const PrimExpr*> items = {Int(1), Int(2), Int(3)};
  const Dims old(arena.Copy(items));
  const auto without = [&](auto&& drops) {
    const Dims changed = MapList(old, arena, [&](const PrimExpr* item) -> std::optional<const PrimExpr*> {
      return drops(item) ? std::nullopt : std::optional(item);
    });
    return std::vector(changed.begin(), changed.end());
  };
  CHECK(without([](const PrimExpr*) { return false; }) == items);
  CHECK(without([](const PrimExpr* item) { return item == Int(1); }) == std::vector{Int(2), Int(3)});
  CHECK(without([](const PrimExpr* item) { return item != Int(2); }) == std::vector{Int(2)});
  CHECK(without([](const PrimExpr*) { return true; }).empty());
  CHECK(MapList(Dims(), arena, [](const PrimExpr*) { return std::optional<const PrimExpr*>(); }).empty());
}

}  // namespace
}  // namespace iropt
