#include "iropt/pass/pipeline_cursor.h"

#include <memory>
#include <string>
#include <vector>

#include "catch.h"
#include "helpers.h"

using namespace iropt;

namespace {

// Notes after each pass that is not composite what it was and what is left.
class RestNotes : public PassInstrument {
 public:
  explicit RestNotes(std::shared_ptr<const PipelineCursor> cursor)
      : PassInstrument("rest"), cursor_(std::move(cursor)) {}

  bool ShouldRun(const Module&, const PassInfo& info) override { return info.name != "Vetoed"; }
  Status RunAfterPass(const Module&, const PassInfo& info, PassOutcome) override {
    if (!info.is_composite())
      notes.push_back(PrintPipeline({cursor_->current()}) + " | " + PrintPipeline(cursor_->Rest()));
    return {};
  }

  std::vector<std::string> notes;

 private:
  std::shared_ptr<const PipelineCursor> cursor_;
};

// A pass that changes the module in its first runs.
Pass CreateChanging(const PassOptions& options) {
  const auto runs = std::make_shared<int>(static_cast<int>(options.Int("changes")));
  return CreateModulePass(options.info(), [runs](Module module, ModulePassContext&) -> Result<Module> {
    if ((*runs)-- > 0) module.set_attrs(module.attrs()->With("runs", IntAttr::Get(*runs)));
    return module;
  });
}

std::vector<std::string> RestsOf(const std::string& text) {
  PassRegistry registry;
  const auto add = [&](const char* name, int level, std::vector<std::string> required = {}) {
    PassEntry row{{.name = name, .opt_level = level, .required = std::move(required)}, {}, "", &CreateChanging};
    row.options = {{"changes", OptionType::Int, 0, ""}};
    REQUIRE(registry.Add(row).ok());
  };
  add("A", 0);
  add("B", 0);
  add("C", 3);
  add("NeedsA", 0, {"A"});
  add("Vetoed", 0);
  REQUIRE(registry.AddPipeline({"default", 0, 4, "A,C"}).ok());
  Reports reports;
  const std::optional<Pipeline> parsed = ParsePipeline(text, 1, reports.engine());
  REQUIRE(parsed);
  PassContext context;
  context.registry = &registry;
  const Pipeline pipeline = ExpandPipeline(*parsed, registry, std::nullopt);
  const Result<Pass> pass = BuildPipeline(pipeline, registry, reports.engine());
  REQUIRE(pass.ok());
  const auto cursor = std::make_shared<PipelineCursor>(pipeline, context.opt_level);
  const auto notes = std::make_shared<RestNotes>(cursor);
  context.instruments = {cursor, notes};
  With<PassContext> scope(context);
  REQUIRE((*pass)(Module(), context).ok());
  return notes->notes;
}

using Notes = std::vector<std::string>;

}  // namespace

TEST_CASE("pipeline cursor: a list", "[pass]") {
  CHECK(RestsOf("A<changes=1>,B,A") == Notes{"A<changes=1> | B,A", "B | A", "A | "});
}

TEST_CASE("pipeline cursor: groups keep their settings", "[pass]") {
  CHECK(RestsOf("Sequential<name=S;opt_level=1>(A,Sequential(B),A),B") ==
        Notes{"A | Sequential<name=S;opt_level=1>(Sequential(B),A),B", "B | Sequential<name=S;opt_level=1>(A),B",
              "A | B", "B | "});
}

TEST_CASE("pipeline cursor: skipped passes", "[pass]") {
  CHECK(RestsOf("C,A,Vetoed,B") == Notes{"A | Vetoed,B", "B | "});
}

TEST_CASE("pipeline cursor: required passes", "[pass]") {
  CHECK(RestsOf("NeedsA,B") == Notes{"A | NeedsA,B", "NeedsA | B", "B | "});
}

TEST_CASE("pipeline cursor: the rest of a round, then the rounds that are left", "[pass]") {
  CHECK(RestsOf("repeat<3>(A,B)") == Notes{"A | repeat<1>(B),repeat<2>(A,B)", "B | repeat<2>(A,B)",
                                           "A | repeat<1>(B),repeat<1>(A,B)", "B | repeat<1>(A,B)", "A | repeat<1>(B)",
                                           "B | "});
  CHECK(RestsOf("fixpoint<8>(A<changes=1>,B)") ==
        Notes{"A<changes=1> | repeat<1>(B),fixpoint<7>(A<changes=1>,B)", "B | fixpoint<7>(A<changes=1>,B)",
              "A<changes=1> | repeat<1>(B),fixpoint<6>(A<changes=1>,B)", "B | fixpoint<6>(A<changes=1>,B)"});
}

TEST_CASE("pipeline cursor: a group inside of one of another level keeps its own", "[pass]") {
  CHECK(RestsOf("Sequential<at_level=3>(Sequential<at_level=2>(A,A),B)")[0] ==
        "A | Sequential<at_level=3>(Sequential<at_level=2>(A),B)");
}

TEST_CASE("pipeline cursor: named pipelines", "[pass]") {
  const std::string later = "Sequential<name=\"default<O2>\";at_level=2>(A,C)";
  CHECK(RestsOf("default<O3>,default<O2>") ==
        Notes{"A | Sequential<name=\"default<O3>\";at_level=3>(C)," + later, "C | " + later, "A | C"});
}
