// Analyses of functions: computed once, kept while valid, dropped when a pass that does not preserve them changes the
// function.
#include "iropt/pass/analysis.h"

#include <fmt/format.h>

#include <atomic>

#include "catch.h"
#include "helpers.h"

using namespace iropt;

namespace {

std::atomic<int> computed = 0;

// The number of attributes of a function.
struct AttributeCount {
  using Result = size_t;
  static constexpr std::string_view kName = "attribute_count";
  static constexpr bool kSurvivesCloning = true;
  static Result Compute(const BaseFunc& function, const FuncStorage&) {
    ++computed;
    return function.attrs->size();
  }
};

// The same, which a pass may only increase.
struct AttributeBound : AttributeCount {
  static constexpr std::string_view kName = "attribute_bound";
  static bool StillHolds(size_t kept, size_t actual) { return kept <= actual; }
};

Pass Asking(PassInfo info, std::vector<size_t>& answers) {
  return CreateFunctionPass(std::move(info), [&answers](const Function* f, FunctionPassContext& context) {
    answers.push_back(*context.Analysis<AttributeCount>());
    return Result<const Function*>(f);
  });
}

Pass Marking(PassInfo info) {
  return CreateFunctionPass(std::move(info), [](const Function* f, FunctionPassContext& context) {
    const std::string key = fmt::format("mark{}", f->attrs->size());
    return Result<const Function*>(WithAttribute(f, key, context.workspace()));
  });
}

// The same attribute as before, in a new function.
Pass Copying(PassInfo info) {
  return CreateFunctionPass(std::move(info), [](const Function* f, FunctionPassContext& context) {
    return Result<const Function*>(
        context.workspace().New<Function>(f->params, f->body, f->ret_type, f->is_pure, f->attrs, f->type));
  });
}

// The results before and after the pass, and the number of computations.
struct ResultAround {
  std::vector<size_t> answers;
  int computed;
  std::string error;
};

ResultAround RunAround(const Pass& pass, bool audit = false) {
  computed = 0;
  ResultAround outcome;
  Reports reports;
  PassContext context;
  REQUIRE(context.SetConfig("testing.verify_analyses", audit, reports.engine()));
  const Pass asking = Asking({.name = "Asking"}, outcome.answers);
  const Result<PassResult> result = Sequential({asking, pass, asking})(MakeModule({"f", "g"}), context);
  if (!result.ok()) outcome.error = result.error().message;
  if (!result.ok()) CHECK(result.error().code == ErrorCode::Rejected);
  outcome.computed = computed;
  return outcome;
}

const AnalysisKinds kCount = PreservedAnalyses<AttributeCount>();

}  // namespace

TEST_CASE("an analysis is computed once for a function that stays as it is") {
  const ResultAround outcome = RunAround(Sequential({}));
  CHECK(outcome.answers.size() == 4);
  CHECK(outcome.computed == 2);
}

TEST_CASE("an analysis is computed again for a function that a pass has changed") {
  const ResultAround outcome = RunAround(Marking({.name = "Marking"}));
  CHECK(outcome.computed == 4);
  CHECK(outcome.answers[2] == outcome.answers[0] + 1);
}

TEST_CASE("results of a preserved analysis are kept") {
  const ResultAround outcome = RunAround(Copying({.name = "Copying", .preserved_analyses = kCount}));
  CHECK(outcome.computed == 2);
  CHECK(outcome.answers[2] == outcome.answers[0]);
}

TEST_CASE("only the functions that changed lose their analyses") {
  const Pass pass = CreateFunctionPass({.name = "One"}, [](const Function* f, FunctionPassContext& context) {
    return Result<const Function*>(context.var()->name == "g" ? WithAttribute(f, "x", context.workspace()) : f);
  });
  CHECK(RunAround(pass).computed == 3);
}

TEST_CASE("a wrong claim to preserve an analysis is believed without the audit, and rejected with it") {
  const Pass liar = Marking({.name = "Liar", .preserved_analyses = kCount});
  const ResultAround believed = RunAround(liar);
  CHECK(believed.computed == 2);
  CHECK(believed.answers[2] == believed.answers[0]);
  CHECK(RunAround(liar, /*audit=*/true).error ==
        "pass 'Liar' claims to preserve the analysis 'attribute_count', but its result for 'f' has changed");
}

