// The rules of docs/pass_infrastructure.md on contexts, kinds of passes and Sequentials that no other test covers.
#include <stdexcept>
#include <type_traits>

#include "catch.h"
#include "child.h"
#include "helpers.h"

using namespace iropt;

namespace {

Log* required_log = nullptr;

Pass CreateLogged(const PassOptions& options) {
  return Tracer(*required_log, options.info().name, options.info().opt_level, options.info().required);
}

// Counts the functions of the modules that it sees.
class CountFunctions : public Pass::Impl {
 public:
  explicit CountFunctions(size_t& count) : Impl({.name = "CountFunctions"}, PassKind::Module), count_(count) {}

  Result<PassResult> Run(Module module, PassContext&, DiagnosticEngine&) const override {
    count_ += module.size();
    return PassResult{std::move(module)};
  }

 private:
  size_t& count_;
};

}  // namespace

TEST_CASE("a scope is left by an exception, too") {
  PassContext& outside = PassContext::Current();
  PassContext context;
  try {
    With<PassContext> scope(context);
    throw std::runtime_error("leave");
  } catch (const std::runtime_error&) {
  }
  CHECK(&PassContext::Current() == &outside);
}

TEST_CASE("a pass finds the configuration of the context that it runs under") {
  PassRegistry registry;
  REQUIRE(registry.AddConfig({"test.depth", OptionType::Int, 3, "how deep"}).ok());
  int64_t seen = 0;
  const Pass pass = CreateModulePass({.name = "Look"}, [&](Module module, ModulePassContext& inner) -> Result<Module> {
    seen = *inner.context.Config("test.depth").as_int();
    return module;
  });

  Reports reports;
  PassContext context;
  context.registry = &registry;
  REQUIRE(pass(Module(), context).ok());
  CHECK(seen == 3);
  REQUIRE(context.SetConfig("test.depth", 5, reports.engine()));
  With<PassContext> scope(context);
  REQUIRE(pass(Module()).ok());
  CHECK(seen == 5);
}

TEST_CASE("a new kind of pass implements Pass::Impl") {
  size_t count = 0;
  const Pass pass(std::make_shared<CountFunctions>(count));
  CHECK(pass.info().name == "CountFunctions");
  const Result<PassResult> result = Sequential({pass, pass})(MakeModule({"f", "g", "h"}));
  REQUIRE(result.ok());
  CHECK_FALSE(result->changed);
  CHECK(count == 6);
}

TEST_CASE("functions that a pass does not change are shared with the old module") {
  const Module module = MakeModule({"f", "g"});
  const Pass pass = CreateFunctionPass(
      {.name = "MarkF"}, [](const Function* f, FunctionPassContext& context) -> Result<const Function*> {
        return context.var()->name == "f" ? WithAttribute(f, "seen", context.workspace()) : f;
      });
  const Result<PassResult> result = pass(module);
  REQUIRE(result.ok());
  CHECK(result->module.Find("f")->func != module.Find("f")->func);
  CHECK(result->module.Find("g")->func == module.Find("g")->func);
}

TEST_CASE("a function pass cannot add or delete functions") {
  // It returns one function for one, and the module that it sees cannot be changed.
  STATIC_REQUIRE(std::is_same_v<decltype(std::declval<FunctionPassContext&>().module()), const Module&>);
  const Pass pass = CreateFunctionPass({.name = "Copy"},
                                       [](const Function* f, FunctionPassContext& context) -> Result<const Function*> {
                                         Module copy = context.module();
                                         copy.Remove(GlobalVar::Get("g"));
                                         return WithAttribute(f, "seen", context.workspace());
                                       });
  const Result<PassResult> result = pass(MakeModule({"f", "g"}));
  REQUIRE(result.ok());
  REQUIRE(result->module.size() == 2);
  CHECK(result->module.functions()[0].var->name == "f");
  CHECK(result->module.functions()[1].var->name == "g");
}

TEST_CASE("there are no undefined passes") {
  STATIC_REQUIRE_FALSE(std::is_default_constructible_v<Pass>);
  const Outcome outcome = RunInChild([] { const Pass pass(nullptr); });
  CHECK(outcome.exit_code == ExitCode(ErrorCode::Internal));
  CHECK(outcome.errors.find("a pass without an implementation") != std::string::npos);
}

TEST_CASE("a requirement of an enabled pass runs even if it is disabled") {
  Log log;
  required_log = &log;
  PassRegistry registry;
  REQUIRE(registry.Add({{.name = "A"}, {}, "", &CreateLogged}).ok());
  REQUIRE(registry.Add({{.name = "B", .required = {"A"}}, {}, "", &CreateLogged}).ok());
  Reports reports;
  const Result<Pass> a = registry.Create("A", {}, reports.engine());
  const Result<Pass> b = registry.Create("B", {}, reports.engine());
  REQUIRE((a.ok() && b.ok()));
  PassContext context;
  context.registry = &registry;
  context.disabled_pass = {"A"};
  REQUIRE(Sequential({*a, *b})(Module(), context).ok());
  CHECK(log == Log{"A", "B"});
}

TEST_CASE("hooks that an instrument does not have do nothing") {
  class Bare : public PassInstrument {
   public:
    Bare() : PassInstrument("bare") {}
  };
  Log log;
  PassContext context;
  context.instruments = {std::make_shared<Bare>()};
  With<PassContext> scope(context);
  REQUIRE(scope.status().ok());
  REQUIRE(Tracer(log, "A")(Module()).ok());
  CHECK(log == Log{"A"});
  CHECK(scope.Exit().ok());
}
