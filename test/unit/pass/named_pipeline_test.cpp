// What configuration options change in named pipelines.
#include "catch.h"
#include "helpers.h"
#include "iropt/pass/pipeline.h"

using namespace iropt;

namespace {

using Rule = PipelineRule;

// The passes A to D with an option, and the pipeline `lower` of A, B and C with rules.
struct Lowering {
  Lowering() {
    for (const char* name : {"A", "B", "C", "D"}) {
      PassEntry row{{.name = name}, {}, "", &CreateNothing};
      row.options = {{"depth", OptionType::Int, 1, ""}};
      REQUIRE(registry.Add(row).ok());
    }
    for (const char* key : {"skip", "only", "deep"}) {
      REQUIRE(registry.AddConfig({key, OptionType::Bool, false, ""}).ok());
    }
    REQUIRE(registry.AddConfig({"add", OptionType::Phases, OptionValue::List{}, ""}).ok());
    REQUIRE(
        registry
            .AddPipeline(
                {.name = "lower",
                 .lowest_level = 0,
                 .highest_level = 4,
                 .passes = "A,B,C",
                 .rules = {{.kind = Rule::Kind::Phase, .config = "add"},
                           {.kind = Rule::Kind::Phase, .config = "add", .pass = "C", .phase = 1},
                           {.kind = Rule::Kind::SkipIf, .config = "skip", .pass = "A"},
                           {.kind = Rule::Kind::RunIf, .config = "only", .pass = "C"},
                           {.kind = Rule::Kind::SetIf, .config = "deep", .pass = "B", .option = {{"depth", 7, {}}}}}})
            .ok());
    context.registry = &registry;
  }

  void Set(std::string_view key, OptionValue value) {
    const bool is_set = context.SetConfig(key, std::move(value), reports.engine());
    REQUIRE(is_set);
  }

  // The pipeline with its named pipelines expanded, after it was built.
  std::string Expand(std::string_view text) {
    const std::optional<Pipeline> pipeline = ParsePipeline(text, 1, reports.engine());
    REQUIRE(pipeline);
    if (!BuildPipeline(*pipeline, registry, reports.engine(), &context).ok()) return "";
    return PrintPipeline(ExpandPipeline(*pipeline, registry, std::nullopt, &context));
  }

  std::string Refusal(PipelineEntry entry) {
    const Status added = registry.AddPipeline(std::move(entry));
    return added.ok() ? std::string() : added.error().message;
  }

  PassRegistry registry;
  PassContext context;
  Reports reports;
};

OptionValue Phase(int64_t phase, OptionValue passes) { return OptionValue::List{phase, std::move(passes)}; }

}  // namespace

TEST_CASE("configuration options choose passes of a named pipeline and their options") {
  Lowering l;
  CHECK(l.Expand("lower") == "Sequential<name=lower>(A,B)");
  l.Set("only", true);
  CHECK(l.Expand("lower") == "Sequential<name=lower>(A,B,C)");
  l.Set("skip", true);
  CHECK(l.Expand("lower") == "Sequential<name=lower>(B,C)");
  l.Set("deep", true);
  CHECK(l.Expand("lower,B") == "Sequential<name=lower>(B<depth=7>,C),B");
  CHECK(l.Expand("lower<O1>") == "Sequential<name=\"lower<O1>\";at_level=1>(B<depth=7>,C)");
}

TEST_CASE("without a context, a named pipeline has the defaults") {
  Lowering l;
  const std::optional<Pipeline> pipeline = ParsePipeline("lower", 1, l.reports.engine());
  REQUIRE(BuildPipeline(*pipeline, l.registry, l.reports.engine()).ok());
  CHECK(PrintPipeline(ExpandPipeline(*pipeline, l.registry, std::nullopt)) == "Sequential<name=lower>(A,B)");
}

