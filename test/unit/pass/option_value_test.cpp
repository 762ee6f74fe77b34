// Values: spelling and reading.
#include "iropt/pass/option_value.h"

#include "catch.h"
#include "helpers.h"
#include "iropt/pass/pipeline.h"

using namespace iropt;

namespace {

// The value of an option in a pipeline string.
std::optional<OptionValue> ReadOption(const std::string& text, Reports& reports) {
  const std::optional<Pipeline> pipeline = ParsePipeline("A<x=" + text + ">", 1, reports.engine());
  if (!pipeline) return std::nullopt;
  return pipeline->at(0).options.at(0).value;
}

OptionValue Option(const std::string& text) {
  Reports reports;
  const std::optional<OptionValue> value = ReadOption(text, reports);
  INFO(text);
  REQUIRE(value);
  return *value;
}

std::string ErrorOf(const std::string& text) {
  Reports reports;
  REQUIRE_FALSE(ReadOption(text, reports));
  REQUIRE(reports.all().size() == 1);
  return reports.all()[0].message;
}

}  // namespace

TEST_CASE("words stand for the atoms of JSON, else for strings") {
  CHECK(Option("null") == OptionValue());
  CHECK(Option("true") == OptionValue(true));
  CHECK(Option("false") == OptionValue(false));
  CHECK(Option("-12") == OptionValue(-12));
  CHECK(Option("9223372036854775807") == OptionValue(INT64_MAX));
  CHECK(Option("-9223372036854775808") == OptionValue(INT64_MIN));
  CHECK(Option("0.25") == OptionValue(0.25));
  CHECK(Option("1e3") == OptionValue(1000.0));
  CHECK(Option("float32") == OptionValue("float32"));
  CHECK(Option("relax.nn.conv2d") == OptionValue("relax.nn.conv2d"));
  CHECK(Option("inf") == OptionValue("inf"));
  CHECK(Option("nan") == OptionValue("nan"));
  CHECK(Option("1x") == OptionValue("1x"));
}

TEST_CASE("quoted strings are strings") {
  CHECK(Option(R"("12")") == OptionValue("12"));
  CHECK(Option(R"("a;b>c")") == OptionValue("a;b>c"));
  CHECK(Option(R"("tab\t quote\" back\\ slash\/ \u00e9 \ud83d\ude00")") ==
        OptionValue("tab\t quote\" back\\ slash/ \u00e9 \U0001f600"));
}

TEST_CASE("lists and objects nest") {
  CHECK(Option("[]") == OptionValue(OptionValue::List{}));
  CHECK(Option("[1,[a,b],{}]") == OptionValue(OptionValue::List{1, OptionValue::List{"a", "b"}, OptionValue::Dict{}}));
  CHECK(Option(R"({a:1,"b c":[x]})") ==
        OptionValue(OptionValue::Dict{{"a", 1, {}}, {"b c", OptionValue::List{"x"}, {}}}));
  CHECK(Option(" [ 1 , 2 ] ") == OptionValue(OptionValue::List{1, 2}));
}

TEST_CASE("malformed values are errors") {
  CHECK(ErrorOf("") == "expected a value");
  CHECK(ErrorOf("[1") == "expected ']' or ',' in the list");
  CHECK(ErrorOf("[1 2]") == "expected ']' or ',' in the list");
  CHECK(ErrorOf("{1") == "expected ':' after the key");
  CHECK(ErrorOf("{a:1") == "expected '}' or ',' in the object");
  CHECK(ErrorOf("{a:1,a:2}") == "'a' is given twice");
  CHECK(ErrorOf("\"abc") == "unterminated string");
  CHECK(ErrorOf("\"a\nb\"") == "unterminated string");
  CHECK(ErrorOf(R"("\q")") == "unknown escape in a string");
  CHECK(ErrorOf(R"("\u12")") == "unknown escape in a string");
  CHECK(ErrorOf(R"("\ud83d")") == "unknown escape in a string");
  CHECK(ErrorOf("99999999999999999999") == "number out of range");
  CHECK(ErrorOf("1e999") == "number out of range");
  CHECK(ErrorOf(std::string(1000, '[')) == "nested more than 200 levels deep");
}

TEST_CASE("a value reads back from its spelling") {
  const OptionValue values[] = {
      OptionValue(),
      OptionValue(true),
      OptionValue(-3),
      OptionValue(0.1),
      OptionValue(1e300),
      OptionValue(2.0),
      OptionValue("word"),
      OptionValue("two words"),
      OptionValue(""),
      OptionValue("true"),
      OptionValue("12"),
      OptionValue("1e5"),
      OptionValue("a\"b\\c\n\x01"),
      OptionValue("\u00e9"),
      OptionValue(OptionValue::List{1, "x", OptionValue::Dict{{"k", OptionValue::List{}, {}}}}),
  };
  for (const OptionValue& value : values) CHECK(Option(ToString(value)) == value);
  CHECK(ToString(OptionValue("word")) == "word");
  CHECK(ToString(OptionValue("12")) == "\"12\"");
  CHECK(ToString(OptionValue(2.0)) == "2.0");
}
