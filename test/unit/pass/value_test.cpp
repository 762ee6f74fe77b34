// Values: spelling and reading.
#include "iropt/pass/value.h"

#include "catch.h"
#include "helpers.h"
#include "iropt/pass/pipeline.h"

using namespace iropt;

namespace {

// The value of an option in a pipeline string.
std::optional<Value> ReadOption(const std::string& text, Reports& reports) {
  const std::optional<Pipeline> pipeline = ParsePipeline("A<x=" + text + ">", 1, reports.engine());
  if (!pipeline) return std::nullopt;
  return pipeline->at(0).options.at(0).value;
}

Value Option(const std::string& text) {
  Reports reports;
  const std::optional<Value> value = ReadOption(text, reports);
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
  CHECK(Option("null") == Value());
  CHECK(Option("true") == Value(true));
  CHECK(Option("false") == Value(false));
  CHECK(Option("-12") == Value(-12));
  CHECK(Option("9223372036854775807") == Value(INT64_MAX));
  CHECK(Option("-9223372036854775808") == Value(INT64_MIN));
  CHECK(Option("0.25") == Value(0.25));
  CHECK(Option("1e3") == Value(1000.0));
  CHECK(Option("float32") == Value("float32"));
  CHECK(Option("relax.nn.conv2d") == Value("relax.nn.conv2d"));
  CHECK(Option("inf") == Value("inf"));
  CHECK(Option("nan") == Value("nan"));
  CHECK(Option("1x") == Value("1x"));
}

TEST_CASE("quoted strings are strings") {
  CHECK(Option(R"("12")") == Value("12"));
  CHECK(Option(R"("a;b>c")") == Value("a;b>c"));
  CHECK(Option(R"("tab\t quote\" back\\ slash\/ \u00e9 \ud83d\ude00")") ==
        Value("tab\t quote\" back\\ slash/ \u00e9 \U0001f600"));
}

TEST_CASE("lists and objects nest") {
  CHECK(Option("[]") == Value(Value::List{}));
  CHECK(Option("[1,[a,b],{}]") == Value(Value::List{1, Value::List{"a", "b"}, Value::Dict{}}));
  CHECK(Option(R"({a:1,"b c":[x]})") == Value(Value::Dict{{"a", 1, {}}, {"b c", Value::List{"x"}, {}}}));
  CHECK(Option(" [ 1 , 2 ] ") == Value(Value::List{1, 2}));
}

TEST_CASE("malformed values are errors") {
  CHECK(ErrorOf("") == "expected a value");
  CHECK(ErrorOf("[1") == "expected ']' or ',' in the list");
  CHECK(ErrorOf("[1 2]") == "expected ']' or ',' in the list");
  CHECK(ErrorOf("{1") == "expected ':' after the key");
  CHECK(ErrorOf("{a:1") == "expected '}' or ',' in the object");
  CHECK(ErrorOf("{a:1,a:2}") == "'a' is given twice");
  CHECK(ErrorOf("\"abc") == "this string does not end");
  CHECK(ErrorOf("\"a\nb\"") == "this string does not end");
  CHECK(ErrorOf(R"("\q")") == "unknown escape in a string");
  CHECK(ErrorOf(R"("\u12")") == "unknown escape in a string");
  CHECK(ErrorOf(R"("\ud83d")") == "unknown escape in a string");
  CHECK(ErrorOf("99999999999999999999") == "number out of range");
  CHECK(ErrorOf("1e999") == "number out of range");
  CHECK(ErrorOf(std::string(1000, '[')) == "nested more than 200 levels deep");
}

TEST_CASE("a value reads back from its spelling") {
  const Value values[] = {
      Value(),
      Value(true),
      Value(-3),
      Value(0.1),
      Value(1e300),
      Value(2.0),
      Value("word"),
      Value("two words"),
      Value(""),
      Value("true"),
      Value("12"),
      Value("1e5"),
      Value("a\"b\\c\n\x01"),
      Value("\u00e9"),
      Value(Value::List{1, "x", Value::Dict{{"k", Value::List{}, {}}}}),
  };
  for (const Value& value : values) CHECK(Option(ToString(value)) == value);
  CHECK(ToString(Value("word")) == "word");
  CHECK(ToString(Value("12")) == "\"12\"");
  CHECK(ToString(Value(2.0)) == "2.0");
}
