// The registry of passes, and the options of passes.
#include "iropt/pass/registry.h"

#include "catch.h"
#include "helpers.h"

using namespace iropt;

namespace {

OptionValue seen_options;

Pass CreateWithOptions(const PassOptions& options) {
  OptionValue::List names;
  for (const std::string& name : options.StringList("names")) names.push_back(name);
  seen_options = OptionValue::Dict{{"flag", options.Bool("flag"), {}},
                                   {"count", options.Int("count"), {}},
                                   {"scale", options.Float("scale"), {}},
                                   {"text", options.String("text"), {}},
                                   {"names", names, {}},
                                   {"any", options.Json("any"), {}}};
  return CreateModulePass(options.info(), [](Module module, ModulePassContext&) -> Result<Module> { return module; });
}

PassEntry MakeRow(std::string name, std::vector<std::string> required = {}) {
  PassEntry row{{.name = std::move(name), .required = std::move(required)}, {}, "does nothing", &CreateWithOptions};
  row.options = {{"flag", OptionType::Bool, false, ""},
                 {"count", OptionType::Int, 7, ""},
                 {"scale", OptionType::Float, 0.5, ""},
                 {"text", OptionType::String, "x", ""},
                 {"names", OptionType::StringList, OptionValue::List{}, ""},
                 {"any", OptionType::Json, OptionValue(), ""}};
  return row;
}

struct Filled {
  Filled() { REQUIRE(registry.Add(MakeRow("FoldConstant")).ok()); }
  bool Create(std::string_view name, OptionValue::Dict options = {}) {
    return registry.Create(name, std::move(options), reports.engine()).ok();
  }

  PassRegistry registry;
  Reports reports;
};

}  // namespace

TEST_CASE("a pass is made with the defaults of its options") {
  Filled f;
  REQUIRE(f.Create("FoldConstant"));
  CHECK(ToString(seen_options) == R"({"flag":false,"count":7,"scale":0.5,"text":x,"names":[],"any":null})");
}

TEST_CASE("a pass is made with the options that are given") {
  Filled f;
  REQUIRE(f.Create("FoldConstant", {{"flag", true, {}}, {"names", OptionValue::List{"a", "b"}, {}}, {"any", 3, {}}}));
  CHECK(ToString(seen_options) == R"({"flag":true,"count":7,"scale":0.5,"text":x,"names":[a,b],"any":3})");
}

TEST_CASE("the info of a pass comes from its row") {
  Filled f;
  const Result<Pass> pass = f.registry.Create("FoldConstant", {}, f.reports.engine());
  REQUIRE(pass.ok());
  CHECK(pass->info().name == "FoldConstant");
}

TEST_CASE("an unknown pass is an error that names the nearest one") {
  Filled f;
  CHECK_FALSE(f.Create("FoldConstants"));
  CHECK_FALSE(f.Create("foldconstant"));
  CHECK_FALSE(f.Create("SomethingElse"));
  CHECK(f.reports.texts() == Log{"unknown-pass: unknown pass 'FoldConstants'; did you mean 'FoldConstant'?",
                                 "unknown-pass: unknown pass 'foldconstant'; did you mean 'FoldConstant'?",
                                 "unknown-pass: unknown pass 'SomethingElse'"});
  REQUIRE(f.reports.all()[0].fix_its.size() == 1);
  CHECK(f.reports.all()[0].fix_its[0].replacement == "FoldConstant");
}

TEST_CASE("all wrong options of a pass are reported") {
  Filled f;
  CHECK_FALSE(f.Create("FoldConstant", {{"flags", true, {}}, {"count", "many", {}}}));
  CHECK(f.reports.texts() ==
        Log{"unknown-option: pass 'FoldConstant' has no option 'flags'; did you mean 'flag'?",
            "wrong-option-type: option 'count' of pass 'FoldConstant' must be an integer, not a string"});
}

TEST_CASE("a factory refuses values that have the right type") {
  PassRegistry registry;
  PassEntry row = MakeRow("Mine");
  row.create = [](const PassOptions& options) {
    options.Count("count");
    if (options.String("text") == "no") options.Refuse("text", "must not be 'no'");
    return CreateWithOptions(options);
  };
  REQUIRE(registry.Add(row).ok());
  Reports reports;
  const Result<Pass> made = registry.Create("Mine", {{"text", "no"}, {"count", -1}}, reports.engine());
  REQUIRE_FALSE(made.ok());
  CHECK(made.error().code == ErrorCode::Usage);
  CHECK(made.error().reported());
  CHECK(reports.texts() == Log{"wrong-option-value: option 'count' of pass 'Mine' must not be negative, but is -1",
                               "wrong-option-value: option 'text' of pass 'Mine' must not be 'no'"});
  // Earlier errors are not attributed to the factory.
  CHECK(registry.Create("Mine", {{"text", "yes"}}, reports.engine()).ok());
}

