// Pipeline strings: reading, printing, building.
#include "iropt/pass/pipeline.h"

#include "catch.h"
#include "helpers.h"

using namespace iropt;

namespace {

using Kind = PipelineItem::Kind;

Pipeline Parse(std::string_view text) {
  Reports reports;
  const std::optional<Pipeline> pipeline = ParsePipeline(text, 1, reports.engine());
  INFO(text);
  REQUIRE(pipeline);
  REQUIRE(reports.all().empty());
  return *pipeline;
}

// The error of a malformed string and the text that it points to, as "text: message".
std::string ErrorIn(const std::string& text) {
  Reports reports;
  INFO(text);
  REQUIRE_FALSE(ParsePipeline(text, 1, reports.engine()));
  REQUIRE(reports.all().size() == 1);
  const Diagnostic& error = reports.all()[0];
  CHECK(error.severity == Severity::Error);
  return text.substr(error.span.begin - 1, error.span.end - error.span.begin) + ": " + error.message;
}

struct Registered {
  Registered() {
    for (const auto& [name, level] : {std::pair{"A", 0}, {"B", 2}, {"C", 3}}) {
      PassEntry row{{.name = name, .opt_level = level}, {}, "", &CreateNothing};
      row.options = {{"depth", OptionType::Int, 1, ""}};
      REQUIRE(registry.Add(row).ok());
    }
    REQUIRE(registry.AddPipeline({"default", 0, 4, "A,C"}).ok());
  }

  PassRegistry registry;
  Reports reports;
};

}  // namespace

TEST_CASE("a pipeline is a list of passes") {
  CHECK(Parse("").empty());
  CHECK(Parse("  ").empty());
  const Pipeline pipeline = Parse("FoldConstant, tir.Simplify");
  REQUIRE(pipeline.size() == 2);
  CHECK(pipeline[0].name == "FoldConstant");
  CHECK(pipeline[1].name == "tir.Simplify");
  CHECK(pipeline[1].span == SourceSpan{15, 27});
}

TEST_CASE("passes have options") {
  const Pipeline pipeline = Parse("FuseOps<max_depth=4;x=[a,b]>,B<>");
  REQUIRE(pipeline.size() == 2);
  REQUIRE(pipeline[0].options.size() == 2);
  CHECK(pipeline[0].options[0].key == "max_depth");
  CHECK(pipeline[0].options[0].value == OptionValue(4));
  CHECK(pipeline[0].options[1].value == OptionValue(OptionValue::List{"a", "b"}));
  CHECK(pipeline[1].options.empty());
}

TEST_CASE("pipelines nest") {
  const Pipeline pipeline = Parse("Sequential(A,fixpoint<3>(B,repeat<2>(C))),default<O2>,fixpoint(D)");
  REQUIRE(pipeline.size() == 3);
  CHECK(pipeline[0].kind == Kind::Sequential);
  REQUIRE(pipeline[0].children.size() == 2);
  const PipelineItem& fixpoint = pipeline[0].children[1];
  CHECK(fixpoint.kind == Kind::Fixpoint);
  CHECK(fixpoint.count == 3);
  CHECK(fixpoint.children[1].kind == Kind::Repeat);
  CHECK(fixpoint.children[1].count == 2);
  CHECK(pipeline[1].kind == Kind::Named);
  CHECK(pipeline[1].name == "default");
  CHECK(pipeline[1].count == 2);
  CHECK(pipeline[2].count == kDefaultFixpointRounds);
}

TEST_CASE("a sequential has a name and a level if they are given") {
  const Pipeline pipeline = Parse("Sequential<name=Mine;opt_level=3>(A),Sequential()");
  CHECK(pipeline[0].name == "Mine");
  CHECK(pipeline[0].opt_level == 3);
  CHECK(pipeline[1].name.empty());
  CHECK_FALSE(pipeline[1].opt_level);
  CHECK(pipeline[1].children.empty());
}

