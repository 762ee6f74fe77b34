// Pipeline files.
#include "catch.h"
#include "helpers.h"
#include "iropt/pass/pipeline.h"

using namespace iropt;

namespace {

PipelineFile Read(std::string_view text) {
  Reports reports;
  std::optional<PipelineFile> file = ParsePipelineFile(text, 1, reports.engine());
  INFO(text);
  for (const std::string& report : reports.texts()) UNSCOPED_INFO(report);
  REQUIRE(file);
  REQUIRE(reports.all().empty());
  return *std::move(file);
}

// The errors of a file as "text: message".
Log ErrorsIn(const std::string& text) {
  Reports reports;
  INFO(text);
  REQUIRE_FALSE(ParsePipelineFile(text, 1, reports.engine()));
  Log errors;
  for (const Diagnostic& d : reports.all()) {
    errors.push_back(text.substr(d.span.begin - 1, d.span.end - d.span.begin) + ": " + d.message);
  }
  return errors;
}

std::string Passes(const std::string& list) {
  const PipelineFile file = Read("{\"passes\": " + list + "}");
  REQUIRE(file.passes);
  return PrintPipeline(*file.passes);
}

}  // namespace

TEST_CASE("a pipeline file holds the context and the passes") {
  const PipelineFile file = Read(R"(
    {"opt_level": 3, "disabled": ["FuseTIR"], "required": ["A", "B"], "config": {"tir.UnrollLoop": {"auto_max_step": 16}},
     "passes": ["FoldConstant", {"name": "FuseOps", "options": {"fuse_opt_level": 4}},
                {"sequential": ["A", "B"], "name": "Mine", "opt_level": 2}, {"fixpoint": ["C", "D"], "max": 8}, "default<O2>"],
     "instruments": ["timing", {"name": "print-after", "passes": ["FoldConstant"]}]})");
  CHECK(file.opt_level == 3);
  REQUIRE(file.disabled.size() == 1);
  CHECK(file.disabled[0].name == "FuseTIR");
  CHECK(file.required.size() == 2);
  REQUIRE(file.config.size() == 1);
  CHECK(file.config[0].key == "tir.UnrollLoop");
  REQUIRE(file.passes);
  CHECK(PrintPipeline(*file.passes) ==
        "FoldConstant,FuseOps<fuse_opt_level=4>,Sequential<name=Mine;opt_level=2>(A,B),fixpoint<8>(C,D),default<O2>");
  REQUIRE(file.instruments.size() == 2);
  CHECK(file.instruments[0].name == "timing");
  CHECK(file.instruments[1].name == "print-after");
  CHECK(file.instruments[1].options[0].value == OptionValue(OptionValue::List{"FoldConstant"}));
}

TEST_CASE("everything in a pipeline file may be left out") {
  const PipelineFile file = Read("{}");
  CHECK_FALSE(file.opt_level);
  CHECK_FALSE(file.passes);
}

TEST_CASE("the passes of a file in all their forms") {
  CHECK(Passes("[]").empty());
  CHECK(Passes(R"("A,B")") == "A,B");
  CHECK(Passes(R"j(["A,B", "repeat<2>(C)"])j") == "A,B,repeat<2>(C)");
  CHECK(Passes(R"([{"name": "A"}])") == "A");
  CHECK(Passes(R"([{"fixpoint": ["A"]}])") == "fixpoint<8>(A)");
  CHECK(Passes(R"([{"repeat": [{"sequential": "A,B"}], "times": 3}])") == "repeat<3>(Sequential(A,B))");
  CHECK(Passes(R"([{"name": "P", "options": {"w": {"dtype": "float32", "shape": [2], "data": [1, 2]}}}])") ==
        R"(P<w={"dtype":float32,"shape":[2],"data":[1,2]}>)");
}

TEST_CASE("spans of pipeline strings in a file point into the file") {
  const std::string text = R"({"passes": ["A,BC"]})";
  const PipelineFile file = Read(text);
  const SourceSpan span = file.passes->at(1).span;
  CHECK(text.substr(span.begin - 1, span.end - span.begin) == "BC");
  // With an escape, the text in the file differs from the string, so errors point to the whole string.
  const std::string escaped = R"({"passes": ["A<x=\"y\">"]})";
  const SourceSpan whole = Read(escaped).passes->at(0).span;
  CHECK(escaped.substr(whole.begin - 1, whole.end - whole.begin) == R"("A<x=\"y\">")");
}

TEST_CASE("unknown keys are errors that name the nearest") {
  CHECK(ErrorsIn(R"({"opt-level": 3, "pases": []})") ==
        Log{"\"opt-level\": a pipeline file has no key 'opt-level'; did you mean 'opt_level'?",
            "\"pases\": a pipeline file has no key 'pases'; did you mean 'passes'?"});
  CHECK(ErrorsIn(R"({"passes": [{"name": "A", "option": {}}]})") ==
        Log{"\"option\": a pass has no key 'option'; did you mean 'options'?"});
  CHECK(ErrorsIn(R"({"passes": [{"fixpoint": [], "times": 3}]})") == Log{"\"times\": a fixpoint has no key 'times'"});
}

TEST_CASE("values of the wrong type are errors") {
  CHECK(ErrorsIn("[]") == Log{"[]: a pipeline file must be an object"});
  CHECK(ErrorsIn(R"({"opt_level": 5, "disabled": "A", "required": [1], "config": []})") ==
        Log{"5: 'opt_level' must be an integer from 0 to 4", "\"A\": 'disabled' must be a list",
            "1: an element of 'required' must be a name in double quotes", "[]: 'config' must be an object"});
  CHECK(ErrorsIn(R"({"target": 1})") == Log{"1: 'target' must be a string or an object"});
  CHECK(ErrorsIn(R"({"passes": [1, {"nam": "A"}, {"name": 2}, {"repeat": []}, {"name": "A", "options": 1}]})") ==
        Log{"1: a pass must be a string or an object",
            "{\"nam\": \"A\"}: a pass must be an object with 'name', 'sequential', 'fixpoint' or 'repeat'",
            "2: the name of a pass must be a name in double quotes",
            "{\"repeat\": []}: a repeat must be an object with 'times'", "1: 'options' must be an object"});
}

TEST_CASE("malformed files are errors at the place in the file") {
  CHECK(ErrorsIn("") == Log{": expected a value"});
  CHECK(ErrorsIn("{") == Log{": expected a key in double quotes"});
  CHECK(ErrorsIn("{passes: []}") == Log{"passes: expected a key in double quotes"});
  CHECK(ErrorsIn(R"({"passes": [A]})") == Log{"A: expected a value; strings need double quotes"});
  CHECK(ErrorsIn(R"({"passes": []} x)") == Log{"x: expected the end of the file"});
  CHECK(ErrorsIn(R"({"passes": ["A,,B"]})") == Log{",: expected the name of a pass"});
  CHECK(ErrorsIn(R"({"passes": [], "passes": []})") == Log{"\"passes\": 'passes' is given twice"});
}