TEST_CASE("passes are added to the phases of a named pipeline, in their order") {
  Lowering l;
  l.Set("add", OptionValue::List{Phase(1, "D"), Phase(0, "D<depth=2>,A"), Phase(5, "D<depth=3>"),
                                 Phase(0, OptionValue::Dict{{"name", "B", {}}})});
  CHECK(l.Expand("lower") == "Sequential<name=lower>(D<depth=2>,A,B,A,B,D,D<depth=3>)");
  // Where the pass after a phase does not run, the phase is still there.
  l.Set("only", false);
  CHECK(l.Expand("lower") == "Sequential<name=lower>(D<depth=2>,A,B,A,B,D,D<depth=3>)");
}

TEST_CASE("a phase is added once") {
  Lowering l;
  REQUIRE(l.Refusal({.name = "twice",
                     .highest_level = 4,
                     .passes = "Sequential(A),B,fixpoint(A),B",
                     .rules = {{.kind = Rule::Kind::Phase, .config = "add"},
                               {.kind = Rule::Kind::Phase, .config = "add", .pass = "B", .phase = 1}}})
              .empty());
  l.Set("add", OptionValue::List{Phase(0, "C"), Phase(1, "D")});
  CHECK(l.Expand("twice") == "Sequential<name=twice>(C,Sequential(A),D,B,fixpoint<8>(A),B)");
}

TEST_CASE("a list of phases is checked when it is set") {
  Lowering l;
  const auto refuse = [&](OptionValue value) {
    Reports reports;
    const bool is_set = l.context.SetConfig("add", std::move(value), reports.engine());
    CHECK_FALSE(is_set);
    return reports.texts();
  };
  CHECK(refuse("A") ==
        Log{"wrong-option-type: configuration option 'add' must be a list of [phase, passes], not a string"});
  CHECK(refuse(OptionValue::List{"A", OptionValue::List{1}}) ==
        Log{"wrong-option-type: an element of configuration option 'add' must be [phase, passes]",
            "wrong-option-type: an element of configuration option 'add' must be [phase, passes]"});
  CHECK(refuse(OptionValue::List{Phase(-1, "A"), OptionValue::List{"x", "A"}}) ==
        Log{"wrong-option-type: a phase of configuration option 'add' must be an integer that is not negative",
            "wrong-option-type: a phase of configuration option 'add' must be an integer that is not negative"});
  CHECK(refuse(OptionValue::List{Phase(0, 3), Phase(0, ""), Phase(0, "A,")}) ==
        Log{"wrong-option-type: a pass must be a string or an object",
            "wrong-option-type: a pass must be a name or a pipeline, not an empty string",
            "pipeline-syntax: expected the name of a pass"});
}

TEST_CASE("a pipeline cannot contain itself") {
  Lowering l;
  l.Set("add", OptionValue::List{Phase(1, "lower<O2>")});
  CHECK(l.Expand("lower<O2>").empty());
  CHECK(l.reports.texts() == Log{"pipeline-syntax: pipeline 'lower<O2>' cannot contain itself"});
}

TEST_CASE("an added pass that does not exist is an error of the build") {
  Lowering l;
  l.Set("add", OptionValue::List{Phase(1, "DD")});
  CHECK(l.Expand("lower").empty());
  CHECK(l.reports.texts() == Log{"unknown-pass: unknown pass 'DD'; did you mean 'D'?"});
}

TEST_CASE("the registry refuses rules that cannot be right") {
  Lowering l;
  const auto with = [&](Rule rule) {
    return l.Refusal({.name = "mine", .highest_level = 4, .passes = "A", .rules = {std::move(rule)}});
  };
  CHECK(with({.config = "no", .pass = "A"}) == "the pipeline 'mine': a rule for the unknown configuration option 'no'");
  CHECK(with({.config = "only", .pass = "B"}) == "the pipeline 'mine': a rule for the pass 'B', which it does not run");
  CHECK(with({.config = "add", .pass = "A"}) ==
        "the pipeline 'mine': a rule for 'add', which is a list of [phase, passes]");
  CHECK(with({.kind = Rule::Kind::Phase, .config = "only"}) ==
        "the pipeline 'mine': a rule for 'only', which is a boolean");
}
