// Orders of axes and layouts of values. Their effect on programs is tested in test/transform/convert_layout.
#include "iropt/infer/layout_rules.h"

#include "catch.h"
#include "iropt/infer/infer.h"
#include "iropt/ir/context.h"
#include "iropt/support/arena.h"

namespace iropt {
namespace {

AxisOrder Order(std::initializer_list<int> axes) {
  AxisOrder order;
  for (const int axis : axes) order.push_back(axis);
  return order;
}

std::optional<AxisOrder> Between(std::string_view from, std::string_view to) {
  return AxisOrder::Between(*Layout::Parse(from), *Layout::Parse(to));
}

TEST_CASE("an order of axes gives the position of each", "[layout_rules]") {
  const AxisOrder nhwc = *Between("NCHW", "NHWC");
  CHECK(nhwc == Order({0, 2, 3, 1}));
  CHECK_FALSE(nhwc.is_identity());
  CHECK(nhwc.PlaceOf(1) == 3);
  CHECK(nhwc.PlaceOf(-1) == 2);
  CHECK(nhwc.Reorder("NCHW") == "NHWC");
  CHECK(Between("NHWC", "NHWC")->is_identity());
  CHECK(AxisOrder::Identity(3) == Order({0, 1, 2}));
  CHECK_FALSE(AxisOrder::Identity(3) == AxisOrder::Identity(2));
}

TEST_CASE("layouts with other axes have no order between them, nor has one that is split already", "[layout_rules]") {
  CHECK_FALSE(Between("NCHW", "OIHW"));
  CHECK_FALSE(Between("NCHW4c", "NHWC"));
  CHECK_FALSE(Between("NCHW", "NCW"));
}

TEST_CASE("a permutation brings one order into another", "[layout_rules]") {
  const AxisOrder nhwc = *Between("NCHW", "NHWC");
  const AxisOrder hwcn = *Between("NCHW", "HWCN");
  const AxisOrder identity = AxisOrder::Identity(4);
  CHECK(identity.To(nhwc) == nhwc);
  CHECK(nhwc.To(identity) == Order({0, 3, 1, 2}));
  CHECK(nhwc.To(hwcn) == *Between("NHWC", "HWCN"));
}

TEST_CASE("an axis can be split in an order", "[layout_rules]") {
  const AxisOrder split = *Between("NCHW", "NHWC4c");
  CHECK(split.ndim() == 5);
  CHECK(split.num_axes() == 4);
  CHECK(split.is_split());
  CHECK_FALSE(split.is_identity());
  CHECK(split.PlaceOf(1) == 3);
  CHECK(split.PlaceOf(-1) == 2);
  CHECK(split.PartAt(4) == 4);
  CHECK(split.Reorder("NCHW") == "NHWC4c");
  CHECK_FALSE(split == *Between("NCHW", "NHWC2c"));
  CHECK_FALSE(AxisOrder::Identity(4).To(split));
  CHECK(split.To(*Between("NCHW", "NCHW4c"))->Reorder("ABCDE") == "ADBCE");
}

TEST_CASE("the indices of a tensor with split axes", "[layout_rules]") {
  const AxisOrder split = *Between("NCHW", "NHWC4c2c");
  std::vector<const PrimExpr*> indices;
  for (const char* name : {"n", "c", "h", "w"}) indices.push_back(IRContext::Current().NewSymVar(name));
  const std::vector<const PrimExpr*> stored = split.Indices(indices, AxisOrder::Identity(4));
  REQUIRE(stored.size() == 6);
  CHECK(stored[0] == indices[0]);
  CHECK(stored[1] == indices[2]);
  CHECK(DimToString(stored[3]) == "c // 8");
  CHECK(DimToString(stored[4]) == "c % 8 // 2");
  CHECK(DimToString(stored[5]) == "c % 2");
}

TEST_CASE("layouts of tuples are compared field by field", "[layout_rules]") {
  Arena arena;
  const auto* a = arena.New<ValueLayout>(Order({1, 0}), List<const ValueLayout*>());
  const auto* b = arena.New<ValueLayout>(Order({1, 0}), List<const ValueLayout*>());
  const auto* c = arena.New<ValueLayout>(Order({2, 0, 1}), List<const ValueLayout*>());
  CHECK(SameLayout(a, b));
  CHECK_FALSE(SameLayout(a, c));
  CHECK_FALSE(SameLayout(a, nullptr));
  const auto tuple = [&](std::initializer_list<const ValueLayout*> fields) {
    return arena.New<ValueLayout>(AxisOrder(), List<const ValueLayout*>(arena.Copy(fields)));
  };
  CHECK(SameLayout(tuple({a, nullptr}), tuple({b, nullptr})));
  CHECK_FALSE(SameLayout(tuple({a, nullptr}), tuple({a, a})));
  CHECK_FALSE(SameLayout(tuple({a}), tuple({a, nullptr})));
  CHECK_FALSE(SameLayout(tuple({a}), a));
}

}  // namespace
}  // namespace iropt
