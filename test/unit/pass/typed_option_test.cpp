#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "catch.h"
#include "iropt/ir/dtype.h"
#include "iropt/pass/option_writer.h"
#include "iropt/pass/pass_options.h"

namespace iropt {
namespace {

enum class Order : uint8_t { kUnset, kDepthFirst, kBreadthFirst };

TEST_CASE("choices are read as enumerators, by the places of their words") {
  const CheckedOptions options("pass 'Sort'", {{"order", "breadth-first"}, {"other", ""}});
  TypedOption<Order> order("order"), other("other");
  options.Read(order, {"", "depth-first", "breadth-first"});
  options.Read(other, {"", "depth-first", "breadth-first"});
  CHECK(*order == Order::kBreadthFirst);
  CHECK(*other == Order::kUnset);
}

TEST_CASE("choices of dtypes are read as dtypes") {
  const CheckedOptions options("pass 'Widen'", {{"wide", "float16"}, {"narrow", ""}, {"index", "int64"}});
  TypedOption<DataType> wide("wide");
  TypedOption<std::optional<DataType>> narrow("narrow"), index("index");
  options.Read(wide);
  options.Read(narrow);
  options.Read(index);
  CHECK(*wide == DataType::Float(16));
  CHECK(!narrow->has_value());
  CHECK(*index == DataType::Int(64));
}

TEST_CASE("names of a list are read with their places") {
  OptionValue name("FoldConstant");
  const SourceSpan span{7, 19};
  name.set_span(span);
  const CheckedOptions options("instrument 'print-after'", {{"passes", OptionValue::List{name}}});
  TypedOption<std::vector<LocatedName>> passes("passes");
  options.Read(passes);
  REQUIRE(passes->size() == 1);
  CHECK(passes->front().name == "FoldConstant");
  CHECK(passes->front().span == span);
}

TEST_CASE("the options that were set are written in order") {
  TypedOption<int64_t> limit("limit");
  TypedOption<bool> each("each");
  TypedOption<Order> order("order");
  TypedOption<std::vector<LocatedName>> names("names");
  limit.Set(3);
  order.Set(Order::kDepthFirst);
  names.Set({{"a", {}}, {"b", {}}});
  OptionWriter writer;
  writer.Write(names);
  writer.Write(order, {"", "depth-first", "breadth-first"});
  writer.Write(each);
  writer.Write(limit);
  CHECK(writer.Take() ==
        OptionValue::Dict{{"names", OptionValue::List{"a", "b"}}, {"order", "depth-first"}, {"limit", 3}});
}

}  // namespace
}  // namespace iropt