TEST_CASE("passes are added to named pipelines at levels that these have") {
  Filled f;
  REQUIRE(f.registry.AddPipeline({"mine", 1, 3, "FoldConstant", "", ""}).ok());
  REQUIRE(f.registry.ExtendPipeline({"mine", 2, 3, "FoldConstant,FoldConstant", "", ""}).ok());
  CHECK(f.registry.FindPipelineParts("mine", 0).empty());
  CHECK(f.registry.FindPipelineParts("mine", 1).size() == 1);
  CHECK(f.registry.FindPipelineParts("mine", 2).size() == 2);
  CHECK_FALSE(f.registry.ExtendPipeline({"mine", 3, 4, "FoldConstant", "", ""}).ok());
  CHECK_FALSE(f.registry.ExtendPipeline({"mine", 3, 2, "FoldConstant", "", ""}).ok());
  CHECK_FALSE(f.registry.ExtendPipeline({"mine", 1, 1, "FoldConstant(", "", ""}).ok());
}

TEST_CASE("a plugin that fails adds no operator and no kind") {
  PassRegistry registry;
  const auto infer = [](const Call&, InferContext&) -> const Type* { return ObjectType::Get(); };
  const OpSpec op{.name = "test.registry_op", .functions = {infer, nullptr}};
  const DiagnosticKind kind{"test-registry-kind", Severity::Remark, "a test"};
  const auto add = [&](PassRegistry& extended) -> Status {
    IROPT_RETURN_IF_ERROR(extended.AddOperator(op));
    return extended.AddDiagnosticKind(kind);
  };
  const auto fail = [&](PassRegistry& extended) -> Status {
    IROPT_RETURN_IF_ERROR(add(extended));
    return Error{ErrorCode::Usage, "no"};
  };
  CHECK_FALSE(registry.AddPlugin({"mine", "1", "mine.so"}, fail).ok());
  CHECK(FindGraphOpByScript("test.registry_op") == nullptr);
  CHECK(FindDiagnosticKind("test-registry-kind") == nullptr);
  REQUIRE(registry.AddPlugin({"mine", "1", "mine.so"}, add).ok());
  const OpInfo* added = FindGraphOpByScript("test.registry_op");
  REQUIRE(added != nullptr);
  CHECK(FindOp("relax.test.registry_op") == added);
  CHECK(&OpInfoOf(added->id) == added);
  CHECK(added->op->info == added);
  CHECK(FindDiagnosticKind("test-registry-kind")->severity == Severity::Remark);
  // Another registry of the process may have the same plugin.
  PassRegistry other;
  CHECK(other.AddPlugin({"mine", "1", "mine.so"}, add).ok());
  CHECK(FindGraphOpByScript("test.registry_op") == added);
}

TEST_CASE("a name is registered once") {
  Filled f;
  const Status again = f.registry.Add(MakeRow("FoldConstant"));
  REQUIRE_FALSE(again.ok());
  CHECK(again.error().message == "there is already a pass 'FoldConstant'");
  const Status config = f.registry.AddConfig({"testing.immutable_module", OptionType::Bool, true, ""});
  REQUIRE_FALSE(config.ok());
}

TEST_CASE("what is added to a copy of a registry is not in the other one") {
  Filled f;
  PassRegistry copy = f.registry;
  CHECK(copy.Find("FoldConstant") != f.registry.Find("FoldConstant"));
  REQUIRE(copy.Add(MakeRow("Mine")).ok());
  CHECK(copy.Find("Mine") != nullptr);
  CHECK(f.registry.Find("Mine") == nullptr);
  REQUIRE(f.registry.AddConfig({"mine.key", OptionType::Bool, true, ""}).ok());
  CHECK(copy.FindConfig("mine.key") == nullptr);
  CHECK(copy.passes().size() == 2);
}

TEST_CASE("copies of a complete registry share its rows until they add to them") {
  Filled f;
  f.registry.Complete();
  PassRegistry copy = f.registry;
  CHECK(copy.Find("FoldConstant") == f.registry.Find("FoldConstant"));
  const PassRegistry another = copy;
  REQUIRE(copy.Add(MakeRow("Mine")).ok());
  CHECK(f.registry.Find("Mine") == nullptr);
  CHECK(another.Find("Mine") == nullptr);
  CHECK(another.Find("FoldConstant") == f.registry.Find("FoldConstant"));
  CHECK(copy.Find("FoldConstant") != f.registry.Find("FoldConstant"));
}

TEST_CASE("a circle of requirements is refused when it closes") {
  PassRegistry registry;
  REQUIRE(registry.Add(MakeRow("A", {"B"})).ok());
  REQUIRE(registry.Add(MakeRow("B", {"C"})).ok());
  const Status closing = registry.Add(MakeRow("C", {"A"}));
  REQUIRE_FALSE(closing.ok());
  CHECK(closing.error().message == "passes require each other in a circle: C -> A -> B -> C");
  CHECK(registry.Find("C") == nullptr);
  const Status self = registry.Add(MakeRow("D", {"D"}));
  REQUIRE_FALSE(self.ok());
}
