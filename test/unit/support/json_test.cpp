#include "iropt/support/json.h"

#include <string>
#include <vector>

#include "catch.h"

namespace iropt {
namespace {

TEST_CASE("JSON values are found by key and in the order of the text", "[json]") {
  const auto json = JsonText::Parse(
      R"( {"a": [1, [2, {"x": 3}], -4], "skipped": {"b": {"c": null}}, "b": "t\"\u00e9\ud83d\ude00\u0000", "a": true} )");
  REQUIRE(json.ok());
  const JsonValue root = json->root();
  REQUIRE(root.is_object());
  CHECK(root.Find("b")->string() == std::string_view("t\"\xc3\xa9\xf0\x9f\x98\x80\0", 9));
  CHECK_FALSE(root.Find("c"));
  std::vector<std::string> keys;
  for (const auto& [key, value] : root.members()) keys.emplace_back(key);
  CHECK(keys == std::vector<std::string>{"a", "skipped", "b", "a"});
  std::vector<bool> integers;
  const JsonValue list = root.Find("a").value();
  for (const JsonValue item : list) integers.push_back(item.is_integer());
  CHECK(integers == std::vector<bool>{true, false, true});
  const JsonValue string = root.Find("b").value();
  CHECK(string.begin() == string.end());
  CHECK(list.members().begin() == list.members().end());
}

TEST_CASE("JSON numbers are integers if they fit", "[json]") {
  const auto json = JsonText::Parse("[9223372036854775807, -9223372036854775808, 9223372036854775808, 1.0, 1e2]");
  REQUIRE(json.ok());
  std::vector<int64_t> integers;
  for (const JsonValue item : json->root()) {
    if (item.is_integer()) integers.push_back(item.integer());
  }
  CHECK(integers == std::vector<int64_t>{INT64_MAX, INT64_MIN});
}

TEST_CASE("errors in JSON name the place and the expected kind", "[json]") {
  const auto message = [](std::string_view text) {
    const auto json = JsonText::Parse(text);
    return json.ok() ? "" : json.error().message;
  };
  CHECK(message("") == "parse error at line 1, column 1: the document is empty");
  CHECK(message("{\n \"a\\n\": 1,\n  x}") == "parse error at line 3, column 3: missing a name for object member");
  CHECK(message("[1] 2") == "parse error at line 1, column 5: the document root must not be followed by other values");
  CHECK(message("\"\xff\"") == "parse error at line 1, column 2: invalid encoding in string");
  CHECK(message(std::string_view("1\0", 2)) == "parse error at line 1, column 2: invalid control character");

  const auto json = JsonText::Parse(R"({"a": 1, "b": "x"})");
  REQUIRE(json.ok());
  CHECK(*json->root().At("a")->AsInteger() == 1);
  CHECK(*json->root().At("b")->AsString() == "x");
  CHECK(json->root().At("c").error().message == "key 'c' not found");
  CHECK(json->root().At("a")->At("c").error().message == "invalid integer: expected an object");
  CHECK(json->root().At("a")->AsString().error().message == "invalid integer: expected a string");
  CHECK(json->root().AsInteger().error().message == "invalid object: expected an integer");
}

TEST_CASE("JSON of any depth is read", "[json]") {
  constexpr size_t kDepth = 1000000;
  const auto json = JsonText::Parse(std::string(kDepth, '[') + std::string(kDepth, ']'));
  REQUIRE(json.ok());
  CHECK_FALSE(JsonText::Parse(std::string(kDepth, '[')).ok());
}

}  // namespace
}  // namespace iropt
