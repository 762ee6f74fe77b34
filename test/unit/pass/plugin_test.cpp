// Plugins in the registry, without a shared object: the parts that the plugin tests do not cover.
#include "iropt/pass/plugin.h"

#include <fstream>
#include <stdexcept>

#include "catch.h"
#include "helpers.h"
#include "iropt/pass/load_plugin.h"

using namespace iropt;

namespace {

Pass CreateThrowing(const PassOptions&) { throw std::runtime_error("oops"); }

PassEntry Row(std::string name) { return {.info = {.name = std::move(name)}, .create = &CreateNothing}; }

class Watching : public PassInstrument {
 public:
  explicit Watching(std::string text) : PassInstrument("watching"), text(std::move(text)) {}
  const std::string text;
};

std::shared_ptr<PassInstrument> CreateWatching(const PassOptions& options) {
  return std::make_shared<Watching>(options.String("text"));
}

std::shared_ptr<PassInstrument> CreateNoInstrument(const PassOptions&) { return nullptr; }

InstrumentEntry WatchingRow() {
  return {.name = "watching", .options = {{"text", OptionType::String, "x", ""}}, .create = &CreateWatching};
}

std::string MessageOf(const Status& status) { return status.ok() ? "" : status.error().message; }

}  // namespace

TEST_CASE("rows of a plugin have its name") {
  PassRegistry registry;
  REQUIRE(registry.Add(Row("A")).ok());
  const Status added = registry.AddPlugin({"mine", "1.0", "/mine.so"}, [](PassRegistry& r) -> Status {
    IROPT_RETURN_IF_ERROR(r.Add(Row("B")));
    IROPT_RETURN_IF_ERROR(r.AddPipeline({"tidy", 0, 4, "A,B"}));
    return r.AddInstrument(WatchingRow());
  });
  REQUIRE(added.ok());
  REQUIRE(registry.Add(Row("C")).ok());
  CHECK(registry.Find("A")->plugin.empty());
  CHECK(registry.Find("B")->plugin == "mine");
  CHECK(registry.Find("C")->plugin.empty());
  CHECK(registry.instruments().at("watching").plugin == "mine");
  CHECK(registry.FindPipeline("tidy", 2)->plugin == "mine");
  REQUIRE(registry.plugins().size() == 1);
  CHECK(registry.plugins()[0].version == "1.0");
  CHECK(MessageOf(registry.Add(Row("B"))) == "there is already a pass 'B', of plugin 'mine'");
}

TEST_CASE("a plugin that fails or throws adds nothing") {
  PassRegistry registry;
  REQUIRE(registry.Add(Row("A")).ok());
  const Status taken = registry.AddPlugin({"mine", "1.0", "/mine.so"}, [](PassRegistry& r) -> Status {
    IROPT_RETURN_IF_ERROR(r.Add(Row("B")));
    IROPT_RETURN_IF_ERROR(r.AddConfig({"mine.option", OptionType::Bool, false, ""}));
    IROPT_RETURN_IF_ERROR(r.AddInstrument(WatchingRow()));
    return r.Add(Row("A"));
  });
  CHECK(MessageOf(taken) == "there is already a pass 'A'");
  const Status thrown = registry.AddPlugin({"mine", "1.0", "/mine.so"}, [](PassRegistry& r) -> Status {
    IROPT_RETURN_IF_ERROR(r.Add(Row("B")));
    throw std::runtime_error("oops");
  });
  CHECK(MessageOf(thrown) == "plugin 'mine' threw an exception: oops");
  CHECK(thrown.error().code == ErrorCode::PassFailed);
  CHECK(registry.Find("B") == nullptr);
  CHECK(registry.FindConfig("mine.option") == nullptr);
  CHECK(registry.instruments().empty());
  CHECK(registry.plugins().empty());
  // Later rows do not belong to the plugin.
  REQUIRE(registry.Add(Row("B")).ok());
  CHECK(registry.Find("B")->plugin.empty());
}

TEST_CASE("names that cannot be written in a pipeline are refused") {
  PassRegistry registry;
  CHECK(MessageOf(registry.Add(Row("two words"))) == "the pass 'two words' has a name that is not a word");
  CHECK(MessageOf(registry.Add(Row(""))) == "the pass '' has a name that is not a word");
  CHECK(MessageOf(registry.Add(Row("repeat"))) == "the pass 'repeat' has a reserved name");
  CHECK(MessageOf(registry.Add({.info = {.name = "A"}})) == "the pass 'A' has no factory");
  CHECK(MessageOf(registry.AddInstrument({.name = "a"})) == "the instrument 'a' has no factory");
  CHECK(MessageOf(registry.AddAnalysis({.name = "a"})) == "the analysis 'a' has no function that prints it");
  const auto print = [](const Module&, const PassContext&) { return std::string(); };
  CHECK(MessageOf(registry.AddAnalysis({.name = "a", .print = print})) ==
        "the registry lacks the pass 'PrintAnalyses', which prints 'a'");
}