TEST_CASE("the audit also checks claims about analyses that were not computed") {
  Reports reports;
  PassContext context;
  REQUIRE(context.SetConfig("testing.verify_analyses", true, reports.engine()));
  const Pass liar = Marking({.name = "Liar", .preserved_analyses = kCount});
  CHECK_FALSE(liar(MakeModule({"f"}), context).ok());
  const Pass honest = Copying({.name = "Honest", .preserved_analyses = kCount});
  CHECK(honest(MakeModule({"f"}), context).ok());
}

TEST_CASE("the audit uses the comparison of an analysis") {
  Reports reports;
  PassContext context;
  REQUIRE(context.SetConfig("testing.verify_analyses", true, reports.engine()));
  const Pass more = Marking({.name = "More", .preserved_analyses = PreservedAnalyses<AttributeBound>()});
  CHECK(more(MakeModule({"f"}), context).ok());
}

TEST_CASE("the results of a module that is gone are forgotten, and never those of another one in its place") {
  PassContext context;
  std::vector<size_t> answers;
  const Pass asking = Asking({.name = "Asking"}, answers);
  computed = 0;
  for (int i = 0; i < 50; ++i) {
    Module module;
    AddFunction(module, "f", i % 2 == 0 ? DictAttr::Empty() : DictAttr::Empty()->With("x", IntAttr::Get(1)));
    REQUIRE(asking(std::move(module), context).ok());
    CHECK(answers.back() == static_cast<size_t>(i % 2));
  }
  CHECK(computed == 50);
}

TEST_CASE("a pass over modules asks for analyses of any function") {
  const Pass pass = CreateModulePass({.name = "M"}, [](Module module, ModulePassContext& context) -> Result<Module> {
    for (const ModuleEntry& entry : module.functions()) CHECK(*context.Analysis<AttributeCount>(entry) == 0);
    return module;
  });
  computed = 0;
  const PassContext context;
  PassContext copy = context;  // shares the results
  const Module module = MakeModule({"f", "g"});
  REQUIRE(pass(module, copy).ok());
  CHECK(computed == 2);
  CHECK(context.analyses().num_computed() == 2);
}

TEST_CASE("analyses of functions that a module pass made survive compaction") {
  PassContext context;
  computed = 0;
  const Pass pass = CreateModulePass({.name = "M"}, [](Module module, ModulePassContext& inner) -> Result<Module> {
    Workspace workspace;
    workspace.arena().Allocate(1 << 20, 8);  // garbage
    const ModuleEntry& old = module.functions()[0];
    workspace.Adopt(old.storage);
    workspace.ReserveVars(old.storage->num_vars);
    const Function* marked = WithAttribute(To<Function>(old.func), "x", workspace);
    module.SetAt(0, marked, workspace.Finish());
    CHECK(*inner.Analysis<AttributeCount>(module.functions()[0]) == 1);
    return module;
  });
  std::vector<size_t> answers;
  const Pass asking = Asking({.name = "Asking"}, answers);
  REQUIRE(Sequential({pass, asking})(MakeModule({"f"}), context).ok());
  CHECK(answers == std::vector<size_t>{1});
  CHECK(computed == 1);
}

TEST_CASE("functions are analysed by several threads") {
  std::vector<std::string> names;
  for (int i = 0; i < 200; ++i) names.push_back(fmt::format("f{}", i));
  const Module module = MakeModule(names);
  PassContext context;
  context.threads = 4;
  const Pass pass = CreateModulePass({.name = "M"}, [](Module m, ModulePassContext& inner) -> Result<Module> {
    for (const ModuleEntry& entry : m.functions()) CHECK(*inner.Analysis<AttributeCount>(entry) == 0);
    return m;
  });
  const Pass functions = CreateFunctionPass({.name = "F"}, [](const Function* f, FunctionPassContext& inner) {
    return *inner.Analysis<AttributeCount>() == 0 ? Result<const Function*>(f)
                                                  : Error{ErrorCode::PassFailed, "a wrong result"};
  });
  REQUIRE(Sequential({functions, pass, functions})(module, context).ok());
}