TEST_CASE("malformed pipelines are errors at the place in the string") {
  CHECK(ErrorIn("A,,B") == ",: expected the name of a pass");
  CHECK(ErrorIn("A,") == ": expected the name of a pass");
  CHECK(ErrorIn("A B") == "B: expected ',' or the end of the pipeline");
  CHECK(ErrorIn("A)") == "): expected ',' or the end of the pipeline");
  CHECK(ErrorIn("A(B)") == "A: 'A' is not a group of passes: expected Sequential, fixpoint or repeat");
  CHECK(ErrorIn("Sequential(A") == ": expected ')' or ','");
  CHECK(ErrorIn("Sequential A") == "A: expected '(' and passes");
  CHECK(ErrorIn("A,Sequential<level=2>(A)") == "level: a Sequential has no option 'level'");
  CHECK(ErrorIn("Sequential<optlevel=2>(A)") ==
        "optlevel: a Sequential has no option 'optlevel'; did you mean 'opt_level'?");
  CHECK(ErrorIn("Sequential<opt_level=5>(A)") == "5: 'opt_level' of a Sequential must be an integer from 0 to 4");
  CHECK(ErrorIn("Sequential<opt_level=x>(A)") == "x: 'opt_level' of a Sequential must be an integer from 0 to 4");
  CHECK(ErrorIn("Sequential<name=[1]>(A)") == "[1]: 'name' of a Sequential must be a string that is not empty");
  CHECK(ErrorIn("Sequential<name=\"\">(A)") == "\"\": 'name' of a Sequential must be a string that is not empty");
  CHECK(ErrorIn("A<b c>") == "c: expected '=' and a value after 'b'");
  CHECK(ErrorIn("A<b;b>") == "b: option 'b' is given twice");
  CHECK(ErrorIn("A<b") == ": expected '=' and a value after 'b'");
  CHECK(ErrorIn("Sequential<name>(A)") == "name: 'name' of a Sequential must be a string that is not empty");
  CHECK(ErrorIn("A<=3>") == "=: expected an option, name=value");
  CHECK(ErrorIn("A<b=1") == ": expected '>' or ';' after an option");
  CHECK(ErrorIn("A<b=1,c=2>") == ",: expected '>' or ';' after an option");
  CHECK(ErrorIn("A<b=1;b=2>") == "b: option 'b' is given twice");
  CHECK(ErrorIn("fixpoint<0>(A)") == "0: expected an integer from 1 to 1000000");
  CHECK(ErrorIn("fixpoint<x>(A)") == "x: expected an integer from 1 to 1000000");
  CHECK(ErrorIn("repeat(A)") == "(: expected '<' and a number after 'repeat'");
  CHECK(ErrorIn("repeat<2>") == ": expected '(' and passes");
  CHECK(ErrorIn("default") == ": expected '<' and a level after 'default', as in 'default<O2>'");
  CHECK(ErrorIn("default<O7>") == "O7: expected a level from O0 to O4");
  CHECK(ErrorIn("default<2>") == "2: expected a level from O0 to O4");
  CHECK(ErrorIn("repeat<2000000>(A)") == "2000000: expected an integer from 1 to 1000000");
  CHECK(ErrorIn("A<b=99999999999999999999>") == "99999999999999999999: number out of range");
  CHECK(ErrorIn("A<b=[1,1e999]>") == "1e999: number out of range");
  CHECK(ErrorIn("A<b=[1,>") == ">: expected a value");
  CHECK(ErrorIn("A<b={k:1,k:2}>") == "k: 'k' is given twice");
  CHECK(ErrorIn("A<b=1;>") == ">: expected an option, name=value");
  CHECK(ErrorIn("A,fixpoint(B,)") == "): expected the name of a pass");
  CHECK(ErrorIn("A,fixpoint(,B)") == ",: expected the name of a pass");
  CHECK(ErrorIn("A,()") == "(: expected the name of a pass");
  CHECK(ErrorIn("\"\"") == ": expected the name of a pass");
  CHECK(ErrorIn("A,\"B") == "\"B: unterminated string");
  CHECK(ErrorIn("Fixpoint(A)") == "Fixpoint: 'Fixpoint' is not a group of passes; did you mean 'fixpoint'?");
  CHECK(ErrorIn("A,Repeat<2>(A)") == "Repeat: 'Repeat' is not a group of passes; did you mean 'repeat'?");
  CHECK(ErrorIn("sequental(A)") == "sequental: 'sequental' is not a group of passes; did you mean 'Sequential'?");
  CHECK(ErrorIn("A,\u00e9") == "\u00e9: expected the name of a pass");
}

TEST_CASE("an error at an unclosed bracket shows the opening one") {
  for (const std::string text :
       {"A,Sequential(B,C", "A,fixpoint<2>(B;C)", "A,Bc<d=1,e=2>", "A,Bc<d=[1;2]>", "A,Bc<d={e:1]>"}) {
    Reports reports;
    INFO(text);
    CHECK_FALSE(ParsePipeline(text, 1, reports.engine()));
    REQUIRE(reports.all().size() == 1);
    REQUIRE(reports.all()[0].notes.size() == 1);
    const SourceSpan opened = reports.all()[0].notes[0].span;
    CHECK(opened.end == opened.begin + 1);
    CHECK(std::string("(<[{").find(text[opened.begin - 1]) != std::string::npos);
  }
}