TEST_CASE("a factory that throws is an error") {
  PassRegistry registry;
  Reports reports;
  REQUIRE(registry.Add({.info = {.name = "A"}, .create = &CreateThrowing}).ok());
  const Result<Pass> pass = registry.Create("A", {}, reports.engine());
  REQUIRE_FALSE(pass.ok());
  CHECK(pass.error().code == ErrorCode::PassFailed);
  CHECK(pass.error().message == "the factory of pass 'A' threw an exception: oops");
}

TEST_CASE("an instrument is made with its options") {
  PassRegistry registry;
  Reports reports;
  REQUIRE(registry.AddInstrument(WatchingRow()).ok());
  const auto made = registry.CreateInstrument("watching", {{"text", "y", {}}}, reports.engine());
  REQUIRE(made.ok());
  CHECK(dynamic_cast<const Watching&>(**made).text == "y");
  CHECK_FALSE(registry.CreateInstrument("watching", {{"texts", "y", {}}}, reports.engine()).ok());
  CHECK(reports.texts() == Log{"unknown-option: instrument 'watching' has no option 'texts'; did you mean 'text'?"});
  CHECK(MessageOf(registry.AddInstrument(WatchingRow())) == "there is already an instrument 'watching'");
}

TEST_CASE("a factory that makes no instrument is an error") {
  PassRegistry registry;
  Reports reports;
  REQUIRE(registry.AddInstrument({.name = "none", .create = &CreateNoInstrument}).ok());
  const auto made = registry.CreateInstrument("none", {}, reports.engine());
  REQUIRE_FALSE(made.ok());
  CHECK(made.error().message == "the factory of instrument 'none' returned null");
}

TEST_CASE("a file that is not a shared object is not loaded") {
  PassRegistry registry;
  const Status missing = LoadPassPlugin("./no_such_plugin.so", registry);
  CHECK(MessageOf(missing) == "cannot load plugin './no_such_plugin.so': no such file or directory");
  CHECK(missing.error().code == ErrorCode::Usage);
  std::ofstream("plugin_test.txt") << "text";
  CHECK(MessageOf(LoadPassPlugin("plugin_test.txt", registry)) ==
        "cannot load plugin 'plugin_test.txt': not a shared object");
  // The beginning of a shared object.
  std::ofstream("plugin_test.txt") << std::string("\177ELF\2\1\1", 7) + std::string(9, '\0') + std::string("\3\0", 2);
  CHECK(MessageOf(LoadPassPlugin("plugin_test.txt", registry)) ==
        "cannot load plugin 'plugin_test.txt': not a shared object");
  std::remove("plugin_test.txt");
}

TEST_CASE("a pass that throws does not change the context") {
  const PassContext& outermost = PassContext::Current();
  PassContext context;
  {
    const With<PassContext> scope(context);
    const Pass throwing = CreateModulePass({.name = "Throwing"}, [](Module, ModulePassContext&) -> Result<Module> {
      PassContext inner;
      const With<PassContext> inner_scope(inner);
      throw std::runtime_error("oops");
    });
    CHECK_FALSE(Fixpoint({Sequential({throwing})}, 3)(Module()).ok());
    CHECK(&PassContext::Current() == &context);
  }
  CHECK(&PassContext::Current() == &outermost);
}

TEST_CASE("a function pass that throws in its threads does not change the contexts") {
  const PassContext& outermost = PassContext::Current();
  IRContext& ir_context = IRContext::Current();
  PassContext context;
  context.threads = 4;
  const Pass throwing = CreateFunctionPass(
      {.name = "Throwing"},
      [](const Function*, FunctionPassContext&) -> Result<const Function*> { throw std::bad_alloc(); });
  const Result<PassResult> result = throwing(MakeModule({"f", "g", "h"}), context);
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().code == ErrorCode::Budget);
  CHECK(result.error().message == "pass 'Throwing' failed: the run on function 'f' ran out of memory");
  CHECK(&PassContext::Current() == &outermost);
  CHECK(&IRContext::Current() == &ir_context);
}