TEST_CASE("names of any kind stand in double quotes") {
  const Pipeline pipeline = Parse(R"j("my pass"<"an option"=1>,"Sequential","B")j");
  REQUIRE(pipeline.size() == 3);
  CHECK(pipeline[0].name == "my pass");
  CHECK(pipeline[0].options[0].key == "an option");
  CHECK(pipeline[1].kind == Kind::Pass);
  CHECK(PrintPipeline(pipeline) == R"j("my pass"<"an option"=1>,"Sequential",B)j");
  CHECK(PrintPipelineJson(pipeline) ==
        R"j([{"name": "my pass", "options": {"an option": 1}}, {"name": "Sequential"}, "B"])j");
}

TEST_CASE("instruments are named as passes are") {
  Reports reports;
  const auto specs = ParseInstruments("timing,print-after<passes=[A,B]>", 1, reports.engine());
  REQUIRE(specs);
  REQUIRE(specs->size() == 2);
  CHECK(specs->at(1).name == "print-after");
  CHECK(specs->at(1).options[0].value == OptionValue(OptionValue::List{"A", "B"}));
  CHECK_FALSE(ParseInstruments("timing,fixpoint(A)", 1, reports.engine()));
  CHECK_FALSE(ParseInstruments("timing,", 1, reports.engine()));
}

TEST_CASE("deep nesting is refused") {
  std::string text;
  for (int i = 0; i < 100000; ++i) text += "Sequential(";
  CHECK(ErrorIn(text) == "Sequential: nested more than 200 levels deep");
}

TEST_CASE("printing gives the string back") {
  for (const std::string text :
       {"", "A", "A,B<depth=4;x=y>", "Sequential(A,FuseOps<max_depth=4;x=y>)", "fixpoint<8>(A,B)",
        "repeat<2>(A),default<O2>", "Sequential<name=Mine;opt_level=2>(A,B),Sequential<opt_level=0>()",
        R"(A<x="a b";y=[1,2.5,{"k":null}]>)"}) {
    CHECK(PrintPipeline(Parse(text)) == text);
  }
}

TEST_CASE("truncated and mangled pipelines are errors, or pipelines") {
  const std::string text = R"(Sequential<name=M>(A<x="q\"";y=[1,{"k":2}]>,fixpoint<8>(B)),default<O2>)";
  for (size_t i = 0; i <= text.size(); ++i) {
    Reports reports;
    const bool ok = ParsePipeline(text.substr(0, i), 1, reports.engine()).has_value();
    CHECK(ok == reports.all().empty());
    for (const char c : {'(', ')', '<', '"', ',', '\0', '\xff'}) {
      std::string mangled = text;
      mangled.insert(i, 1, c);
      Reports more;
      const bool reads = ParsePipeline(mangled, 1, more.engine()).has_value();
      CHECK(reads == more.all().empty());
    }
  }
}

TEST_CASE("building reports every unknown pass and option") {
  Registered r;
  const Pipeline pipeline = Parse("AA,Sequential(BB,fixpoint(A<dept=2>)),A<depth=x>");
  CHECK_FALSE(BuildPipeline(pipeline, r.registry, r.reports.engine()).ok());
  CHECK(r.reports.texts() == Log{"unknown-pass: unknown pass 'AA'; did you mean 'A'?",
                                 "unknown-pass: unknown pass 'BB'; did you mean 'B'?",
                                 "unknown-option: pass 'A' has no option 'dept'; did you mean 'depth'?",
                                 "wrong-option-type: option 'depth' of pass 'A' must be an integer, not a string"});
  CHECK(r.reports.all()[1].span == SourceSpan{15, 17});
}

TEST_CASE("a built pipeline runs") {
  Registered r;
  const Result<Pass> pass =
      BuildPipeline(Parse("A<depth=3>,Sequential(B),repeat<2>(C),default<O2>"), r.registry, r.reports.engine());
  REQUIRE(pass.ok());
  CHECK(pass->info().name == "pipeline");
  CHECK((*pass)(Module()).ok());
}

TEST_CASE("an unregistered requirement is found when the pipeline is built") {
  Registered r;
  REQUIRE(r.registry.Add({.info = {.name = "Odd", .required = {"Nothing"}}, .create = &CreateNothing}).ok());
  CHECK_FALSE(BuildPipeline(Parse("A,Odd"), r.registry, r.reports.engine()).ok());
  CHECK(r.reports.texts() == Log{"unknown-pass: pass 'Odd' requires the unknown pass 'Nothing'"});
  CHECK(r.reports.all()[0].span == SourceSpan{3, 6});
}

TEST_CASE("a named pipeline is that of its name and level") {
  const Pipeline pipeline = Parse("mine<O1>,A");
  CHECK(pipeline[0].kind == Kind::Named);
  CHECK(pipeline[0].name == "mine");
  CHECK(pipeline[0].count == 1);
  CHECK(pipeline[0].span == SourceSpan{1, 9});
  CHECK(PrintPipeline(pipeline) == "mine<O1>,A");

  Registered r;
  REQUIRE(r.registry.AddPipeline({"mine", 0, 1, "A"}).ok());
  REQUIRE(r.registry.AddPipeline({"mine", 2, 3, "default<O2>,Sequential(B<depth=2>)"}).ok());
  const Pass pass = *BuildPipeline(Parse("mine<O1>,mine<O3>"), r.registry, r.reports.engine());
  const std::span<const Pass> items = pass.children();
  REQUIRE(items.size() == 2);
  CHECK(items[0].info().name == "mine<O1>");
  CHECK(items[0].children().size() == 1);
  REQUIRE(items[1].children().size() == 2);
  CHECK(items[1].children()[0].info().name == "default<O2>");
}

TEST_CASE("a pipeline that does not exist, or not at that level, is an error that names the nearest one") {
  Registered r;
  REQUIRE(r.registry.AddPipeline({"mine", 0, 1, "A"}).ok());
  CHECK_FALSE(BuildPipeline(Parse("mime<O1>,mine<O2>"), r.registry, r.reports.engine()).ok());
  CHECK(r.reports.texts() == Log{"unknown-pipeline: unknown pipeline 'mime<O1>'; did you mean 'mine<O1>'?",
                                 "unknown-pipeline: unknown pipeline 'mine<O2>'; did you mean 'mine<O0>'?"});
}

TEST_CASE("errors in a named pipeline are reported at its use") {
  Registered r;
  REQUIRE(r.registry.AddPipeline({"mine", 0, 4, "A,AA"}).ok());
  CHECK_FALSE(BuildPipeline(Parse("A,mine<O0>"), r.registry, r.reports.engine()).ok());
  CHECK(r.reports.texts() == Log{"unknown-pass: unknown pass 'AA'; did you mean 'A'?"});
  CHECK(r.reports.all()[0].span == SourceSpan{3, 11});
}

TEST_CASE("the registry refuses pipelines that cannot be right") {
  Registered r;
  const auto refusal = [&](PipelineEntry entry) {
    const Status added = r.registry.AddPipeline(std::move(entry));
    return added.ok() ? std::string() : added.error().message;
  };
  CHECK(refusal({"default", 2, 2, "B"}) == "the pipeline 'default': there is already one for O2");
  CHECK(refusal({"mine", 0, 5, "A"}) == "the pipeline 'mine': levels must be from 0 to 4");
  CHECK(refusal({"mine", 2, 1, "A"}) == "the pipeline 'mine': levels must be from 0 to 4");
  CHECK(refusal({"my own", 0, 4, "A"}) == "the pipeline 'my own': a name must be a word that is not reserved");
  CHECK(refusal({"repeat", 0, 4, "A"}) == "the pipeline 'repeat': a name must be a word that is not reserved");
  CHECK(refusal({"mine", 0, 4, "A("}) ==
        "the pipeline 'mine': 'A' is not a group of passes: expected Sequential, fixpoint or repeat");
  CHECK(refusal({"mine", 0, 4, "A,mine<O1>"}) == "the pipeline 'mine': 'mine<O1>' is not registered before it");
  CHECK(refusal({"mine", 0, 4, "repeat<2>(default<O1>)"}).empty());
}

TEST_CASE("the items that a level skips can be listed") {
  Registered r;
  PassContext context;
  context.opt_level = 1;
  const auto skipped = [&](std::string_view text) {
    const Pipeline pipeline = Parse(text);
    Log names;
    for (const auto& [item, level] : SkippedByLevel(pipeline, r.registry, context))
      names.push_back(item->name + " at " + std::to_string(level));
    return names;
  };
  CHECK(skipped("A,B,C") == Log{"B at 1", "C at 1"});
  CHECK(skipped("fixpoint(A,B),repeat<1>(C)") == Log{"B at 1", "C at 1"});
  CHECK(skipped("Sequential<name=S;opt_level=2>(B)") == Log{"S at 1"});
  CHECK(skipped("Sequential<name=S;opt_level=1>(B)") == Log{"B at 1"});
  CHECK(skipped("Sequential<at_level=4>(B,fixpoint(C))").empty());
  CHECK(skipped("Sequential<at_level=0>(A,repeat<2>(B),Sequential<at_level=4>(C))") == Log{"B at 0"});
  CHECK(skipped("default<O2>").empty());
  context.required_pass = {"B"};
  context.disabled_pass = {"C"};
  CHECK(skipped("A,B,C").empty());
}

TEST_CASE("the names in a pipeline") {
  CHECK(NamesIn(Parse("A,Sequential<name=S>(B,fixpoint(C)),default<O1>")) ==
        std::vector<std::string_view>{"A", "S", "B", "C"});
}
